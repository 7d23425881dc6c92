//! What went wrong: the classes users of the format know, each with what was read, expected and found, where, and a
//! stable code.

use fw_bytes::ParseError;
use fw_codec::{CodecError, CodecErrorKind};
use fw_tensor::TensorError;
use std::fmt;
use std::io;
use thiserror::Error;

/// The result of every public function.
pub type Result<T, E = TensogramError> = std::result::Result<T, E>;

/// Why a message could not be read or written (clause TG-16).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TensogramError {
    /// Bad magic, version, lengths or markers; unknown or misplaced frames; misuse of the streaming encoder.
    #[error("framing: {0}")]
    Framing(Fault),
    /// Metadata, index or descriptor that cannot be read, or does not fit the objects.
    #[error("metadata: {0}")]
    Metadata(Fault),
    /// Non-finite values, unknown or failing codecs, payloads of the wrong size, ranges out of bounds.
    #[error("encoding: {0}")]
    Encoding(Fault),
    /// A compressed payload that lacks what random access needs.
    #[error("compression: {0}")]
    Compression(Fault),
    /// No object with this index.
    #[error("object: {0}")]
    Object(Fault),
    /// A part of an object that it does not have: an axis, index or step that does not fit its shape.
    #[error("selection: {0}")]
    Selection(Fault),
    /// The file or sink failed.
    #[error("io: {0}")]
    Io(#[source] io::Error),
    /// The stored digest does not match the bytes.
    #[error("hash mismatch{}: stored {expected}, computed {actual}{place}", object_suffix(.object_index.as_ref()))]
    HashMismatch {
        /// Which object; `None` for a frame that is no object.
        object_index: Option<usize>,
        /// The stored digest, 16 hex digits.
        expected: String,
        /// The computed digest, 16 hex digits.
        actual: String,
        /// Where the frame stands.
        place: Box<Place>,
    },
    /// Verification was asked for, and the object carries no digest.
    #[error("object {object_index} carries no hash to verify{place}")]
    MissingHash {
        /// Which object.
        object_index: usize,
        /// Where the frame stands.
        place: Box<Place>,
    },
    /// A remote store failed or served something else than expected.
    #[error("remote: {0}")]
    Remote(Fault),
}

/// Where something stands: at which byte, on which path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// At which byte, where one is known.
    pub offset: Option<u64>,
    /// On which path, such as `message[3].object[1]`; empty when there is none.
    pub path: String,
}

impl Place {
    pub(crate) fn at(offset: u64) -> Box<Self> {
        Box::new(Self { offset: Some(offset), path: String::new() })
    }

    fn push_outer(&mut self, outer: &str) {
        self.path = if self.path.is_empty() { outer.to_owned() } else { format!("{outer}.{}", self.path) };
    }

    fn shift(&mut self, base: u64) {
        self.offset = self.offset.map(|at| at.saturating_add(base));
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = self.offset {
            write!(f, " at byte {at} (0x{at:x})")?;
        }
        if !self.path.is_empty() {
            write!(f, " in {}", self.path)?;
        }
        Ok(())
    }
}

/// Whose fault an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file or sink.
    Io,
    /// The bytes.
    Format,
    /// A payload, or the codec that made it.
    Codec,
    /// The caller.
    Misuse,
    /// A limit the caller set.
    Limit,
    /// Something this build cannot do.
    Unsupported,
}

/// The details of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    inner: Box<FaultInner>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct FaultInner {
    kind: ErrorKind,
    code: &'static str,
    message: String,
    expected: String,
    found: String,
    place: Place,
}

impl Fault {
    /// A fault with its stable code and words.
    pub fn new(kind: ErrorKind, code: &'static str, message: impl Into<String>) -> Self {
        let (message, place) = (message.into(), Place::default());
        Self {
            inner: Box::new(FaultInner { kind, code, message, expected: String::new(), found: String::new(), place }),
        }
    }

