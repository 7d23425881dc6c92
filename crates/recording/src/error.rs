//! What went wrong, in which file, at which byte.

use fw_tensogram::TensogramError;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A recording that cannot be written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// A file or directory cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// A message of a file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Message {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        error: TensogramError,
    },
    /// A file is not what a recording holds.
    #[error("{}: {message}{}", path.display(), place(.at))]
    Format {
        /// Stable snake_case code.
        code: &'static str,
        /// Which file.
        path: PathBuf,
        /// What was read, expected and found.
        message: String,
        /// First byte of the message it is about.
        at: Option<u64>,
    },
    /// A request that cannot be met.
    #[error("{message}")]
    Refused {
        /// Stable snake_case code.
        code: &'static str,
        /// What, and why.
        message: String,
    },
}

fn place(at: &Option<u64>) -> String {
    at.map_or_else(String::new, |at| format!(" at byte {at} (0x{at:x})"))
}

impl RecordingError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Io { path, error }
    }

    pub(crate) fn message(path: &Path) -> impl FnOnce(TensogramError) -> Self {
        let path = path.to_owned();
        move |error| match error {
            TensogramError::Io(error) => Self::Io { path, error },
            error => Self::Message { path, error },
        }
    }

    pub(crate) fn format(code: &'static str, path: &Path, message: impl Into<String>, at: Option<u64>) -> Self {
        Self::Format { code, path: path.to_owned(), message: message.into(), at }
    }

    /// Stable snake_case code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { error, .. } => match error.kind() {
                io::ErrorKind::NotFound => "not_found",
                io::ErrorKind::PermissionDenied => "permission_denied",
                io::ErrorKind::StorageFull => "storage_full",
                _ => "io_error",
            },
            Self::Message { error, .. } => error.code(),
            Self::Format { code, .. } | Self::Refused { code, .. } => code,
        }
    }

    /// The byte where a file is wrong, when the fault has a place.
    pub fn position(&self) -> Option<u64> {
        match self {
            Self::Io { .. } | Self::Refused { .. } => None,
            Self::Message { error, .. } => error.offset(),
            Self::Format { at, .. } => *at,
        }
    }
}
