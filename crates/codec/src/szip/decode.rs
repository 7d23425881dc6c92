//! Bits to samples, interval by interval.

use super::bit_reader::BitReader;
use super::fault::{Fault, FaultKind};
use super::params::{Layout, SEGMENT_BLOCKS};
use super::predict::restore;
use std::ops::Range;

/// Decodes intervals one after another.
#[derive(Debug)]
pub(super) struct Decoder<'a> {
    layout: &'a Layout,
    reader: BitReader<'a>,
    /// Residuals of one segment, then its samples.
    values: Vec<u32>,
    /// Bytes of one segment, where only a part of them is wanted.
    bytes: Vec<u8>,
}

/// What stands at one place of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    /// So many blocks of zeros.
    Zeros(usize),
    /// One block.
    Block(Method),
}

/// How one block is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Split(u32),
    SecondExtension,
    Raw,
}

/// The end of an interval, found without decoding it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// One past its last bit.
    pub(super) end: u64,
    /// Where the last block starts, when it is coded on its own right behind a run of zero blocks.
    pub(super) lone_last: Option<u64>,
}

impl<'a> Decoder<'a> {
    /// A decoder of the stream in `bytes`, at the start of an interval at bit `position`.
    pub(super) fn new(layout: &'a Layout, bytes: &'a [u8], position: u64) -> Self {
        Self { layout, reader: BitReader::at(bytes, position), values: Vec::new(), bytes: Vec::new() }
    }

    pub(super) fn position(&self) -> u64 {
        self.reader.position()
    }

    /// Decodes an interval of `samples` samples and writes its bytes `wanted` to `out`, which is as long as that.
    ///
    /// Stops behind the last wanted byte; the position is the end of the interval only when that was its last.
    pub(super) fn decode_rsi(&mut self, samples: usize, wanted: Range<usize>, out: &mut [u8]) -> Result<(), Fault> {
        let layout = self.layout;
        let width = layout.container.width();
        let segment_samples = SEGMENT_BLOCKS * layout.block;
        let mut zero_blocks = 0;
        let mut before = None;
        let mut done = 0;
        while done < samples && done * width < wanted.end {
            let count = segment_samples.min(samples - done);
            zero_blocks = self.residuals(done / layout.block, count, zero_blocks, &mut before)?;
            if let Some(before) = &mut before {
                *before = restore(layout.max, *before, &mut self.values[..count]);
                if layout.sign != 0 {
                    self.values[..count].iter_mut().for_each(|value| *value ^= layout.sign);
                }
            }
            let segment = done * width..(done + count) * width;
            self.deliver(segment, &wanted, count, out);
            done += count;
        }
        Ok(())
    }

    /// Finds the end of an interval of `samples` samples.
    pub(super) fn skip_rsi(&mut self, samples: usize) -> Result<Extent, Fault> {
        let layout = self.layout;
        let blocks = samples.div_ceil(layout.block);
        let mut reference = layout.preprocess;
        let mut lone_last = None;
        let mut after_run = false;
        let mut block = 0;
        while block < blocks {
            let start = self.reader.position();
            let (set, _) = self.read_head(block, reference)?;
            let covered = match set {
                Set::Zeros(count) => count,
                Set::Block(option) => {
                    self.skip_block(option, reference)?;
                    1
                }
            };
            lone_last = (after_run && covered == 1).then_some(start);
            after_run = matches!(set, Set::Zeros(_));
            reference = false;
            block += covered;
        }
        Ok(Extent { end: self.reader.position(), lone_last })
    }

    /// The end of a single block that is not the first of its interval.
    pub(super) fn skip_last_block(&mut self) -> Result<u64, Fault> {
        let (set, _) = self.read_head(self.layout.rsi_blocks - 1, false)?;
        if let Set::Block(option) = set {
            self.skip_block(option, false)?;
        }
        Ok(self.reader.position())
    }

