//! The bytes of a frame, of which some may not be at hand yet.

use super::{NAME, fault, parse};
use crate::{CodecError, Window};
use fw_bytes::{ParseError, Span};

/// A payload that is read by position.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    window: Window<'a>,
}

/// Why reading stopped.
#[derive(Debug)]
pub(super) enum Stop {
    /// These bytes exist and were not fetched.
    Absent(Vec<Span>),
    Fault(CodecError),
}

impl<'a> View<'a> {
    pub(super) const fn new(window: Window<'a>) -> Self {
        Self { window }
    }

    pub(super) const fn whole(bytes: &'a [u8]) -> Self {
        Self::new(Window::whole(bytes))
    }

    /// Length of the whole payload.
    pub(super) const fn len(&self) -> u64 {
        self.window.total_len
    }

    /// True when everything is at hand.
    pub(super) const fn is_whole(&self) -> bool {
        self.window.is_whole()
    }

    /// True when the bytes of `span` were fetched.
    pub(super) fn holds(&self, span: Span) -> bool {
        self.window.get(span).is_some()
    }

    /// `most` bytes from `at` on, or fewer where `end` comes before; `end` is no further than the payload reaches.
    pub(super) fn up_to(&self, at: u64, most: usize, end: u64) -> Result<&'a [u8], Stop> {
        let end = at.saturating_add(most as u64).min(end);
        let span = Span::new(at.min(end), end);
        if span.is_empty() {
            return Ok(&[]);
        }
        self.window.get(span).ok_or_else(|| Stop::Absent(vec![span]))
    }

    /// `len` bytes from `at` on, all of them before `end`.
    pub(super) fn take(&self, at: u64, len: usize, end: u64, what: &'static str) -> Result<&'a [u8], Stop> {
        let span = inside(at, len as u64, end, what)?;
        self.up_to(span.start, len, span.end)
    }

    /// As many bytes as an array has.
    pub(super) fn array<const N: usize>(&self, at: u64, end: u64, what: &'static str) -> Result<[u8; N], Stop> {
        let bytes = self.take(at, N, end, what)?;
        // `take` returned exactly N bytes; the error keeps the function total.
        <[u8; N]>::try_from(bytes).map_err(|_| fault("truncated", at, format!("need {N} bytes for {what}")).into())
    }
}

/// `len` bytes from `at` on, when they end before `end`.
pub(super) fn inside(at: u64, len: u64, end: u64, what: &'static str) -> Result<Span, CodecError> {
    let have = end.saturating_sub(at);
    match Span::sized(at, len) {
        Some(span) if len <= have => Ok(span),
        _ => Err(parse(ParseError::short(what, len, have, at))),
    }
}

impl From<CodecError> for Stop {
    fn from(error: CodecError) -> Self {
        Self::Fault(error)
    }
}

impl From<Stop> for CodecError {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Fault(error) => error,
            Stop::Absent(spans) => {
                let first = spans.first().copied().unwrap_or_default();
                CodecError::misuse(NAME, "partial_payload", format!("payload bytes {first} are not available"))
            }
        }
    }
}
