// The program of the matrix: see conformance/src/matrix/program.rs for its command line.

import { readFileSync, writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { CASES, FRAMINGS } from "./cases.js";
import { REGISTRY } from "./generated/index.js";
import {
  AccumulatingReader,
  BufferReader,
  EncodeError,
  readMessage,
  StructFrameError,
  writeMessage,
} from "./generated/runtime/index.js";

const REFUSED = 0xffffffff;

function encode(path) {
  const parts = [];
  for (const { framing, header, message } of CASES) {
    const size = Buffer.alloc(4);
    parts.push(size);
    try {
      const frame = writeMessage(framing, message, header);
      size.writeUInt32LE(frame.length);
      parts.push(frame);
    } catch (fault) {
      if (!(fault instanceof EncodeError)) throw fault;
      size.writeUInt32LE(REFUSED);
    }
  }
  writeFileSync(path, Buffer.concat(parts));
}

function* records(data) {
  for (let at = 0; at < data.length; ) {
    const size = data.readUInt32LE(at);
    at += 4;
    if (size === REFUSED) {
      yield null;
    } else {
      yield new Uint8Array(data.subarray(at, at + size));
      at += size;
    }
  }
}

/** The events that every reader gives, which must be the same; or words about what is not. */
function readAll(framing, bytes) {
  const whole = new BufferReader(framing, REGISTRY, bytes);
  const events = [...whole];
  for (const size of [1, 7]) {
    const reader = new AccumulatingReader(framing, REGISTRY);
    const others = [];
    for (let at = 0; at < bytes.length; at += size) {
      others.push(...reader.read(bytes.subarray(at, at + size)));
    }
    others.push(...reader.finish());
    if (!isDeepStrictEqual(others, events)) {
      return `chunks of ${size} give ${show(others)}, the whole buffer ${show(events)}`;
    }
    if (!isDeepStrictEqual(reader.counters, whole.counters)) {
      return `chunks of ${size} count ${show(reader.counters)}, the whole buffer ${show(whole.counters)}`;
    }
  }
  return events;
}

function show(value) {
  return JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? `${inner}` : inner));
}

function same(a, b) {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

function check({ framing, header, message, hasNan }, bytes) {
  const events = readAll(framing, bytes);
  if (typeof events === "string") return events;
  const [frame] = events;
  if (events.length !== 1 || frame.kind !== "frame") return `expected one frame, found ${show(events)}`;
  const expected = {
    sequence: framing.hasSequence ? header.sequence : 0,
    system: framing.hasSystem ? header.system : 0,
    component: framing.hasSystem ? header.component : 0,
  };
  if (!isDeepStrictEqual(frame.header, expected)) return `header ${show(frame.header)}`;
  const found = readMessage(message.constructor, framing, frame);
  if (hasNan ? !same(found.encode(), message.encode()) : !found.equals(message)) {
    return `read ${show(found)}, expected ${show(message)}`;
  }
  if (!same(writeMessage(framing, found, header), bytes)) return "written again, it has other bytes";
  return null;
}

function decode(path) {
  const lines = [];
  let at = 0;
  for (const frame of records(readFileSync(path))) {
    let why = null;
    try {
      why = frame === null ? null : check(CASES[at], frame);
    } catch (fault) {
      if (!(fault instanceof StructFrameError)) throw fault;
      why = `${fault.code}: ${fault.message}`;
    }
    lines.push(why === null ? "ok" : `bad ${why.replaceAll("\n", " ").slice(0, 500)}`);
    at += 1;
  }
  console.log(lines.join("\n"));
}

function hostile(path) {
  const data = readFileSync(path);
  let frames = 0;
  let bad = 0;
  let accepted = 0;
  let sum = 0;
  for (let at = 0; at < data.length; ) {
    const framing = FRAMINGS[data[at]];
    const size = data.readUInt32LE(at + 1);
    at += 5;
    const events = readAll(framing, new Uint8Array(data.subarray(at, at + size)));
    at += size;
    if (typeof events === "string") throw new Error(events);
    for (const event of events) {
      if (event.kind === "badChecksum") bad += 1;
      if (event.kind !== "frame") continue;
      frames += 1;
      try {
        const message = REGISTRY.decode(framing, event);
        if (message === undefined) continue;
        for (const byte of writeMessage(framing, message, event.header)) sum = (Math.imul(sum, 31) + byte) >>> 0;
        accepted += 1;
      } catch (fault) {
        if (!(fault instanceof StructFrameError)) throw fault;
      }
    }
  }
  console.log(`done ${frames} ${bad} ${accepted} ${sum}`);
}

const [, , verb, path] = process.argv;
({ encode, decode, hostile })[verb](path);