    /// Something wrong with the bytes.
    pub fn format(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Format, code, message)
    }

    /// Something wrong with the request.
    pub fn misuse(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Misuse, code, message)
    }

    /// More than the caller's limits allow.
    pub fn limit(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Limit, code, message)
    }

    /// Says at which byte.
    #[must_use]
    pub fn at(mut self, offset: u64) -> Self {
        self.inner.place.offset = Some(offset);
        self
    }

    /// Says on which path; the outermost part is added last.
    #[must_use]
    pub fn on(mut self, outer: impl AsRef<str>) -> Self {
        self.inner.place.push_outer(outer.as_ref());
        self
    }

    /// The stable snake_case code.
    pub fn code(&self) -> &'static str {
        self.inner.code
    }

    /// Whose fault it is.
    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }

    /// The words, without place.
    pub fn message(&self) -> &str {
        &self.inner.message
    }

    /// What should have been there, where the fault is a value; the words of [`Fault::message`] say it too.
    pub fn expected(&self) -> &str {
        &self.inner.expected
    }

    /// What was there instead.
    pub fn found(&self) -> &str {
        &self.inner.found
    }

    /// At which byte.
    pub fn offset(&self) -> Option<u64> {
        self.inner.place.offset
    }

    /// On which path, such as `message[3].object[1].descriptor.shape`; empty when there is none.
    pub fn path(&self) -> &str {
        &self.inner.place.path
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{} [{}]", self.inner.message, self.inner.place, self.inner.code)
    }
}

impl From<ParseError> for Fault {
    fn from(error: ParseError) -> Self {
        // The fault prints its own position; cut the one the parse error would print.
        let text = error.to_string();
        let message = text.split(" at byte ").next().unwrap_or(&text).to_owned();
        let mut fault = Self::format(error.code, message).at(error.at);
        fault.inner.expected = error.expected.to_string();
        fault.inner.found = error.found.to_string();
        fault
    }
}

impl TensogramError {
    /// The name of the class, as listed in clause TG-16.
    pub const fn class(&self) -> &'static str {
        match self {
            Self::Framing(_) => "Framing",
            Self::Metadata(_) => "Metadata",
            Self::Encoding(_) => "Encoding",
            Self::Compression(_) => "Compression",
            Self::Object(_) => "Object",
            Self::Selection(_) => "Selection",
            Self::Io(_) => "Io",
            Self::HashMismatch { .. } => "HashMismatch",
            Self::MissingHash { .. } => "MissingHash",
            Self::Remote(_) => "Remote",
        }
    }

    /// Whose fault it is.
    pub fn kind(&self) -> ErrorKind {
        match self.fault() {
            Some(fault) => fault.kind(),
            None if self.is_io() => ErrorKind::Io,
            None => ErrorKind::Format,
        }
    }

    /// True when a file, a sink or a store failed: what the bytes are like is not known then.
    pub const fn is_io(&self) -> bool {
        matches!(self, Self::Io(_) | Self::Remote(_))
    }

    /// The stable snake_case code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::HashMismatch { .. } => "hash_mismatch",
            Self::MissingHash { .. } => "no_hash_available",
            Self::Io(_) => "io",
            other => other.fault().map_or("unknown", Fault::code),
        }
    }

    /// Whether trying again may help: only input and output failures that the system calls passing.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Io(error) => {
                matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
            }
            _ => false,
        }
    }

    /// At which byte, where one is known.
    pub fn offset(&self) -> Option<u64> {
        match self {
            Self::HashMismatch { place, .. } | Self::MissingHash { place, .. } => place.offset,
            other => other.fault().and_then(Fault::offset),
        }
    }

    /// On which path, such as `message[3].object[1]`; empty when there is none.
    pub fn path(&self) -> &str {
        match self {
            Self::HashMismatch { place, .. } | Self::MissingHash { place, .. } => &place.path,
            other => other.fault().map_or("", Fault::path),
        }
    }

    /// The details, for the classes that carry them.
    pub const fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Framing(fault)
            | Self::Metadata(fault)
            | Self::Encoding(fault)
            | Self::Compression(fault)
            | Self::Object(fault)
            | Self::Selection(fault)
            | Self::Remote(fault) => Some(fault),
            Self::Io(_) | Self::HashMismatch { .. } | Self::MissingHash { .. } => None,
        }
    }

    /// Adds the outer part of the path.
    #[must_use]
    pub fn on(mut self, outer: impl AsRef<str>) -> Self {
        if let Some(place) = self.place_mut() {
            place.push_outer(outer.as_ref());
        }
        self
    }

    /// Counts the byte from an origin `base` bytes earlier.
    #[must_use]
    pub fn shifted(mut self, base: u64) -> Self {
        if let Some(place) = self.place_mut() {
            place.shift(base);
        }
        self
    }

    fn place_mut(&mut self) -> Option<&mut Place> {
        match self {
            Self::Framing(fault)
            | Self::Metadata(fault)
            | Self::Encoding(fault)
            | Self::Compression(fault)
            | Self::Object(fault)
            | Self::Selection(fault) => Some(&mut fault.inner.place),
            Self::HashMismatch { place, .. } | Self::MissingHash { place, .. } => Some(place),
            // These are about the source, not about a place in it.
            Self::Io(_) | Self::Remote(_) => None,
        }
    }
}

