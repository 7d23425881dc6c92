/** Which bytes stand around a payload: framings, profiles, the checksum, and writing frames. */
/**
 * The two layouts of a payload: `"wire"` is what framings with a length carry (variable messages are trimmed), `"fixed"`
 * what framings without a length carry (every field at a constant offset). The framing decides.
 */
export type Layout = "wire" | "fixed";
/** Which start bytes a frame has. */
export type HeaderKind = "none" | "tiny" | "basic";
/** What follows the start bytes; each is at the place of its number. */
export declare const PAYLOAD_KINDS: readonly ["minimal", "default", "extendedMsgIds", "extendedLength", "extended", "sysComp", "seq", "multiSystemStream", "extendedMultiSystemStream"];
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
/** A header kind and a payload kind. The five profiles have names: `STANDARD`, `SENSOR`, `IPC`, `BULK`, `NETWORK`. */
export declare class Framing {
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
    constructor(header: HeaderKind, payload: PayloadKind);
    /**
     * A frame around a payload that has this framing's layout.
     *
     * Throws `EncodeError` when the framing cannot carry the id or the payload.
     */
    write(info: MessageInfo, payload: Uint8Array, header?: Partial<Header>): Uint8Array;
    /** Puts a frame at `begin` around a payload that stands at its place already; returns how long the frame is. */
    seal(info: MessageInfo, frame: Uint8Array, size: number, header: Partial<Header>, begin?: number): number;
    /** Throws `EncodeError` when this framing cannot carry the id of a message. */
    check(info: MessageInfo): void;
}
/**
 * The checksum of the bytes from `begin` to `end` with the seeds after the base part; `payload` is where the payload
 * begins. The first sum is the low byte, the second the high byte.
 */
export declare function checksum(bytes: Uint8Array, begin: number, payload: number, end: number, info: MessageInfo | undefined): number;
export declare const STANDARD: Framing;
export declare const SENSOR: Framing;
export declare const IPC: Framing;
export declare const BULK: Framing;
export declare const NETWORK: Framing;
