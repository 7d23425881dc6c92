//! Intervals of samples to bits.

use super::NAME;
use super::bit_writer::BitWriter;
use super::choose::{Coding, choose, pair_code, tied_splits};
use super::params::{Layout, SEGMENT_BLOCKS};
use super::predict::residuals;
use crate::CodecError;
use std::ops::RangeInclusive;

/// Codes intervals one after another.
#[derive(Debug)]
pub(super) struct Encoder<'a> {
    layout: &'a Layout,
    pub(super) writer: BitWriter,
    /// The split found for the last block that was not all zero.
    pub(super) k: u32,
    /// The equally good splits of the first such block.
    pub(super) first_tie: Option<RangeInclusive<u32>>,
    /// One segment: the sample before it, then its samples.
    samples: Vec<u32>,
    residuals: Vec<u32>,
}

impl<'a> Encoder<'a> {
    /// An encoder that appends to `out` and inherits the split `k`.
    pub(super) fn new(layout: &'a Layout, out: Vec<u8>, k: u32) -> Self {
        let writer = BitWriter::append_to(out);
        Self { layout, writer, k, first_tie: None, samples: Vec::new(), residuals: Vec::new() }
    }

    /// Codes all of `input`, adding the bit position of each interval to `offsets`.
    ///
    /// # Errors
    /// When a sample has more bits than the parameters say.
    pub(super) fn encode(&mut self, input: &[u8], offsets: &mut Vec<u64>) -> Result<(), CodecError> {
        for rsi in input.chunks(self.layout.rsi_samples * self.layout.container.width()) {
            offsets.push(self.writer.bit_len());
            self.encode_rsi(rsi)?;
        }
        Ok(())
    }

    fn encode_rsi(&mut self, input: &[u8]) -> Result<(), CodecError> {
        let layout = self.layout;
        let segment_len = SEGMENT_BLOCKS * layout.block * layout.container.width();
        let mut reference = layout.preprocess;
        for segment in input.chunks(segment_len) {
            self.load_segment(segment, reference)?;
            self.write_segment(reference);
            reference = false;
        }
        Ok(())
    }

    /// Fills `residuals` with whole blocks, the last one filled up by repeating the last sample.
    fn load_segment(&mut self, bytes: &[u8], first: bool) -> Result<(), CodecError> {
        let layout = self.layout;
        let count = bytes.len() / layout.container.width();
        let padded = count.next_multiple_of(layout.block);
        let before = if first { None } else { self.samples.last().copied() };
        self.samples.resize(padded + 1, 0);
        self.residuals.resize(padded, 0);
        layout.container.load(bytes, &mut self.samples[1..=count]);
        if !layout.bits.is_multiple_of(8)
            && self.samples[1..=count].iter().fold(0, |all, sample| all | sample) > layout.max
        {
            let message = format!("a sample has more than {} bits", layout.bits);
            return Err(CodecError::misuse(NAME, "sample_too_wide", message));
        }
        let last = self.samples[count];
        self.samples[count + 1..].fill(last);
        if !layout.preprocess {
            self.residuals.copy_from_slice(&self.samples[1..]);
            return Ok(());
        }
        if layout.sign != 0 {
            self.samples[1..].iter_mut().for_each(|sample| *sample ^= layout.sign);
        }
        // The reference sample predicts itself, which makes its own residual zero.
        self.samples[0] = before.unwrap_or(self.samples[1]);
        residuals(layout.max, &self.samples[..padded], &self.samples[1..], &mut self.residuals);
        Ok(())
    }

    fn write_segment(&mut self, first: bool) {
        let layout = self.layout;
        let held = std::mem::take(&mut self.residuals);
        let mut reference = first;
        let mut run = 0;
        let mut run_reference = false;
        for block in held.chunks_exact(layout.block) {
            if block.iter().fold(0, |all, residual| all | residual) == 0 {
                run_reference |= reference;
                run += 1;
            } else {
                if run > 0 {
                    self.write_run(run_code(run), run_reference);
                    (run, run_reference) = (0, false);
                }
                self.write_block(block, reference);
            }
            reference = false;
        }
        if run > 0 {
            // A long run up to the end of the segment or interval has a code of its own.
            self.write_run(if run > 4 { 4 } else { run_code(run) }, run_reference);
        }
        self.residuals = held;
    }

    fn write_block(&mut self, block: &[u32], reference: bool) {
        let layout = self.layout;
        let coded = &block[usize::from(reference)..];
        let coding = choose(layout, block, coded.len() as u64, &mut self.k);
        if self.first_tie.is_none() {
            self.first_tie = Some(tied_splits(layout, block, coded.len() as u64, self.k));
        }
        match coding {
            Coding::Split(k) => {
                self.write_head(u64::from(k + 1), layout.id_len, reference);
                self.writer.put_unary_all(k, coded);
                self.writer.put_all(k, coded);
            }
            Coding::SecondExtension => {
                self.write_head(1, layout.id_len + 1, reference);
                for pair in block.as_chunks::<2>().0 {
                    // The whole block is shorter than raw, so each code fits.
                    self.writer.put_unary(pair_code(*pair) as u32);
                }
            }
            Coding::Raw => {
                self.write_head(u64::from(layout.split_count + 1), layout.id_len, reference);
                self.writer.put_all(layout.bits, coded);
            }
        }
    }

    fn write_run(&mut self, code: u32, reference: bool) {
        self.write_head(0, self.layout.id_len + 1, reference);
        self.writer.put_unary(code);
    }

    /// The option, then the reference sample where there is one.
    #[inline(always)]
    fn write_head(&mut self, option: u64, option_len: u32, reference: bool) {
        self.writer.put(option, option_len);
        if reference {
            // Signed samples are held as ranks; the stream has them as they are.
            let sample = self.samples.get(1).map_or(0, |sample| sample ^ self.layout.sign);
            self.writer.put(u64::from(sample), self.layout.bits);
        }
    }
}

/// The code of a run of zero blocks; 4 is taken by "the rest of the segment".
const fn run_code(run: u32) -> u32 {
    if run < 5 { run - 1 } else { run }
}
