// What generated TypeScript and JavaScript promise, tried on the schema made to hurt.

import assert from "node:assert/strict";
import { other, REGISTRY, torture } from "./torture/index.js";
import {
  AccumulatingReader,
  BufferReader,
  BufferWriter,
  BULK,
  Client,
  NETWORK,
  readMessage,
  STANDARD,
  writeMessage,
} from "./torture/runtime/index.js";

const refuses = (code, call) => assert.throws(call, (fault) => (assert.equal(fault.code, code), true));
const bytes = (...list) => Uint8Array.from(list);

// Enums keep what they do not know, and each nested one is its own.
assert.equal(torture.colourName(7), "BLUE");
assert.equal(torture.colourName(200), "Colour(200)");
assert.equal(torture.DoorState.Shut, 1);
assert.equal(torture.ValveState.Open, 2);
assert.equal(new torture.Door().state, torture.DoorState.Shut);
assert.equal(torture.Valve.decode(bytes(200, 1, 9)).state, 200);

// Defaults, also inside; elements of arrays are zero.
const early = new torture.Early();
assert.equal(early.late.n, 77);
assert.deepEqual(early.more.map((item) => item.n), [0, 0]);
const defaults = new torture.Defaults();
assert.equal(defaults.u64, 2n ** 64n - 1n);
assert.equal(defaults.f, -Infinity);
assert.equal(defaults.bounded, "naïve");
assert(torture.Defaults.decode(defaults.encode()).equals(defaults));
assert(!torture.Defaults.decode(defaults.encode()).equals(new torture.Defaults({ yes: false })));

// Nothing is truncated: the error names the field.
assert.throws(() => new torture.Text({ text: "12345" }).encode(), /text/);
refuses("too_long", () => new torture.Text({ text: "12345" }).encode());
refuses("value_out_of_range", () => new torture.Defaults({ i8: 128 }).encode());
refuses("value_out_of_range", () => new torture.Defaults({ i8: 0.5 }).encode());
refuses("value_out_of_range", () => new torture.Defaults({ u64: 1n << 64n }).encode());
refuses("value_out_of_range", () => new torture.Defaults({ f: 1e39 }).encode());
refuses("array_length", () => new torture.Arrays({ wide: [1] }).encode());
refuses("array_length", () => new torture.Arrays({ long: new Array(301).fill(0) }).encode());
for (const wrong of [{ long: [1, 65536] }, { long: [-1] }, { page: [...new Array(39).fill(0), 256] }, { colours: [0.5] }]) {
  refuses("value_out_of_range", () => new torture.Arrays(wrong).encode());
}
refuses("value_out_of_range", () => new torture.Arrays({ flags: [true, 1] }).encode());
refuses("value_out_of_range", () => new torture.Arrays({ wide: [1, "2"] }).encode());
refuses("too_long", () => new torture.Text({ text: "\u00e4\u00e4\u00e4" }).encode());
assert.throws(() => new torture.Text({ text: "\u{1f600}".repeat(3) }).encode(), /text: 12 bytes/);
refuses("text_with_zero", () => new torture.Late({ s: "a\0b" }).encode());
refuses("wrong_type", () => new torture.Text({ text: 7 }).encode());

// Text that is no UTF-8 goes out as it came.
for (const tail of [[0xff, 0xfe], [0xc3, 0x28], [0xed, 0xa0], [0xe2, 0x82], [0xc0, 0x80], [0xc3, 0xa9]]) {
  const payload = bytes(3, 0x61, ...tail, 0);
  assert.deepEqual(torture.Text.decode(payload, "fixed").encode("fixed"), payload);
}
refuses("text_not_unicode", () => new torture.Text({ text: "\ud800" }).encode());
assert.equal(torture.Text.decode(new torture.Text({ text: "😀" }).encode()).text, "😀");

// Unions: unset, set, unknown; without a tag, views.
for (const data of [
  null,
  { which: "unset", value: 1.5 },
  { which: "unknown", value: 2n ** 64n - 1n },
  { which: "colour", value: torture.Colour.Blue },
  { which: "text", value: "héy" },
  { which: "blob", value: bytes(0, 1, 2) },
  { which: "late", value: new torture.Late({ n: 5, s: "abc" }) },
  { which: null, tag: 99, region: bytes(0, 1, 2, 3, 4, 5, 6, 7) },
]) {
  for (const layout of ["wire", "fixed"]) {
    const message = new torture.Mixed({ data });
    assert(torture.Mixed.decode(message.encode(layout), layout).equals(message), JSON.stringify(data?.which));
  }
}
refuses("unknown_tag", () => new torture.Mixed({ data: { which: null, tag: 256, region: bytes() } }).encode());
const nobody = () => new torture.Mixed({ data: { which: "nobody", value: 1 } }).encode();
refuses("unknown_member", nobody);
assert.throws(nobody, /data: no member nobody; members are unset, unknown, type, colour, text/);
const body = torture.TaglessBody.fromLate(new torture.Late({ n: 258, s: "xyz" }));
assert(body.asLate().equals(new torture.Late({ n: 258, s: "xyz" })));
assert(torture.Tagless.decode(new torture.Tagless({ kind: 1, body }).encode()).body.equals(body));

