//! The bit-plane code.
//!
//! Planes are coded from the most significant down. `known` counts the leading coefficients already known to be
//! significant. A plane is: the bits of the known coefficients; then, while a coefficient further on has its bit set,
//! a one, the bits up to and including that one, and so on; then a zero, unless all four are known. The last of four
//! needs no bit of its own once the test said that one is left.
//!
//! So planes in which nothing new appears are `known + 1` bits each, of a fixed layout, and whole runs of them move at
//! once. One step takes such a run and the plane that ends it, the latter by table. With all four known, planes are
//! raw nibbles. At most four steps find new coefficients, whatever the number of planes.

use super::bits::{Bits, low_bits};
use super::transform::{Planes, Spread, deposit, squeeze, window};

/// The code of one block, least significant bit first. Holds the longest possible code and a word to spill into.
pub(super) type Code = [u64; 8];

/// Progress of coding one block.
#[derive(Clone, Copy)]
pub(super) struct Encoder {
    known: u32,
    /// Planes done.
    done: u32,
    /// Planes to do.
    left: u32,
    /// Bits written.
    len: u32,
}

impl Encoder {
    /// Starts behind a header of `header_len` bits.
    #[inline(always)]
    pub(super) fn new(planes: u32, header_len: u32) -> Self {
        Self { known: 0, done: 0, left: planes, len: header_len }
    }

    /// True while [`Encoder::step`] has something to do that [`Encoder::finish`] cannot.
    #[inline(always)]
    pub(super) fn is_searching(&self, max_bits: u32) -> bool {
        self.known < 4 && self.left > 0 && self.len < max_bits
    }

    /// Codes up to fifteen planes in which nothing new appears, and one more. Without planes left: nothing.
    #[inline(always)]
    pub(super) fn step(&mut self, planes: &Planes, code: &mut Code) {
        let row = &ENCODE_ROWS[self.known as usize % 8];
        let nibbles = window(planes, self.done);
        let run = ((nibbles & row.unknown).trailing_zeros() / 4).min(self.left).min(MAX_RUN);
        let run_len = run * row.stride;
        let run_bits = squeeze(nibbles & low_bits(4 * run), row.drop);

        let nibble = (nibbles >> (4 * run)) as usize % 16;
        let entry =
            if run < self.left { row.plane[nibble] } else { PlaneCode { bits: 0, len: 0, known: self.known as u8 } };
        put(code, self.len, run_bits | u64::from(entry.bits) << run_len);

        self.len += run_len + u32::from(entry.len);
        let stepped = run + u32::from(run < self.left);
        self.done += stepped;
        self.left -= stepped;
        self.known = u32::from(entry.known);
    }

    /// Codes the planes that are left once all coefficients are known. Returns the length of the code.
    #[inline(always)]
    pub(super) fn finish(mut self, planes: &Planes, code: &mut Code, max_bits: u32) -> u32 {
        while self.left > 0 && self.len < max_bits {
            let count = self.left.min(16);
            let nibbles = window(planes, self.done);
            put(code, self.len, if count == 16 { nibbles } else { nibbles & low_bits(4 * count) });
            self.len += 4 * count;
            self.done += count;
            self.left -= count;
        }
        self.len.min(max_bits)
    }
}

/// Progress of decoding one block.
#[derive(Clone, Copy)]
pub(super) struct Decoder {
    known: u32,
    done: u32,
    left: u32,
    /// Bits this block may still use.
    budget: u32,
    /// Position in the stream.
    at: u64,
}

impl Decoder {
    /// Starts at bit `at`, behind the header.
    #[inline(always)]
    pub(super) fn new(planes: u32, budget: u32, at: u64) -> Self {
        Self { known: 0, done: 0, left: planes, budget, at }
    }

    /// True while [`Decoder::step`] has something to do that [`Decoder::finish`] cannot.
    #[inline(always)]
    pub(super) fn is_searching(&self) -> bool {
        self.known < 4 && self.left > 0 && self.budget > 0
    }

