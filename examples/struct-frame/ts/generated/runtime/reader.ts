/**
 * Finding frames in bytes: the one state machine, and the two readers around it.
 *
 * The *primary* search decides about one position after the other. When a complete frame fails there, it is reported, the
 * primary goes on behind it, and its inside is searched for good frames of known messages. A candidate in there that
 * reaches beyond the failed frame cannot be judged yet and nothing waits for it: its place stays `open` until the primary
 * next completes a frame, or the input ends. Every decision depends on bytes up to a position that the bytes themselves
 * determine; therefore every way of splitting the input gives the same events.
 */

import { checksum, type Framing, type Header, type MessageInfo } from "./framing.js";

/** Knows messages by their effective id. */
export interface Lookup {
  messageInfo(id: number): MessageInfo | undefined;
}

/** A good frame. */
export interface Frame {
  readonly kind: "frame";
  readonly id: number;
  readonly header: Header;
  readonly payload: Uint8Array;
  readonly info: MessageInfo | undefined;
  readonly start: number;
  readonly end: number;
  /** True when it was found inside damaged bytes. */
  readonly recovered: boolean;
}

/** A complete frame whose checksum is wrong. Nothing in it can be relied upon. */
export interface BadChecksum {
  readonly kind: "badChecksum";
  readonly id: number;
  readonly header: Header;
  readonly len: number;
  readonly start: number;
  readonly end: number;
  /** The checksum computed, its first byte lowest. */
  readonly expected: number;
  /** The checksum in the frame. */
  readonly found: number;
}

/** Bytes between frames. */
export interface Skipped {
  readonly kind: "skipped";
  readonly start: number;
  readonly end: number;
}

/** A frame that was not complete when the input ended. */
export interface Truncated {
  readonly kind: "truncated";
  readonly start: number;
  readonly end: number;
}

/** What a reader found. */
export type Event = Frame | BadChecksum | Skipped | Truncated;

/** What a reader has counted. */
export interface Counters {
  frames: number;
  recovered: number;
  unknownIds: number;
  crcFailures: number;
  syncRecoveries: number;
  failedBytes: number;
  noiseBytes: number;
  lenErrors: number;
  seqGaps: number;
}

function zeroCounters(): Counters {
  return {
    frames: 0,
    recovered: 0,
    unknownIds: 0,
    crcFailures: 0,
    syncRecoveries: 0,
    failedBytes: 0,
    noiseBytes: 0,
    lenErrors: 0,
    seqGaps: 0,
  };
}

/** A header that was read. */
interface Found {
  readonly header: Header;
  readonly len: number;
  readonly id: number;
  readonly info: MessageInfo | undefined;
  /** Bytes of the whole frame. */
  readonly total: number;
}

/** What stands at a position. */
type Look = "noise" | "falseStart" | "short" | "claims" | "whole";

/** Bytes of the input that are at hand; `base` is the position of the first. */
interface Window {
  readonly bytes: Uint8Array;
  readonly base: number;
}

/** A search for complete good frames that begin in `at` to `startsEnd` and end by `end`. */
interface Rescan {
  at: number;
  readonly startsEnd: number;
  readonly end: number;
  /** Whether candidates that reach beyond `end` are remembered. */
  readonly remember: boolean;
}

class Machine {
  counters = zeroCounters();
  private readonly framing: Framing;
  private readonly lookup: Lookup;
  private readonly capacity: number;
  /** Where the primary search stands. */
  pos = 0;
  /** Nothing can be decided before the window reaches this position. */
  need = 1;
  /** Where the bytes begin that belong to no event yet. */
  private run = 0;
  /** How many of them were counted as false starts. */
  private falseBytes = 0;
  private open: { start: number; end: number } | undefined;
  private rescan: Rescan | undefined;
  /** Where the last frame ends that the reader cannot hold. */
  private oversizedEnd = 0;
  /** The frame whose length has been compared with its message. */
  private compared = -1;
  private lastSequence = -1;
  /** Of what was looked at last: so many bytes are noise, or will tell more, or are the frame. */
  private size = 0;
  /** Its header. */
  private found: Found | undefined;

  constructor(framing: Framing, lookup: Lookup, capacity: number) {
    this.framing = framing;
    this.lookup = lookup;
    this.capacity = capacity;
  }

  reset(at: number): void {
    this.pos = at;
    this.need = at + 1;
    this.run = at;
    this.falseBytes = 0;
    this.open = undefined;
    this.rescan = undefined;
    this.oversizedEnd = at;
    this.compared = -1;
    this.lastSequence = -1;
  }