/// Wire records fail as framing errors.
impl From<ParseError> for TensogramError {
    fn from(error: ParseError) -> Self {
        Self::Framing(error.into())
    }
}

/// An error of a store is [`TensogramError::Remote`] with its code, whichever reader met it.
impl From<io::Error> for TensogramError {
    fn from(error: io::Error) -> Self {
        #[cfg(feature = "remote")]
        if let Some(remote) = fw_source::remote::RemoteError::of(&error) {
            return Self::Remote(Fault::new(ErrorKind::Io, remote.code(), remote.to_string()));
        }
        Self::Io(error)
    }
}

/// Shapes fail as metadata errors, which descriptors are; parts that a tensor does not have as selections.
impl From<TensorError> for TensogramError {
    fn from(error: TensorError) -> Self {
        let code = match &error {
            TensorError::ShapeOverflow { .. } => "shape_overflow",
            TensorError::LengthMismatch { .. } => "data_length_mismatch",
            TensorError::WrongType { .. } => "dtype_mismatch",
            TensorError::Misaligned { .. } => "misaligned",
            TensorError::TooManyAxes { .. }
            | TensorError::OutOfBounds { .. }
            | TensorError::ZeroStep { .. }
            | TensorError::Unsliceable { .. } => "invalid_slice",
        };
        match error {
            TensorError::ShapeOverflow { .. } | TensorError::LengthMismatch { .. } => {
                Self::Metadata(Fault::format(code, error.to_string()))
            }
            // What the elements are, not which of them were asked for.
            TensorError::WrongType { .. } | TensorError::Misaligned { .. } | TensorError::Unsliceable { .. } => {
                Self::Encoding(Fault::misuse(code, error.to_string()))
            }
            TensorError::TooManyAxes { .. } | TensorError::OutOfBounds { .. } | TensorError::ZeroStep { .. } => {
                Self::Selection(Fault::misuse(code, error.to_string()))
            }
        }
    }
}

/// Codecs fail as encoding errors; a packing without usable reference value is a metadata error (TG-C1.1).
impl From<CodecError> for TensogramError {
    fn from(error: CodecError) -> Self {
        let kind = match error.kind {
            CodecErrorKind::Misuse | CodecErrorKind::Parameter => ErrorKind::Misuse,
            CodecErrorKind::Limit => ErrorKind::Limit,
            CodecErrorKind::Unsupported => ErrorKind::Unsupported,
            CodecErrorKind::Format => ErrorKind::Codec,
        };
        let fault = Fault::new(kind, error.code, error.to_string());
        match error.code {
            "sp_parameters_incomplete" | "sp_reference_value_not_finite" => Self::Metadata(fault),
            _ => Self::Encoding(fault),
        }
    }
}

/// An object that no address space holds.
pub(crate) fn too_large() -> TensogramError {
    TensogramError::Encoding(Fault::limit("decoded_too_large", "the object does not fit in the address space"))
}

fn object_suffix(index: Option<&usize>) -> String {
    index.map_or_else(String::new, |index| format!(" in object {index}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_where_and_carry_a_code() {
        let error = TensogramError::from(ParseError::short("preamble", 24, 20, 100)).shifted(1000).on("message[3]");
        assert_eq!(
            error.to_string(),
            "framing: need 24 bytes for preamble, have 20 at byte 1100 (0x44c) in message[3] [truncated]"
        );
        assert_eq!((error.class(), error.code(), error.kind()), ("Framing", "truncated", ErrorKind::Format));
        let fault = error.fault().unwrap();
        assert_eq!((fault.expected(), fault.found()), ("24 bytes", "20 bytes"));
        let missing = TensogramError::MissingHash { object_index: 1, place: Place::at(8) }.shifted(92).on("message[2]");
        assert_eq!(missing.to_string(), "object 1 carries no hash to verify at byte 100 (0x64) in message[2]");
        assert_eq!((missing.offset(), missing.path()), (Some(100), "message[2]"));
    }
}
