/**
 * Transports over what a platform already has: sockets, serial ports and pipes of Node, datagrams, WebSockets of browsers
 * and of npm's `ws`. They are known by their methods alone, so that no platform's types are needed and nothing is imported.
 */
import type { Receiver, Transport } from "./client.js";
/** What can be read: a `Socket` or another `Readable` of Node. */
export interface ReadableLike {
    on(event: "data", listener: (bytes: Uint8Array) => void): unknown;
    on(event: "error", listener: (fault: Error) => void): unknown;
    on(event: "end" | "close", listener: () => void): unknown;
    destroy?(): unknown;
}
/** What can be written: a `Socket` or another `Writable` of Node. */
export interface WritableLike {
    write(bytes: Uint8Array, callback: (fault?: Error | null) => void): boolean;
    end(): unknown;
    on(event: "error", listener: (fault: Error) => void): unknown;
}
/** Tells the receiver once that the connection closed. */
declare abstract class Link {
    protected receiver: Receiver | undefined;
    protected isClosed: boolean;
    attach(receiver: Receiver): void;
    protected ended(fault?: unknown): void;
}
/** A stream of Node: TCP (`net.connect`), TLS, pipes, terminals, ports of npm's `serialport`. */
export declare class StreamTransport extends Link implements Transport {
    private readonly readable;
    private readonly writable;
    /** Over a stream in both directions, or over one for each. */
    constructor(readable: ReadableLike & WritableLike);
    constructor(readable: ReadableLike, writable: WritableLike);
    attach(receiver: Receiver): void;
    /** Sends all of these bytes; resolves when the stream has passed them on. */
    send(bytes: Uint8Array): Promise<void>;
    /** Closes the stream after what was sent. */
    close(): void;
}
/** Where datagrams go. */
export interface Peer {
    address: string;
    port: number;
}
/** What a UDP socket of `node:dgram` does. */
export interface DatagramSocketLike {
    send(bytes: Uint8Array, port: number, address: string, callback: (fault: Error | null) => void): void;
    on(event: "message", listener: (bytes: Uint8Array, from: Peer) => void): unknown;
    on(event: "error", listener: (fault: Error) => void): unknown;
    on(event: "close", listener: () => void): unknown;
    close(): unknown;
}
/**
 * A UDP socket: a frame per datagram. With a peer that is given by its IP address, only its datagrams are read. Without
 * a peer, frames go to the sender of the last datagram.
 */
export declare class DatagramTransport extends Link implements Transport {
    private readonly socket;
    private readonly peer;
    private last;
    constructor(socket: DatagramSocketLike, peer?: Peer);
    /** Sends a datagram. */
    send(bytes: Uint8Array): Promise<void>;
    /** Closes the socket. */
    close(): void;
    private expects;
}
/** What a WebSocket does: that of browsers, of Node 22 and of npm's `ws`. */
export interface WebSocketLike {
    binaryType: string;
    readonly readyState: number;
    send(bytes: ArrayBuffer): void;
    close(): void;
    addEventListener(type: "message", listener: (event: {
        data: unknown;
    }) => void): void;
    addEventListener(type: "open" | "close" | "error", listener: (event: object) => void): void;
}
/** A WebSocket: a binary message per frame. What is sent before it is open waits. */
export declare class WebSocketTransport extends Link implements Transport {
    private readonly socket;
    private readonly opened;
    constructor(socket: WebSocketLike);
    /** Sends these bytes as one message. */
    send(bytes: Uint8Array): Promise<void>;
    /** Closes the connection. */
    close(): void;
}
export {};
