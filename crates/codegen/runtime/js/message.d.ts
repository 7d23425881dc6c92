/** What generated messages are built on. */
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
export declare abstract class Message {
    /** The payload in one of the two layouts. Throws `EncodeError` when a value does not fit its field. */
    encode(layout?: Layout): Uint8Array;
    /** Appends the payload. */
    abstract $write(w: Writer, wire: boolean): void;
}
/**
 * Reads a payload. Missing bytes are defaults where the format says so, surplus ones are ignored.
 *
 * Throws `DecodeError` when bytes are missing that must be there.
 */
export declare function decodePayload<M extends Message>(type: MessageType<M>, payload: Uint8Array, layout: Layout): M;
/** The fixed layout of a new message: what fills bytes that a shorter payload lacks. */
export declare function defaultImage(type: MessageType): Uint8Array;
/** A message all of whose bytes are zero: what unused elements of arrays are, whatever their defaults. */
export declare function zeroMessage<M extends Message>(type: MessageType<M>): M;
/** A frame around a message. Throws `EncodeError` when a value does not fit, or the framing cannot carry it. */
export declare function writeMessage(framing: Framing, message: Message, header?: Partial<Header>): Uint8Array;
/**
 * Writes frames one after the other into memory that is used again: for whoever sends so many that the garbage would be
 * felt.
 */
export declare class BufferWriter {
    readonly framing: Framing;
    private readonly writer;
    private filled;
    /** Memory of yours, or so many bytes. */
    constructor(framing: Framing, memory: Uint8Array | number);
    /** The frames written: a view of the memory, good until `clear`. */
    get bytes(): Uint8Array;
    /**
     * Appends a frame and returns its length.
     *
     * Throws `EncodeError` when a value does not fit, the framing cannot carry the message, or no room is left; then the
     * frames before it are as they were.
     */
    write(message: Message, header?: Partial<Header>): number;
    /** Begins anew. */
    clear(): void;
}
/** The message in a frame of this framing. Throws `DecodeError` when it holds another one, or is damaged. */
export declare function readMessage<M extends Message>(type: MessageType<M>, framing: Framing, frame: Frame): M;
