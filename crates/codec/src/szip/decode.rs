//! Bits to samples, interval by interval.

use super::bit_reader::BitReader;
use super::fault::Fault;
use super::params::{Layout, SEGMENT_BLOCKS};
use super::predict::restore;
use super::sets::{Set, Sets};
use pulp::{Arch, Simd, WithSimd};
use std::ops::Range;

/// Decodes intervals one after another.
#[derive(Debug)]
pub(super) struct Decoder<'a> {
    sets: Sets<'a>,
    /// Residuals of one segment, then its samples.
    values: Vec<u32>,
    /// Bytes of one segment, where only a part of them is wanted.
    bytes: Vec<u8>,
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
    pub(super) fn new(layout: &Layout, bytes: &'a [u8], position: u64) -> Self {
        let sets = Sets { layout: *layout, reader: BitReader::at(bytes, position) };
        Self { sets, values: Vec::new(), bytes: Vec::new() }
    }

    pub(super) fn position(&self) -> u64 {
        self.sets.reader.position()
    }

    /// Decodes an interval of `samples` samples and writes its bytes `wanted` to `out`, which is as long as that.
    ///
    /// Stops behind the last wanted byte; the position is the end of the interval only when that was its last.
    pub(super) fn decode_rsi(&mut self, samples: usize, wanted: Range<usize>, out: &mut [u8]) -> Result<(), Fault> {
        Arch::new().dispatch(DecodeRsi { decoder: self, samples, wanted, out })
    }

    /// Finds the end of an interval of `samples` samples.
    pub(super) fn skip_rsi(&mut self, samples: usize) -> Result<Extent, Fault> {
        let block_len = self.sets.layout.block;
        let blocks = samples.div_ceil(block_len);
        let mut lone_last = None;
        let mut after_run = false;
        let mut block = 0;
        while block < blocks {
            let start = self.position();
            let reference = block == 0 && self.sets.layout.preprocess;
            let set = if reference { self.sets.read_first_head()?.0 } else { self.sets.read_head(block)? };
            let covered = match set {
                Set::Zeros(count) => count,
                Set::Block(method) => {
                    self.sets.skip_block(method, (block_len - usize::from(reference)) as u32)?;
                    1
                }
            };
            lone_last = (after_run && covered == 1).then_some(start);
            after_run = matches!(set, Set::Zeros(_));
            block += covered;
        }
        Ok(Extent { end: self.position(), lone_last })
    }

    /// The end of a single block that is not the first of its interval.
    pub(super) fn skip_last_block(&mut self) -> Result<u64, Fault> {
        if let Set::Block(method) = self.sets.read_head(self.sets.layout.rsi_blocks - 1)? {
            self.sets.skip_block(method, self.sets.layout.block as u32)?;
        }
        Ok(self.position())
    }

    /// [`Decoder::decode_rsi`] as any processor runs it.
    #[cfg(test)]
    pub(super) fn decode_rsi_plainly(
        &mut self,
        samples: usize,
        wanted: Range<usize>,
        out: &mut [u8],
    ) -> Result<(), Fault> {
        self.decode(samples, &wanted, out)
    }

    #[inline(always)]
    fn decode(&mut self, samples: usize, wanted: &Range<usize>, out: &mut [u8]) -> Result<(), Fault> {
        let layout = self.sets.layout;
        let width = layout.container.width();
        let segment_samples = SEGMENT_BLOCKS * layout.block;
        let mut zero_blocks = 0;
        let mut before = None;
        let mut done = 0;
        while done < samples && done * width < wanted.end {
            let count = segment_samples.min(samples - done);
            let place = Place { first_block: done / layout.block, blocks: count.div_ceil(layout.block) };
            // Blocks of known size make loops of known length.
            zero_blocks = match layout.block {
                8 => self.residuals::<8>(place, zero_blocks, &mut before)?,
                16 => self.residuals::<16>(place, zero_blocks, &mut before)?,
                32 => self.residuals::<32>(place, zero_blocks, &mut before)?,
                64 => self.residuals::<64>(place, zero_blocks, &mut before)?,
                _ => self.residuals::<0>(place, zero_blocks, &mut before)?,
            };
            if let Some(before) = &mut before {
                *before = restore(layout.max, *before, &mut self.values[..count]);
                if layout.sign != 0 {
                    self.values[..count].iter_mut().for_each(|value| *value ^= layout.sign);
                }
            }
            let segment = done * width..(done + count) * width;
            self.deliver(segment, wanted, count, out);
            done += count;
        }
        Ok(())
    }

    /// Fills `values` with the residuals of the blocks at `place`; `BLOCK` is the block size, or zero for any.
    ///
    /// `pending` zero blocks are left from a run that began in the segment before; returns how many are left for the
    /// next. Sets `before` to the reference sample, in front of the first block of an interval that has one.
    #[inline(always)]
    fn residuals<const BLOCK: usize>(
        &mut self,
        place: Place,
        pending: usize,
        before: &mut Option<u32>,
    ) -> Result<usize, Fault> {
        // Held apart from `self`, so that the reader's state can live in registers.
        let mut sets = self.sets;
        let block_len = if BLOCK == 0 { sets.layout.block } else { BLOCK };
        self.values.resize(place.blocks * block_len, 0);
        let mut rest = self.values.as_mut_slice();
        let mut zero_blocks = pending;
        if place.first_block == 0 && sets.layout.preprocess {
            let (set, sample) = sets.read_first_head()?;
            *before = Some(sample ^ sets.layout.sign);
            match set {
                Set::Zeros(count) => zero_blocks = count,
                Set::Block(method) => {
                    let (slots, tail) = rest.split_at_mut(block_len);
                    sets.read_first_block(method, slots)?;
                    rest = tail;
                }
            }
        }
        while !rest.is_empty() {
            if zero_blocks == 0 {
                let block = place.first_block + place.blocks - rest.len() / block_len;
                match sets.read_head(block)? {
                    Set::Zeros(count) => zero_blocks = count,
                    Set::Block(method) => {
                        let (slots, tail) = rest.split_at_mut(block_len);
                        sets.read_block(method, slots)?;
                        rest = tail;
                        continue;
                    }
                }
            }
            let here = zero_blocks.min(rest.len() / block_len);
            let (slots, tail) = rest.split_at_mut(here * block_len);
            slots.fill(0);
            rest = tail;
            zero_blocks -= here;
        }
        self.sets = sets;
        Ok(zero_blocks)
    }

    /// Writes what is wanted of a decoded segment.
    #[inline(always)]
    fn deliver(&mut self, segment: Range<usize>, wanted: &Range<usize>, count: usize, out: &mut [u8]) {
        let from = segment.start.max(wanted.start);
        let to = segment.end.min(wanted.end);
        if from >= to {
            return;
        }
        let container = self.sets.layout.container;
        let values = &self.values[..count];
        let out = &mut out[from - wanted.start..to - wanted.start];
        if from == segment.start && to == segment.end {
            container.store(values, out);
        } else {
            self.bytes.resize(segment.len(), 0);
            container.store(values, &mut self.bytes);
            out.copy_from_slice(&self.bytes[from - segment.start..to - segment.start]);
        }
    }
}

/// A segment of an interval.
#[derive(Clone, Copy)]
struct Place {
    first_block: usize,
    blocks: usize,
}

/// One portable body, compiled once more for the vector and bit instructions of newer processors.
struct DecodeRsi<'a, 'b> {
    decoder: &'a mut Decoder<'b>,
    samples: usize,
    wanted: Range<usize>,
    out: &'a mut [u8],
}

impl WithSimd for DecodeRsi<'_, '_> {
    type Output = Result<(), Fault>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        self.decoder.decode(self.samples, &self.wanted, self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fault::FaultKind;
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
}
