//! What went wrong, in which codec, at which byte.

use thiserror::Error;

/// A codec refused its input, its parameters, or the caller's request.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{codec}: {message}{}", at_suffix(*.at))]
pub struct CodecError {
    /// Whose fault it is.
    pub kind: CodecErrorKind,
    /// Stable snake_case code, unique within the codec.
    pub code: &'static str,
    /// Name of the codec.
    pub codec: &'static str,
    /// What was read, what was expected, what was found.
    pub message: String,
    /// Byte position in the encoded payload, where one is known.
    pub at: Option<u64>,
}

/// Whose fault an error is. Complete: each format maps every kind to its own classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodecErrorKind {
    /// The encoded bytes are malformed.
    Format,
    /// The caller's parameters or data do not fit the codec.
    Misuse,
    /// A parameter is missing, of the wrong type or out of its range.
    Parameter,
    /// A limit was exceeded.
    Limit,
    /// The codec or mode is not available in this build.
    Unsupported,
}

impl CodecError {
    /// Malformed encoded bytes.
    pub fn format(codec: &'static str, code: &'static str, message: impl Into<String>) -> Self {
        Self { kind: CodecErrorKind::Format, code, codec, message: message.into(), at: None }
    }

    /// A request or input that the codec cannot serve.
    pub fn misuse(codec: &'static str, code: &'static str, message: impl Into<String>) -> Self {
        Self { kind: CodecErrorKind::Misuse, ..Self::format(codec, code, message) }
    }

    /// A parameter that is out of its range.
    pub fn parameter(codec: &'static str, code: &'static str, message: impl Into<String>) -> Self {
        Self { kind: CodecErrorKind::Parameter, ..Self::format(codec, code, message) }
    }

    /// A limit was exceeded.
    pub fn limit(codec: &'static str, code: &'static str, message: impl Into<String>) -> Self {
        Self { kind: CodecErrorKind::Limit, ..Self::format(codec, code, message) }
    }

    /// Not available in this build.
    pub fn unsupported(codec: &'static str, code: &'static str, message: impl Into<String>) -> Self {
        Self { kind: CodecErrorKind::Unsupported, ..Self::format(codec, code, message) }
    }

    /// The decoded length differs from what the caller expects.
    pub fn length(codec: &'static str, expected: u64, found: u64) -> Self {
        Self::format(codec, "decoded_length_mismatch", format!("expected {expected} decoded bytes, found {found}"))
    }

    /// The same error with the byte position of the fault in the encoded payload.
    #[must_use]
    pub fn at(mut self, byte: u64) -> Self {
        self.at = Some(byte);
        self
    }
}

fn at_suffix(at: Option<u64>) -> String {
    at.map_or_else(String::new, |at| format!(" at payload byte {at} (0x{at:x})"))
}
