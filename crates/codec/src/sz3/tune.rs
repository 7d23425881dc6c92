//! Which prediction suits the data: every candidate is tried on a sample, and the cheapest wins.

use super::encode::little_endian;
use super::huffman::{self, Count, histogram};
use super::interpolation::{self, Kind, Layout, Tuning};
use super::lorenzo::{self, Before, Choice, Order};
use super::packed;
use super::quantizer::Quantized;
use super::stream::DEFAULT_BLOCK_SIZE;
use crate::CodecError;

/// How values are to be predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Prediction {
    Interpolation(Tuning),
    Lorenzo(Choice),
}

/// Parts of the data that stand for the whole.
pub(super) struct Sample<'a> {
    segments: Vec<(Before, &'a [f64])>,
    /// How many times larger the whole is.
    scale: f64,
}

impl<'a> Sample<'a> {
    pub(super) fn new(values: &'a [f64]) -> Self {
        let count = (values.len() / SEGMENT / SPARSENESS).clamp(MIN_SEGMENTS, MAX_SEGMENTS);
        if values.len() <= SEGMENT * count {
            return Self { segments: vec![(Before::default(), values)], scale: 1.0 };
        }
        // Evenly spread, the first at the start and the last at the end.
        let room = values.len() - SEGMENT;
        let segments = (0..count).map(|i| (room as u128 * i as u128 / (count as u128 - 1)) as usize);
        let segment = |start: usize| Some((Before::of(values.get(..start)?), values.get(start..start + SEGMENT)?));
        let segments: Vec<_> = segments.filter_map(segment).collect();
        let scale = values.len() as f64 / (SEGMENT * segments.len()) as f64;
        Self { segments, scale }
    }

    /// The candidate that packs best: the most promising of each family is packed to see.
    pub(super) fn best(&self, error_bound: f64) -> Result<Prediction, CodecError> {
        let orders = [Choice::Always(Order::First), Choice::Always(Order::Second), Choice::PerBlock];
        let lorenzo = self.cheapest(orders.map(Prediction::Lorenzo), error_bound)?;
        // The interpolator first, at the usual factors; then the factors for the better one.
        let [(alpha, beta), others @ ..] = FACTORS;
        let usual = [Kind::Cubic, Kind::Linear].map(|kind| Prediction::Interpolation(Tuning { kind, alpha, beta }));
        let usual = self.cheapest(usual, error_bound)?;
        let kind = usual.kind().unwrap_or(Kind::Cubic);
        let rest = others.map(|(alpha, beta)| Prediction::Interpolation(Tuning { kind, alpha, beta }));
        let rest = self.cheapest(rest, error_bound)?;
        let interpolation = if rest.cost < usual.cost { rest } else { usual };
        Ok(if interpolation.packed_cost(self)? <= lorenzo.packed_cost(self)? {
            interpolation.prediction
        } else {
            lorenzo.prediction
        })
    }

    /// How many bytes the doubles of the whole take as they are, about.
    pub(super) fn packed_len(&self) -> Result<f64, CodecError> {
        let bytes: Vec<u8> = self.segments.iter().flat_map(|(_, segment)| little_endian(segment)).collect();
        Ok(packed::pack(&bytes)?.len() as f64 * self.scale)
    }

    /// The first of the candidates with the lowest estimated cost.
    fn cheapest<const N: usize>(&self, candidates: [Prediction; N], error_bound: f64) -> Result<Trial, CodecError> {
        let mut best: Option<Trial> = None;
        for prediction in candidates {
            let trial = self.trial(prediction, error_bound)?;
            if best.as_ref().is_none_or(|best| trial.cost < best.cost) {
                best = Some(trial);
            }
        }
        best.ok_or_else(|| CodecError::misuse(super::NAME, "no_candidate", "no prediction to choose from"))
    }

    fn trial(&self, prediction: Prediction, error_bound: f64) -> Result<Trial, CodecError> {
        let mut encoded = lorenzo::Encoded::default();
        for (before, segment) in &self.segments {
            match prediction {
                Prediction::Interpolation(tuning) => {
                    let layout = Layout::new(tuning, segment.len());
                    interpolation::encode(segment, layout, error_bound, &mut encoded.quantized);
                }
                Prediction::Lorenzo(choice) => {
                    lorenzo::encode(
                        before.as_if_decoded(error_bound),
                        segment,
                        DEFAULT_BLOCK_SIZE,
                        choice,
                        error_bound,
                        &mut encoded,
                    );
                }
            }
        }
        let (bits, leaves) = entropy(&encoded.quantized)?;
        let cost = bits * self.scale + leaves * BITS_PER_LEAF;
        Ok(Trial { prediction, encoded, cost })
    }
}

/// A candidate and what it made of the sample.
struct Trial {
    prediction: Prediction,
    encoded: lorenzo::Encoded,
    /// How many bits the whole would take, about, were codes as short as their entropy.
    cost: f64,
}

impl Trial {
    fn kind(&self) -> Option<Kind> {
        match self.prediction {
            Prediction::Interpolation(tuning) => Some(tuning.kind),
            Prediction::Lorenzo(_) => None,
        }
    }

    /// How many bytes the whole would take, about, from packing the sample: zstd finds patterns that entropy does not.
    fn packed_cost(&self, sample: &Sample<'_>) -> Result<f64, CodecError> {
        let mut section = Vec::new();
        self.encoded.quantized.write(0.0, &mut section);
        if self.kind().is_none() {
            huffman::write_section(&self.encoded.selectors, Count::Implied, &mut section)?;
        }
        let tree_end = section.len();
        huffman::write_section(&self.encoded.quantized.codes, Count::Stored, &mut section)?;
        // The tree does not grow with the data; what it takes once is counted once.
        let leaves = histogram(&self.encoded.quantized.codes)?.len() as f64;
        let tree = (leaves * BITS_PER_LEAF / 8.0).min((section.len() - tree_end) as f64);
        let packed = packed::pack(&section)?.len() as f64;
        Ok((packed - tree).max(0.0) * sample.scale + tree)
    }
}

/// Bits of the codes and stored values, and the number of distinct codes.
fn entropy(quantized: &Quantized) -> Result<(f64, f64), CodecError> {
    let counts = histogram(&quantized.codes)?;
    let total = quantized.codes.len() as f64;
    let bits = |count: u32| f64::from(count) * (total / f64::from(count)).log2();
    let codes: f64 = counts.iter().map(|(_, count)| bits(*count)).sum();
    Ok((codes + 64.0 * quantized.unpredictable.len() as f64, counts.len() as f64))
}

/// Values per sampled part: as many as lie between two anchors.
const SEGMENT: usize = 4096;
/// One value in so many is sampled, as long as the limits below allow.
const SPARSENESS: usize = 32;
const MIN_SEGMENTS: usize = 4;
const MAX_SEGMENTS: usize = 64;
/// What a leaf of the Huffman tree takes after zstd, about.
const BITS_PER_LEAF: f64 = 50.0;
/// Level factors alpha and beta worth trying, the most often best first.
const FACTORS: [(f64, f64); 4] = [(1.25, 2.0), (1.0, 1.0), (1.5, 2.5), (2.0, 3.0)];
