//! Faults inside a bit stream, small enough for the inner loops.

use super::NAME;
use crate::CodecError;

/// What is wrong with a stream, and at which bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) kind: FaultKind,
    pub(super) position: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// The stream ends inside a coded set.
    Truncated,
    /// A run of zero blocks reaches past its interval.
    RunTooLong,
    /// A residual is more than the sample width allows.
    ResidualTooLarge,
}

impl Fault {
    /// The error to report; positions were counted from byte `window_start` of the payload.
    pub(super) fn into_error(self, window_start: u64) -> CodecError {
        let (code, message) = match self.kind {
            FaultKind::Truncated => ("truncated", "the payload ends before the last sample"),
            FaultKind::RunTooLong => ("run_too_long", "a run of zero blocks reaches past its interval"),
            FaultKind::ResidualTooLarge => ("residual_too_large", "a coded value is wider than a sample"),
        };
        CodecError::format(NAME, code, message).at(window_start.saturating_add(self.position / 8))
    }
}
