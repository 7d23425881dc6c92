/** A client: messages in and out over any transport, subscriptions, and requests with answers. */

import { StructFrameError } from "./errors.js";
import type { Framing } from "./framing.js";
import { type Message, type MessageType, writeMessage } from "./message.js";
import { AccumulatingReader, type Counters, type Frame } from "./reader.js";
import type { Registry } from "./registry.js";

// Browsers and every other place have these; named here so that no platform's types are needed.
declare function setTimeout(call: () => void, milliseconds: number): unknown;
declare function clearTimeout(timer: unknown): void;

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
export class Client implements Receiver {
  private readonly transport: Transport;
  private readonly framing: Framing;
  private readonly registry: Registry;
  private readonly options: ClientOptions;
  private sequence = 0;
  private readonly reader: AccumulatingReader;
  private readonly handlers = new Map<number, Set<(message: Message, frame: Frame) => void>>();
  private readonly pending = new Set<(fault: StructFrameError) => void>();

  constructor(transport: Transport, framing: Framing, registry: Registry, options: ClientOptions = {}) {
    this.transport = transport;
    this.framing = framing;
    this.registry = registry;
    this.options = options;
    this.reader = new AccumulatingReader(framing, registry, options.capacity);
    transport.attach?.(this);
  }

  /** What the reader has counted. */
  get counters(): Readonly<Counters> {
    return this.reader.counters;
  }

  /** Sends a message; sequence numbers count up by themselves. */
  async send(message: Message): Promise<void> {
    const { system = 0, component = 0 } = this.options;
    const frame = writeMessage(this.framing, message, { sequence: this.sequence, system, component });
    this.sequence = (this.sequence + 1) & 0xff;
    await this.transport.send(frame);
  }

  /** Calls `handler` with every message of this class; the function returned ends that. */
  subscribe<M extends Message>(type: MessageType<M>, handler: (message: M, frame: Frame) => void): () => void {
    if (type.info === null) {
      throw new StructFrameError("no_message_id", "this message has no id: it can only be nested");
    }
    const id = type.info.id;
    const handlers = this.handlers.get(id) ?? new Set();
    this.handlers.set(id, handlers);
    const entry = (message: Message, frame: Frame): void => handler(message as M, frame);
    handlers.add(entry);
    return () => void handlers.delete(entry);
  }

  /** Sends a message and waits for its answer: the next message of class `response` that the predicate accepts. */
  request<M extends Message>(message: Message, response: MessageType<M>, options: RequestOptions<M> = {}): Promise<M> {
    const { predicate, timeoutMs = 5000 } = options;
    return new Promise<M>((resolve, reject) => {
      const end = (): void => {
        unsubscribe();
        clearTimeout(timer);
        this.pending.delete(fail);
      };
      const fail = (fault: unknown): void => {
        end();
        reject(fault);
      };
      const unsubscribe = this.subscribe(response, (answer) => {
        if (predicate === undefined || predicate(answer)) {
          end();
          resolve(answer);
        }
      });
      const timer = setTimeout(() => {
        fail(new StructFrameError("timeout", `no answer within ${timeoutMs} ms`));
      }, timeoutMs);
      this.pending.add(fail);
      this.send(message).catch(fail);
    });
  }

  /** Takes what the transport received and calls the handlers of what it completed. */
  receive(bytes: Uint8Array): void {
    for (const event of this.reader.read(bytes)) {
      if (event.kind === "frame") {
        this.dispatch(event);
      }
    }
  }

  /** To be called when the transport closed: an incomplete frame is dropped and waiting requests fail. */
  closed(fault?: unknown): void {
    if (fault !== undefined) {
      this.options.onError?.(fault);
    }
    this.reader.reset();
    for (const fail of [...this.pending]) {
      fail(new StructFrameError("closed", "the link closed before an answer came"));
    }
  }

  /** To be called when something arrived that is not bytes, or was lost: `onError` is told. */
  failed(fault: unknown): void {
    this.options.onError?.(fault);
  }

  /** Closes the transport, if it can be closed. */
  close(): void {
    this.transport.close?.();
  }

  private dispatch(frame: Frame): void {
    const handlers = this.handlers.get(frame.id);
    if (handlers === undefined || handlers.size === 0) {
      return;
    }
    try {
      const message = this.registry.decode(this.framing, frame);
      if (message === undefined) {
        return;
      }
      for (const handler of [...handlers]) {
        try {
          handler(message, frame);
        } catch (fault) {
          this.options.onError?.(fault);
        }
      }
    } catch (fault) {
      this.options.onError?.(fault);
    }
  }
}
