//! Where a message came from.

use crate::access::MessageIndex;
use crate::error::{Result, TensogramError};
use crate::frame::check_message_len;
use crate::options::DecodeOptions;
use crate::wire::Preamble;

/// The place of a message in a file, for errors: they count bytes and paths from there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Origin {
    start: u64,
    index: Option<MessageIndex>,
}

impl Origin {
    /// The message with this index, which begins at this byte.
    pub(crate) const fn new(index: MessageIndex, start: u64) -> Self {
        Self { start, index: Some(index) }
    }

    /// Refuses a message of `available` bytes that is longer than one may be, by its first bytes, before the others are read.
    /// Any other fault is left to those who read it.
    pub(crate) fn check_len(&self, preamble: &[u8], available: u64, options: &DecodeOptions) -> Result<()> {
        let claimed = Preamble::read(preamble, 0).and_then(|preamble| preamble.checked_length(available, 0));
        match claimed {
            Ok(length) => check_message_len(length.unwrap_or(available), &options.limits),
            Err(_) => Ok(()),
        }
        .map_err(|error| self.locate(error))
    }

    /// An error whose positions count from the start of the message, as one of the file.
    pub(crate) fn locate(&self, error: TensogramError) -> TensogramError {
        self.name(error.shifted(self.start))
    }

    /// The same for an error whose positions count from the start of the file.
    pub(crate) fn name(&self, error: TensogramError) -> TensogramError {
        match self.index {
            Some(index) => error.on(index.path()),
            None => error,
        }
    }
}
