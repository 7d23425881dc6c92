//! What can go wrong while changing files.

use fw_convert::ConvertError;
use fw_look::LookError;
use fw_query::{QueryError, TemplateError};
use fw_stats::StatsError;
use fw_tensogram::TensogramError;
use std::fmt;
use std::io;
use std::path::Path;
use thiserror::Error;

/// A file that is wrong, or a request that cannot be met.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EditError {
    /// A file cannot be read or written, or is wrong.
    #[error("{0}")]
    File(#[source] ConvertError),
    /// A key, where clause or template that cannot be read.
    #[error("{0}")]
    Query(#[source] QueryError),
    /// A request that cannot be met as it was put.
    #[error("{message}")]
    Refused {
        /// Stable snake_case code.
        code: &'static str,
        /// What was refused, and why.
        message: String,
        /// What to do instead.
        hint: Option<String>,
    },
    /// An error about one place of a file, or one of several files.
    #[error("{place}: {error}")]
    At {
        /// Which one.
        place: String,
        /// What is wrong there.
        #[source]
        error: Box<EditError>,
    },
}

/// The result of changing a file.
pub type Result<T, E = EditError> = std::result::Result<T, E>;

impl EditError {
    pub(crate) fn refused(code: &'static str, message: impl Into<String>) -> Self {
        Self::Refused { code, message: message.into(), hint: None }
    }

    pub(crate) fn with_hint(self, text: impl Into<String>) -> Self {
        match self {
            Self::Refused { code, message, .. } => Self::Refused { code, message, hint: Some(text.into()) },
            Self::At { place, error } => Self::At { place, error: Box::new(error.with_hint(text)) },
            other => other,
        }
    }

    pub(crate) fn at(self, place: impl fmt::Display) -> Self {
        Self::At { place: place.to_string(), error: Box::new(self) }
    }

    /// Puts the path before an error that does not name it.
    pub(crate) fn in_file(self, path: &Path) -> Self {
        let path = path.display().to_string();
        if self.to_string().contains(&path) { self } else { self.at(path) }
    }

    /// Stable snake_case code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::File(error) => error.code(),
            Self::Query(error) => error.code(),
            Self::Refused { code, .. } => code,
            Self::At { error, .. } => error.code(),
        }
    }

    /// The byte where a file is wrong, when the fault has a place.
    pub fn position(&self) -> Option<u64> {
        match self {
            Self::File(error) => error.position(),
            Self::At { error, .. } => error.position(),
            _ => None,
        }
    }

    /// What to do instead.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Query(error) => error.hint(),
            Self::Refused { hint, .. } => hint.as_deref(),
            Self::At { error, .. } => error.hint(),
            Self::File(error) => match error.code() {
                "checksum_mismatch" | "manifest_mismatch" => Some(NOT_THE_SAME),
                _ => None,
            },
        }
    }

    /// True when the request is at fault, not a file.
    pub fn is_misuse(&self) -> bool {
        match self {
            Self::File(_) => false,
            Self::Query(_) => true,
            Self::Refused { code, .. } => !OF_FILES.contains(code),
            Self::At { error, .. } => error.is_misuse(),
        }
    }

    /// The failed read or write, when it is one.
    pub fn io(&self) -> Option<&io::Error> {
        match self {
            Self::File(error) => error.io(),
            Self::At { error, .. } => error.io(),
            _ => None,
        }
    }
}

impl From<ConvertError> for EditError {
    fn from(error: ConvertError) -> Self {
        Self::File(error)
    }
}

impl From<TensogramError> for EditError {
    fn from(error: TensogramError) -> Self {
        Self::File(error.into())
    }
}

impl From<io::Error> for EditError {
    fn from(error: io::Error) -> Self {
        Self::File(error.into())
    }
}

impl From<QueryError> for EditError {
    fn from(error: QueryError) -> Self {
        Self::Query(error)
    }
}

impl From<StatsError> for EditError {
    fn from(error: StatsError) -> Self {
        Self::refused(error.code(), error.to_string())
    }
}

impl From<TemplateError> for EditError {
    fn from(error: TemplateError) -> Self {
        let refused = Self::refused(error.code(), error.to_string());
        match error.code() {
            "missing_key" => refused.with_hint("give a text for missing keys, or select only what has the key"),
            _ => refused,
        }
    }
}

impl From<LookError> for EditError {
    fn from(error: LookError) -> Self {
        match error {
            LookError::File(error) => Self::File(error),
            other => Self::refused(other.code(), other.to_string()),
        }
    }
}

/// What to do about data that differs from its digest.
const NOT_THE_SAME: &str =
    "the data was changed after its digest was made: get the file again, or add --ignore-digests to go on all the same";

/// Codes of what is found in files, whatever was asked for.
const OF_FILES: &[&str] = &[
    "no_message",
    "unreadable_message",
    "not_a_tensor",
    "conflicting_key",
    "conflicting_tensor",
    "tensor_not_found",
    "accuracy_not_reached",
];
