//! Which prediction suits the data: every candidate is tried on a sample, and the cheapest wins.

use super::encode::little_endian;
use super::huffman::{self, Count, histogram};
use super::interpolation::{self, Kind, Layout, Tuning};
use super::lorenzo::{self, Before, Choice, Order};
use super::packed;
use super::stream::DEFAULT_BLOCK_SIZE;
use crate::CodecError;

/// How values are to be predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Prediction {
    Interpolation(Tuning),
    Lorenzo(Choice),
}

impl Prediction {
    /// Codes `values`, which follow `before`.
    pub(super) fn encode(self, before: Before, values: &[f64], error_bound: f64) -> lorenzo::Encoded {
        let mut encoded = lorenzo::Encoded::default();
        self.encode_onto(before, values, error_bound, &mut encoded);
        encoded
    }

    fn encode_onto(self, before: Before, values: &[f64], error_bound: f64, encoded: &mut lorenzo::Encoded) {
        match self {
            Self::Interpolation(tuning) => {
                let layout = Layout::new(tuning, values.len());
                interpolation::encode(values, layout, error_bound, &mut encoded.quantized);
            }
            Self::Lorenzo(choice) => {
                lorenzo::encode(before, values, DEFAULT_BLOCK_SIZE, choice, error_bound, encoded);
            }
        }
    }
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

    /// The prediction that packs best, and what it made of the values when the sample is all of them. With a second
    /// thread the two families are tried side by side; neither looks at the other, so the choice is the same.
    pub(super) fn best(
        &self,
        error_bound: f64,
        threads: usize,
    ) -> Result<(Prediction, Option<lorenzo::Encoded>), CodecError> {
        let (interpolation, lorenzo) = if threads > 1 && self.len() >= PARALLEL_FROM {
            std::thread::scope(|scope| {
                let lorenzo = scope.spawn(|| self.best_lorenzo(error_bound));
                let interpolation = self.best_interpolation(error_bound);
                // A panic over there is this thread's panic, as if it had done the work itself.
                (interpolation, lorenzo.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            })
        } else {
            (self.best_interpolation(error_bound), self.best_lorenzo(error_bound))
        };
        let (interpolation, lorenzo) = (interpolation?, lorenzo?);
        // Estimates far apart decide by themselves; otherwise both are packed to see.
        let best = if lorenzo.cost > CLEAR * interpolation.cost {
            interpolation
        } else if interpolation.cost > CLEAR * lorenzo.cost
            || lorenzo.packed_cost(self)? < interpolation.packed_cost(self)?
        {
            lorenzo
        } else {
            interpolation
        };
        Ok((best.prediction, (self.scale == 1.0).then_some(best.encoded)))
    }

    /// Values in the sample.
    fn len(&self) -> usize {
        self.segments.iter().map(|(_, segment)| segment.len()).sum()
    }

    /// The interpolator at the usual factors, then its factors in steps for as long as that helps.
    fn best_interpolation(&self, error_bound: f64) -> Result<Trial, CodecError> {
        let trial =
            |kind, (alpha, beta)| self.trial(Prediction::Interpolation(Tuning { kind, alpha, beta }), error_bound);
        let (cubic, linear) = (trial(Kind::Cubic, USUAL_FACTORS)?, trial(Kind::Linear, USUAL_FACTORS)?);
        let (kind, mut best) = if linear.cost < cubic.cost { (Kind::Linear, linear) } else { (Kind::Cubic, cubic) };
        let even = trial(kind, EVEN_FACTORS)?;
        if even.cost < best.cost {
            return Ok(even);
        }
        for factors in STEEPER_FACTORS {
            let steeper = trial(kind, factors)?;
            if steeper.cost >= best.cost {
                break;
            }
            best = steeper;
        }
        Ok(best)
    }

    /// One predictor everywhere; a choice per block where neither is clearly better.
    fn best_lorenzo(&self, error_bound: f64) -> Result<Trial, CodecError> {
        let trial = |choice| self.trial(Prediction::Lorenzo(choice), error_bound);
        let (first, second) = (trial(Choice::Always(Order::First))?, trial(Choice::Always(Order::Second))?);
        let (better, worse) = if second.cost < first.cost { (second, first) } else { (first, second) };
        if worse.cost > 2.0 * better.cost {
            return Ok(better);
        }
        let mixed = trial(Choice::PerBlock)?;
        Ok(if mixed.cost < better.cost { mixed } else { better })
    }

    /// How many bytes the doubles of the whole take as they are, about.
    pub(super) fn packed_len(&self) -> Result<f64, CodecError> {
        let bytes: Vec<u8> = self.segments.iter().flat_map(|(_, segment)| little_endian(segment)).collect();
        Ok(packed::pack(&bytes)?.len() as f64 * self.scale)
    }

    fn trial(&self, prediction: Prediction, error_bound: f64) -> Result<Trial, CodecError> {
        let mut encoded = lorenzo::Encoded::default();
        for (before, segment) in &self.segments {
            let before = if self.scale == 1.0 { *before } else { before.as_if_decoded(error_bound) };
            prediction.encode_onto(before, segment, error_bound, &mut encoded);
        }
        let counts = histogram(&encoded.quantized.codes)?;
        let total = encoded.quantized.codes.len() as f64;
        let entropy: f64 = counts.iter().map(|(_, n)| f64::from(*n) * (total / f64::from(*n)).log2()).sum();
        let bits = entropy + 64.0 * encoded.quantized.unpredictable.len() as f64;
        let leaves = Leaves::new(&counts, self.scale);
        let mut trial = Trial { prediction, encoded, leaves, cost: 0.0 };
        trial.cost = if bits < total {
            // Below one bit per value Huffman codes no longer follow the entropy, and zstd does most of the work.
            trial.packed_cost(self)?
        } else {
            (bits * self.scale + leaves.in_whole * BITS_PER_LEAF) / 8.0
        };
        Ok(trial)
    }
}

/// A candidate and what it made of the sample.
struct Trial {
    prediction: Prediction,
    encoded: lorenzo::Encoded,
    leaves: Leaves,
    /// How many bytes the whole would take, about.
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
        let tree_start = section.len();
        huffman::write_section(&self.encoded.quantized.codes, Count::Stored, &mut section)?;
        // Codes grow with the data, the tree in its own way.
        let packed = packed::pack(&section)?.len() as f64;
        let tree = (self.leaves.in_sample * BITS_PER_LEAF / 8.0).min((section.len() - tree_start) as f64);
        Ok((packed - tree).max(0.0) * sample.scale + self.leaves.in_whole * BITS_PER_LEAF / 8.0)
    }
}

