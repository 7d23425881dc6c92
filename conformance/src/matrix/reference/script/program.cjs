// The program of the matrix for the reference package's JavaScript and TypeScript (as CommonJS): see
// conformance/src/matrix/program.rs. Messages are built and compared field by field, by reflection, from cases.json.
"use strict";

const { readdirSync, readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");

const [, , MODULES, verb, path] = process.argv;
const REFUSED = 0xffffffff;
const LONGEST = 70000;

const DATA = JSON.parse(readFileSync(join(__dirname, "cases.json"), "utf8"));
const packages = {};
for (const name of DATA.modules) {
  const file = `${name.replaceAll("_", "-")}.structframe.js`;
  if (readdirSync(MODULES).includes(file)) packages[name] = require(join(MODULES, file));
}
const profiles = require(join(MODULES, "frame-profiles.js"));
const configs = {
  header: Object.values(require(join(MODULES, "frame-headers.js"))).filter((one) => one?.numStartBytes !== undefined),
  payload: Object.values(require(join(MODULES, "payload-types.js"))).filter((one) => one?.hasCrc !== undefined),
};

/** The lookup over all packages, which the package leaves to its users. */
function messageInfo(id) {
  for (const one of Object.values(packages)) {
    const info = one.getMessageInfo?.(id);
    if (info !== undefined) return info;
  }
  return undefined;
}

function config(entry) {
  const header = configs.header.find((one) => one.headerType === entry.header);
  const payload = configs.payload.find((one) => one.payloadType === entry.payload);
  if (!header || !payload) throw new Error(`no configuration for ${entry.header} and ${entry.payload}`);
  const starts = [
    [0, 0],
    [0x70 + entry.payload, 0],
    [0x90, 0x70 + entry.payload],
  ][entry.header];
  return { name: "custom", header, payload, startByte1: starts[0], startByte2: starts[1] };
}

const camel = (name) => name.replace(/_+([A-Za-z0-9])/g, (_, letter) => letter.toUpperCase());
const bytesOf = (digits) => Buffer.from(digits, "hex");
const classOf = (message) => packages[message.module][message.name];

function set(target, name, value) {
  if (!(name in target)) throw new Error(`${target.constructor.name} has no ${name}`);
  target[name] = value;
}

function build(message) {
  const made = new (classOf(message))();
  for (const [written, value] of message.fields) {
    const name = camel(written);
    if (value.kind === "list" && value.bounded) {
      set(made, `${name}Count`, value.items.length);
      set(made, `${name}Data`, value.items.map(buildValue));
    } else if ((value.kind === "text" || value.kind === "blob") && value.bounded) {
      set(made, `${name}Data`, buildValue(value));
      set(made, `${name}Length`, bytesOf(value.bytes).length);
    } else if (value.kind === "list") {
      set(made, name, value.items.map(buildValue));
    } else {
      set(made, name, value.kind === "message" ? [buildValue(value)] : buildValue(value));
    }
  }
  for (const union of message.unions) {
    const name = camel(union.name);
    if (union.tag !== null) set(made, `${name}Discriminator`, union.tag);
    set(made, `${name}Data`, [...bytesOf(union.region)]);
  }
  return made;
}

function buildValue(value) {
  switch (value.kind) {
    case "int":
      return value.wide ? BigInt(value.value) : Number(value.value);
    case "bool":
      return value.value;
    case "real":
      return bytesOf(value.bits).readDoubleBE(0);
    case "text":
    case "blob":
      return bytesOf(value.bytes).toString("utf8");
    default:
      return build(value.message);
  }
}

/** Where a message that was read differs from the case, or null. */
function different(message, found, where) {
  for (const [written, value] of message.fields) {
    const name = camel(written);
    const at = `${where}${written}`;
    let why;
    if (value.kind === "list") {
      const count = value.bounded ? found[`${name}Count`] : value.items.length;
      if (count !== value.items.length) return `${at} has ${count} elements, expected ${value.items.length}`;
      const items = found[value.bounded ? `${name}Data` : name];
      why = value.items.map((item, i) => differentValue(item, items[i], `${at}[${i}]`)).find((one) => one !== null);
    } else if ((value.kind === "text" || value.kind === "blob") && value.bounded) {
      const length = bytesOf(value.bytes).length;
      if (found[`${name}Length`] !== length) return `${at} has ${found[`${name}Length`]} bytes, expected ${length}`;
      why = differentValue(value, found[`${name}Data`], at);
    } else {
      why = differentValue(value, value.kind === "message" ? found[name][0] : found[name], at);
    }
    if (why) return why;
  }
  for (const union of message.unions) {
    const name = camel(union.name);
    const tag = found[`${name}Discriminator`];
    if (union.tag !== null && tag !== union.tag) return `${where}${union.name} has the tag ${tag}, expected ${union.tag}`;
    const region = Buffer.from(found[`${name}Data`]).toString("hex");
    if (region !== union.region) return `${where}${union.name} is ${region}, expected ${union.region}`;
  }
  return null;
}

function differentValue(value, found, at) {
  if (value.kind === "message") return different(value.message, found, `${at}.`);
  let expected = buildValue(value);
  if (value.kind === "bool") found = Boolean(found); // arrays of bool are arrays of bytes
  let same = Object.is(expected, found) || expected === found;
  if (value.kind === "text" || value.kind === "blob") {
    expected = value.bytes.replace(/(00)+$/, "");
    found = Buffer.from(found, "utf8").toString("hex").replace(/(00)+$/, "");
    same = expected === found;
  }
  return same ? null : `${at} is ${found}, expected ${expected}`;
}

function encode() {
  const parts = [];
  for (const entry of DATA.cases) {
    const size = Buffer.alloc(4);
    parts.push(size);
    try {
      const options = { seq: entry.seq, sysId: entry.sys, compId: entry.comp };
      // The package's id is the caller's to give (R5).
      if (entry.package_id !== null) options.pkgId = entry.package_id;
      const frame = Buffer.from(profiles.encodeMessage(config(entry), build(entry.message), options));
      size.writeUInt32LE(frame.length);
      parts.push(frame);
    } catch (fault) {
      console.error(`${entry.message.name}: ${fault.message}`);
      size.writeUInt32LE(REFUSED);
    }
  }
  writeFileSync(path, Buffer.concat(parts));
}

const readers = {
  whole(entry, bytes) {
    const reader = new profiles.BufferReader(config(entry), bytes, messageInfo);
    const frames = [reader.next()];
    while (hasMore(reader) && frames.length < 3) frames.push(reader.next());
    return frames;
  },
  byteByByte(entry, bytes) {
    const reader = new profiles.AccumulatingReader(config(entry), messageInfo, LONGEST);
    return [...bytes].map((byte) => reader.pushByte(byte)).filter((frame) => frame.valid);
  },
  inChunks(entry, bytes) {
    const reader = new profiles.AccumulatingReader(config(entry), messageInfo, LONGEST);
    const frames = [];
    for (let at = 0; at < bytes.length; at += 7) {
      reader.addData(bytes.subarray(at, at + 7));
      for (let frame = reader.next(); frame.valid; frame = reader.next()) frames.push(frame);
    }
    return frames;
  },
};

function hasMore(reader) {
  return typeof reader.hasMore === "function" ? reader.hasMore() : reader.hasMore;
}

function check(entry, bytes) {
  for (const [name, read] of Object.entries(readers)) {
    const frames = read(entry, bytes);
    const show = () => JSON.stringify(frames, (_, inner) => (typeof inner === "bigint" ? `${inner}` : inner));
    if (frames.length !== 1 || !frames[0].valid) return `${name}: expected one frame, found ${show()}`;
    const [frame] = frames;
    // These readers tell nothing of SEQ, SYS and COMP.
    if (frame.msgId !== entry.id) return `${name}: id ${frame.msgId}, expected ${entry.id}`;
    const mode = config(entry).payload.hasLength ? "wire" : "fixed";
    const why = different(entry.message, classOf(entry.message).deserialize(frame, mode), "");
    if (why !== null) return `${name}: ${why}`;
  }
  return null;
}

function decode() {
  const data = readFileSync(path);
  const lines = [];
  let at = 0;
  for (const entry of DATA.cases) {
    const size = data.readUInt32LE(at);
    at += 4;
    let why = null;
    if (size !== REFUSED) {
      try {
        why = check(entry, Buffer.from(data.subarray(at, at + size)));
      } catch (fault) {
        why = fault.message;
      }
      at += size;
    }
    lines.push(why === null ? "ok" : `bad ${why.replaceAll("\n", " ").slice(0, 300)}`);
  }
  console.log(lines.join("\n"));
}

({ load() {}, encode, decode })[verb]();
