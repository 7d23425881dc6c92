/** Which bytes stand around a payload: framings, profiles, the checksum, and writing frames. */

import { EncodeError } from "./errors.js";

/**
 * The two layouts of a payload: `"wire"` is what framings with a length carry (variable messages are trimmed), `"fixed"`
 * what framings without a length carry (every field at a constant offset). The framing decides.
 */
export type Layout = "wire" | "fixed";

/** Which start bytes a frame has. */
export type HeaderKind = "none" | "tiny" | "basic";

/** What follows the start bytes; each is at the place of its number. */
export const PAYLOAD_KINDS = [
  "minimal",
  "default",
  "extendedMsgIds",
  "extendedLength",
  "extended",
  "sysComp",
  "seq",
  "multiSystemStream",
  "extendedMultiSystemStream",
] as const;

/** What follows the start bytes. */
export type PayloadKind = (typeof PAYLOAD_KINDS)[number];

/** What readers and writers need to know about a message. */
export interface MessageInfo {
  readonly id: number;
  readonly maxSize: number;
  readonly baseSize: number;
  readonly minSize: number;
  readonly magic: readonly [number, number];
}

/** What a frame says besides id and payload; zero where its framing has no such field. */
export interface Header {
  readonly sequence: number;
  readonly system: number;
  readonly component: number;
}

// Payload kinds: sequence, system and component, bytes of the length, package.
const ROWS: readonly (readonly [boolean, boolean, number, boolean])[] = [
  [false, false, 0, false],
  [false, false, 1, false],
  [false, false, 1, true],
  [false, false, 2, false],
  [false, false, 2, true],
  [false, true, 1, false],
  [true, false, 1, false],
  [true, true, 1, false],
  [true, true, 2, true],
];

/** A header kind and a payload kind. The five profiles have names: `STANDARD`, `SENSOR`, `IPC`, `BULK`, `NETWORK`. */
export class Framing {
  readonly header: HeaderKind;
  readonly payload: PayloadKind;
  /** The start bytes. */
  readonly start: readonly number[];
  readonly hasSequence: boolean;
  readonly hasSystem: boolean;
  /** Bytes of the length; 0 when frames have none. */
  readonly lenBytes: number;
  readonly hasPackage: boolean;
  /** True when frames say how long their payload is; exactly then they also have a checksum. */
  readonly hasLength: boolean;
  readonly layout: Layout;
  /** Bytes before the payload. */
  readonly headerLen: number;
  /** Bytes after the payload. */
  readonly trailerLen: number;
  /** Both. */
  readonly overhead: number;
  readonly maxPayloadLen: number;

  constructor(header: HeaderKind, payload: PayloadKind) {
    this.header = header;
    this.payload = payload;
    const number = PAYLOAD_KINDS.indexOf(payload);
    const row = ROWS[number];
    if (row === undefined) {
      throw new EncodeError("unknown_payload_kind", `no payload kind ${String(payload)}`);
    }
    const kind = 0x70 + number;
    this.start = header === "none" ? [] : header === "tiny" ? [kind] : [0x90, kind];
    [this.hasSequence, this.hasSystem, this.lenBytes, this.hasPackage] = row;
    this.hasLength = this.lenBytes > 0;
    this.layout = this.hasLength ? "wire" : "fixed";
    const fields = Number(this.hasSequence) + 2 * Number(this.hasSystem) + this.lenBytes + Number(this.hasPackage) + 1;
    this.headerLen = this.start.length + fields;
    this.trailerLen = this.hasLength ? 2 : 0;
    this.overhead = this.headerLen + this.trailerLen;
    this.maxPayloadLen = this.lenBytes === 1 ? 0xff : 0xffff;
  }

  /**
   * A frame around a payload that has this framing's layout.
   *
   * Throws `EncodeError` when the framing cannot carry the id or the payload.
   */
  write(info: MessageInfo, payload: Uint8Array, header: Partial<Header> = {}): Uint8Array {
    const frame = new Uint8Array(this.overhead + payload.length);
    frame.set(payload, this.headerLen);
    this.seal(info, frame, payload.length, header);
    return frame;
  }

  /** Puts a frame at `begin` around a payload that stands at its place already; returns how long the frame is. */
  seal(info: MessageInfo, frame: Uint8Array, size: number, header: Partial<Header>, begin = 0): number {
    this.check(info);
    if (!this.hasLength && size !== info.maxSize) {
      const words = `payload of ${size} bytes, a framing without length needs exactly ${info.maxSize}`;
      throw new EncodeError("payload_not_whole", words);
    }
    if (size > this.maxPayloadLen) {
      const words = `payload of ${size} bytes, the framing carries at most ${this.maxPayloadLen}`;
      throw new EncodeError("payload_too_long", words);
    }
    let at = begin;
    for (let index = 0; index < this.start.length; index++) {
      frame[at++] = this.start[index] as number;
    }
    if (this.hasSequence) {
      frame[at++] = byteOf(header.sequence, "sequence");
    }
    if (this.hasSystem) {
      frame[at++] = byteOf(header.system, "system");
      frame[at++] = byteOf(header.component, "component");
    }
    if (this.lenBytes > 0) {
      frame[at++] = size & 0xff;
    }
    if (this.lenBytes > 1) {
      frame[at++] = size >> 8;
    }
    if (this.hasPackage) {
      frame[at++] = info.id >> 8;
    }
    frame[at++] = info.id & 0xff;
    if (this.hasLength) {
      const sums = checksum(frame, begin + this.start.length, at, at + size, info);
      frame[at + size] = sums & 0xff;
      frame[at + size + 1] = sums >> 8;
    }
    return this.overhead + size;
  }

  /** Throws `EncodeError` when this framing cannot carry the id of a message. */
  check(info: MessageInfo): void {
    if (info.id > 0xff && !this.hasPackage) {
      const words = `id ${info.id} does not fit into a framing without package id (at most 255)`;
      throw new EncodeError("id_too_large", words);
    }
  }
}

function byteOf(value: number | undefined, what: string): number {
  const byte = value ?? 0;
  if ((byte & 0xff) !== byte) {
    throw new EncodeError("header_out_of_range", `${what} ${String(byte)} does not fit into a byte`);
  }
  return byte;
}

/**
 * The checksum of the bytes from `begin` to `end` with the seeds after the base part; `payload` is where the payload
 * begins. The first sum is the low byte, the second the high byte.
 */
export function checksum(
  bytes: Uint8Array,
  begin: number,
  payload: number,
  end: number,
  info: MessageInfo | undefined,
): number {
  const split = info === undefined ? end : Math.min(payload + info.baseSize, end);
  let a = 0;
  let b = 0;
  for (let at = begin; at < split; at++) {
    a = (a + (bytes[at] as number)) | 0;
    b = (b + a) | 0;
  }
  a = (a + (info === undefined ? 0 : info.magic[0])) | 0;
  b = (b + a) | 0;
  a = (a + (info === undefined ? 0 : info.magic[1])) | 0;
  b = (b + a) | 0;
  for (let at = split; at < end; at++) {
    a = (a + (bytes[at] as number)) | 0;
    b = (b + a) | 0;
  }
  return (a & 0xff) | ((b & 0xff) << 8);
}

export const STANDARD: Framing = new Framing("basic", "default");
export const SENSOR: Framing = new Framing("tiny", "minimal");
export const IPC: Framing = new Framing("none", "minimal");
export const BULK: Framing = new Framing("basic", "extended");
export const NETWORK: Framing = new Framing("basic", "extendedMultiSystemStream");
