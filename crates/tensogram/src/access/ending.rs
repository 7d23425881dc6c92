//! The end of a message: end magic and mirrored length (TG-3).

use super::{ReadMachine, in_source};
use crate::error::Result;
use crate::frame::{Based, Lookup, take};
use crate::wire::{POSTAMBLE_LEN, Postamble};
use fw_bytes::{Span, Step};

/// Checks the postamble of the message at a span of the source, as a full decode does.
///
/// An index at the start of a message leads to its objects without a look at its end, so that whatever describes the
/// message as a whole asks for this as well.
#[derive(Clone, Copy, Debug)]
pub struct CheckEnding {
    message: Span,
}

impl CheckEnding {
    /// For the message that fills `message`.
    pub const fn new(message: Span) -> Self {
        Self { message }
    }

    fn advance(self, have: &(impl Lookup + ?Sized)) -> Result<Step<()>> {
        let length = self.message.len();
        let end = length.saturating_sub(POSTAMBLE_LEN);
        Postamble::read(take!(have, Span::new(end, length)), end)?.check_mirror(length, end)?;
        Ok(Step::Done(()))
    }
}

impl ReadMachine for CheckEnding {
    type Output = ();

    fn poll(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<()>> {
        in_source(self.message, self.advance(&Based::new(have, self.message.start)))
    }
}