  /** The first byte that is still needed. */
  retainFrom(): number {
    return this.open === undefined ? this.pos : Math.min(this.open.start, this.pos);
  }

  /** The next event, or `undefined` when that takes more bytes than the window has. */
  step(window: Window, more: boolean): Event | undefined {
    const size = window.bytes.length;
    for (;;) {
      if (this.rescan !== undefined) {
        const event = this.search(window, this.rescan);
        if (event !== undefined) {
          return event;
        }
        this.rescan = undefined;
      }
      const at = this.pos - window.base;
      let look: Look;
      if (at >= size) {
        look = this.saw("short", 1);
      } else if (this.capacity < this.framing.headerLen) {
        look = this.saw("noise", size - at);
      } else {
        look = this.examine(window.bytes, at, size);
      }
      if (look === "noise") {
        this.pos += this.size;
        continue;
      }
      if (look === "falseStart") {
        this.falseStart(2);
        continue;
      }
      const { found } = this;
      if (found !== undefined) {
        if (found.total > this.capacity) {
          // A frame that the reader could never hold.
          this.oversizedEnd = Math.max(this.oversizedEnd, this.pos + found.total);
          this.falseStart(1);
          continue;
        }
        if (found.info === undefined && this.pos < this.oversizedEnd) {
          // Inside such a frame zeros in its payload must not pass for a frame of an unknown message.
          this.falseStart(1);
          continue;
        }
        this.compareLength(found);
      }
      this.forgetFarCandidates(this.size);
      if (look === "whole" && found !== undefined) {
        const event = this.whole(window, found);
        if (event !== undefined) {
          return event;
        }
        continue;
      }
      this.need = this.pos + this.size;
      const event = this.wait(window.base + size, more);
      if (event !== undefined || this.rescan === undefined) {
        return event;
      }
    }
  }

  /** Looks at one position; at least one byte is there. */
  private examine(bytes: Uint8Array, at: number, end: number): Look {
    const { framing } = this;
    const { start } = framing;
    const first = start[0];
    if (first !== undefined) {
      if (bytes[at] !== first) {
        const there = bytes.indexOf(first, at);
        return this.saw("noise", (there < 0 || there > end ? end : there) - at);
      }
      if (start.length > 1) {
        if (end - at < 2) {
          return this.saw("short", 2);
        }
        const second = bytes[at + 1];
        if (second !== start[1]) {
          return second === first ? this.saw("noise", 1) : this.saw("falseStart", 2);
        }
      }
    }
    if (end - at < framing.headerLen) {
      return this.saw("short", framing.headerLen);
    }
    let next = at + start.length;
    const sequence = framing.hasSequence ? (bytes[next++] as number) : 0;
    const system = framing.hasSystem ? (bytes[next++] as number) : 0;
    const component = framing.hasSystem ? (bytes[next++] as number) : 0;
    let len = 0;
    if (framing.lenBytes > 0) {
      len = bytes[next++] as number;
    }
    if (framing.lenBytes > 1) {
      len |= (bytes[next++] as number) << 8;
    }
    const high = framing.hasPackage ? (bytes[next++] as number) : 0;
    const id = (high << 8) | (bytes[next] as number);
    const info = this.lookup.messageInfo(id);
    if (!framing.hasLength) {
      if (info === undefined) {
        return this.saw("noise", 1);
      }
      len = info.maxSize;
    }
    const total = framing.overhead + len;
    this.size = total;
    this.found = { header: { sequence, system, component }, len, id, info, total };
    return end - at < total ? "claims" : "whole";
  }

  private saw(look: Look, size: number): Look {
    this.size = size;
    this.found = undefined;
    return look;
  }

  /** The checksum of a frame's bytes. */
  private computed(bytes: Uint8Array, at: number, found: Found): number {
    const { framing } = this;
    const end = at + found.total - 2;
    return checksum(bytes, at + framing.start.length, at + framing.headerLen, end, found.info);
  }

  /** The checksum that a frame carries. */
  private carried(bytes: Uint8Array, at: number, found: Found): number {
    const end = at + found.total - 2;
    return (bytes[end] as number) | ((bytes[end + 1] as number) << 8);
  }

