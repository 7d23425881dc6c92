/**
 * Finding frames in bytes: the one state machine, and the two readers around it.
 *
 * The *primary* search decides about one position after the other. When a complete frame fails there, it is reported, the
 * primary goes on behind it, and its inside is searched for good frames of known messages. A candidate in there that
 * reaches beyond the failed frame cannot be judged yet and nothing waits for it: its place stays `open` until the primary
 * next completes a frame, or the input ends. Every decision depends on bytes up to a position that the bytes themselves
 * determine; therefore every way of splitting the input gives the same events.
 */
import { type Framing, type Header, type MessageInfo } from "./framing.js";
/** Knows messages by their effective id. */
export interface Lookup {
    messageInfo(id: number): MessageInfo | undefined;
}
/** A good frame. */
export interface Frame {
    readonly kind: "frame";
    readonly id: number;
    readonly header: Header;
    readonly payload: Uint8Array;
    readonly info: MessageInfo | undefined;
    readonly start: number;
    readonly end: number;
    /** True when it was found inside damaged bytes. */
    readonly recovered: boolean;
}
/** A complete frame whose checksum is wrong. Nothing in it can be relied upon. */
export interface BadChecksum {
    readonly kind: "badChecksum";
    readonly id: number;
    readonly header: Header;
    readonly len: number;
    readonly start: number;
    readonly end: number;
    /** The checksum computed, its first byte lowest. */
    readonly expected: number;
    /** The checksum in the frame. */
    readonly found: number;
}
/** Bytes between frames. */
export interface Skipped {
    readonly kind: "skipped";
    readonly start: number;
    readonly end: number;
}
/** A frame that was not complete when the input ended. */
export interface Truncated {
    readonly kind: "truncated";
    readonly start: number;
    readonly end: number;
}
/** What a reader found. */
export type Event = Frame | BadChecksum | Skipped | Truncated;
/** What a reader has counted. */
export interface Counters {
    frames: number;
    recovered: number;
    unknownIds: number;
    crcFailures: number;
    syncRecoveries: number;
    failedBytes: number;
    noiseBytes: number;
    lenErrors: number;
    seqGaps: number;
}
/** Reads a whole buffer: iterate over it for all events, or over `frames()` for the good ones only. */
export declare class BufferReader implements Iterable<Event> {
    private readonly machine;
    private readonly window;
    constructor(framing: Framing, lookup: Lookup, bytes: Uint8Array);
    /** What was counted. */
    get counters(): Readonly<Counters>;
    /** Bytes of the incomplete frame that is left, after `tryNext` returned `undefined`. */
    get partialLen(): number;
    /** The next event, or `undefined` when only an incomplete frame, noise or nothing is left. */
    tryNext(): Event | undefined;
    [Symbol.iterator](): Iterator<Event>;
    /** The good frames. */
    frames(): Generator<Frame>;
}
/**
 * Reads chunks of any size, down to one byte, and holds at most `capacity` bytes between them.
 *
 * A frame longer than `capacity` is passed over as if its start bytes were noise. To find every good frame behind a damaged
 * length, there should be room for two frames of the longest kind.
 */
export declare class AccumulatingReader {
    private readonly machine;
    private buffer;
    private filled;
    /** Position of the first byte that is held. */
    private base;
    constructor(framing: Framing, lookup: Lookup, capacity?: number);
    /** What was counted. */
    get counters(): Readonly<Counters>;
    /** Bytes of the incomplete frame that is waited for. */
    get partialLen(): number;
    /** Reads a chunk and returns what it completed. */
    read(chunk: Uint8Array): Event[];
    /** Ends the stream: what is left over, also good frames inside an incomplete one. */
    finish(): Event[];
    /** Forgets an incomplete frame and the last sequence number. */
    reset(): void;
    /** Sets all counters to zero. */
    resetCounters(): void;
    private drain;
    private append;
}
