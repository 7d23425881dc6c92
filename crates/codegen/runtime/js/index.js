/** struct-frame for browsers, Node and everywhere else: framings, readers, messages, a client. No part depends on a schema. */
export { Client } from "./client.js";
export { DecodeError, EncodeError, StructFrameError } from "./errors.js";
export { BULK, checksum, Framing, IPC, NETWORK, PAYLOAD_KINDS, SENSOR, STANDARD, } from "./framing.js";
export { BufferWriter, decodePayload, defaultImage, Message, readMessage, writeMessage, zeroMessage, } from "./message.js";
export { AccumulatingReader, BufferReader, } from "./reader.js";
export { Registry } from "./registry.js";
export { DatagramTransport, StreamTransport, WebSocketTransport, } from "./transport.js";
export { onlyTruncated, Reader, sameBytes, sameList, sameUnion, } from "./wire.js";
export { Writer } from "./writer.js";
