//! What can go wrong.

use fw_convert::ConvertError;
use std::io;

/// A file that is wrong, a request that cannot be met, or a failed read or write.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TelemetryError {
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A file is wrong.
    #[error("{message} at byte {at} (0x{at:x})")]
    Format {
        /// Stable snake_case code.
        code: &'static str,
        /// What was read, expected and found.
        message: String,
        /// Where.
        at: u64,
    },
    /// Something that cannot be held or read.
    #[error("{message}")]
    Unsupported {
        /// Stable snake_case code.
        code: &'static str,
        /// What, and what would help.
        message: String,
    },
    /// The capture or the Tensogram file.
    #[error(transparent)]
    Convert(ConvertError),
}

impl TelemetryError {
    pub(crate) fn format(code: &'static str, message: impl Into<String>, at: u64) -> Self {
        Self::Format { code, message: message.into(), at }
    }

    pub(crate) fn unsupported(code: &'static str, message: impl Into<String>) -> Self {
        Self::Unsupported { code, message: message.into() }
    }

    /// Stable snake_case code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io(error) => match error.kind() {
                io::ErrorKind::NotFound => "not_found",
                io::ErrorKind::PermissionDenied => "permission_denied",
                _ => "io_error",
            },
            Self::Format { code, .. } | Self::Unsupported { code, .. } => code,
            Self::Convert(error) => error.code(),
        }
    }

    /// Position of the fault, when it has one.
    pub fn position(&self) -> Option<u64> {
        match self {
            Self::Format { at, .. } => Some(*at),
            Self::Convert(error) => error.position(),
            Self::Io(_) | Self::Unsupported { .. } => None,
        }
    }

    /// The failed read or write, when it is one.
    pub fn io(&self) -> Option<&io::Error> {
        match self {
            Self::Io(error) => Some(error),
            Self::Convert(error) => error.io(),
            Self::Format { .. } | Self::Unsupported { .. } => None,
        }
    }
}

impl From<ConvertError> for TelemetryError {
    fn from(error: ConvertError) -> Self {
        match error {
            ConvertError::Io(error) => Self::Io(error),
            error => Self::Convert(error),
        }
    }
}

/// Rows are read by `fw-convert`, whose callbacks return its error.
impl From<TelemetryError> for ConvertError {
    fn from(error: TelemetryError) -> Self {
        match error {
            TelemetryError::Io(error) => Self::Io(error),
            TelemetryError::Format { code, message, at } => Self::format(code, message, at),
            TelemetryError::Unsupported { code, message } => Self::unsupported(code, message),
            TelemetryError::Convert(error) => error,
        }
    }
}

/// The writer of MCAP files says little more than what the disk said.
impl From<::mcap::McapError> for TelemetryError {
    fn from(error: ::mcap::McapError) -> Self {
        match error {
            ::mcap::McapError::Io(error) => Self::Io(error),
            other => Self::unsupported("mcap", other.to_string()),
        }
    }
}
