//! What can go wrong while opening, reading, comparing or converting.

use fw_bintensors::BinTensorError;
use fw_tensogram::TensogramError;
use fw_tensor::TensorError;
use std::io;
use thiserror::Error;

/// A fault of a file, a request that cannot be met, or a failed read or write.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A BinTensors file is wrong.
    #[error(transparent)]
    BinTensors(#[from] BinTensorError),
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
}

impl ConvertError {
    pub(crate) fn format(code: &'static str, message: impl Into<String>, at: impl Into<Option<u64>>) -> Self {
        Self::Format { code, message: message.into(), at: at.into() }
    }

    pub(crate) fn unsupported(code: &'static str, message: impl Into<String>) -> Self {
        Self::Unsupported { code, message: message.into() }
    }

    /// Stable snake_case code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io(_) => "io_error",
            Self::BinTensors(error) => error.code(),
            Self::Tensogram(error) => error.code(),
            Self::Tensor(_) => "invalid_slice",
            Self::Format { code, .. } | Self::Unsupported { code, .. } => code,
            Self::NotFound(_) => "tensor_not_found",
        }
    }

    /// Position of the fault, when it has one.
    pub fn position(&self) -> Option<u64> {
        match self {
            Self::BinTensors(error) => error.position(),
            Self::Tensogram(error) => error.offset(),
            Self::Format { at, .. } => *at,
            _ => None,
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
