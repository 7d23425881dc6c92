/** What generated messages are built on. */

import { DecodeError, EncodeError } from "./errors.js";
import type { Framing, Header, Layout, MessageInfo } from "./framing.js";
import type { Frame } from "./reader.js";
import { copy, Reader, Writer } from "./wire.js";

/** The class of a message. */
export interface MessageType<M extends Message = Message> {
  new (): M;
  /** Id, sizes and seeds; `null` for a message that can only be nested. */
  readonly info: MessageInfo | null;
  readonly maxSize: number;
  readonly isVariable: boolean;
  $read(r: Reader, wire: boolean): M;
}

/** A message. Two are equal when all their fields are; as everywhere in JavaScript, NaN is not equal to NaN. */
export abstract class Message {
  /** The payload in one of the two layouts. Throws `EncodeError` when a value does not fit its field. */
  encode(layout: Layout = "wire"): Uint8Array {
    const writer = Writer.borrow((this.constructor as unknown as MessageType).maxSize);
    try {
      this.$write(writer, layout === "wire");
      return writer.finish();
    } finally {
      writer.release();
    }
  }

  /** Appends the payload. */
  abstract $write(w: Writer, wire: boolean): void;
}

/**
 * Reads a payload. Missing bytes are defaults where the format says so, surplus ones are ignored.
 *
 * Throws `DecodeError` when bytes are missing that must be there.
 */
export function decodePayload<M extends Message>(type: MessageType<M>, payload: Uint8Array, layout: Layout): M {
  const wire = type.isVariable && layout === "wire";
  const reader = Reader.borrow(payload, wire || payload.length >= type.maxSize ? undefined : defaultImage(type));
  try {
    return type.$read(reader, wire);
  } finally {
    reader.release();
  }
}

const IMAGES = new WeakMap<MessageType, Uint8Array>();

/** The fixed layout of a new message: what fills bytes that a shorter payload lacks. */
export function defaultImage(type: MessageType): Uint8Array {
  let image = IMAGES.get(type);
  if (image === undefined) {
    image = new type().encode("fixed");
    IMAGES.set(type, image);
  }
  return image;
}

/** A message all of whose bytes are zero: what unused elements of arrays are, whatever their defaults. */
export function zeroMessage<M extends Message>(type: MessageType<M>): M {
  return type.$read(new Reader(new Uint8Array(type.maxSize)), false);
}

const NO_HEADER: Partial<Header> = {};

/** A frame around a message. Throws `EncodeError` when a value does not fit, or the framing cannot carry it. */
export function writeMessage(framing: Framing, message: Message, header: Partial<Header> = NO_HEADER): Uint8Array {
  const type = message.constructor as unknown as MessageType;
  if (type.info === null) {
    throw new EncodeError("no_message_id", "this message has no id: it can only be nested");
  }
  framing.check(type.info);
  const writer = Writer.borrow(framing.overhead + type.maxSize);
  try {
    writer.at = framing.headerLen;
    message.$write(writer, framing.hasLength);
    return copy(writer.bytes, framing.seal(type.info, writer.bytes, writer.at - framing.headerLen, header));
  } finally {
    writer.release();
  }
}

/** The message in a frame of this framing. Throws `DecodeError` when it holds another one, or is damaged. */
export function readMessage<M extends Message>(type: MessageType<M>, framing: Framing, frame: Frame): M {
  if (type.info === null || frame.id !== type.info.id) {
    throw new DecodeError("other_message", `expected message ${type.info?.id ?? "without id"}, found ${frame.id}`);
  }
  return decodePayload(type, frame.payload, framing.layout);
}
