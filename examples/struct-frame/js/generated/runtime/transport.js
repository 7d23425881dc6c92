/**
 * Transports over what a platform already has: sockets, serial ports and pipes of Node, datagrams, WebSockets of browsers
 * and of npm's `ws`. They are known by their methods alone, so that no platform's types are needed and nothing is imported.
 */
import { StructFrameError } from "./errors.js";
const CLOSED = "the link is closed";
/** Tells the receiver once that the connection closed. */
class Link {
    receiver;
    isClosed = false;
    attach(receiver) {
        if (this.receiver !== undefined) {
            throw new StructFrameError("attached", "this transport has a client already");
        }
        this.receiver = receiver;
    }
    ended(fault) {
        if (!this.isClosed) {
            this.isClosed = true;
            this.receiver?.closed(fault);
        }
    }
}
/** A stream of Node: TCP (`net.connect`), TLS, pipes, terminals, ports of npm's `serialport`. */
export class StreamTransport extends Link {
    readable;
    writable;
    constructor(readable, writable) {
        super();
        this.readable = readable;
        this.writable = writable ?? readable;
        readable.on("error", (fault) => this.ended(fault));
        readable.on("end", () => this.ended());
        readable.on("close", () => this.ended());
        if (writable !== undefined) {
            writable.on("error", (fault) => this.ended(fault));
        }
    }
    attach(receiver) {
        super.attach(receiver);
        this.readable.on("data", (bytes) => receiver.receive(bytes));
    }
    /** Sends all of these bytes; resolves when the stream has passed them on. */
    send(bytes) {
        if (this.isClosed) {
            return Promise.reject(new StructFrameError("closed", CLOSED));
        }
        return new Promise((resolve, reject) => {
            this.writable.write(bytes, (fault) => (fault ? reject(fault) : resolve()));
        });
    }
    /** Closes the stream after what was sent. */
    close() {
        this.ended();
        this.writable.end();
        if (this.readable !== this.writable) {
            this.readable.destroy?.();
        }
    }
}
/**
 * A UDP socket: a frame per datagram. With a peer that is given by its IP address, only its datagrams are read. Without
 * a peer, frames go to the sender of the last datagram.
 */
export class DatagramTransport extends Link {
    socket;
    peer;
    last;
    constructor(socket, peer) {
        super();
        this.socket = socket;
        this.peer = peer;
        // An error is about one datagram; a socket that cannot go on is closed.
        socket.on("error", (fault) => this.receiver?.failed(fault));
        socket.on("close", () => this.ended());
        socket.on("message", (bytes, from) => {
            if (this.expects(from)) {
                this.last = { address: from.address, port: from.port };
                this.receiver?.receive(bytes);
            }
        });
    }
    /** Sends a datagram. */
    send(bytes) {
        const to = this.peer ?? this.last;
        if (this.isClosed) {
            return Promise.reject(new StructFrameError("closed", CLOSED));
        }
        if (to === undefined) {
            return Promise.reject(new StructFrameError("no_peer", "no peer yet: give one, or receive a datagram first"));
        }
        return new Promise((resolve, reject) => {
            this.socket.send(bytes, to.port, to.address, (fault) => (fault ? reject(fault) : resolve()));
        });
    }
    /** Closes the socket. */
    close() {
        if (!this.isClosed) {
            this.ended();
            this.socket.close();
        }
    }
    expects(from) {
        if (this.peer === undefined) {
            return true;
        }
        // A name cannot be compared with the address that it stands for.
        const named = !/^[\d.]+$|:/.test(this.peer.address);
        return from.port === this.peer.port && (named || from.address === this.peer.address);
    }
}
/** A WebSocket: a binary message per frame. What is sent before it is open waits. */
export class WebSocketTransport extends Link {
    socket;
    opened;
    constructor(socket) {
        super();
        this.socket = socket;
        socket.binaryType = "arraybuffer";
        this.opened = new Promise((resolve, reject) => {
            if (socket.readyState > 0) {
                resolve();
            }
            socket.addEventListener("open", () => resolve());
            socket.addEventListener("close", () => {
                reject(new StructFrameError("closed", CLOSED));
                this.ended();
            });
        });
        // Whoever sends is told; nobody has to.
        this.opened.catch(() => undefined);
        // The close event follows.
        socket.addEventListener("error", (event) => this.receiver?.failed(event));
        socket.addEventListener("message", ({ data }) => {
            if (data instanceof ArrayBuffer) {
                this.receiver?.receive(new Uint8Array(data));
            }
            else {
                this.receiver?.failed(new StructFrameError("not_binary", "a text message came where frames are expected"));
            }
        });
    }
    /** Sends these bytes as one message. */
    async send(bytes) {
        await this.opened;
        if (this.isClosed || this.socket.readyState > 1) {
            throw new StructFrameError("closed", CLOSED);
        }
        const whole = bytes.byteLength === bytes.buffer.byteLength;
        this.socket.send((whole ? bytes.buffer : bytes.slice().buffer));
    }
    /** Closes the connection. */
    close() {
        this.socket.close();
    }
}
