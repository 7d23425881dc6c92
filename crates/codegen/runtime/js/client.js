/** A client: messages in and out over any transport, subscriptions, and requests with answers. */
import { StructFrameError } from "./errors.js";
import { writeMessage } from "./message.js";
import { AccumulatingReader } from "./reader.js";
/** Speaks one framing over a transport; over one that cannot be attached to, pass what arrives to `receive`. */
export class Client {
    transport;
    framing;
    registry;
    options;
    sequence = 0;
    reader;
    handlers = new Map();
    pending = new Set();
    constructor(transport, framing, registry, options = {}) {
        this.transport = transport;
        this.framing = framing;
        this.registry = registry;
        this.options = options;
        this.reader = new AccumulatingReader(framing, registry, options.capacity);
        transport.attach?.(this);
    }
    /** What the reader has counted. */
    get counters() {
        return this.reader.counters;
    }
    /** Sends a message; sequence numbers count up by themselves. */
    async send(message) {
        const { system = 0, component = 0 } = this.options;
        const frame = writeMessage(this.framing, message, { sequence: this.sequence, system, component });
        this.sequence = (this.sequence + 1) & 0xff;
        await this.transport.send(frame);
    }
    /** Calls `handler` with every message of this class; the function returned ends that. */
    subscribe(type, handler) {
        if (type.info === null) {
            throw new StructFrameError("no_message_id", "this message has no id: it can only be nested");
        }
        const id = type.info.id;
        const handlers = this.handlers.get(id) ?? new Set();
        this.handlers.set(id, handlers);
        const entry = (message, frame) => handler(message, frame);
        handlers.add(entry);
        return () => void handlers.delete(entry);
    }
    /** Sends a message and waits for its answer: the next message of class `response` that the predicate accepts. */
    request(message, response, options = {}) {
        const { predicate, timeoutMs = 5000 } = options;
        return new Promise((resolve, reject) => {
            const end = () => {
                unsubscribe();
                clearTimeout(timer);
                this.pending.delete(fail);
            };
            const fail = (fault) => {
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
    receive(bytes) {
        for (const event of this.reader.read(bytes)) {
            if (event.kind === "frame") {
                this.dispatch(event);
            }
        }
    }
    /** To be called when the transport closed: an incomplete frame is dropped and waiting requests fail. */
    closed(fault) {
        if (fault !== undefined) {
            this.options.onError?.(fault);
        }
        this.reader.reset();
        for (const fail of [...this.pending]) {
            fail(new StructFrameError("closed", "the link closed before an answer came"));
        }
    }
    /** To be called when something arrived that is not bytes, or was lost: `onError` is told. */
    failed(fault) {
        this.options.onError?.(fault);
    }
    /** Closes the transport, if it can be closed. */
    close() {
        this.transport.close?.();
    }
    dispatch(frame) {
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
                }
                catch (fault) {
                    this.options.onError?.(fault);
                }
            }
        }
        catch (fault) {
            this.options.onError?.(fault);
        }
    }
}
