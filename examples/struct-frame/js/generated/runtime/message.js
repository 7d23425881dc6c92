/** What generated messages are built on. */
import { DecodeError, EncodeError } from "./errors.js";
import { Reader, Writer } from "./wire.js";
/** A message. Two are equal when all their fields are; as everywhere in JavaScript, NaN is not equal to NaN. */
export class Message {
    /** The payload in one of the two layouts. Throws `EncodeError` when a value does not fit its field. */
    encode(layout = "wire") {
        const writer = new Writer(this.constructor.maxSize);
        this.$write(writer, layout === "wire");
        return writer.finish();
    }
}
/**
 * Reads a payload. Missing bytes are defaults where the format says so, surplus ones are ignored.
 *
 * Throws `DecodeError` when bytes are missing that must be there.
 */
export function decodePayload(type, payload, layout) {
    if (type.isVariable && layout === "wire") {
        return type.$read(new Reader(payload), true);
    }
    if (payload.length < type.maxSize) {
        const whole = defaultImage(type).slice();
        whole.set(payload);
        return type.$read(new Reader(whole), false);
    }
    return type.$read(new Reader(payload), false);
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
/** A frame around a message. Throws `EncodeError` when a value does not fit, or the framing cannot carry it. */
export function writeMessage(framing, message, header = {}) {
    const type = message.constructor;
    if (type.info === null) {
        throw new EncodeError("no_message_id", "this message has no id: it can only be nested");
    }
    framing.check(type.info);
    return framing.write(type.info, message.encode(framing.layout), header);
}
/** The message in a frame of this framing. Throws `DecodeError` when it holds another one, or is damaged. */
export function readMessage(type, framing, frame) {
    if (type.info === null || frame.id !== type.info.id) {
        throw new DecodeError("other_message", `expected message ${type.info?.id ?? "without id"}, found ${frame.id}`);
    }
    return decodePayload(type, frame.payload, framing.layout);
}
