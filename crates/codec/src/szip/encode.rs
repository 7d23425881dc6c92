//! Intervals of samples to bits.

use super::NAME;
use super::bit_writer::BitWriter;
use super::choose::{Coding, choose, pair_code, tied_splits};
use super::params::{Layout, SEGMENT_BLOCKS};
use super::predict::residuals;
use crate::CodecError;
use fw_bytes::interrupt;
use pulp::{Arch, Simd, WithSimd};
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
        Arch::new().dispatch(EncodeAll { encoder: self, input, offsets })
    }

    #[inline(always)]
    fn encode_rsi(&mut self, input: &[u8]) -> Result<(), CodecError> {
        let layout = self.layout;
        let segment_len = SEGMENT_BLOCKS * layout.block * layout.container.width();
        let mut reference = layout.preprocess;
        for segment in input.chunks(segment_len) {
            self.load_segment(segment, reference)?;
            let residuals = std::mem::take(&mut self.residuals);
            // Blocks of known size make loops of known length.
            match layout.block {
                8 => self.write_segment(residuals.as_chunks::<8>().0.iter().map(|block| block.as_slice()), reference),
                16 => self.write_segment(residuals.as_chunks::<16>().0.iter().map(|block| block.as_slice()), reference),
                32 => self.write_segment(residuals.as_chunks::<32>().0.iter().map(|block| block.as_slice()), reference),
                64 => self.write_segment(residuals.as_chunks::<64>().0.iter().map(|block| block.as_slice()), reference),
                other => self.write_segment(residuals.chunks_exact(other), reference),
            }
            self.residuals = residuals;
            reference = false;
        }
        Ok(())
    }

    /// Fills `residuals` with whole blocks, the last one filled up by repeating the last sample.
    #[inline(always)]
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

    #[inline(always)]
    fn write_segment<'b>(&mut self, blocks: impl Iterator<Item = &'b [u32]>, first: bool) {
        // Held apart from `self`, so that the writer's state can live in registers.
        let mut out = Output { layout: *self.layout, writer: std::mem::take(&mut self.writer), k: self.k };
        // Signed samples are held as ranks; the stream has them as they are.
        let mut reference = first.then(|| self.samples.get(1).map_or(0, |sample| sample ^ out.layout.sign));
        let mut run = 0;
        let mut run_reference = None;
        for block in blocks {
            if block.iter().fold(0, |all, residual| all | residual) == 0 {
                run_reference = run_reference.or(reference);
                run += 1;
            } else {
                if run > 0 {
                    out.write_run(run_code(run), run_reference);
                    (run, run_reference) = (0, None);
                }
                if reference.is_none() && self.first_tie.is_some() {
                    out.write_block(block);
                } else {
                    let tie = out.write_first_block(block, reference);
                    self.first_tie.get_or_insert(tie);
                }
            }
            reference = None;
        }
        if run > 0 {
            // A long run up to the end of the segment or interval has a code of its own.
            out.write_run(if run > 4 { 4 } else { run_code(run) }, run_reference);
        }
        (self.writer, self.k) = (out.writer, out.k);
    }
}

/// One portable body, compiled once more for the vector and bit instructions of newer processors.
struct EncodeAll<'a, 'b> {
    encoder: &'a mut Encoder<'b>,
    input: &'a [u8],
    offsets: &'a mut Vec<u64>,
}

impl WithSimd for EncodeAll<'_, '_> {
    type Output = Result<(), CodecError>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let Self { encoder, input, offsets } = self;
        for rsi in input.chunks(encoder.layout.rsi_samples * encoder.layout.container.width()) {
            interrupt::check();
            offsets.push(encoder.writer.bit_len());
            encoder.encode_rsi(rsi)?;
        }
        Ok(())
    }
}

/// Where blocks go, and the split they inherit from each other.
struct Output {
    layout: Layout,
    writer: BitWriter,
    k: u32,
}

impl Output {
    /// A block behind others.
    #[inline(always)]
    fn write_block(&mut self, block: &[u32]) {
        match choose(&self.layout, block, block.len() as u64, &mut self.k) {
            Coding::Split(k) => {
                self.writer.put_unary_all(u64::from(k + 1), self.layout.id_len, k, block);
                self.writer.put_all(k, block);
            }
            other => self.write_plainly(other, block, block, None),
        }
    }

