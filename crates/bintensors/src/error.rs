//! What can go wrong, in the class names that users of the format know, each with what was read and where.

use crate::dtype::Dtype;
use std::fmt;
use std::io;

/// Everything reading, writing or checking a BinTensors file can fail with.
///
/// The text of every error begins with its class name, so that callers who match on it keep working.
#[derive(Debug)]
#[non_exhaustive]
pub enum BinTensorError {
    /// The input is shorter than the size field.
    HeaderTooSmall {
        /// Bytes at hand.
        len: u64,
    },
    /// The size field is above the cap, or a header about to be written would be.
    HeaderTooLarge {
        /// Header bytes claimed.
        len: u64,
        /// The most allowed.
        cap: u64,
    },
    /// The header runs past the end of the input.
    InvalidHeaderLength {
        /// Header bytes claimed.
        len: u64,
        /// Bytes after the size field.
        available: u64,
    },
    /// The header's bytes do not follow the grammar.
    DecoderError(DecodeError),
    /// Two tensors have the same name.
    ValidationMismatch {
        /// The name.
        name: String,
    },
    /// A tensor does not begin where the one before it ended, or ends before it begins.
    InvalidOffset {
        /// The offending tensor.
        name: String,
        /// Where it must begin.
        expected: u64,
        /// The range it claims.
        found: (u64, u64),
        /// Position of its record in the file.
        at: u64,
    },
    /// The product of the dimensions, or the size in bytes, does not fit in 64 bits.
    ValidationOverflow {
        /// The offending tensor.
        name: String,
    },
    /// The range of a tensor does not hold what its shape and element type ask for.
    TensorInvalidInfo {
        /// The offending tensor.
        name: String,
        /// Bytes that shape and element type ask for.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// The data section is longer or shorter than the tensors together.
    MetadataIncompleteBuffer {
        /// Bytes the whole file must have.
        expected: u64,
        /// Bytes it has.
        found: u64,
    },
    /// No tensor of that name.
    TensorNotFound(String),
    /// A view whose bytes do not match its shape and element type.
    InvalidTensorView {
        /// Element type.
        dtype: Dtype,
        /// Dimensions.
        shape: Vec<u64>,
        /// Bytes given.
        len: u64,
    },
    /// Reading or writing failed.
    IoError(io::Error),
    /// Something that cannot be written in this format.
    EncodeError(String),
    /// Kept for callers who match on it; never produced.
    InvalidHeader,
    /// Bytes other than spaces after the last record (default and canonical profiles).
    InvalidPadding {
        /// The first such byte.
        byte: u8,
        /// Its position in the file.
        at: u64,
    },
    /// A key of the user metadata twice (default and canonical profiles).
    DuplicateMetadataKey {
        /// The key.
        key: String,
    },
    /// Valid, but not the bytes the canonical writer makes (canonical profile).
    NonCanonical {
        /// In which way.
        reason: &'static str,
        /// First byte that differs from the canonical form.
        at: u64,
    },
    /// A planned tensor was not written, written twice, or written with another length.
    IncompleteWrite {
        /// The tensor.
        name: String,
        /// Bytes planned.
        expected: u64,
        /// Bytes written.
        found: u64,
    },
    /// A stored or given digest differs from the computed one.
    ChecksumMismatch {
        /// The tensor, or `None` for the whole file.
        name: Option<String>,
        /// The digest asked for.
        expected: String,
        /// The digest computed.
        found: String,
    },
    /// The kept digest of all tensors together is not that of the tensors that are there.
    ManifestMismatch {
        /// The digest that is kept or was asked for.
        expected: String,
        /// The digest of the tensors that are there, where they all have one.
        found: Option<String>,
        /// What is known about the difference.
        why: String,
    },
    /// A slice that does not fit its tensor.
    InvalidSlice(fw_tensor::TensorError),
}

/// A fault in the header's grammar: the kind, what was being read, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecodeError {
    /// Which rule was broken.
    pub kind: DecodeKind,
    /// What was being read.
    pub what: &'static str,
    /// Which record, counted from zero; `None` before the first.
    pub record: Option<u64>,
    /// The number found, where one matters.
    pub found: Option<u64>,
    /// Position in the file.
    pub at: u64,
}

/// The rules of the header's grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DecodeKind {
    /// A field needs more bytes than the header has left.
    UnexpectedEnd,
    /// An integer tag that its field does not allow.
    InvalidIntegerType,
    /// An option tag or element type that does not exist.
    UnexpectedVariant,
    /// Text that is not UTF-8.
    Utf8,
    /// More than the caller's limits allow.
    LimitExceeded,
}

impl DecodeKind {
    /// The name users know.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnexpectedEnd => "UnexpectedEnd",
            Self::InvalidIntegerType => "InvalidIntegerType",
            Self::UnexpectedVariant => "UnexpectedVariant",
            Self::Utf8 => "Utf8",
            Self::LimitExceeded => "LimitExceeded",
        }
    }

    const fn rule(self) -> &'static str {
        match self {
            Self::UnexpectedEnd => "the header ends inside this field",
            Self::InvalidIntegerType => "an integer tag this field does not allow",
            Self::UnexpectedVariant => "a value this field does not allow",
            Self::Utf8 => "not UTF-8",
            Self::LimitExceeded => "above the limit",
        }
    }
}

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Reading or writing failed.
    Io,
    /// The bytes are wrong.
    Format,
    /// The call is wrong.
    Misuse,
    /// A limit is in the way.
    Limit,
}

