/** Payloads, written from front to back: what generated code calls. */
import { EncodeError } from "./errors.js";
import { encodeText } from "./text.js";
// Memory of writers at first; it grows with what is written.
const ROOM = 1024;
// The smallest number that would be rounded to an infinite float.
const TOO_LARGE = 2 ** 128 - 2 ** 103;
let spareWriter;
/** Writes a payload, into memory that may have been used before. */
export class Writer {
    /** What is written into. */
    bytes;
    /** Where the next byte goes. */
    at = 0;
    view;
    constructor(memory) {
        this.bytes = typeof memory === "number" ? new Uint8Array(memory) : memory;
        this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength);
    }
    /**
     * A writer with room for so many bytes, to be given back with `release`: making memory for every message would take
     * longer than writing it.
     */
    static borrow(size) {
        const spare = spareWriter;
        if (spare === undefined || spare.bytes.length < size) {
            return new Writer(Math.max(size, ROOM));
        }
        spareWriter = undefined;
        spare.at = 0;
        return spare;
    }
    release() {
        spareWriter = this;
    }
    /** What was written, copied. */
    finish() {
        return this.bytes.slice(0, this.at);
    }
    u8(value, field) {
        if ((value & 0xff) !== value)
            throw outside(value, field, "uint8");
        this.view.setUint8(this.room(1), value);
    }
    i8(value, field) {
        if ((value << 24) >> 24 !== value)
            throw outside(value, field, "int8");
        this.view.setInt8(this.room(1), value);
    }
    u16(value, field) {
        if ((value & 0xffff) !== value)
            throw outside(value, field, "uint16");
        this.view.setUint16(this.room(2), value, true);
    }
    i16(value, field) {
        if ((value << 16) >> 16 !== value)
            throw outside(value, field, "int16");
        this.view.setInt16(this.room(2), value, true);
    }
    u32(value, field) {
        if (value >>> 0 !== value)
            throw outside(value, field, "uint32");
        this.view.setUint32(this.room(4), value, true);
    }
    i32(value, field) {
        if ((value | 0) !== value)
            throw outside(value, field, "int32");
        this.view.setInt32(this.room(4), value, true);
    }
    u64(value, field) {
        if (typeof value !== "bigint" || BigInt.asUintN(64, value) !== value)
            throw outside(value, field, "uint64");
        this.view.setBigUint64(this.room(8), value, true);
    }
    i64(value, field) {
        if (typeof value !== "bigint" || BigInt.asIntN(64, value) !== value)
            throw outside(value, field, "int64");
        this.view.setBigInt64(this.room(8), value, true);
    }
    f32(value, field) {
        if (notFloat(value))
            throw outside(value, field, "float");
        this.view.setFloat32(this.room(4), value, true);
    }
    f64(value, field) {
        if (typeof value !== "number")
            throw outside(value, field, "double");
        this.view.setFloat64(this.room(8), value, true);
    }
    bool(value, field) {
        if (typeof value !== "boolean")
            throw outside(value, field, "bool");
        this.view.setUint8(this.room(1), value ? 1 : 0);
    }
    // Elements of an array: the same as one after the other, in a loop that has all at hand.
    u8s(items, field) {
        const { view } = this;
        let at = this.room(items.length);
        for (let index = 0; index < items.length; index++, at++) {
            const value = items[index];
            if ((value & 0xff) !== value)
                throw outside(value, field, "uint8");
            view.setUint8(at, value);
        }
    }
    i8s(items, field) {
        const { view } = this;
        let at = this.room(items.length);
        for (let index = 0; index < items.length; index++, at++) {
            const value = items[index];
            if ((value << 24) >> 24 !== value)
                throw outside(value, field, "int8");
            view.setUint8(at, value);
        }
    }
    u16s(items, field) {
        const { view } = this;
        let at = this.room(2 * items.length);
        for (let index = 0; index < items.length; index++, at += 2) {
            const value = items[index];
            if ((value & 0xffff) !== value)
                throw outside(value, field, "uint16");
            view.setUint16(at, value, true);
        }
    }
    i16s(items, field) {
        const { view } = this;
        let at = this.room(2 * items.length);
        for (let index = 0; index < items.length; index++, at += 2) {
            const value = items[index];
            if ((value << 16) >> 16 !== value)
                throw outside(value, field, "int16");
            view.setInt16(at, value, true);
        }
    }
    u32s(items, field) {
        const { view } = this;
        let at = this.room(4 * items.length);
        for (let index = 0; index < items.length; index++, at += 4) {
            const value = items[index];
            if (value >>> 0 !== value)
                throw outside(value, field, "uint32");
            view.setUint32(at, value, true);
        }
    }
    i32s(items, field) {
        const { view } = this;
        let at = this.room(4 * items.length);
        for (let index = 0; index < items.length; index++, at += 4) {
            const value = items[index];
            if ((value | 0) !== value)
                throw outside(value, field, "int32");
            view.setInt32(at, value, true);
        }
    }
    u64s(items, field) {
        const { view } = this;
        let at = this.room(8 * items.length);
        for (let index = 0; index < items.length; index++, at += 8) {
            const value = items[index];
            if (typeof value !== "bigint" || BigInt.asUintN(64, value) !== value)
                throw outside(value, field, "uint64");
            view.setBigUint64(at, value, true);
        }
    }
    i64s(items, field) {
        const { view } = this;
        let at = this.room(8 * items.length);
        for (let index = 0; index < items.length; index++, at += 8) {
            const value = items[index];
            if (typeof value !== "bigint" || BigInt.asIntN(64, value) !== value)
                throw outside(value, field, "int64");
            view.setBigInt64(at, value, true);
        }
    }
    f32s(items, field) {
        const { view } = this;
        let at = this.room(4 * items.length);
        for (let index = 0; index < items.length; index++, at += 4) {
            const value = items[index];
            if (notFloat(value))
                throw outside(value, field, "float");
            view.setFloat32(at, value, true);
        }
    }
    f64s(items, field) {
        const { view } = this;
        let at = this.room(8 * items.length);
        for (let index = 0; index < items.length; index++, at += 8) {
            const value = items[index];
            if (typeof value !== "number")
                throw outside(value, field, "double");
            view.setFloat64(at, value, true);
        }
    }
    bools(items, field) {
        const { view } = this;
        let at = this.room(items.length);
        for (let index = 0; index < items.length; index++, at++) {
            const value = items[index];
            if (typeof value !== "boolean")
                throw outside(value, field, "bool");
            view.setUint8(at, value ? 1 : 0);
        }
    }
    /** Text padded with zeros. */
    fixedText(value, size, field) {
        const begin = this.at;
        this.at = encodeText(this.bytes, begin, value, size, field);
        if (value.includes("\0")) {
            throw new EncodeError("text_with_zero", `${field}: a zero byte would end this fixed text`);
        }
        this.zeros(begin + size - this.at);
    }
    /** Bytes padded with zeros. */
    fixedBlob(value, size, field) {
        this.padded(blob(value, size, field), size);
    }
    /** A length and text. */
    text(value, prefix, limit, trim, field) {
        const place = this.at;
        const begin = place + prefix;
        const end = encodeText(this.bytes, begin, value, limit, field);
        this.count(end - begin, prefix);
        this.at = end;
        if (!trim) {
            this.zeros(begin + limit - end);
        }
    }
    /** A length and bytes. */
    blob(value, prefix, limit, trim, field) {
        this.prefixed(blob(value, limit, field), prefix, limit, trim);
    }
    /** The elements of an array that always has this many. */
    items(items, count, field) {
        if (items.length !== count) {
            throw new EncodeError("array_length", `${field}: ${items.length} elements, the array has ${count}`);
        }
        return items;
    }
    /** A count; the elements that come after it are returned. */
    list(items, prefix, limit, field) {
        if (items.length > limit) {
            throw new EncodeError("array_length", `${field}: ${items.length} elements, the array has at most ${limit}`);
        }
        this.count(items.length, prefix);
        return items;
    }
    /** A union that has a tag. */
    union(value, variants, tagLen, region, minSize, style, field) {
        let tag = 0;
        let held;
        let variant;
        if (value !== null && value.which === null) {
            const unknown = value;
            tag = unknown.tag;
            held = unknown.region;
            if (style !== "full") {
                // The length of what nobody here knows: up to its last byte that says something.
                let size = held.length;
                while (size > 0 && held[size - 1] === 0)
                    size -= 1;
                held = held.subarray(0, size);
            }
            if ((tag & (tagLen === 1 ? 0xff : 0xffff)) !== tag || held.length > region) {
                throw new EncodeError("unknown_tag", `${field}: tag ${tag} with ${held.length} bytes does not fit`);
            }
        }
        else if (value !== null) {
            variant = variants.find((known) => known.which === value.which);
            if (variant === undefined) {
                const members = variants.map((known) => known.which).join(", ");
                throw new EncodeError("unknown_member", `${field}: no member ${String(value.which)}; members are ${members}`);
            }
            tag = variant.tag;
        }
        const size = variant === undefined ? (held === undefined ? 0 : held.length) : variant.size;
        const padded = style === "full" ? region : Math.max(size, minSize);
        this.count(tag, tagLen);
        if (style === "prefixed") {
            this.count(padded, 2);
        }
        const end = this.at + padded;
        if (variant !== undefined) {
            variant.write(this, value.value);
        }
        else if (held !== undefined) {
            this.padded(held, held.length);
        }
        this.zeros(end - this.at);
    }
    /** A union without a tag. */
    region(value, size, field) {
        this.fixedBlob(value, size, field);
    }
    /** Zero bytes; for a few a loop is faster than a call. */
    zeros(count) {
        const end = this.at + count;
        if (count > 64) {
            this.bytes.fill(0, this.at, end);
        }
        else {
            for (let at = this.at; at < end; at++)
                this.bytes[at] = 0;
        }
        this.at = Math.max(this.at, end);
    }
    count(value, prefix) {
        if (prefix === 1) {
            this.view.setUint8(this.room(1), value);
        }
        else {
            this.view.setUint16(this.room(2), value, true);
        }
    }
    prefixed(bytes, prefix, limit, trim) {
        this.count(bytes.length, prefix);
        this.padded(bytes, trim ? bytes.length : limit);
    }
    padded(bytes, size) {
        this.bytes.set(bytes, this.room(bytes.length));
        this.zeros(size - bytes.length);
    }
    room(size) {
        const at = this.at;
        this.at = at + size;
        return at;
    }
}
/** What overflows was not meant as infinity. */
function notFloat(value) {
    return typeof value !== "number" || ((value >= TOO_LARGE || value <= -TOO_LARGE) && Number.isFinite(value));
}
function blob(value, limit, field) {
    if (!(value instanceof Uint8Array)) {
        throw new EncodeError("wrong_type", `${field}: expected a Uint8Array, found ${typeof value}`);
    }
    if (value.length > limit) {
        throw new EncodeError("too_long", `${field}: ${value.length} bytes, the field has ${limit}`);
    }
    return value;
}
function outside(value, field, type) {
    if (type.endsWith("64") && typeof value === "number") {
        return new EncodeError("wrong_type", `${field}: expected a bigint, found the number ${value}`);
    }
    return new EncodeError("value_out_of_range", `${field}: ${String(value)} does not fit ${type}`);
}
