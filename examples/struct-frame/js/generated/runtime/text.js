/**
 * Text as UTF-8. Bytes that are no UTF-8 become lone surrogates (U+DC80 to U+DCFF) and go out again as they came, so that
 * forwarding a message changes nothing.
 */
import { EncodeError } from "./errors.js";
/** Reads text. */
export function decodeText(bytes, begin, end) {
    let text = "";
    let at = begin;
    while (at < end) {
        const first = bytes[at];
        if (first < 0x80) {
            text += String.fromCharCode(first);
            at += 1;
            continue;
        }
        const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
        let point = first & (0x7f >> size);
        let good = first >= 0xc2 && first <= 0xf4 && at + size <= end;
        for (let next = at + 1; good && next < at + size; next++) {
            const byte = bytes[next];
            good = (byte & 0xc0) === 0x80;
            point = (point << 6) | (byte & 0x3f);
        }
        // Neither longer than needed, nor half of a pair, nor beyond Unicode.
        good &&= point >= (size === 4 ? 0x10000 : size === 3 ? 0x800 : 0x80) && point <= 0x10ffff;
        good &&= point < 0xd800 || point > 0xdfff;
        text += good ? String.fromCodePoint(point) : String.fromCharCode(0xdc00 + first);
        at += good ? size : 1;
    }
    return text;
}
/** Writes text of at most `limit` bytes at `begin` and returns where it ends. What lies behind may be overwritten. */
export function encodeText(bytes, begin, text, limit, field) {
    if (typeof text !== "string") {
        throw new EncodeError("wrong_type", `${field}: expected a string, found ${typeof text}`);
    }
    // No unit of the string takes less than a byte.
    if (text.length > limit) {
        throw new EncodeError("too_long", `${field}: ${sizeOf(text)} bytes, the field has ${limit}`);
    }
    let at = begin;
    for (let index = 0; index < text.length; index++) {
        let point = text.charCodeAt(index);
        if (point < 0x80) {
            bytes[at++] = point;
            continue;
        }
        if (point >= 0xd800 && point <= 0xdfff) {
            const next = text.charCodeAt(index + 1);
            if (point < 0xdc00 && next >= 0xdc00 && next <= 0xdfff) {
                point = 0x10000 + ((point - 0xd800) << 10) + (next - 0xdc00);
                index += 1;
            }
            else if (point >= 0xdc80 && point <= 0xdcff) {
                bytes[at++] = point - 0xdc00;
                continue;
            }
            else {
                throw new EncodeError("text_not_unicode", `${field}: half of a surrogate pair at ${index}`);
            }
        }
        if (point < 0x800) {
            bytes[at++] = 0xc0 | (point >> 6);
        }
        else {
            if (point < 0x10000) {
                bytes[at++] = 0xe0 | (point >> 12);
            }
            else {
                bytes[at++] = 0xf0 | (point >> 18);
                bytes[at++] = 0x80 | ((point >> 12) & 0x3f);
            }
            bytes[at++] = 0x80 | ((point >> 6) & 0x3f);
        }
        bytes[at++] = 0x80 | (point & 0x3f);
    }
    if (at - begin > limit) {
        throw new EncodeError("too_long", `${field}: ${at - begin} bytes, the field has ${limit}`);
    }
    return at;
}
/** How many bytes text takes. */
function sizeOf(text) {
    let size = 0;
    for (const letter of text) {
        const point = letter.codePointAt(0);
        const escaped = point >= 0xdc80 && point <= 0xdcff;
        size += point < 0x80 || escaped ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    }
    return size;
}