    /// A block with a reference sample, or the first of all; returns its equally good splits.
    #[inline(never)]
    fn write_first_block(&mut self, block: &[u32], reference: Option<u32>) -> RangeInclusive<u32> {
        let coded = &block[usize::from(reference.is_some())..];
        let coding = choose(&self.layout, block, coded.len() as u64, &mut self.k);
        self.write_plainly(coding, block, coded, reference);
        tied_splits(&self.layout, block, coded.len() as u64, self.k)
    }

    #[inline(never)]
    fn write_plainly(&mut self, coding: Coding, block: &[u32], coded: &[u32], reference: Option<u32>) {
        let id_len = self.layout.id_len;
        match coding {
            Coding::Split(k) => {
                self.write_head(u64::from(k + 1), id_len, reference);
                self.writer.put_unary_all(0, 0, k, coded);
                self.writer.put_all(k, coded);
            }
            Coding::SecondExtension => {
                self.write_head(1, id_len + 1, reference);
                for pair in block.as_chunks::<2>().0 {
                    // The whole block is shorter than raw, so each code fits.
                    self.writer.put_unary(pair_code(*pair) as u32);
                }
            }
            Coding::Raw => {
                self.write_head(u64::from(self.layout.split_count + 1), id_len, reference);
                self.writer.put_all(self.layout.bits, coded);
            }
        }
    }

    #[inline(never)]
    fn write_run(&mut self, code: u32, reference: Option<u32>) {
        self.write_head(0, self.layout.id_len + 1, reference);
        self.writer.put_unary(code);
    }

    /// The option, then the reference sample where there is one.
    #[inline(always)]
    fn write_head(&mut self, option: u64, option_len: u32, reference: Option<u32>) {
        self.writer.put(option, option_len);
        if let Some(sample) = reference {
            self.writer.put(u64::from(sample), self.layout.bits);
        }
    }
}

/// The code of a run of zero blocks; 4 is taken by "the rest of the segment".
const fn run_code(run: u32) -> u32 {
    if run < 5 { run - 1 } else { run }
}

#[cfg(test)]
mod tests {
    use super::super::decode::Decoder;
    use super::*;
    use crate::szip::{SzipFlags, SzipParams};

    /// The tests elsewhere run what this machine dispatches to; this one compares it with the plain body.
    #[test]
    fn plain_and_dispatched_bodies_agree() {
        for (block_size, bits_per_sample) in [(8, 8), (16, 16), (32, 24), (64, 32), (10, 13)] {
            let flags = SzipFlags::PREPROCESS | SzipFlags::NOT_ENFORCE | SzipFlags::MSB;
            let layout = Layout::new(&SzipParams { rsi: 70, block_size, flags, bits_per_sample }).unwrap();
            let width = layout.container.width();
            let mut state = 5u64;
            let mut samples = vec![0; 9000];
            for (index, sample) in samples.iter_mut().enumerate() {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                *sample = (state >> 33) as u32 >> (index / 150 % 30) & layout.max;
            }
            let mut input = vec![0; samples.len() * width];
            layout.container.store(&samples, &mut input);
            let mut dispatched = Encoder::new(&layout, Vec::new(), 0);
            let mut plain = Encoder::new(&layout, Vec::new(), 0);
            let (mut offsets, mut plain_offsets) = (Vec::new(), Vec::new());
            dispatched.encode(&input, &mut offsets).unwrap();
            let task = EncodeAll { encoder: &mut plain, input: &input, offsets: &mut plain_offsets };
            task.with_simd(pulp::Scalar::new()).unwrap();
            assert_eq!(offsets, plain_offsets);
            let bytes = plain.writer.finish();
            assert!(dispatched.writer.finish() == bytes, "{block_size} {bits_per_sample}");
            let mut plain = Decoder::new(&layout, &bytes, 0);
            let mut dispatched = Decoder::new(&layout, &bytes, 0);
            for part in input.chunks(layout.rsi_samples * width) {
                let mut out = [vec![0; part.len()], vec![1; part.len()]];
                plain.decode_rsi_plainly(part.len() / width, 0..part.len(), &mut out[0]).unwrap();
                dispatched.decode_rsi(part.len() / width, 0..part.len(), &mut out[1]).unwrap();
                assert!(out.iter().all(|out| out == part), "{block_size} {bits_per_sample}");
                assert_eq!(plain.position(), dispatched.position());
            }
        }
    }
}
