//! Digests over byte ranges.

mod fletcher16;
#[cfg(feature = "xxh3")]
mod xxh3;

pub use fletcher16::Fletcher16;
#[cfg(feature = "xxh3")]
pub use xxh3::{Xxh3, xxh3_64};
