//! Where a machine finds its bytes.

use crate::error::{Fault, Result, TensogramError};
use fw_bytes::{Span, Step};
use fw_source::Buffers;

/// Bytes at hand, by position.
pub trait Lookup {
    /// The bytes of `span`, when all of them are at hand.
    fn lookup(&self, span: Span) -> Option<&[u8]>;
}

impl Lookup for [u8] {
    fn lookup(&self, span: Span) -> Option<&[u8]> {
        span.slice_of(self, 0)
    }
}

impl Lookup for Buffers {
    fn lookup(&self, span: Span) -> Option<&[u8]> {
        self.get(span)
    }
}

/// A message inside a larger source: positions count from its first byte.
#[derive(Debug)]
pub struct Based<'h, L: ?Sized> {
    have: &'h L,
    base: u64,
}

impl<'h, L: Lookup + ?Sized> Based<'h, L> {
    /// The bytes of `have`, with `base` as position zero.
    pub const fn new(have: &'h L, base: u64) -> Self {
        Self { have, base }
    }
}

impl<L: Lookup + ?Sized> Lookup for Based<'_, L> {
    fn lookup(&self, span: Span) -> Option<&[u8]> {
        self.have.lookup(span.shifted(self.base)?)
    }
}

/// Runs a machine to its end on bytes in memory; what it needs and the slice does not have is missing for good.
///
/// # Errors
/// The machine's own, and `truncated` when it asks for bytes past the end.
pub fn on_slice<T>(bytes: &[u8], step: impl FnOnce(&[u8]) -> Result<Step<T>>) -> Result<T> {
    match step(bytes)? {
        Step::Done(value) => Ok(value),
        Step::Need(spans) => {
            let end = spans.iter().map(|span| span.end).max().unwrap_or(0);
            let message = format!("need bytes up to {end}, the message has {}", bytes.len());
            Err(TensogramError::Framing(Fault::format("truncated", message).at(bytes.len() as u64)))
        }
    }
}
