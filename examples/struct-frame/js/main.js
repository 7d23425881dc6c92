// @ts-check
// A robot and an operator talk over a TCP socket; both run here.

import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { REGISTRY, robot } from "./generated/index.js";
import { Client, NETWORK, StreamTransport } from "./generated/runtime/index.js";

/**
 * Sends telemetry ten times a second and obeys orders.
 * @param {import("node:net").Socket} socket
 */
function serve(socket) {
  const client = new Client(new StreamTransport(socket), NETWORK, REGISTRY, { system: 1 });
  const state = new robot.Telemetry({ mode: robot.Mode.Manual, rangesMm: [1200, 800, 2500] });
  client.subscribe(robot.Command, (command) => {
    const answer = new robot.Acknowledge({ sequence: command.sequence, accepted: true });
    switch (command.order?.which) {
      case "goTo":
        state.mode = robot.Mode.Automatic;
        state.position = command.order.value.target;
        answer.note = `going at ${command.order.value.speed.toFixed(2)} m/s`;
        break;
      case "halt":
        state.mode = robot.Mode.EmergencyStop;
        answer.note = `stopped: ${command.order.value.reason}`;
        answer.log = Uint8Array.of(0, 1, 2, 3);
        break;
      default:
        answer.accepted = false;
        answer.note = "no order that I know";
    }
    void client.send(answer);
  });
  const begin = performance.now();
  const timer = setInterval(() => {
    state.timeUs = BigInt(Math.round((performance.now() - begin) * 1000));
    client.send(state).catch(() => clearInterval(timer)); // the operator has gone
  }, 100);
}

/**
 * Gives two orders and waits for the answers.
 * @param {import("node:net").Socket} socket
 */
async function operate(socket) {
  const client = new Client(new StreamTransport(socket), NETWORK, REGISTRY, { system: 2 });
  client.subscribe(robot.Telemetry, ({ mode, position: { x, y, z } }, { header }) => {
    console.log(`telemetry #${header.sequence}: ${robot.modeName(mode)} at (${x}, ${y}, ${z})`);
  });
  const target = new robot.Vector3({ x: 1, y: 2, z: 0.5 });
  /** @type {robot.CommandOrder[]} */
  const orders = [
    { which: "goTo", value: new robot.GoTo({ target, speed: 0.75 }) },
    { which: "halt", value: new robot.Halt({ reason: "enough for today" }) },
  ];
  for (const [index, order] of orders.entries()) {
    await sleep(300);
    const command = new robot.Command({ sequence: index + 1, order });
    const answer = await client.request(command, robot.Acknowledge, {
      predicate: (answer) => answer.sequence === command.sequence,
    });
    console.log(`command ${command.sequence}: ${answer.accepted ? "accepted" : "refused"}, ${answer.note}`);
  }
  await sleep(300);
  console.log(`${client.counters.frames} frames, ${client.counters.crcFailures} damaged`);
}

const server = createServer(serve);
server.listen(0, "127.0.0.1", async () => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const socket = connect(address.port, "127.0.0.1");
  await operate(socket);
  socket.end();
  server.close();
});
