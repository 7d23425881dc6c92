//! One thing worth saying about some bytes.

use crate::text::visible;
use fw_bytes::Span;
use std::borrow::Cow;
use std::fmt;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Readable, but not as a careful writer would have left it.
    Warning,
    /// Wrong.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// A fault or remark: a stable code, a severity, words, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// Stable snake_case code.
    pub code: Cow<'static, str>,
    /// How bad it is.
    pub severity: Severity,
    /// What was read, what was expected, what was found.
    pub message: String,
    /// Which bytes, counted from the beginning of the input.
    pub span: Option<Span>,
    /// Which part of the structure, such as `message[3].object[1].descriptor.shape`.
    pub path: String,
    /// Which check produced it, in the words of the format, such as `structure`.
    pub level: Option<Cow<'static, str>>,
    /// Which object or tensor it is about.
    pub object_index: Option<u64>,
}

impl Finding {
    /// A finding of any severity.
    pub fn new(severity: Severity, code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            severity,
            message: message.into(),
            span: None,
            path: String::new(),
            level: None,
            object_index: None,
        }
    }

    /// Something wrong.
    pub fn error(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// Something suspicious.
    pub fn warning(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// Says which bytes.
    #[must_use]
    pub fn at(mut self, span: impl Into<Span>) -> Self {
        self.span = Some(span.into());
        self
    }

    /// Says which part of the structure.
    #[must_use]
    pub fn on(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Says which check produced it.
    #[must_use]
    pub fn level(mut self, level: impl Into<Cow<'static, str>>) -> Self {
        self.level = Some(level.into());
        self
    }

    /// Says which object it is about.
    #[must_use]
    pub fn object(mut self, index: u64) -> Self {
        self.object_index = Some(index);
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.severity, self.code)?;
        if !self.path.is_empty() {
            write!(f, " {}", visible(&self.path))?;
        }
        // Names from files are among the words.
        write!(f, ": {}", visible(&self.message))?;
        match self.span {
            Some(span) if span.is_empty() => write!(f, " (byte {})", span.start),
            Some(span) => write!(f, " (bytes {span})"),
            None => Ok(()),
        }
    }
}
