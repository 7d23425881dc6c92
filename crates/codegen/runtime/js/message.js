/** What generated messages are built on. */
import { DecodeError, EncodeError } from "./errors.js";
import { Reader } from "./wire.js";
import { Writer } from "./writer.js";
/** A message. Two are equal when all their fields are; as everywhere in JavaScript, NaN is not equal to NaN. */
export class Message {
    /** The payload in one of the two layouts. Throws `EncodeError` when a value does not fit its field. */
    encode(layout = "wire") {
        const writer = Writer.borrow(this.constructor.maxSize);
        try {
            this.$write(writer, layout === "wire");
            return writer.finish();
        }
        finally {
            writer.release();
        }
    }
}
/**
 * Reads a payload. Missing bytes are defaults where the format says so, surplus ones are ignored.
 *
 * Throws `DecodeError` when bytes are missing that must be there.
 */
export function decodePayload(type, payload, layout) {
    const wire = type.isVariable && layout === "wire";
    const reader = Reader.borrow(payload, wire || payload.length >= type.maxSize ? undefined : defaultImage(type));
    try {
        return type.$read(reader, wire);
    }
    finally {
        reader.release();
    }
}
const IMAGES = new WeakMap();
/** The fixed layout of a new message: what fills bytes that a shorter payload lacks. */
export function defaultImage(type) {
    let image = IMAGES.get(type);
    if (image === undefined) {
        image = new type().encode("fixed");
        IMAGES.set(type, image);
    }
    return image;
}
/** A message all of whose bytes are zero: what unused elements of arrays are, whatever their defaults. */
export function zeroMessage(type) {
    return type.$read(new Reader(new Uint8Array(type.maxSize)), false);
}
const NO_HEADER = {};
/** A frame around a message. Throws `EncodeError` when a value does not fit, or the framing cannot carry it. */
export function writeMessage(framing, message, header = NO_HEADER) {
    const writer = Writer.borrow(framing.overhead + typeOf(message).maxSize);
    try {
        return writer.bytes.slice(0, frameAt(writer, 0, framing, message, header));
    }
    finally {
        writer.release();
    }
}
/**
 * Writes frames one after the other into memory that is used again: for whoever sends so many that the garbage would be
 * felt.
 */
export class BufferWriter {
    framing;
    writer;
    filled = 0;
    /** Memory of yours, or so many bytes. */
    constructor(framing, memory) {
        this.framing = framing;
        this.writer = new Writer(memory);
    }
    /** The frames written: a view of the memory, good until `clear`. */
    get bytes() {
        return this.writer.bytes.subarray(0, this.filled);
    }
    /**
     * Appends a frame and returns its length.
     *
     * Throws `EncodeError` when a value does not fit, the framing cannot carry the message, or no room is left; then the
     * frames before it are as they were.
     */
    write(message, header = NO_HEADER) {
        const { framing, writer, filled } = this;
        const room = writer.bytes.length - filled;
        let size;
        if (framing.overhead + typeOf(message).maxSize <= room) {
            size = frameAt(writer, filled, framing, message, header);
        }
        else {
            // Less than the message might take; perhaps it takes less.
            const frame = writeMessage(framing, message, header);
            size = frame.length;
            if (size > room) {
                throw new EncodeError("buffer_too_short", `a frame of ${size} bytes, ${room} are left`);
            }
            writer.bytes.set(frame, filled);
        }
        this.filled += size;
        return size;
    }
    /** Begins anew. */
    clear() {
        this.filled = 0;
    }
}
function typeOf(message) {
    return message.constructor;
}
/** A frame at a place with enough room; returns how long it is. */
function frameAt(writer, begin, framing, message, header) {
    const { info } = typeOf(message);
    if (info === null) {
        throw new EncodeError("no_message_id", "this message has no id: it can only be nested");
    }
    framing.check(info);
    const payload = begin + framing.headerLen;
    writer.at = payload;
    message.$write(writer, framing.hasLength);
    return framing.seal(info, writer.bytes, writer.at - payload, header, begin);
}
/** The message in a frame of this framing. Throws `DecodeError` when it holds another one, or is damaged. */
export function readMessage(type, framing, frame) {
    if (type.info === null || frame.id !== type.info.id) {
        throw new DecodeError("other_message", `expected message ${type.info?.id ?? "without id"}, found ${frame.id}`);
    }
    return decodePayload(type, frame.payload, framing.layout);
}
