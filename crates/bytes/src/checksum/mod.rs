//! Digests over byte ranges.

#[cfg(feature = "xxh3")]
mod xxh3;

#[cfg(feature = "xxh3")]
pub use xxh3::{Xxh3, xxh3_64};