  /** Decides about a complete frame; `undefined` when something else must be looked at first. */
  private whole(window: Window, found: Found): Event | undefined {
    const start = this.pos;
    const end = start + found.total;
    const checked = this.framing.hasLength;
    const expected = checked ? this.computed(window.bytes, start - window.base, found) : 0;
    const carried = checked ? this.carried(window.bytes, start - window.base, found) : 0;
    if (expected === carried) {
      if (this.open !== undefined) {
        this.rescan = { at: this.open.start, startsEnd: this.open.end, end, remember: false };
        this.open = undefined;
        return undefined;
      }
      const event = this.skipped();
      if (event !== undefined) {
        return event;
      }
      this.pos = this.run = end;
      return this.deliver(window, start, found, false);
    }
    const event = this.skipped();
    if (event !== undefined) {
      return event;
    }
    this.counters.crcFailures += 1;
    this.counters.syncRecoveries += 1;
    this.counters.failedBytes += found.total;
    this.fail(start, end, true);
    const { id, header, len } = found;
    return { kind: "badChecksum", id, header, len, start, end, expected, found: carried };
  }

  /** More bytes are needed: at the end of the input, what is left over. */
  private wait(end: number, more: boolean): Event | undefined {
    if (more) {
      return undefined;
    }
    const event = this.skipped();
    if (event !== undefined) {
      return event;
    }
    if (this.pos < end) {
      const start = this.pos;
      this.counters.failedBytes += end - start;
      this.fail(start, end, false);
      return { kind: "truncated", start, end };
    }
    if (this.open !== undefined) {
      this.rescan = { at: this.open.start, startsEnd: this.open.end, end, remember: false };
      this.open = undefined;
    }
    return undefined;
  }

  /** Goes on behind failed bytes, after a search inside them. */
  private fail(start: number, end: number, remember: boolean): void {
    const at = this.open === undefined ? start + 1 : this.open.start;
    this.open = undefined;
    // Without a checksum nothing found inside failed bytes could be trusted.
    if (this.framing.hasLength) {
      this.rescan = { at, startsEnd: end, end, remember };
    }
    this.pos = this.run = end;
  }

  /** The next good frame of a known message inside failed bytes. */
  private search(window: Window, rescan: Rescan): Event | undefined {
    const { startsEnd, end, remember } = rescan;
    const stop = Math.min(end - window.base, window.bytes.length);
    while (rescan.at < startsEnd) {
      const { at } = rescan;
      const place = at - window.base;
      const look = place < stop ? this.examine(window.bytes, place, stop) : this.saw("short", 1);
      const { found } = this;
      let advance = 1;
      let unresolved = false;
      if (look === "noise") {
        advance = this.size;
      } else if (look === "short") {
        unresolved = this.size <= this.capacity;
      } else if (found?.info !== undefined && found.total <= this.capacity) {
        if (look === "claims") {
          unresolved = true;
        } else {
          if (this.computed(window.bytes, place, found) === this.carried(window.bytes, place, found)) {
            const next = at + found.total;
            rescan.at = next;
            // What began before it and reaches beyond would overlap it.
            this.open = undefined;
            this.pos = Math.max(this.pos, next);
            if (next > this.run) {
              this.run = next;
              this.falseBytes = 0;
            }
            this.counters.recovered += 1;
            return this.deliver(window, at, found, true);
          }
        }
      }
      if (unresolved && remember && this.open === undefined) {
        this.open = { start: at, end: startsEnd };
      }
      rescan.at = at + advance;
    }
    return undefined;
  }

  private deliver(window: Window, start: number, found: Found, recovered: boolean): Frame {
    const { framing, counters } = this;
    const { id, header, info, total } = found;
    counters.frames += 1;
    if (info === undefined) {
      counters.unknownIds += 1;
    }
    if (framing.hasSequence) {
      if (this.lastSequence >= 0 && header.sequence !== ((this.lastSequence + 1) & 0xff)) {
        counters.seqGaps += 1;
      }
      this.lastSequence = header.sequence;
    }
    const place = start - window.base;
    const payload = window.bytes.slice(place + framing.headerLen, place + total - framing.trailerLen);
    return { kind: "frame", id, header, payload, info, start, end: start + total, recovered };
  }

  private compareLength({ info, len }: Found): void {
    if (this.framing.hasLength && this.compared !== this.pos) {
      this.compared = this.pos;
      if (info !== undefined && (len < info.minSize || len > info.maxSize)) {
        this.counters.lenErrors += 1;
      }
    }
  }

  /** Keeps no more than the reader can hold together with the frame at `pos`. */
  private forgetFarCandidates(total: number): void {
    if (this.open !== undefined) {
      const first = this.pos + Math.max(total, this.framing.headerLen) - this.capacity;
      const start = Math.max(this.open.start, first);
      this.open = start < this.open.end ? { start, end: this.open.end } : undefined;
    }
  }

