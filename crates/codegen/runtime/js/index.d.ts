/** struct-frame for browsers, Node and everywhere else: framings, readers, messages, a client. No part depends on a schema. */
export { Client, type ClientOptions, type Receiver, type RequestOptions, type Transport } from "./client.js";
export { DecodeError, EncodeError, StructFrameError } from "./errors.js";
export { BULK, checksum, Framing, type Header, type HeaderKind, IPC, type Layout, type MessageInfo, NETWORK, PAYLOAD_KINDS, type PayloadKind, SENSOR, STANDARD, } from "./framing.js";
export { BufferWriter, decodePayload, defaultImage, Message, type MessageType, readMessage, writeMessage, zeroMessage, } from "./message.js";
export { AccumulatingReader, type BadChecksum, BufferReader, type Counters, type Event, type Frame, type Lookup, type Skipped, type Truncated, } from "./reader.js";
export { Registry } from "./registry.js";
export { type DatagramSocketLike, DatagramTransport, type Peer, type ReadableLike, StreamTransport, type WebSocketLike, WebSocketTransport, type WritableLike, } from "./transport.js";
export { onlyTruncated, Reader, sameBytes, sameList, sameUnion, type UnionStyle, type UnknownVariant, type VariantCodec, } from "./wire.js";
export { Writer } from "./writer.js";
