//! Coding on several threads, with the very bytes that one thread writes.
//!
//! Intervals depend on each other in two ways only: where the bits start, and which split the first block inherits.
//! Each thread codes its intervals from bit zero with a guessed split, and the parts are shifted together. The inherited
//! split only decides between equally long codes of the first block that is not all zero, so a wrong guess is noticed
//! there, mostly without effect, and otherwise the part is coded again.

use super::choose::choose;
use super::encode::Encoder;
use super::params::Layout;
use super::predict::residuals;
use crate::{CodecError, parallel};

/// Samples below which a part is not worth a thread.
const MIN_PART_SAMPLES: usize = 1 << 14;

/// Parts per thread, so that uneven ones balance.
const PARTS_PER_THREAD: usize = 4;

/// Blocks looked at to guess the split that the next one inherits.
const GUESS_BLOCKS: usize = 4;

/// Appends the stream of `input` to `out`; returns the bit position of each interval.
///
/// # Errors
/// When a sample has more bits than the parameters say.
pub(super) fn encode(layout: &Layout, input: &[u8], threads: usize, out: &mut Vec<u8>) -> Result<Vec<u64>, CodecError> {
    let mut offsets = Vec::new();
    let part_len = part_len(layout, input.len(), threads);
    let mut whole = Encoder::new(layout, std::mem::take(out), 0);
    if threads < 2 || input.len() <= part_len {
        let result = whole.encode(input, &mut offsets);
        *out = whole.writer.finish();
        return result.map(|()| offsets);
    }
    let mut parts: Vec<Option<Part>> = input.chunks(part_len).map(|_| None).collect();
    let tasks = parts.iter_mut().enumerate();
    let result = parallel::for_each(threads, tasks, |(index, part)| {
        let start = index * part_len;
        let guess = guess_split(layout, &input[..start]);
        *part = Some(Part::encode(layout, &input[start..input.len().min(start + part_len)], guess)?);
        Ok(())
    });
    for (part, input) in parts.into_iter().flatten().zip(input.chunks(part_len)) {
        let part = if part.fits(whole.k) { part } else { Part::encode(layout, input, whole.k)? };
        let start = whole.writer.bit_len();
        offsets.extend(part.offsets.iter().map(|offset| start + offset));
        whole.writer.put_stream(&part.bytes, part.bit_len);
        whole.k = part.next_split(whole.k);
    }
    *out = whole.writer.finish();
    result.map(|()| offsets)
}

/// Some intervals, coded on their own.
struct Part {
    bytes: Vec<u8>,
    bit_len: u64,
    offsets: Vec<u64>,
    /// The inherited split that was assumed.
    guess: u32,
    /// The equally good splits of the first block that looks at the inherited one.
    first_tie: Option<(u32, u32)>,
    /// The split that the next part inherits, if this one has such a block.
    last_split: u32,
}

impl Part {
    fn encode(layout: &Layout, input: &[u8], guess: u32) -> Result<Self, CodecError> {
        let mut encoder = Encoder::new(layout, Vec::with_capacity(input.len() / 2), guess);
        let mut offsets = Vec::new();
        encoder.encode(input, &mut offsets)?;
        let first_tie = encoder.first_tie.map(|tie| (*tie.start(), *tie.end()));
        let (last_split, bit_len) = (encoder.k, encoder.writer.bit_len());
        Ok(Self { bytes: encoder.writer.finish(), bit_len, offsets, guess, first_tie, last_split })
    }

    /// True when inheriting `k` gives the same bits as the guess did.
    fn fits(&self, k: u32) -> bool {
        self.first_tie.is_none_or(|(low, high)| k.clamp(low, high) == self.guess.clamp(low, high))
    }

    fn next_split(&self, inherited: u32) -> u32 {
        if self.first_tie.is_some() { self.last_split } else { inherited }
    }
}

fn part_len(layout: &Layout, input_len: usize, threads: usize) -> usize {
    let rsi_len = layout.rsi_samples * layout.container.width();
    let wanted = input_len / threads.saturating_mul(PARTS_PER_THREAD).max(1);
    wanted.max(MIN_PART_SAMPLES * layout.container.width()).next_multiple_of(rsi_len)
}

/// The split in force behind `before`, from its last few blocks: right unless they leave it open.
fn guess_split(layout: &Layout, before: &[u8]) -> u32 {
    let width = layout.container.width();
    let blocks = GUESS_BLOCKS.min(layout.rsi_blocks - 1);
    let tail = before.len().saturating_sub((blocks * layout.block + 1) * width);
    let mut samples = vec![0; before.len().saturating_sub(tail) / width];
    layout.container.load(&before[tail..], &mut samples);
    samples.iter_mut().for_each(|sample| *sample ^= layout.sign);
    let Some((_, current)) = samples.split_first() else { return 0 };
    let mut values = current.to_vec();
    if layout.preprocess {
        residuals(layout.max, &samples, current, &mut values);
    }
    let mut k = 0;
    for block in values.chunks_exact(layout.block) {
        if block.iter().any(|value| *value != 0) {
            choose(layout, block, layout.block as u64, &mut k);
        }
    }
    k
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::szip::params::{SzipFlags, SzipParams};

    /// Blocks of a kind that leaves the split open, so that it is inherited over long stretches.
    #[test]
    fn ties_over_part_borders_are_settled_as_one_thread_does() {
        let flags = SzipFlags(0);
        let layout = Layout::new(&SzipParams { rsi: 16, block_size: 8, flags, bits_per_sample: 16 }).unwrap();
        // Eight residuals of which the two splits 1 and 2 are equally short.
        let tie = [0u16, 1, 2, 3, 4, 4, 4, 4];
        let steep = [900u16; 8];
        for steep_every in [1 << 30, 9000, 5000, 64] {
            let samples: Vec<u16> = (0..16384)
                .flat_map(|block| match block {
                    block if block % steep_every == steep_every - 1 => steep,
                    block if block % 3 == 0 => [0; 8],
                    _ => tie,
                })
                .collect();
            let input: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
            let mut single = vec![7];
            let single_offsets = encode(&layout, &input, 1, &mut single).unwrap();
            for threads in [2, 3, 8] {
                let mut many = vec![7];
                assert_eq!(encode(&layout, &input, threads, &mut many).unwrap(), single_offsets);
                assert!(many == single, "{threads} threads, steep block every {steep_every}");
            }
        }
    }
}
