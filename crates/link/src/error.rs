//! What went wrong, on which link.

use std::io;
use thiserror::Error;

/// A link that cannot be opened, read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LinkError {
    /// An address that cannot be read.
    #[error("{address}: {message}")]
    Address {
        /// What was given.
        address: String,
        /// What is wrong with it, and how it is meant.
        message: String,
    },
    /// A link cannot be opened.
    #[error("{address}: cannot open the link: {error}")]
    Open {
        /// Which link.
        address: String,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// An open link failed and is not opened again.
    #[error("{address}: the link broke: {error}")]
    Lost {
        /// Which link.
        address: String,
        /// Why.
        #[source]
        error: io::Error,
    },
}

impl LinkError {
    pub(crate) fn address(address: &str, message: impl Into<String>) -> Self {
        Self::Address { address: address.to_owned(), message: message.into() }
    }

    /// Stable snake_case code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Address { .. } => "invalid_address",
            Self::Open { error, .. } => match error.kind() {
                io::ErrorKind::NotFound => "not_found",
                io::ErrorKind::PermissionDenied => "permission_denied",
                io::ErrorKind::ConnectionRefused => "connection_refused",
                io::ErrorKind::TimedOut => "link_timeout",
                io::ErrorKind::AddrInUse => "address_in_use",
                _ => "link_unavailable",
            },
            Self::Lost { .. } => "link_lost",
        }
    }

    /// Whether the request itself was wrong.
    pub const fn is_misuse(&self) -> bool {
        matches!(self, Self::Address { .. })
    }
}