    /// Decodes up to fifteen planes in which nothing new appears, and one more. Without planes or budget: nothing.
    #[inline(always)]
    pub(super) fn step(&mut self, bits: Bits<'_>, planes: &mut Planes) {
        let row = &DECODE_ROWS[self.known as usize % 8];
        let ahead = bits.window(self.at);
        let clear = (ahead & row.tests).trailing_zeros().min(self.budget);
        let run = (clear * row.reciprocal / 256).min(self.left).min(MAX_RUN);
        let run_len = run * row.stride;
        let run_planes = row.spread.apply(ahead & low_bits(run_len));

        let budget = self.budget - run_len;
        let seen = if run < self.left { budget.min(7) } else { 0 };
        let index = self.known << 10 | seen << 7 | ((ahead >> run_len) as u32 % 128);
        let entry = DECODE_PLANE[index as usize % DECODE_PLANE.len()];
        deposit(planes, self.done, run_planes | u64::from(entry.nibble()) << (4 * run));

        self.at += u64::from(run_len + entry.len());
        self.budget = budget - entry.len();
        let stepped = run + u32::from(seen > 0);
        self.done += stepped;
        self.left -= stepped;
        self.known = entry.known();
    }

    /// Decodes the planes that are left once all coefficients are known. Returns where the code ends.
    #[inline(always)]
    pub(super) fn finish(self, bits: Bits<'_>, planes: &mut Planes) -> u64 {
        let end = self.end();
        let (mut at, mut done, mut left) = (self.at, self.done, (end - self.at) as u32);
        while left > 0 {
            let count = left.min(64);
            let ahead = bits.window(at);
            deposit(planes, done, if count == 64 { ahead } else { ahead & low_bits(count) });
            at += 64;
            done += 16;
            left -= count;
        }
        end
    }

    /// Where the code ends, once all coefficients are known.
    #[inline(always)]
    pub(super) fn end(&self) -> u64 {
        self.at + u64::from((4 * self.left).min(self.budget))
    }
}

/// Planes a step takes before the one by table: their bits and the table's fit in one window.
const MAX_RUN: u32 = 15;

/// Adds up to 64 bits at position `at`.
#[inline(always)]
fn put(code: &mut Code, at: u32, bits: u64) {
    let (word, shift) = (at as usize / 64, at % 64);
    code[word % 8] |= bits << shift;
    code[(word + 1) % 8] |= bits >> 1 >> (63 - shift);
}

/// What the encoder does while so many coefficients are known.
#[derive(Clone, Copy)]
struct EncodeRow {
    /// The coefficients not yet known, in every nibble.
    unknown: u64,
    /// Bits of a plane in which nothing new appears.
    stride: u32,
    /// Bits of a nibble that such a plane leaves out.
    drop: u32,
    /// The code of any plane.
    plane: [PlaneCode; 16],
}

#[derive(Clone, Copy)]
struct PlaneCode {
    bits: u8,
    len: u8,
    known: u8,
}

/// What the decoder does while so many coefficients are known.
#[derive(Clone, Copy)]
struct DecodeRow {
    /// Where planes in which nothing new appears have the zero that says so.
    tests: u64,
    stride: u32,
    /// 256 divided by the stride, rounded up.
    reciprocal: u32,
    spread: Spread,
}

/// What the next plane is, packed: nibble in bits 0–3, length in bits 4–7, coefficients then known from bit 8.
#[derive(Clone, Copy)]
struct NextPlane(u16);

impl NextPlane {
    #[inline(always)]
    fn nibble(self) -> u32 {
        u32::from(self.0) & 15
    }

    #[inline(always)]
    fn len(self) -> u32 {
        u32::from(self.0) >> 4 & 15
    }

    #[inline(always)]
    fn known(self) -> u32 {
        u32::from(self.0) >> 8
    }
}

// Rows 5 to 7 do not occur; they spare the bounds checks.
static ENCODE_ROWS: [EncodeRow; 8] = [
    encode_row(0),
    encode_row(1),
    encode_row(2),
    encode_row(3),
    encode_row(4),
    encode_row(4),
    encode_row(4),
    encode_row(4),
];
static DECODE_ROWS: [DecodeRow; 8] = [
    decode_row(0),
    decode_row(1),
    decode_row(2),
    decode_row(3),
    decode_row(4),
    decode_row(4),
    decode_row(4),
    decode_row(4),
];

/// By known coefficients (bits 10–12), bits left in the budget (7–9, where 7 is any number from 7), next bits (0–6).
static DECODE_PLANE: [NextPlane; 8 << 10] = decode_planes();

