// What links do when something is wrong. Says `done` when all is as it should be; run by `links.rs`.

import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { connect, createServer } from "node:net";
import { PassThrough } from "node:stream";
import { REGISTRY, robot } from "./generated/index.js";
import {
  Client,
  DatagramTransport,
  NETWORK,
  StreamTransport,
  WebSocketTransport,
  writeMessage,
} from "./generated/runtime/index.js";

const clientOn = (transport, faults = []) =>
  new Client(transport, NETWORK, REGISTRY, { onError: (fault) => faults.push(fault) });
const closed = { code: "closed" };
const ask = (client, timeoutMs = 5000) => client.request(new robot.Command(), robot.Acknowledge, { timeoutMs });

// Nobody listens: the program goes on, the request and every later one fail.
const faults = [];
const refused = clientOn(new StreamTransport(connect(1, "127.0.0.1")), faults);
await assert.rejects(ask(refused), closed);
await assert.rejects(ask(refused), closed);
assert.equal(faults[0].code, "ECONNREFUSED");
assert.throws(() => {
  const transport = new StreamTransport(new PassThrough());
  clientOn(transport);
  clientOn(transport);
}, { code: "attached" });

// The other side hangs up instead of answering; somebody else never answers.
const server = createServer((socket) => void socket.once("data", () => socket.destroy()));
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
await assert.rejects(ask(clientOn(new StreamTransport(connect(server.address().port, "127.0.0.1")))), closed);
server.close();
await assert.rejects(ask(clientOn(new StreamTransport(new PassThrough().resume())), 20), { code: "timeout" });

// A stream that echoes in single bytes.
const echo = new PassThrough();
const talker = clientOn({ send: (bytes) => bytes.forEach((byte) => echo.write(Uint8Array.of(byte))), attach() {} });
echo.on("data", (bytes) => talker.receive(bytes));
const heard = new Promise((resolve) => talker.subscribe(robot.Telemetry, resolve));
await talker.send(new robot.Telemetry({ rangesMm: [7] }));
assert.deepEqual((await heard).rangesMm, [7]);

// Datagrams: nobody to answer; a stranger is not read.
const answering = clientOn(new DatagramTransport(createSocket("udp4")));
await assert.rejects(answering.send(new robot.Telemetry()), { code: "no_peer" });
answering.close();
const [ours, stranger] = [createSocket("udp4"), createSocket("udp4")];
await new Promise((resolve) => ours.bind(0, "127.0.0.1", resolve));
const choosy = clientOn(new DatagramTransport(ours, { address: "127.0.0.1", port: 1 }));
choosy.subscribe(robot.Telemetry, () => assert.fail("a stranger was heard"));
await new Promise((resolve) =>
  stranger.send(writeMessage(NETWORK, new robot.Telemetry()), ours.address().port, "127.0.0.1", resolve));
await new Promise((resolve) => setTimeout(resolve, 50));
choosy.close();
stranger.close();
await assert.rejects(choosy.send(new robot.Telemetry()), closed);

// A WebSocket: what is sent early waits, text is refused, the end is told.
const listeners = new Map();
const sent = [];
const socket = {
  binaryType: "blob",
  readyState: 0,
  send: (bytes) => sent.push(bytes),
  close: () => listeners.get("close")({}),
  addEventListener: (type, listener) => listeners.set(type, listener),
};
const told = [];
const browser = clientOn(new WebSocketTransport(socket), told);
const waiting = ask(browser);
await Promise.resolve();
assert.equal(sent.length, 0);
socket.readyState = 1;
listeners.get("open")({});
await new Promise((resolve) => setTimeout(resolve, 1));
assert(sent[0] instanceof ArrayBuffer && socket.binaryType === "arraybuffer");
listeners.get("message")({ data: "hello" });
assert.equal(told[0].code, "not_binary");
listeners.get("message")({ data: writeMessage(NETWORK, new robot.Acknowledge({ note: "ok" })).slice().buffer });
assert.equal((await waiting).note, "ok");
const last = ask(browser);
browser.close();
await assert.rejects(last, closed);
await assert.rejects(browser.send(new robot.Telemetry()), closed);
console.log("done");
