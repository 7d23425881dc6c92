//! Which tensors of a checkpoint.

use crate::error::{EditError, Result};
use fw_look::FileRecord;
use fw_query::{Pattern, Where};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Which tensors: those that fit every condition.
///
/// ```
/// use fw_edit::{Choice, Layers};
///
/// let choice = Choice::default().with_excluded(&["*.bias"]).with_layers("0-11".parse()?);
/// assert!(choice.names("model.layers.3.mlp.up.weight") && choice.names("model.norm.weight"));
/// assert!(!choice.names("model.layers.12.mlp.up.weight") && !choice.names("model.layers.3.mlp.up.bias"));
/// # Ok::<(), fw_edit::EditError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Choice {
    /// Conditions on keys: name, type, shape.
    pub filter: Where,
    /// Patterns for names, of which one must match; none is for all tensors.
    pub included: Vec<Pattern>,
    /// Patterns for names, of which none may match.
    pub excluded: Vec<Pattern>,
    /// Layers; tensors outside of layers fit.
    pub layers: Option<Layers>,
}

impl Choice {
    /// Conditions on keys.
    #[must_use]
    pub fn with_filter(mut self, filter: Where) -> Self {
        self.filter = filter;
        self
    }

    /// Tensors whose names match one of these patterns.
    #[must_use]
    pub fn with_included<S: AsRef<str>>(mut self, patterns: &[S]) -> Self {
        self.included = parsed(patterns);
        self
    }

    /// No tensors whose names match one of these patterns.
    #[must_use]
    pub fn with_excluded<S: AsRef<str>>(mut self, patterns: &[S]) -> Self {
        self.excluded = parsed(patterns);
        self
    }

    /// No tensors of other layers.
    #[must_use]
    pub fn with_layers(mut self, layers: Layers) -> Self {
        self.layers = Some(layers);
        self
    }

    /// True when a tensor of this name fits what is said about names.
    pub fn names(&self, name: &str) -> bool {
        let is_in = self.included.is_empty() || self.included.iter().any(|pattern| pattern.matches(name));
        let is_out = self.excluded.iter().any(|pattern| pattern.matches(name));
        is_in && !is_out && self.layers.as_ref().is_none_or(|layers| layers.holds(name))
    }

    /// The places of the tensors that fit.
    pub(crate) fn places(&self, record: &FileRecord) -> Vec<usize> {
        let fits = |place: &usize| record.entries().get(*place).is_some_and(|entry| self.names(&entry.name));
        record.selected(&self.filter).into_iter().filter(fits).collect()
    }

    /// Patterns that no tensor has a name for: probably misspelt.
    pub(crate) fn unused(&self, record: &FileRecord) -> Vec<String> {
        let matched = |pattern: &&Pattern| !record.entries().iter().any(|entry| pattern.matches(&entry.name));
        self.included.iter().chain(&self.excluded).filter(matched).map(ToString::to_string).collect()
    }
}

fn parsed<S: AsRef<str>>(patterns: &[S]) -> Vec<Pattern> {
    patterns.iter().map(|text| Pattern::parse(text.as_ref())).collect()
}

/// Numbers of layers, such as `0-11` or `0-3,8,10-`; both ends belong to a range.
///
/// The layer of a tensor is the first part of its name that is a number: `model.layers.12.mlp.up.weight` is of layer 12.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layers(Vec<RangeInclusive<u64>>);

impl Layers {
    /// True for tensors of these layers, and for those outside of layers.
    pub fn holds(&self, name: &str) -> bool {
        layer_of(name).is_none_or(|layer| self.0.iter().any(|range| range.contains(&layer)))
    }
}

impl FromStr for Layers {
    type Err = EditError;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            EditError::refused("invalid_layers", format!("{text:?} is not a list of layers"))
                .with_hint("write 0-11, or 0-3,8,10-")
        };
        let range = |part: &str| {
            let part = part.trim();
            let range = match part.split_once('-') {
                None => {
                    let only = part.parse().ok()?;
                    only..=only
                }
                Some((first, "")) => first.trim().parse().ok()?..=u64::MAX,
                Some((first, last)) => first.trim().parse().ok()?..=last.trim().parse().ok()?,
            };
            (!range.is_empty()).then_some(range)
        };
        text.split(',').map(range).collect::<Option<Vec<_>>>().map(Self).ok_or_else(wrong)
    }
}

/// The number of the layer that a tensor belongs to, by its name.
fn layer_of(name: &str) -> Option<u64> {
    name.split(['.', '/']).find_map(|part| part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_the_first_numbers_of_names() {
        for (name, layer) in [
            ("model.layers.12.experts.3.w", Some(12)),
            ("transformer/h/7/attn", Some(7)),
            ("0.weight", Some(0)),
            ("blk.03.w", Some(3)),
            ("model.norm.weight", None),
            ("layer12.w", None),
            ("", None),
            ("a..b", None),
            ("99999999999999999999.w", None),
        ] {
            assert_eq!(layer_of(name), layer, "{name}");
        }
    }

    #[test]
    fn lists_of_layers() {
        let layers: Layers = "0-3, 8,10-".parse().unwrap();
        let held: Vec<u64> = (0..13).filter(|layer| layers.holds(&format!("h.{layer}.w"))).collect();
        assert_eq!(held, [0, 1, 2, 3, 8, 10, 11, 12]);
        assert!(layers.holds("norm"));
        for text in ["", "a", "3-1", "-3", "1,,2", "1-2-3", "1.5"] {
            let error = text.parse::<Layers>().unwrap_err();
            assert_eq!((error.code(), error.is_misuse()), ("invalid_layers", true), "{text}");
        }
    }
}