// Envelopes hold messages of both packages; their tags are effective ids.
const envelope = torture.Envelope.wrap(new other.Clash({ a: 4 }), { seq: 9 });
assert.deepEqual(envelope.encode(), bytes(9, 1, 9, 4));
assert(torture.Envelope.decode(envelope.encode()).unwrap().equals(new other.Clash({ a: 4 })));

// Older and newer peers.
assert(torture.GrownVariable.decode(bytes(1, 7, 1, 2)).equals(new torture.GrownVariable({ ids: [7] })));
assert(torture.Grown.decode(bytes(1, 0)).equals(new torture.Grown({ id: 1 })));
refuses("truncated", () => torture.GrownVariable.decode(bytes(2, 7)));
refuses("count_exceeds_bound", () => torture.GrownVariable.decode(bytes(5, 0, 0, 0, 0, 0)));
assert.deepEqual(torture.Valve.decode(bytes(0, 255, 1, 2, 4)).history, [1, 2, 4]);

// Frames: ids above 255 need a package byte; a damaged frame does not hide the next one.
refuses("id_too_large", () => writeMessage(STANDARD, new torture.Empty()));
refuses("no_message_id", () => writeMessage(BULK, new torture.Late()));
refuses("header_out_of_range", () => writeMessage(NETWORK, new torture.Empty(), { sequence: 256 }));
const frames = [new torture.Empty(), envelope, defaults].map((m, at) => writeMessage(NETWORK, m, { sequence: at }));
frames[1][frames[1].length - 1] ^= 1;
const damaged = Uint8Array.from([...frames[0], 1, 2, 3, ...frames[1], ...frames[2]]);
const reader = new BufferReader(NETWORK, REGISTRY, damaged);
const events = [...reader];
assert.deepEqual(events.map((event) => event.kind), ["frame", "skipped", "badChecksum", "frame"]);
assert.equal(reader.counters.crcFailures, 1);
assert.equal(reader.counters.seqGaps, 1);
assert(readMessage(torture.Defaults, NETWORK, events[3]).equals(defaults));
const small = new AccumulatingReader(NETWORK, REGISTRY, 32);
let good = 0;
for (let round = 0; round < 20; round++) {
  for (const byte of damaged) good += small.read(bytes(byte)).filter((event) => event.kind === "frame").length;
}
assert.equal(good, 20);
assert(small.partialLen <= 32);

// Frames one after the other in memory that stays: the same bytes, and what does not fit changes nothing.
const memory = new Uint8Array(64).fill(0xee);
const buffer = new BufferWriter(NETWORK, memory.subarray(0, 60));
const expected = [];
for (const [sequence, text] of ["a", "bcd"].entries()) {
  const message = new torture.Text({ text });
  expected.push(...writeMessage(NETWORK, message, { sequence }));
  assert.equal(buffer.write(message, { sequence }), 16);
}
assert.deepEqual([...buffer.bytes], expected);
assert.equal(buffer.bytes.buffer, memory.buffer);
refuses("too_long", () => buffer.write(new torture.Text({ text: "12345" })));
refuses("no_message_id", () => buffer.write(new torture.Late()));
refuses("buffer_too_short", () => buffer.write(defaults));
// It could be longer than what is left, and is not.
const grown = new torture.GrownVariable({ ids: [1, 2, 3, 4] });
assert.equal(buffer.write(grown), 60 - 32);
expected.push(...writeMessage(NETWORK, grown));
refuses("buffer_too_short", () => buffer.write(new torture.Empty()));
assert.deepEqual([...buffer.bytes], expected);
assert.deepEqual([...memory.subarray(60)], [0xee, 0xee, 0xee, 0xee]);
buffer.clear();
buffer.write(new torture.Empty(), { sequence: 7 });
assert.deepEqual([...buffer.bytes], [...writeMessage(NETWORK, new torture.Empty(), { sequence: 7 })]);

// A client answers itself.
const sent = [];
const faults = [];
const transport = { send: (frame) => void sent.push(frame) };
const client = new Client(transport, NETWORK, REGISTRY, { onError: (fault) => faults.push(fault) });
const answer = client.request(new torture.Empty(), torture.Object_, { predicate: ({ v }) => v === 2 });
client.subscribe(torture.Object_, () => {
  throw new Error("mine");
});
for (const v of [1, 2, 3]) client.receive(writeMessage(NETWORK, new torture.Object_({ v })));
assert((await answer).equals(new torture.Object_({ v: 2 })));
assert.equal(faults.length, 3);
await assert.rejects(client.request(new torture.Empty(), torture.Object_, { timeoutMs: 5 }), { code: "timeout" });
assert.equal(sent.length, 2);
console.log("done");
