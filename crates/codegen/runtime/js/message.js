/** What generated messages are built on. */
import { DecodeError, EncodeError } from "./errors.js";
import { copy, Reader, Writer } from "./wire.js";
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
    const type = message.constructor;
    if (type.info === null) {
        throw new EncodeError("no_message_id", "this message has no id: it can only be nested");
    }
    framing.check(type.info);
    const writer = Writer.borrow(framing.overhead + type.maxSize);
    try {
        writer.at = framing.headerLen;
        message.$write(writer, framing.hasLength);
        return copy(writer.bytes, framing.seal(type.info, writer.bytes, writer.at - framing.headerLen, header));
    }
    finally {
        writer.release();
    }
}
/** The message in a frame of this framing. Throws `DecodeError` when it holds another one, or is damaged. */
export function readMessage(type, framing, frame) {
    if (type.info === null || frame.id !== type.info.id) {
        throw new DecodeError("other_message", `expected message ${type.info?.id ?? "without id"}, found ${frame.id}`);
    }
    return decodePayload(type, frame.payload, framing.layout);
}
