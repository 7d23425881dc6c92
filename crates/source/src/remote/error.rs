//! What went wrong, with the URL, the status and the number of tries.

use std::error::Error;
use std::fmt;
use std::io;

/// Why a remote object could not be read or written. Inside an [`io::Error`], where the traits of this crate want one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteError {
    /// Which sort of trouble.
    pub kind: RemoteErrorKind,
    /// The object, without credentials.
    pub url: String,
    /// What the store said, or what was expected.
    pub detail: String,
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    /// How often it was tried; 0 when nothing was sent.
    pub tries: u32,
}

/// Sorts of trouble with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RemoteErrorKind {
    /// The URL or an option cannot be understood.
    Request,
    /// There is no such object.
    NotFound,
    /// Credentials are missing, wrong, or do not suffice.
    Denied,
    /// The object is not the one that was opened: replaced, or changed, meanwhile.
    Changed,
    /// The server does not serve ranges of bytes, and a full read is not allowed, or not of so much.
    NoRanges,
    /// The server failed or could not be reached, again and again.
    Failed,
    /// A range past the end of the object.
    PastEnd,
    /// The answer is not what was asked for, or not HTTP: asking again would not help.
    Malformed,
    /// The server sends less than a kibibyte per second, or takes longer than a short read may.
    Slow,
    /// The server redirects to where it is not followed.
    Redirected,
    /// An object that is read whole is too large for memory, and there is no room for it on the disk.
    Spill,
}

impl RemoteErrorKind {
    /// The stable snake_case code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Request => "remote_request",
            Self::NotFound => "remote_not_found",
            Self::Denied => "remote_denied",
            Self::Changed => "remote_changed",
            Self::NoRanges => "remote_no_ranges",
            Self::Failed => "remote_failed",
            Self::PastEnd => "remote_past_end",
            Self::Malformed => "remote_malformed",
            Self::Slow => "remote_too_slow",
            Self::Redirected => "remote_redirect",
            Self::Spill => "remote_spill",
        }
    }

    const fn io(self) -> io::ErrorKind {
        match self {
            Self::Request => io::ErrorKind::InvalidInput,
            Self::NotFound => io::ErrorKind::NotFound,
            Self::Denied => io::ErrorKind::PermissionDenied,
            Self::Changed | Self::Malformed => io::ErrorKind::InvalidData,
            Self::NoRanges => io::ErrorKind::Unsupported,
            Self::Failed | Self::Spill | Self::Redirected => io::ErrorKind::Other,
            Self::Slow => io::ErrorKind::TimedOut,
            Self::PastEnd => io::ErrorKind::UnexpectedEof,
        }
    }
}

impl RemoteError {
    pub(super) fn new(kind: RemoteErrorKind, url: &str, detail: impl Into<String>) -> Self {
        Self { kind, url: url.to_owned(), detail: detail.into(), status: None, tries: 0 }
    }

    /// The remote error inside an I/O error, if that is what it is.
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }

    /// The stable snake_case code.
    pub const fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Whether trying again later may help.
    pub const fn is_retryable(&self) -> bool {
        matches!(self.kind, RemoteErrorKind::Failed)
    }
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.url, self.detail)?;
        if let Some(status) = self.status {
            write!(f, " (status {status})")?;
        }
        match self.tries {
            0 | 1 => Ok(()),
            tries => write!(f, ", after {tries} tries"),
        }
    }
}

impl Error for RemoteError {}

impl From<RemoteError> for io::Error {
    fn from(error: RemoteError) -> Self {
        Self::new(error.kind.io(), error)
    }
}
