/** Payloads, read from front to back and compared: what generated code calls. */
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
/** Reads a payload. */
export declare class Reader {
    private readonly view;
    private readonly bytes;
    private at;
    /** Where the payload ends. */
    private end;
    constructor(bytes: Uint8Array);
    /**
     * A reader of a copy of the payload, to be given back with `release`; what the payload is shorter than `fill` comes from
     * there.
     */
    static borrow(payload: Uint8Array, fill: Uint8Array | undefined): Reader;
    release(): void;
    u8(): number;
    i8(): number;
    u16(): number;
    i16(): number;
    u32(): number;
    i32(): number;
    u64(): bigint;
    i64(): bigint;
    f32(): number;
    f64(): number;
    bool(): boolean;
    /** Text up to its first zero byte. */
    fixedText(size: number): string;
    /** So many bytes, copied. */
    fixedBlob(size: number): Uint8Array;
    /** A length and text. */
    text(prefix: number, limit: number, trimmed: boolean): string;
    /** A length and bytes. */
    blob(prefix: number, limit: number, trimmed: boolean): Uint8Array;
    /** An array that always has this many elements. */
    items<T>(count: number, read: (r: Reader) => T): T[];
    /** A count and elements. */
    list<T>(prefix: number, limit: number, unit: number, trimmed: boolean, read: (r: Reader) => T): T[];
    /** A union that has a tag; `last` says whether anything follows it. */
    union(variants: readonly VariantCodec[], tagLen: number, region: number, minSize: number, style: UnionStyle, last: boolean): {
        which: string;
        value: unknown;
    } | UnknownVariant | null;
    /** A union without a tag, copied; the region of an older sender ends with its base. */
    region(region: number, base: number): Uint8Array;
    /** Passes over bytes. */
    skip(size: number): number;
    private take;
    private need;
    private truncated;
    /** Clamped in the fixed layout; in the trimmed one nothing behind a false count could be found. */
    private count;
}
/** Throws everything but the end of the payload, which an older sender may have reached before our extension fields. */
export declare function onlyTruncated(fault: unknown): void;
/** True when both hold the same, element by element. */
export declare function sameList<T>(a: readonly T[], b: readonly T[], same: (a: T, b: T) => boolean): boolean;
/** True when both are the same bytes. */
export declare function sameBytes(a: Uint8Array, b: Uint8Array): boolean;
/** True when both unions hold the same. */
export declare function sameUnion(a: {
    which: string | null;
} | null, b: {
    which: string | null;
} | null, variants: readonly VariantCodec[]): boolean;
