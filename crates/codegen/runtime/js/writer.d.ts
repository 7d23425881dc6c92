/** Payloads, written from front to back: what generated code calls. */
import type { UnionStyle, VariantCodec } from "./wire.js";
/** Writes a payload, into memory that may have been used before. */
export declare class Writer {
    /** What is written into. */
    readonly bytes: Uint8Array;
    /** Where the next byte goes. */
    at: number;
    private readonly view;
    constructor(memory: Uint8Array | number);
    /**
     * A writer with room for so many bytes, to be given back with `release`: making memory for every message would take
     * longer than writing it.
     */
    static borrow(size: number): Writer;
    release(): void;
    /** What was written, copied. */
    finish(): Uint8Array;
    u8(value: number, field: string): void;
    i8(value: number, field: string): void;
    u16(value: number, field: string): void;
    i16(value: number, field: string): void;
    u32(value: number, field: string): void;
    i32(value: number, field: string): void;
    u64(value: bigint, field: string): void;
    i64(value: bigint, field: string): void;
    f32(value: number, field: string): void;
    f64(value: number, field: string): void;
    bool(value: boolean, field: string): void;
    u8s(items: readonly number[], field: string): void;
    i8s(items: readonly number[], field: string): void;
    u16s(items: readonly number[], field: string): void;
    i16s(items: readonly number[], field: string): void;
    u32s(items: readonly number[], field: string): void;
    i32s(items: readonly number[], field: string): void;
    u64s(items: readonly bigint[], field: string): void;
    i64s(items: readonly bigint[], field: string): void;
    f32s(items: readonly number[], field: string): void;
    f64s(items: readonly number[], field: string): void;
    bools(items: readonly boolean[], field: string): void;
    /** Text padded with zeros. */
    fixedText(value: string, size: number, field: string): void;
    /** Bytes padded with zeros. */
    fixedBlob(value: Uint8Array, size: number, field: string): void;
    /** A length and text. */
    text(value: string, prefix: number, limit: number, trim: boolean, field: string): void;
    /** A length and bytes. */
    blob(value: Uint8Array, prefix: number, limit: number, trim: boolean, field: string): void;
    /** The elements of an array that always has this many. */
    items<T>(items: readonly T[], count: number, field: string): readonly T[];
    /** A count; the elements that come after it are returned. */
    list<T>(items: readonly T[], prefix: number, limit: number, field: string): readonly T[];
    /** A union that has a tag. */
    union(value: {
        which: string | null;
    } | null, variants: readonly VariantCodec[], tagLen: number, region: number, minSize: number, style: UnionStyle, field: string): void;
    /** A union without a tag. */
    region(value: Uint8Array, size: number, field: string): void;
    /** Zero bytes; for a few a loop is faster than a call. */
    zeros(count: number): void;
    private count;
    private prefixed;
    private padded;
    private room;
}
