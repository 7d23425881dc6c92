//! What can go wrong while opening, reading, comparing or converting.

use fw_bintensors::BinTensorError;
use fw_tensogram::TensogramError;
use fw_tensor::TensorError;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A fault of a file, a request that cannot be met, or a failed read or write.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A BinTensors file is wrong.
    #[error("{}{}", .0.detail(), place(&.0.position()))]
    BinTensors(BinTensorError),
    /// A Tensogram message is wrong.
    #[error(transparent)]
    Tensogram(TensogramError),
    /// A slice or shape that does not fit.
    #[error(transparent)]
    Tensor(#[from] TensorError),
    /// A file of another format is wrong.
    #[error("{message}{}", place(.at))]
    Format {
        /// Stable snake_case code.
        code: &'static str,
        /// What was read, expected and found.
        message: String,
        /// Where, when the fault has a place.
        at: Option<u64>,
    },
    /// Something the target cannot hold, or the source holds in a way we cannot read.
    #[error("{message}")]
    Unsupported {
        /// Stable snake_case code.
        code: &'static str,
        /// What, and what would help.
        message: String,
    },
    /// No tensor of that name.
    #[error("no tensor named {0:?}")]
    NotFound(String),
    /// A fault of one of two files that are compared.
    #[error("{}: {error}", match .side { Side::Left => "the first file", Side::Right => "the second file" })]
    Compared {
        /// Which of them.
        side: Side,
        /// What is wrong with it.
        error: Box<ConvertError>,
    },
    /// A fault of one of several files.
    #[error("{}", named(.path, .error))]
    File {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        error: Box<ConvertError>,
    },
}

/// Which of two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The first.
    Left,
    /// The second.
    Right,
}

impl ConvertError {
    /// A file is wrong, at a byte where that is known.
    pub fn format(code: &'static str, message: impl Into<String>, at: impl Into<Option<u64>>) -> Self {
        Self::Format { code, message: message.into(), at: at.into() }
    }

    /// Something cannot be held or read.
    pub fn unsupported(code: &'static str, message: impl Into<String>) -> Self {
        Self::Unsupported { code, message: message.into() }
    }

    /// Says which file it is about, unless that is said already.
    #[must_use]
    pub(crate) fn in_file(self, path: &Path) -> Self {
        match self {
            named @ Self::File { .. } => named,
            error => Self::File { path: path.to_owned(), error: Box::new(error) },
        }
    }

    /// Stable snake_case code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io(error) => fw_source::io_code(error),
            Self::BinTensors(error) => error.code(),
            Self::Tensogram(error) => error.code(),
            Self::Tensor(_) => "invalid_slice",
            Self::Format { code, .. } | Self::Unsupported { code, .. } => code,
            Self::NotFound(_) => "tensor_not_found",
            Self::File { error, .. } | Self::Compared { error, .. } => error.code(),
        }
    }

    /// Position of the fault, when it has one.
    pub fn position(&self) -> Option<u64> {
        match self {
            Self::BinTensors(error) => error.position(),
            Self::Tensogram(error) => error.offset(),
            Self::Format { at, .. } => *at,
            Self::File { error, .. } | Self::Compared { error, .. } => error.position(),
            Self::Io(_) | Self::Tensor(_) | Self::Unsupported { .. } | Self::NotFound(_) => None,
        }
    }

    /// The file it is about, when several are at hand.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File { path, .. } => Some(path),
            _ => None,
        }
    }

    /// The failed read or write, when it is one.
    pub fn io(&self) -> Option<&io::Error> {
        match self {
            Self::Io(error) => Some(error),
            Self::File { error, .. } | Self::Compared { error, .. } => error.io(),
            _ => None,
        }
    }

    /// The words without the place, for reports that show places on their own.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::BinTensors(error) => error.detail(),
            Self::Format { message, .. } => message.clone(),
            Self::File { error, .. } | Self::Compared { error, .. } => error.message(),
            other => other.to_string(),
        }
    }
}

impl From<BinTensorError> for ConvertError {
    fn from(error: BinTensorError) -> Self {
        match error {
            BinTensorError::IoError(error) => Self::Io(error),
            error => Self::BinTensors(error),
        }
    }
}

impl From<TensogramError> for ConvertError {
    fn from(error: TensogramError) -> Self {
        match error {
            TensogramError::Io(error) => Self::Io(error),
            error => Self::Tensogram(error),
        }
    }
}

fn place(at: &Option<u64>) -> String {
    at.map_or_else(String::new, |at| format!(" at byte {at} (0x{at:x})"))
}

/// Failed opens name their file already.
fn named(path: &Path, error: &ConvertError) -> String {
    let (path, words) = (path.display().to_string(), error.to_string());
    if words.starts_with(&path) { words } else { format!("{path}: {words}") }
}
