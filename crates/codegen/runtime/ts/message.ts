/** What generated messages are built on. */

import { DecodeError, EncodeError } from "./errors.js";
import type { Framing, Header, Layout, MessageInfo } from "./framing.js";
import type { Frame } from "./reader.js";
import { Reader } from "./wire.js";
import { Writer } from "./writer.js";

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
  const writer = Writer.borrow(framing.overhead + typeOf(message).maxSize);
  try {
    return writer.bytes.slice(0, frameAt(writer, 0, framing, message, header));
  } finally {
    writer.release();
  }
}

/**
 * Writes frames one after the other into memory that is used again: for whoever sends so many that the garbage would be
 * felt.
 */
export class BufferWriter {
  readonly framing: Framing;
  private readonly writer: Writer;
  private filled = 0;

  /** Memory of yours, or so many bytes. */
  constructor(framing: Framing, memory: Uint8Array | number) {
    this.framing = framing;
    this.writer = new Writer(memory);
  }

  /** The frames written: a view of the memory, good until `clear`. */
  get bytes(): Uint8Array {
    return this.writer.bytes.subarray(0, this.filled);
  }

  /**
   * Appends a frame and returns its length.
   *
   * Throws `EncodeError` when a value does not fit, the framing cannot carry the message, or no room is left; then the
   * frames before it are as they were.
   */
  write(message: Message, header: Partial<Header> = NO_HEADER): number {
    const { framing, writer, filled } = this;
    const room = writer.bytes.length - filled;
    let size: number;
    if (framing.overhead + typeOf(message).maxSize <= room) {
      size = frameAt(writer, filled, framing, message, header);
    } else {
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
  clear(): void {
    this.filled = 0;
  }
}

function typeOf(message: Message): MessageType {
  return message.constructor as unknown as MessageType;
}

/** A frame at a place with enough room; returns how long it is. */
function frameAt(writer: Writer, begin: number, framing: Framing, message: Message, header: Partial<Header>): number {
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
export function readMessage<M extends Message>(type: MessageType<M>, framing: Framing, frame: Frame): M {
  if (type.info === null || frame.id !== type.info.id) {
    throw new DecodeError("other_message", `expected message ${type.info?.id ?? "without id"}, found ${frame.id}`);
  }
  return decodePayload(type, frame.payload, framing.layout);
}