impl BinTensorError {
    /// The class name users know, as the conformance vectors spell it; decode faults give their kind.
    pub const fn class(&self) -> &'static str {
        match self {
            Self::DecoderError(fault) => fault.kind.name(),
            other => other.variant(),
        }
    }

    /// Stable snake_case code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::HeaderTooSmall { .. } => "header_too_small",
            Self::HeaderTooLarge { .. } => "header_too_large",
            Self::InvalidHeaderLength { .. } => "invalid_header_length",
            Self::DecoderError(fault) => match fault.kind {
                DecodeKind::UnexpectedEnd => "unexpected_end",
                DecodeKind::InvalidIntegerType => "invalid_integer_type",
                DecodeKind::UnexpectedVariant => "unexpected_variant",
                DecodeKind::Utf8 => "invalid_utf8",
                DecodeKind::LimitExceeded => "limit_exceeded",
            },
            Self::ValidationMismatch { .. } => "duplicate_tensor_name",
            Self::InvalidOffset { .. } => "invalid_offset",
            Self::ValidationOverflow { .. } => "shape_overflow",
            Self::TensorInvalidInfo { .. } => "tensor_size_mismatch",
            Self::MetadataIncompleteBuffer { .. } => "data_length_mismatch",
            Self::TensorNotFound(_) => "tensor_not_found",
            Self::InvalidTensorView { .. } => "invalid_tensor_view",
            Self::IoError(error) => fw_source::io_code(error),
            Self::EncodeError(_) => "encode_error",
            Self::InvalidHeader => "invalid_header",
            Self::InvalidPadding { .. } => "invalid_padding",
            Self::DuplicateMetadataKey { .. } => "duplicate_metadata_key",
            Self::NonCanonical { .. } => "non_canonical",
            Self::IncompleteWrite { .. } => "incomplete_write",
            Self::ChecksumMismatch { .. } => "checksum_mismatch",
            Self::ManifestMismatch { .. } => "manifest_mismatch",
            Self::InvalidSlice(_) => "invalid_slice",
        }
    }

    /// Whose fault it is.
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::IoError(_) => ErrorKind::Io,
            Self::DecoderError(DecodeError { kind: DecodeKind::LimitExceeded, .. }) => ErrorKind::Limit,
            Self::TensorNotFound(_)
            | Self::InvalidTensorView { .. }
            | Self::EncodeError(_)
            | Self::IncompleteWrite { .. }
            | Self::InvalidSlice(_) => ErrorKind::Misuse,
            Self::HeaderTooSmall { .. }
            | Self::HeaderTooLarge { .. }
            | Self::InvalidHeaderLength { .. }
            | Self::DecoderError(_)
            | Self::ValidationMismatch { .. }
            | Self::InvalidOffset { .. }
            | Self::ValidationOverflow { .. }
            | Self::TensorInvalidInfo { .. }
            | Self::MetadataIncompleteBuffer { .. }
            | Self::InvalidHeader
            | Self::InvalidPadding { .. }
            | Self::DuplicateMetadataKey { .. }
            | Self::NonCanonical { .. }
            | Self::ChecksumMismatch { .. }
            | Self::ManifestMismatch { .. } => ErrorKind::Format,
        }
    }

    /// Position of the fault in the file, where it has one.
    pub const fn position(&self) -> Option<u64> {
        match self {
            Self::HeaderTooSmall { .. } | Self::HeaderTooLarge { .. } | Self::InvalidHeaderLength { .. } => Some(0),
            Self::DecoderError(DecodeError { at, .. })
            | Self::InvalidOffset { at, .. }
            | Self::InvalidPadding { at, .. }
            | Self::NonCanonical { at, .. } => Some(*at),
            _ => None,
        }
    }

    const fn variant(&self) -> &'static str {
        match self {
            Self::HeaderTooSmall { .. } => "HeaderTooSmall",
            Self::HeaderTooLarge { .. } => "HeaderTooLarge",
            Self::InvalidHeaderLength { .. } => "InvalidHeaderLength",
            Self::DecoderError(_) => "DecoderError",
            Self::ValidationMismatch { .. } => "ValidationMismatch",
            Self::InvalidOffset { .. } => "InvalidOffset",
            Self::ValidationOverflow { .. } => "ValidationOverflow",
            Self::TensorInvalidInfo { .. } => "TensorInvalidInfo",
            Self::MetadataIncompleteBuffer { .. } => "MetadataIncompleteBuffer",
            Self::TensorNotFound(_) => "TensorNotFound",
            Self::InvalidTensorView { .. } => "InvalidTensorView",
            Self::IoError(_) => "IoError",
            Self::EncodeError(_) => "EncodeError",
            Self::InvalidHeader => "InvalidHeader",
            Self::InvalidPadding { .. } => "InvalidPadding",
            Self::DuplicateMetadataKey { .. } => "DuplicateMetadataKey",
            Self::NonCanonical { .. } => "NonCanonical",
            Self::IncompleteWrite { .. } => "IncompleteWrite",
            Self::ChecksumMismatch { .. } => "ChecksumMismatch",
            Self::ManifestMismatch { .. } => "ManifestMismatch",
            Self::InvalidSlice(_) => "InvalidSlice",
        }
    }
}