    /// Fills `values` with the residuals of `count` samples from block `first_block` of the interval on.
    ///
    /// `pending` zero blocks are left from a run that began in the segment before; returns how many are left for the
    /// next. Sets `before` to the reference sample, in front of the first block of an interval that has one.
    fn residuals(
        &mut self,
        first_block: usize,
        count: usize,
        pending: usize,
        before: &mut Option<u32>,
    ) -> Result<usize, Fault> {
        let layout = self.layout;
        let blocks = count.div_ceil(layout.block);
        let mut values = std::mem::take(&mut self.values);
        values.resize(blocks * layout.block, 0);
        let mut rest = values.as_mut_slice();
        let mut zero_blocks = pending;
        let mut block = 0;
        while block < blocks {
            if zero_blocks == 0 {
                let reference = layout.preprocess && first_block + block == 0;
                let (set, sample) = self.read_head(first_block + block, reference)?;
                if let Some(sample) = sample {
                    *before = Some(sample ^ layout.sign);
                }
                match set {
                    Set::Zeros(count) => zero_blocks = count,
                    Set::Block(option) => {
                        let Some((slots, tail)) = rest.split_at_mut_checked(layout.block) else { break };
                        rest = tail;
                        self.read_block(option, reference, slots)?;
                        block += 1;
                        continue;
                    }
                }
            }
            let here = zero_blocks.min(blocks - block);
            let Some((slots, tail)) = rest.split_at_mut_checked(here * layout.block) else { break };
            slots.fill(0);
            rest = tail;
            zero_blocks -= here;
            block += here;
        }
        self.values = values;
        Ok(zero_blocks)
    }

    /// The option in front of block `block` of the interval, and the reference sample where there is one.
    #[inline(always)]
    fn read_head(&mut self, block: usize, reference: bool) -> Result<(Set, Option<u32>), Fault> {
        let layout = self.layout;
        let start = self.reader.position();
        let id = self.reader.bits(layout.id_len);
        let low_entropy = id == 0;
        let second = low_entropy && self.reader.bits(1) == 1;
        let sample = reference.then(|| self.reader.bits(layout.bits));
        let set = if id > layout.split_count {
            Set::Block(Method::Raw)
        } else if !low_entropy {
            Set::Block(Method::Split(id - 1))
        } else if second {
            Set::Block(Method::SecondExtension)
        } else {
            Set::Zeros(self.read_run(block, start)?)
        };
        Ok((set, sample))
    }

    /// The length of a run of zero blocks that begins with block `block`.
    fn read_run(&mut self, block: usize, start: u64) -> Result<usize, Fault> {
        let left = self.layout.rsi_blocks - block;
        let run = match self.reader.unary()? {
            code @ 0..=3 => code as usize + 1,
            4 => left.min(SEGMENT_BLOCKS - block % SEGMENT_BLOCKS),
            code => usize::try_from(code).unwrap_or(usize::MAX),
        };
        if run > left {
            return Err(Fault { kind: FaultKind::RunTooLong, position: start });
        }
        Ok(run)
    }

    /// The residuals of one block.
    #[inline(always)]
    fn read_block(&mut self, option: Method, reference: bool, slots: &mut [u32]) -> Result<(), Fault> {
        let layout = self.layout;
        let start = self.reader.position();
        let (first, coded) = slots.split_at_mut(usize::from(reference));
        first.fill(0);
        let too_large = match option {
            Method::Split(k) => {
                let highs = self.reader.unary_into(coded)?;
                self.reader.append_bits(k, coded);
                // Some widths have splits wider than a sample, which no sensible writer uses.
                highs > u64::from(layout.max) >> k || (k > layout.bits && union(coded) > layout.max)
            }
            Method::SecondExtension => {
                let mut union = 0;
                for pair in slots.as_chunks_mut::<2>().0 {
                    let values = pair_of(self.reader.unary()?);
                    union |= values[0] | values[1];
                    *pair = values.map(|value| value as u32);
                }
                // The reference sample stands in the first pair, with a residual of zero.
                union > u64::from(layout.max) || (reference && slots[0] != 0)
            }
            Method::Raw => {
                coded.fill(0);
                self.reader.append_bits(layout.bits, coded);
                false
            }
        };
        self.reader.check()?;
        if too_large {
            return Err(Fault { kind: FaultKind::ResidualTooLarge, position: start });
        }
        Ok(())
    }