const fn encode_row(known: u32) -> EncodeRow {
    let mut plane = [PlaneCode { bits: 0, len: 0, known: 0 }; 16];
    let mut nibble = 0;
    while nibble < 16 {
        plane[nibble as usize] = encode_plane(known, nibble);
        nibble += 1;
    }
    EncodeRow { unknown: 0x1111_1111_1111_1111 * (16 - (1 << known)), stride: stride(known), drop: drop(known), plane }
}

const fn decode_row(known: u32) -> DecodeRow {
    let stride = stride(known);
    let mut tests = 0;
    let mut at = known;
    while known < 4 && at < 64 {
        tests |= 1 << at;
        at += stride;
    }
    DecodeRow { tests, stride, reciprocal: 256u32.div_ceil(stride), spread: Spread::new(drop(known)) }
}

const fn stride(known: u32) -> u32 {
    if known < 4 { known + 1 } else { 4 }
}

/// With nothing known a run is all zeros and any spacing will do.
const fn drop(known: u32) -> u32 {
    if known == 0 { 0 } else { 4 - stride(known) }
}

/// One plane without a budget, bit by bit.
const fn encode_plane(mut known: u32, nibble: u32) -> PlaneCode {
    let mut bits = nibble & ((1 << known) - 1);
    let mut len = known;
    let mut rest = nibble >> known;
    while known < 4 {
        if rest == 0 {
            len += 1;
            break;
        }
        bits |= 1 << len;
        len += 1;
        while known < 3 {
            bits |= (rest & 1) << len;
            len += 1;
            if rest & 1 == 1 {
                break;
            }
            rest >>= 1;
            known += 1;
        }
        rest >>= 1;
        known += 1;
    }
    PlaneCode { bits: bits as u8, len: len as u8, known: known as u8 }
}

/// One plane with a budget, bit by bit. A test that said "one is left" just before the budget ended means the next.
const fn decode_plane(mut known: u32, mut budget: u32, bits: u32) -> NextPlane {
    let verbatim = if known < budget { known } else { budget };
    let mut nibble = bits & ((1 << verbatim) - 1);
    let mut len = verbatim;
    budget -= verbatim;
    while known < 4 && budget > 0 {
        let more = bits >> len & 1;
        len += 1;
        budget -= 1;
        if more == 0 {
            break;
        }
        while known < 3 && budget > 0 {
            let bit = bits >> len & 1;
            len += 1;
            budget -= 1;
            if bit == 1 {
                break;
            }
            known += 1;
        }
        nibble |= 1 << known;
        known += 1;
    }
    NextPlane((nibble | len << 4 | known << 8) as u16)
}

const fn decode_planes() -> [NextPlane; 8 << 10] {
    let mut table = [NextPlane(0); 8 << 10];
    let mut index = 0;
    while index < 5 << 10 {
        table[index as usize] = decode_plane(index >> 10, index >> 7 & 7, index & 127);
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decoding_table_inverts_the_encoding_table() {
        for known in 0..5 {
            for nibble in 0..16 {
                let code = encode_plane(known, nibble);
                assert!(code.len <= 7);
                let back = decode_plane(known, 7, u32::from(code.bits) | 0x40 & !low_bits(code.len.into()) as u32);
                assert_eq!(back.nibble(), nibble);
                assert_eq!(back.len(), u32::from(code.len));
                assert_eq!(back.known(), u32::from(code.known));
            }
        }
    }

    #[test]
    fn reciprocals_divide_every_bit_count() {
        for known in 0..5 {
            let row = decode_row(known);
            for count in 0..=64 {
                assert_eq!(count * row.reciprocal / 256, count / row.stride);
            }
        }
    }

    #[test]
    fn no_block_is_longer_than_its_bound() {
        // Greedy worst case per plane, over all states: the longest code that leaves each state reachable.
        let mut longest = [Some(0u32), None, None, None, None];
        for _ in 0..64 {
            let mut next = [None; 5];
            for known in 0..5u32 {
                let Some(so_far) = longest[known as usize] else { continue };
                for nibble in 0..16 {
                    let code = encode_plane(known, nibble);
                    let slot: &mut Option<u32> = &mut next[usize::from(code.known)];
                    *slot = (*slot).max(Some(so_far + u32::from(code.len)));
                }
            }
            longest = next;
        }
        let worst = longest.into_iter().flatten().max().unwrap();
        assert!(super::super::params::HEADER_BITS + worst <= super::super::BLOCK_MAX_BITS, "{worst}");
    }
}