  private falseStart(size: number): void {
    this.counters.syncRecoveries += 1;
    this.counters.failedBytes += size;
    this.falseBytes += size;
    this.pos += size;
  }

  /** The bytes since the last event, if any. */
  private skipped(): Event | undefined {
    if (this.run === this.pos) {
      return undefined;
    }
    const event: Skipped = { kind: "skipped", start: this.run, end: this.pos };
    this.counters.noiseBytes += Math.max(this.pos - this.run - this.falseBytes, 0);
    this.run = this.pos;
    this.falseBytes = 0;
    return event;
  }
}

/** Reads a whole buffer: iterate over it for all events, or over `frames()` for the good ones only. */
export class BufferReader implements Iterable<Event> {
  private readonly machine: Machine;
  private readonly window: Window;

  constructor(framing: Framing, lookup: Lookup, bytes: Uint8Array) {
    this.machine = new Machine(framing, lookup, Number.MAX_SAFE_INTEGER);
    this.window = { bytes, base: 0 };
  }

  /** What was counted. */
  get counters(): Readonly<Counters> {
    return this.machine.counters;
  }

  /** Bytes of the incomplete frame that is left, after `tryNext` returned `undefined`. */
  get partialLen(): number {
    return Math.max(this.window.bytes.length - this.machine.pos, 0);
  }

  /** The next event, or `undefined` when only an incomplete frame, noise or nothing is left. */
  tryNext(): Event | undefined {
    return this.machine.step(this.window, true);
  }

  *[Symbol.iterator](): Iterator<Event> {
    for (;;) {
      const event = this.machine.step(this.window, false);
      if (event === undefined) {
        return;
      }
      yield event;
    }
  }

  /** The good frames. */
  *frames(): Generator<Frame> {
    for (const event of this) {
      if (event.kind === "frame") {
        yield event;
      }
    }
  }
}

/**
 * Reads chunks of any size, down to one byte, and holds at most `capacity` bytes between them.
 *
 * A frame longer than `capacity` is passed over as if its start bytes were noise. To find every good frame behind a damaged
 * length, there should be room for two frames of the longest kind.
 */
export class AccumulatingReader {
  private readonly machine: Machine;
  private buffer = new Uint8Array(256);
  private filled = 0;
  /** Position of the first byte that is held. */
  private base = 0;

  constructor(framing: Framing, lookup: Lookup, capacity: number = 1 << 18) {
    this.machine = new Machine(framing, lookup, capacity);
  }

  /** What was counted. */
  get counters(): Readonly<Counters> {
    return this.machine.counters;
  }

  /** Bytes of the incomplete frame that is waited for. */
  get partialLen(): number {
    return Math.max(this.base + this.filled - this.machine.pos, 0);
  }

  /** Reads a chunk and returns what it completed. */
  read(chunk: Uint8Array): Event[] {
    const events: Event[] = [];
    let bytes = chunk;
    if (this.filled > 0) {
      this.append(chunk);
      if (this.base + this.filled < this.machine.need) {
        return events;
      }
      bytes = this.buffer.subarray(0, this.filled);
    }
    this.drain({ bytes, base: this.base }, true, events);
    const done = Math.min(this.machine.retainFrom() - this.base, bytes.length);
    this.base += done;
    if (this.filled > 0) {
      this.buffer.copyWithin(0, done, this.filled);
      this.filled -= done;
    } else {
      this.append(bytes.subarray(done));
    }
    return events;
  }

  /** Ends the stream: what is left over, also good frames inside an incomplete one. */
  finish(): Event[] {
    const events: Event[] = [];
    this.drain({ bytes: this.buffer.subarray(0, this.filled), base: this.base }, false, events);
    this.reset();
    return events;
  }

  /** Forgets an incomplete frame and the last sequence number. */
  reset(): void {
    this.base += this.filled;
    this.filled = 0;
    this.machine.reset(this.base);
  }

  /** Sets all counters to zero. */
  resetCounters(): void {
    this.machine.counters = zeroCounters();
  }

  private drain(window: Window, more: boolean, events: Event[]): void {
    for (;;) {
      const event = this.machine.step(window, more);
      if (event === undefined) {
        return;
      }
      events.push(event);
    }
  }

  private append(bytes: Uint8Array): void {
    const size = this.filled + bytes.length;
    if (size > this.buffer.length) {
      const larger = new Uint8Array(Math.max(size, 2 * this.buffer.length));
      larger.set(this.buffer.subarray(0, this.filled));
      this.buffer = larger;
    }
    this.buffer.set(bytes, this.filled);
    this.filled = size;
  }
}
