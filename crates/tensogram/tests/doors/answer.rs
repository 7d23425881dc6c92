//! What came out of a read, in a form that can be compared.

use fw_tensogram::{ErrorKind, Result, TensogramError};
use std::fmt;

/// A value, or what matters of an error.
#[derive(PartialEq)]
pub(crate) enum Answer {
    /// Printed: NaN equals NaN then.
    Value(String),
    Error {
        class: &'static str,
        code: &'static str,
        kind: ErrorKind,
        path: String,
        offset: Option<u64>,
        text: Text,
    },
}

/// For people: words may differ.
pub(crate) struct Text(String);

impl PartialEq for Text {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Answer {
    pub(crate) fn of<T: fmt::Debug>(result: Result<T>) -> Self {
        match result {
            Ok(value) => Self::Value(format!("{value:?}")),
            Err(error) => Self::error(&error),
        }
    }

    /// For a list of differences.
    pub(crate) fn kind(&self) -> String {
        match self {
            Self::Value(_) => "a value".to_owned(),
            Self::Error { class, code, .. } => format!("{class} {code}"),
        }
    }

    pub(crate) fn is_value(&self) -> bool {
        matches!(self, Self::Value(_))
    }

    fn error(error: &TensogramError) -> Self {
        Self::Error {
            class: error.class(),
            code: error.code(),
            kind: error.kind(),
            path: error.path().to_owned(),
            offset: error.offset(),
            text: Text(error.to_string()),
        }
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => f.write_str(value.get(..200).unwrap_or(value)),
            Self::Error { class, code, kind, path, offset, text } => {
                write!(f, "{class} {code} {kind:?} {path:?} {offset:?} ({})", text.0)
            }
        }
    }
}