    #[inline(always)]
    fn skip_block(&mut self, option: Method, reference: bool) -> Result<(), Fault> {
        let layout = self.layout;
        let coded = (layout.block - usize::from(reference)) as u32;
        match option {
            Method::Split(k) => {
                self.reader.skip_unary(coded)?;
                self.reader.skip(u64::from(coded) * u64::from(k));
            }
            Method::SecondExtension => self.reader.skip_unary(layout.block as u32 / 2)?,
            Method::Raw => self.reader.skip(u64::from(coded) * u64::from(layout.bits)),
        }
        self.reader.check()
    }

    /// Writes what is wanted of a decoded segment.
    #[inline(always)]
    fn deliver(&mut self, segment: Range<usize>, wanted: &Range<usize>, count: usize, out: &mut [u8]) {
        let from = segment.start.max(wanted.start);
        let to = segment.end.min(wanted.end);
        if from >= to {
            return;
        }
        let values = &self.values[..count];
        let out = &mut out[from - wanted.start..to - wanted.start];
        if from == segment.start && to == segment.end {
            self.layout.container.store(values, out);
        } else {
            self.bytes.resize(segment.len(), 0);
            self.layout.container.store(values, &mut self.bytes);
            out.copy_from_slice(&self.bytes[from - segment.start..to - segment.start]);
        }
    }
}

fn union(values: &[u32]) -> u32 {
    values.iter().fold(0, |all, value| all | value)
}

/// The pair of residuals that a number of the second extension stands for.
#[inline(always)]
fn pair_of(code: u64) -> [u64; 2] {
    match usize::try_from(code).ok().and_then(|code| PAIRS.get(code)) {
        Some(pair) => pair.map(u64::from),
        None => long_pair_of(code),
    }
}

/// Pairs by number, along the diagonals of equal sum; the first 13 diagonals.
const PAIRS: [[u8; 2]; 91] = {
    let mut pairs = [[0; 2]; 91];
    let (mut code, mut sum) = (0, 0);
    while code < pairs.len() {
        let mut second = 0;
        while second <= sum {
            pairs[code] = [sum - second, second];
            (code, second) = (code + 1, second + 1);
        }
        sum += 1;
    }
    pairs
};

#[cold]
fn long_pair_of(code: u64) -> [u64; 2] {
    // The largest sum whose diagonal starts at or before the code: a root that may be off by one.
    let mut sum = ((8.0 * code as f64 + 1.0).sqrt() as u64).saturating_sub(1) / 2;
    while sum * (sum + 1) / 2 > code {
        sum -= 1;
    }
    while (sum + 1) * (sum + 2) / 2 <= code {
        sum += 1;
    }
    let second = code - sum * (sum + 1) / 2;
    [sum - second, second]
}

#[cfg(test)]
mod tests {
    use super::super::choose::pair_code;
    use super::*;
    use crate::szip::{SzipFlags, SzipParams};

    #[test]
    fn a_split_wider_than_the_samples_cannot_smuggle_in_large_values() {
        for preprocess in [SzipFlags(0), SzipFlags::PREPROCESS] {
            let params = SzipParams { rsi: 2, block_size: 8, flags: preprocess, bits_per_sample: 3 };
            let layout = Layout::new(&params).unwrap();
            // Option 6: five low bits for each sample of three.
            let mut decoder = Decoder::new(&layout, &[0xdf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], 0);
            let fault = decoder.decode_rsi(8, 0..8, &mut [0; 8]).unwrap_err();
            assert_eq!(fault.kind, FaultKind::ResidualTooLarge);
        }
    }

    #[test]
    fn pairs_are_numbered_along_diagonals() {
        for code in (0..3000).chain([1 << 20, (1 << 31) - 1, 1 << 40]) {
            let pair = pair_of(code);
            assert_eq!(pair_code(pair.map(|value| value as u32)), code);
        }
        assert_eq!([pair_of(0), pair_of(1), pair_of(2), pair_of(3)], [[0, 0], [1, 0], [0, 1], [2, 0]]);
    }
}
