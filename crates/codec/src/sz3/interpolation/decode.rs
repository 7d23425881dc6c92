//! Codes to values.

use super::super::{
    NAME, fault,
    huffman::{Count, Decoder},
    quantizer::{Quantizer, UNPREDICTABLE, dequantize},
};
use super::predict::{Kind, for_each_gap, from_coding_order, whole_block};
use super::{CHECKED, Layout};
use crate::CodecError;
use fw_bytes::{Cursor, interrupt};

/// Decodes the unpacked part of an interpolation stream so that it fills `out`.
pub(in super::super) fn decode(unpacked: &[u8], out: &mut [f64]) -> Result<(), CodecError> {
    let mut cursor = Cursor::new(unpacked);
    let layout = Layout::parse(&mut cursor, out.len())?;
    let quantizer = Quantizer::parse(&mut cursor)?;
    let codes = Decoder::parse(&mut cursor, out.len() as u64, Count::Stored)?;
    Levels { layout, quantizer, codes }.run(out)
}

struct Levels<'a> {
    layout: Layout,
    quantizer: Quantizer<'a>,
    codes: Decoder<'a>,
}

impl Levels<'_> {
    fn run(mut self, out: &mut [f64]) -> Result<(), CodecError> {
        let top = self.layout.top();
        let half_len = if top == 0 { 0 } else { self.layout.known_at(2) };
        let mut scratch = Vec::new();
        scratch.try_reserve_exact(half_len).map_err(|_| {
            CodecError::limit(NAME, "out_of_memory", format!("no memory for {half_len} values of coarser levels"))
        })?;
        scratch.resize(half_len, 0.0);

        // Odd levels fill `out`, even ones the scratch array; the values known before level `top` count as one level.
        let coarsest = if top.is_multiple_of(2) { &mut *out } else { &mut scratch[..] };
        let known = self.layout.known_at(top + 1);
        self.coarsest(coarsest.get_mut(..known).ok_or_else(|| fault::exhausted("values"))?)?;
        for level in (1..=top).rev() {
            let (known, count) = (self.layout.known_at(level + 1), self.layout.known_at(level));
            let (from, to) = if level % 2 == 1 { (&scratch[..], &mut *out) } else { (&*out, &mut scratch[..]) };
            match (from.get(..known), to.get_mut(..count)) {
                (Some(from), Some(to)) => {
                    self.level(from, to, self.layout.level_bound(self.quantizer.error_bound, level))?;
                }
                _ => return Err(fault::exhausted("values")),
            }
        }
        Ok(())
    }

    /// The values everything else starts from.
    fn coarsest(&mut self, values: &mut [f64]) -> Result<(), CodecError> {
        let error_bound = self.quantizer.error_bound;
        for value in values {
            let &[code] = self.codes.take(1)? else { return Err(fault::exhausted("codes")) };
            *value = if self.layout.is_anchored() {
                self.quantizer.take()?
            } else {
                self.quantizer.recover(0.0, code, error_bound)?
            };
        }
        Ok(())
    }

    /// From the values of the next coarser level to those of this one.
    fn level(&mut self, from: &[f64], to: &mut [f64], error_bound: f64) -> Result<(), CodecError> {
        let kind = self.layout.tuning.kind;
        // A whole block reads one value past its own, the first of the next block.
        let whole = from.len().saturating_sub(1) / 16;
        let (blocks, rest) = to.split_at_mut((whole * 32).min(to.len()));
        let mut known = from;
        for (number, target) in blocks.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            if number.is_multiple_of(CHECKED) {
                interrupt::check();
            }
            let block = known.first_chunk::<17>().ok_or_else(|| fault::exhausted("values"))?;
            self.whole_block(kind, block, target, error_bound)?;
            known = &known[16..];
        }
        // What is left is shorter: its last value has no known one behind it, or it is a known one alone.
        let known = known.get(..rest.len().div_ceil(2)).ok_or_else(|| fault::exhausted("values"))?;
        self.block(kind, known, rest, error_bound)
    }

    #[inline]
    fn whole_block(
        &mut self,
        kind: Kind,
        known: &[f64; 17],
        target: &mut [f64; 32],
        error_bound: f64,
    ) -> Result<(), CodecError> {
        let radius = self.quantizer.radius;
        let Some(codes) = self.codes.take(16)?.first_chunk::<16>() else { return Err(fault::exhausted("codes")) };
        let predictions = whole_block(kind, known);
        if codes.contains(&UNPREDICTABLE) {
            let codes = *codes;
            let mut codes = codes.iter();
            return for_each_gap(kind, known, 33, |j, prediction| {
                let code = codes.next().copied().unwrap_or(UNPREDICTABLE);
                target[2 * j] = known[j];
                target[2 * j + 1] = self.quantizer.recover(prediction, code, error_bound)?;
                Ok(())
            });
        }
        let codes = from_coding_order(kind, *codes);
        for j in 0..16 {
            target[2 * j] = known[j];
            target[2 * j + 1] = dequantize(predictions[j], codes[j], radius, error_bound);
        }
        Ok(())
    }

    fn block(&mut self, kind: Kind, known: &[f64], target: &mut [f64], error_bound: f64) -> Result<(), CodecError> {
        for (slot, value) in target.iter_mut().step_by(2).zip(known) {
            *slot = *value;
        }
        let points = target.len();
        let (codes, quantizer) = (&mut self.codes, &mut self.quantizer);
        for_each_gap(kind, known, points, |j, prediction| {
            let &[code] = codes.take(1)? else { return Err(fault::exhausted("codes")) };
            target[2 * j + 1] = quantizer.recover(prediction, code, error_bound)?;
            Ok(())
        })
    }
}
