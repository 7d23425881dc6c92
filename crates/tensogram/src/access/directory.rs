//! Where the objects of a message are (TG-12.7).

use super::{ReadMachine, in_source};
use crate::error::Result;
use crate::frame::{Based, Directory, Locate, Lookup};
use fw_bytes::{Limits, Span, Step};

/// Finds the objects of the message at a span of the source, by its index when that can be trusted.
///
/// Positions in the [`Directory`] count from the first byte of the message.
#[derive(Clone, Debug)]
pub struct ReadDirectory {
    message: Span,
    locate: Locate,
}

impl ReadDirectory {
    /// For the message that fills `message`.
    pub const fn new(message: Span, limits: Limits) -> Self {
        Self { message, locate: Locate::new(message.len(), limits) }
    }
}

impl ReadMachine for ReadDirectory {
    type Output = Directory;

    fn poll(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<Directory>> {
        in_source(self.message, self.locate.poll(&Based::new(have, self.message.start)))
    }
}
