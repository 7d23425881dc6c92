// One end of a link: `peer.js robot|operator tcp|udp|serial|ws|browser [PORT or PATH]`. What it says is checked by `links.rs`.

import { createSocket } from "node:dgram";
import { constants, openSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { ReadStream, WriteStream } from "node:tty";
import { REGISTRY, robot } from "./generated/index.js";
import {
  Client,
  DatagramTransport,
  NETWORK,
  StreamTransport,
  StructFrameError,
  type Transport,
  type WebSocketLike,
  WebSocketTransport,
} from "./generated/runtime/index.js";

/** What is used of npm's `ws`, whose types are not installed. */
interface Ws {
  WebSocket: new (url: string) => WebSocketLike;
  WebSocketServer: new (options: { port: number; host: string }) => {
    address(): AddressInfo;
    on(event: "connection", listener: (socket: WebSocketLike) => void): void;
    on(event: "listening", listener: () => void): void;
    close(): void;
  };
}

const LOG = Uint8Array.from({ length: 250 }, (_, index) => index);
const HOST = "127.0.0.1";
const ws = (): Ws => createRequire(`${process.env["FW_NODE_MODULES"]}/`)("ws") as Ws;

function openSerial(path: string): Transport {
  const flags = constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK;
  return new StreamTransport(new ReadStream(openSync(path, flags)).setRawMode(true), new WriteStream(openSync(path, flags)));
}

/** The transport of a robot, when somebody is there. */
function listen(kind: string, place: string): Promise<Transport> {
  return new Promise((resolve) => {
    if (kind === "tcp") {
      const server = createServer((socket: Socket) => {
        server.close();
        resolve(new StreamTransport(socket));
      });
      server.listen(0, HOST, () => console.log("ready", (server.address() as AddressInfo).port));
    } else if (kind === "ws") {
      const server = new (ws().WebSocketServer)({ port: 0, host: HOST });
      server.on("listening", () => console.log("ready", server.address().port));
      server.on("connection", (socket) => {
        server.close();
        resolve(new WebSocketTransport(socket));
      });
    } else if (kind === "udp") {
      const socket = createSocket("udp4");
      socket.bind(0, HOST, () => {
        console.log("ready", socket.address().port);
        resolve(new DatagramTransport(socket));
      });
    } else {
      resolve(openSerial(place));
      console.log("ready");
    }
  });
}

async function serve(kind: string, place: string): Promise<void> {
  const client = new Client(await listen(kind, place), NETWORK, REGISTRY, { system: 1 });
  let ended = false;
  client.subscribe(robot.Command, ({ sequence, order }) => {
    const answer = new robot.Acknowledge({ sequence, log: LOG });
    if (order?.which === "goTo") {
      answer.accepted = order.value.target.x === 1.5 && order.value.speed === 0.75;
      answer.note = "node: go";
    } else if (order?.which === "halt") {
      ended = order.value.reason === "hang up";
      answer.accepted = true;
      answer.note = `node: ${order.value.reason}`;
    }
    if (!ended) {
      void client.send(answer);
    }
  });
  while (!ended) {
    // Over UDP nobody is there before the first command.
    await client.send(new robot.Telemetry({ rangesMm: Array(32).fill(7) })).catch(() => undefined);
    await sleep(20);
  }
  client.close();
}

function open(kind: string, place: string): Transport {
  switch (kind) {
    case "tcp":
      return new StreamTransport(connect(Number(place), HOST));
    case "ws":
      return new WebSocketTransport(new (ws().WebSocket)(`ws://${HOST}:${place}/`));
    case "browser": {
      // The class of browsers, which Node has too; its types are not those of Node 20.
      const { WebSocket } = globalThis as unknown as Ws;
      return new WebSocketTransport(new WebSocket(`ws://${HOST}:${place}/`));
    }
    case "udp":
      return new DatagramTransport(createSocket("udp4"), { address: HOST, port: Number(place) });
    default:
      return openSerial(place);
  }
}

async function operate(kind: string, place: string): Promise<void> {
  const client = new Client(open(kind, place), NETWORK, REGISTRY, { system: 2 });
  let seen = 0;
  client.subscribe(robot.Telemetry, ({ rangesMm }) => void (seen += rangesMm.length / 32));
  const target = new robot.Vector3({ x: 1.5 });
  const words: string[] = [];
  const orders: robot.CommandOrder[] = [
    { which: "goTo", value: new robot.GoTo({ target, speed: 0.75 }) },
    { which: "halt", value: new robot.Halt({ reason: "grüße" }) },
  ];
  for (const [index, order] of orders.entries()) {
    const command = new robot.Command({ sequence: index + 1, order });
    const predicate = (answer: robot.Acknowledge): boolean => answer.sequence === command.sequence;
    const answer = await client.request(command, robot.Acknowledge, { predicate });
    if (!answer.accepted || answer.log.join() !== LOG.join()) throw new Error(`not the answer: ${answer.note}`);
    words.push(answer.note);
  }
  for (let tries = 0; seen < 3 && tries < 250; tries++) await sleep(20);
  if (seen < 3 || client.counters.crcFailures > 0) throw new Error("telemetry is missing or damaged");
  const last = new robot.Command({ sequence: 3, order: { which: "halt", value: new robot.Halt({ reason: "hang up" }) } });
  if (kind === "tcp" || kind === "ws" || kind === "browser") {
    await client.request(last, robot.Acknowledge, { timeoutMs: 4000 }).catch((fault: unknown) => {
      if (fault instanceof StructFrameError) words.push(fault.code);
    });
  } else {
    await client.send(last);
  }
  client.close();
  console.log(words.join(", "));
}

const [role, kind = "tcp", place = ""] = process.argv.slice(2);
await (role === "robot" ? serve : operate)(kind, place);
// What waits for a terminal cannot be taken back.
process.exit();
