/** A client: messages in and out over any transport, subscriptions, and requests with answers. */
import type { Framing } from "./framing.js";
import { type Message, type MessageType } from "./message.js";
import { type Counters, type Frame } from "./reader.js";
import type { Registry } from "./registry.js";
/** What a client sends through: a socket, a serial port, a pipe. */
export interface Transport {
    /** Sends all of these bytes. */
    send(bytes: Uint8Array): void | Promise<void>;
    /** Passes to the receiver what arrives from now on. A client calls it; without it, call `receive` of the client yourself. */
    attach?(receiver: Receiver): void;
    /** Closes the connection. */
    close?(): void;
}
/** Takes what arrives: a client. */
export interface Receiver {
    /** Bytes arrived. */
    receive(bytes: Uint8Array): void;
    /** Something arrived that is not bytes, or was lost; the connection goes on. */
    failed(fault: unknown): void;
    /** The connection closed; `fault` is the reason when it did not close as it should. */
    closed(fault?: unknown): void;
}
/** How a client behaves. */
export interface ClientOptions {
    system?: number;
    component?: number;
    /** How many bytes the reader holds at most. */
    capacity?: number;
    /** Told about messages that cannot be read and about handlers that throw. */
    onError?: (fault: unknown) => void;
}
/** How a request waits. */
export interface RequestOptions<M> {
    /** Accepts the answer; any message of the class does when it is not given. */
    predicate?: (answer: M) => boolean;
    /** Five seconds when it is not given. */
    timeoutMs?: number;
}
/** Speaks one framing over a transport; over one that cannot be attached to, pass what arrives to `receive`. */
export declare class Client implements Receiver {
    private readonly transport;
    private readonly framing;
    private readonly registry;
    private readonly options;
    private sequence;
    private readonly reader;
    private readonly handlers;
    private readonly pending;
    constructor(transport: Transport, framing: Framing, registry: Registry, options?: ClientOptions);
    /** What the reader has counted. */
    get counters(): Readonly<Counters>;
    /** Sends a message; sequence numbers count up by themselves. */
    send(message: Message): Promise<void>;
    /** Calls `handler` with every message of this class; the function returned ends that. */
    subscribe<M extends Message>(type: MessageType<M>, handler: (message: M, frame: Frame) => void): () => void;
    /** Sends a message and waits for its answer: the next message of class `response` that the predicate accepts. */
    request<M extends Message>(message: Message, response: MessageType<M>, options?: RequestOptions<M>): Promise<M>;
    /** Takes what the transport received and calls the handlers of what it completed. */
    receive(bytes: Uint8Array): void;
    /** To be called when the transport closed: an incomplete frame is dropped and waiting requests fail. */
    closed(fault?: unknown): void;
    /** To be called when something arrived that is not bytes, or was lost: `onError` is told. */
    failed(fault: unknown): void;
    /** Closes the transport, if it can be closed. */
    close(): void;
    private dispatch;
}