/// How many distinct codes there are, which is how many leaves the tree has.
#[derive(Clone, Copy, Debug)]
struct Leaves {
    in_sample: f64,
    /// An estimate: codes seen once or twice in the sample tell how many more are still to come.
    in_whole: f64,
}

impl Leaves {
    fn new(counts: &[(u16, u32)], scale: f64) -> Self {
        let seen = |times: u32| counts.iter().filter(|(_, count)| *count == times).count() as f64;
        let (once, twice) = (seen(1), seen(2));
        let in_sample = counts.len() as f64;
        // Chao's estimate of the codes that exist but were not seen, and the part of them that more data will show.
        let unseen = once * once / (2.0 * twice.max(1.0));
        let fresh = if unseen > 0.0 { unseen * (1.0 - (-(scale - 1.0) * once / unseen).exp()) } else { 0.0 };
        Self { in_sample, in_whole: (in_sample + fresh).min(65_536.0) }
    }
}

/// Below this many values in the sample a second thread costs more than it saves.
const PARALLEL_FROM: usize = 16 << 10;
/// Values per sampled part: as many as lie between two anchors.
const SEGMENT: usize = 4096;
/// One value in so many is sampled, as long as the limits below allow.
const SPARSENESS: usize = 32;
const MIN_SEGMENTS: usize = 8;
const MAX_SEGMENTS: usize = 64;
/// What a leaf of the Huffman tree takes after zstd, about.
const BITS_PER_LEAF: f64 = 50.0;
/// Level factors alpha and beta: the most often best, none at all, and stronger ones.
const USUAL_FACTORS: (f64, f64) = (1.25, 2.0);
const EVEN_FACTORS: (f64, f64) = (1.0, 1.0);
const STEEPER_FACTORS: [(f64, f64); 2] = [(1.5, 2.5), (2.0, 3.0)];
/// An estimate this many times another is worse for certain.
const CLEAR: f64 = 3.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_still_to_come_are_foreseen() {
        let plain = Leaves::new(&[(5, 100), (6, 90)], 8.0);
        assert_eq!((plain.in_sample, plain.in_whole), (2.0, 2.0));
        let rare: Vec<_> = (0..300).map(|symbol| (symbol, if symbol < 200 { 1 } else { 2 })).collect();
        let foreseen = Leaves::new(&rare, 8.0).in_whole;
        assert!((450.0..500.0).contains(&foreseen), "{foreseen}");
        assert_eq!(Leaves::new(&rare, 1.0).in_whole, 300.0);
    }

    #[test]
    fn the_sample_covers_both_ends() {
        let values: Vec<f64> = (0..1_000_000).map(f64::from).collect();
        let sample = Sample::new(&values);
        assert_eq!(sample.segments.first().unwrap().1[0], 0.0);
        assert_eq!(*sample.segments.last().unwrap().1.last().unwrap(), 999_999.0);
        assert!((sample.scale * (sample.segments.len() * SEGMENT) as f64 - 1e6).abs() < 1.0);
        assert_eq!(Sample::new(&values[..9000]).scale, 1.0);
    }

    #[test]
    fn each_kind_of_data_finds_its_prediction() {
        let sine: Vec<f64> = (0..100_000).map(|i| (f64::from(i) / 300.0).sin()).collect();
        assert!(matches!(Sample::new(&sine).best(1e-6, 1).unwrap().0, Prediction::Interpolation(_)));
        let steps: Vec<f64> = (0..100_000).map(|i| f64::from(i / 13 * 7919 % 1000)).collect();
        assert!(matches!(Sample::new(&steps).best(0.1, 1).unwrap().0, Prediction::Lorenzo(_)));
        for (values, bound) in [(&sine, 1e-6), (&steps, 0.1)] {
            let sample = Sample::new(values);
            assert!(sample.len() >= PARALLEL_FROM);
            assert_eq!(sample.best(bound, 1).unwrap().0, sample.best(bound, 2).unwrap().0);
        }
    }
}
