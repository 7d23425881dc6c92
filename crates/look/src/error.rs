//! What can go wrong while looking at files.

use fw_convert::ConvertError;
use fw_draw::DrawError;
use fw_stats::StatsError;
use fw_tensogram::TensogramError;
use std::io;
use thiserror::Error;

/// A file that cannot be read, or a request that does not fit what it holds.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LookError {
    /// A file cannot be opened or read, or is wrong.
    #[error("{0}")]
    File(#[source] ConvertError),
    /// Statistics cannot be formed.
    #[error("{0}")]
    Stats(#[source] StatsError),
    /// A picture cannot be drawn.
    #[error("{0}")]
    Draw(#[source] DrawError),
    /// A request that does not fit the tensor.
    #[error("{message}")]
    Misuse {
        /// Stable snake_case code.
        code: &'static str,
        /// What does not fit, and what would.
        message: String,
    },
}

/// The result of looking.
pub type Result<T> = std::result::Result<T, LookError>;

impl LookError {
    pub(crate) fn misuse(code: &'static str, message: impl Into<String>) -> Self {
        Self::Misuse { code, message: message.into() }
    }

    /// Stable snake_case code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::File(error) => error.code(),
            Self::Stats(error) => error.code(),
            Self::Draw(error) => error.code(),
            Self::Misuse { code, .. } => code,
        }
    }

    /// The byte where a file is wrong, when the fault has a place.
    pub fn position(&self) -> Option<u64> {
        match self {
            Self::File(error) => error.position(),
            _ => None,
        }
    }

    /// True when another request would succeed on the same file.
    pub const fn is_misuse(&self) -> bool {
        !matches!(self, Self::File(_))
    }
}

impl From<ConvertError> for LookError {
    fn from(error: ConvertError) -> Self {
        Self::File(error)
    }
}

impl From<TensogramError> for LookError {
    fn from(error: TensogramError) -> Self {
        Self::File(error.into())
    }
}

impl From<io::Error> for LookError {
    fn from(error: io::Error) -> Self {
        Self::File(error.into())
    }
}

impl From<StatsError> for LookError {
    fn from(error: StatsError) -> Self {
        Self::Stats(error)
    }
}

impl From<DrawError> for LookError {
    fn from(error: DrawError) -> Self {
        Self::Draw(error)
    }
}
