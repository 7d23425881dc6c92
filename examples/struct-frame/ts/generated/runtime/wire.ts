/** Payloads, read from front to back and compared: what generated code calls. */

import { DecodeError } from "./errors.js";
import { decodeText } from "./text.js";
import type { Writer } from "./writer.js";

/** A tag that this schema does not know, and what stands in the union's region. */
export interface UnknownVariant {
  which: null;
  tag: number;
  region: Uint8Array;
}

/** How a union is written: whole, with the member's own bytes, or with a length in front of them. */
export type UnionStyle = "full" | "trimmed" | "prefixed";

/** How one member of a union is written, read and compared. */
export interface VariantCodec {
  readonly which: string;
  readonly tag: number;
  readonly size: number;
  write(w: Writer, value: never): void;
  read(r: Reader): unknown;
  same(a: never, b: never): boolean;
  /** What fills the bytes that a shorter member lacks; zeros when it is not there. */
  fill?(): Uint8Array;
}

// Memory of readers at first; it grows with what is read.
const ROOM = 1024;
let spareReader: Reader | undefined;

/** Reads a payload. */
export class Reader {
  private readonly view: DataView;
  private readonly bytes: Uint8Array;
  private at = 0;
  /** Where the payload ends. */
  private end: number;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.end = bytes.length;
  }

  /**
   * A reader of a copy of the payload, to be given back with `release`; what the payload is shorter than `fill` comes from
   * there.
   */
  static borrow(payload: Uint8Array, fill: Uint8Array | undefined): Reader {
    const size = Math.max(payload.length, fill === undefined ? 0 : fill.length);
    let reader = spareReader;
    if (reader === undefined || reader.bytes.length < size) {
      reader = new Reader(new Uint8Array(Math.max(size, ROOM)));
    }
    spareReader = undefined;
    reader.at = 0;
    reader.end = size;
    if (fill !== undefined) {
      reader.bytes.set(fill);
    }
    reader.bytes.set(payload);
    return reader;
  }

  release(): void {
    spareReader = this;
  }

  u8(): number {
    return this.view.getUint8(this.skip(1));
  }

  i8(): number {
    return this.view.getInt8(this.skip(1));
  }

  u16(): number {
    return this.view.getUint16(this.skip(2), true);
  }

  i16(): number {
    return this.view.getInt16(this.skip(2), true);
  }

  u32(): number {
    return this.view.getUint32(this.skip(4), true);
  }

  i32(): number {
    return this.view.getInt32(this.skip(4), true);
  }

  u64(): bigint {
    return this.view.getBigUint64(this.skip(8), true);
  }

  i64(): bigint {
    return this.view.getBigInt64(this.skip(8), true);
  }

  f32(): number {
    return this.view.getFloat32(this.skip(4), true);
  }

  f64(): number {
    return this.view.getFloat64(this.skip(8), true);
  }

  bool(): boolean {
    return this.view.getUint8(this.skip(1)) !== 0;
  }

  /** Text up to its first zero byte. */
  fixedText(size: number): string {
    const at = this.skip(size);
    let end = at;
    while (end < at + size && this.bytes[end] !== 0) end += 1;
    return decodeText(this.bytes, at, end);
  }

  /** So many bytes, copied. */
  fixedBlob(size: number): Uint8Array {
    const at = this.skip(size);
    return this.bytes.slice(at, at + size);
  }

  /** A length and text. */
  text(prefix: number, limit: number, trimmed: boolean): string {
    const size = this.count(prefix, limit, trimmed);
    const at = this.skip(trimmed ? size : limit);
    return decodeText(this.bytes, at, at + size);
  }

  /** A length and bytes. */
  blob(prefix: number, limit: number, trimmed: boolean): Uint8Array {
    const size = this.count(prefix, limit, trimmed);
    const at = this.skip(trimmed ? size : limit);
    return this.bytes.slice(at, at + size);
  }

  /** An array that always has this many elements. */
  items<T>(count: number, read: (r: Reader) => T): T[] {
    const items: T[] = [];
    for (let index = 0; index < count; index++) {
      items.push(read(this));
    }
    return items;
  }

  /** A count and elements. */
  list<T>(prefix: number, limit: number, unit: number, trimmed: boolean, read: (r: Reader) => T): T[] {
    const count = this.count(prefix, limit, trimmed);
    this.need(count * unit);
    const items = this.items(count, read);
    if (!trimmed) {
      this.skip(unit * (limit - count));
    }
    return items;
  }

  /** A union that has a tag; `last` says whether anything follows it. */
  union(
    variants: readonly VariantCodec[],
    tagLen: number,
    region: number,
    minSize: number,
    style: UnionStyle,
    last: boolean,
  ): { which: string; value: unknown } | UnknownVariant | null {
    const begin = this.at;
    const tag = tagLen === 1 ? this.u8() : this.u16();
    const known = variants.find((variant) => variant.tag === tag);
    const size = known === undefined ? 0 : known.size;
    let held: Uint8Array;
    if (known !== undefined && style !== "prefixed") {
      // All of it is here: read where it stands.
      const at = this.skip(style === "full" ? region : Math.max(size, minSize));
      const end = this.at;
      this.at = at;
      const value = known.read(this);
      this.at = end;
      return { which: known.which, value };
    }
    if (style === "full") {
      held = this.take(region);
    } else if (style === "prefixed") {
      held = this.take(this.u16());
    } else if (tag !== 0) {
      if (!last) {
        throw new DecodeError("unknown_tag", `unknown tag ${tag} hides what follows at byte ${begin}`);
      }
      held = this.take(this.end - this.at);
    } else {
      held = this.take(0);
      this.skip(minSize);
    }
    if (known === undefined) {
      if (tag === 0) {
        return null;
      }
      const whole = new Uint8Array(region);
      whole.set(held.subarray(0, region));
      return { which: null, tag, region: whole };
    }
    if (held.length < size) {
      // A shorter member is completed with its defaults.
      const whole = known.fill === undefined ? new Uint8Array(size) : known.fill().slice();
      whole.set(held);
      held = whole;
    }
    return { which: known.which, value: known.read(new Reader(held)) };
  }

  /** A union without a tag, copied; the region of an older sender ends with its base. */
  region(region: number, base: number): Uint8Array {
    const whole = new Uint8Array(region);
    whole.set(this.take(Math.min(region, Math.max(this.end - this.at, base))));
    return whole;
  }

  /** Passes over bytes. */
  skip(size: number): number {
    const at = this.at;
    if (at + size > this.end) throw this.truncated(size);
    this.at = at + size;
    return at;
  }

  private take(size: number): Uint8Array {
    const at = this.skip(size);
    return this.bytes.subarray(at, at + size);
  }

  private need(size: number): void {
    if (this.at + size > this.end) throw this.truncated(size);
  }

  private truncated(size: number): DecodeError {
    const words = `need ${size} bytes, have ${this.end - this.at} at byte ${this.at}`;
    return new DecodeError("truncated", words);
  }

  /** Clamped in the fixed layout; in the trimmed one nothing behind a false count could be found. */
  private count(prefix: number, limit: number, trimmed: boolean): number {
    const at = this.at;
    const count = prefix === 1 ? this.u8() : this.u16();
    if (count > limit && trimmed) {
      throw new DecodeError("count_exceeds_bound", `count ${count} exceeds the bound ${limit} at byte ${at}`);
    }
    return Math.min(count, limit);
  }
}

/** Throws everything but the end of the payload, which an older sender may have reached before our extension fields. */
export function onlyTruncated(fault: unknown): void {
  if (!(fault instanceof DecodeError && fault.code === "truncated")) {
    throw fault;
  }
}

/** True when both hold the same, element by element. */
export function sameList<T>(a: readonly T[], b: readonly T[], same: (a: T, b: T) => boolean): boolean {
  return a.length === b.length && a.every((item, index) => same(item, b[index] as T));
}

/** True when both are the same bytes. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

/** True when both unions hold the same. */
export function sameUnion(
  a: { which: string | null } | null,
  b: { which: string | null } | null,
  variants: readonly VariantCodec[],
): boolean {
  if (a === null || b === null || a.which !== b.which) {
    return a === b;
  }
  if (a.which === null) {
    const [x, y] = [a as UnknownVariant, b as UnknownVariant];
    return x.tag === y.tag && sameBytes(x.region, y.region);
  }
  const variant = variants.find((known) => known.which === a.which);
  const [x, y] = [a as unknown as { value: never }, b as unknown as { value: never }];
  return variant !== undefined && variant.same(x.value, y.value);
}