impl BinTensorError {
    /// What was read, expected and found, in plain words: without the class before it and the place behind it.
    pub fn detail(&self) -> String {
        match self {
            Self::HeaderTooSmall { len } => format!("need 8 bytes for the header size, have {len}"),
            Self::HeaderTooLarge { len, cap } => format!("a header of {len} bytes, at most {cap} are allowed"),
            Self::InvalidHeaderLength { len, available } => {
                format!("a header of {len} bytes, but only {available} bytes follow the size field")
            }
            Self::DecoderError(fault) => fault.detail(),
            Self::ValidationMismatch { name } => format!("tensor name {name:?} appears more than once"),
            Self::InvalidOffset { name, expected, found: (start, end), .. } => format!(
                "tensor {name:?} claims bytes {start}..{end} of the data section, it must begin at {expected} and not end before"
            ),
            Self::ValidationOverflow { name } => format!("the size of tensor {name:?} does not fit in 64 bits"),
            Self::TensorInvalidInfo { name, expected, found } => {
                format!("tensor {name:?} needs {expected} bytes for its shape and type, has {found}")
            }
            Self::MetadataIncompleteBuffer { expected, found } => {
                format!("header and tensors make {expected} bytes, the file has {found}")
            }
            Self::TensorNotFound(name) => format!("no tensor named {name:?}"),
            Self::InvalidTensorView { dtype, shape, len } => {
                format!("{len} bytes cannot be a {dtype} tensor of shape {shape:?}")
            }
            Self::IoError(error) => error.to_string(),
            Self::EncodeError(why) => why.clone(),
            Self::InvalidHeader => String::new(),
            Self::InvalidPadding { byte, .. } => {
                format!("expected spaces (0x20) after the last record, found 0x{byte:02x}")
            }
            Self::DuplicateMetadataKey { key } => format!("metadata key {key:?} appears more than once"),
            Self::NonCanonical { reason, .. } => (*reason).to_owned(),
            Self::IncompleteWrite { name, expected, found } => {
                format!("tensor {name:?} was planned with {expected} bytes, {found} were written")
            }
            Self::ChecksumMismatch { name: Some(name), expected, found } => {
                format!("tensor {name:?}: expected {expected}, computed {found}")
            }
            Self::ChecksumMismatch { name: None, expected, found } => format!("expected {expected}, computed {found}"),
            Self::ManifestMismatch { expected, found, why } => {
                let found = found.as_ref().map_or_else(String::new, |found| format!(", computed {found}"));
                format!("the manifest differs: {why} (expected {expected}{found})")
            }
            Self::InvalidSlice(error) => error.to_string(),
        }
    }
}

impl fmt::Display for BinTensorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.variant())?;
        match (self, self.detail()) {
            (Self::DecoderError(fault), _) => write!(f, "({fault})")?,
            (_, detail) if detail.is_empty() => {}
            (_, detail) => write!(f, ": {detail}")?,
        }
        match self.position() {
            Some(at) => write!(f, " at byte {at} (0x{at:x})"),
            None => Ok(()),
        }
    }
}

impl DecodeError {
    fn detail(&self) -> String {
        let record = self.record.map_or_else(String::new, |record| format!(" of record {record}"));
        let found = self.found.map_or_else(String::new, |found| format!(", found {found}"));
        format!("{}{record}: {}{found}", self.what, self.kind.rule())
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.detail())
    }
}

impl std::error::Error for BinTensorError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::IoError(error) => Some(error),
            Self::InvalidSlice(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for BinTensorError {
    fn from(error: io::Error) -> Self {
        Self::IoError(error)
    }
}

impl From<fw_tensor::TensorError> for BinTensorError {
    fn from(error: fw_tensor::TensorError) -> Self {
        Self::InvalidSlice(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_begin_with_the_class_and_end_with_the_place() {
        let error = BinTensorError::DecoderError(DecodeError {
            kind: DecodeKind::UnexpectedVariant,
            what: "dtype",
            record: Some(3),
            found: Some(15),
            at: 100,
        });
        assert_eq!(error.class(), "UnexpectedVariant");
        assert_eq!(error.detail(), "dtype of record 3: a value this field does not allow, found 15");
        assert_eq!(
            error.to_string(),
            "DecoderError(UnexpectedVariant: dtype of record 3: a value this field does not allow, found 15) at byte 100 (0x64)"
        );
        let small = BinTensorError::HeaderTooSmall { len: 3 };
        assert_eq!(small.to_string(), "HeaderTooSmall: need 8 bytes for the header size, have 3 at byte 0 (0x0)");
    }
}
