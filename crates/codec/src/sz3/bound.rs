//! What the caller asks for, resolved to an absolute bound.

use super::NAME;
use crate::CodecError;

/// How far decoded values may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Sz3Bound {
    /// By this much.
    Abs(f64),
    /// By this part of the range of the data.
    Rel(f64),
    /// By as much as this peak signal-to-noise ratio in decibels stands for, were errors spread evenly.
    Psnr(f64),
}

impl Sz3Bound {
    /// The bound with this mode name (`abs`, `rel` or `psnr`), or `None` for any other name.
    pub fn from_name(mode: &str, bound: f64) -> Option<Self> {
        match mode {
            "abs" => Some(Self::Abs(bound)),
            "rel" => Some(Self::Rel(bound)),
            "psnr" => Some(Self::Psnr(bound)),
            _ => None,
        }
    }

    /// The name of the mode in descriptors.
    pub const fn mode_name(self) -> &'static str {
        match self {
            Self::Abs(_) => "abs",
            Self::Rel(_) => "rel",
            Self::Psnr(_) => "psnr",
        }
    }

    /// The number alone.
    pub const fn value(self) -> f64 {
        match self {
            Self::Abs(value) | Self::Rel(value) | Self::Psnr(value) => value,
        }
    }

    /// Refuses what is no bound at all.
    pub(super) fn check(self) -> Result<(), CodecError> {
        let value = self.value();
        let negative = value < 0.0 && !matches!(self, Self::Psnr(_));
        if value.is_finite() && !negative {
            return Ok(());
        }
        let expected = if matches!(self, Self::Psnr(_)) { "a finite number" } else { "a finite number, 0 or more" };
        let message = format!("sz3_error_bound for mode {}: expected {expected}, found {value}", self.mode_name());
        Err(CodecError::parameter(NAME, "bad_error_bound", message))
    }

    /// The absolute bound for these values.
    pub(super) fn resolve(self, values: &[f64]) -> f64 {
        match self {
            Self::Abs(bound) => bound,
            Self::Rel(bound) => bound * range(values),
            Self::Psnr(decibels) => range(values) * 10f64.powf(-(decibels + 10.0 * 0.34f64.log10()) / 20.0),
        }
    }
}

/// Largest less smallest finite value; 0 when there is none.
fn range(values: &[f64]) -> f64 {
    // Several running extremes, so that neighbours do not wait for each other and the loop vectorises.
    let mut smallest = [f64::INFINITY; 8];
    let mut largest = [f64::NEG_INFINITY; 8];
    for group in values.chunks(8) {
        for ((value, smallest), largest) in group.iter().zip(&mut smallest).zip(&mut largest) {
            let finite = value.is_finite();
            *smallest = if finite & (*value < *smallest) { *value } else { *smallest };
            *largest = if finite & (*value > *largest) { *value } else { *largest };
        }
    }
    let smallest = smallest.into_iter().fold(f64::INFINITY, f64::min);
    let largest = largest.into_iter().fold(f64::NEG_INFINITY, f64::max);
    if smallest <= largest { largest - smallest } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_resolved_as_the_reference_does() {
        let values = [3.0, f64::NAN, -1.0, f64::INFINITY, 2.0];
        assert_eq!(Sz3Bound::Abs(0.25).resolve(&values), 0.25);
        assert_eq!(Sz3Bound::Rel(0.5).resolve(&values), 2.0);
        assert_eq!(Sz3Bound::Rel(0.5).resolve(&[]), 0.0);
        let psnr = Sz3Bound::Psnr(60.0).resolve(&values);
        assert!((psnr - 4.0 * 1e-3 / 0.34f64.sqrt()).abs() < 1e-12, "{psnr}");
    }

    #[test]
    fn nonsense_is_refused() {
        for bound in
            [Sz3Bound::Abs(-1.0), Sz3Bound::Rel(f64::NAN), Sz3Bound::Abs(f64::INFINITY), Sz3Bound::Psnr(f64::NAN)]
        {
            assert_eq!(bound.check().unwrap_err().code, "bad_error_bound");
        }
        for bound in [Sz3Bound::Abs(0.0), Sz3Bound::Rel(3.0), Sz3Bound::Psnr(-5.0)] {
            bound.check().unwrap();
        }
        assert_eq!(Sz3Bound::from_name("l2", 1.0), None);
        assert_eq!(Sz3Bound::from_name("rel", 1.0).unwrap().mode_name(), "rel");
    }
}
