//! What went wrong, on which path, at which byte.

use std::fmt;

/// A payload that cannot be read, or a value that cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// Stable snake_case code.
    pub code: &'static str,
    /// What was needed and what was found.
    pub message: String,
    /// Which part of the message, such as `body.go.speed` or `crew[2].age`.
    pub path: String,
    /// Which byte of the payload, when reading.
    pub at: Option<usize>,
}

impl Error {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), path: String::new(), at: None }
    }

    /// Fewer bytes than needed.
    pub(crate) fn truncated(need: usize, have: usize, at: usize) -> Self {
        Self { at: Some(at), ..Self::new("truncated", format!("need {need} bytes, have {have}")) }
    }

    pub(crate) fn at(mut self, at: usize) -> Self {
        self.at = Some(at);
        self
    }

    /// Says, on the way up, inside which field the fault is.
    pub(crate) fn inside(mut self, name: &str) -> Self {
        let joint = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{name}{joint}{}", self.path);
        self
    }

    pub(crate) fn element(self, index: usize) -> Self {
        self.inside(&format!("[{index}]"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        match self.at {
            Some(at) => write!(f, " at byte {at} (0x{at:x})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}
