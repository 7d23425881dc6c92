//! Where a message came from.

use crate::access::MessageIndex;
use crate::error::TensogramError;

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
