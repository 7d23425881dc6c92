//! A decoder's answer when it does no input or output of its own.

use crate::Span;
use alloc::vec::Vec;

/// What a sans-I/O decoder says after each look at the bytes it has: finished, or which ranges it needs first.
///
/// A driver fetches the ranges from a slice, a file, a map or a remote store and asks again. `Need` is never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<T> {
    /// The result.
    Done(T),
    /// These byte ranges must be at hand before the decoder can go on.
    Need(Vec<Span>),
}

impl<T> Step<T> {
    /// Asks for one range.
    pub fn need(span: Span) -> Self {
        Self::Need(alloc::vec![span])
    }

    /// Applies `f` to a finished result.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Step<U> {
        match self {
            Self::Done(value) => Step::Done(f(value)),
            Self::Need(spans) => Step::Need(spans),
        }
    }
}
