//! What every bench shares.
#![forbid(unsafe_code)]

mod check; // rows held against what was promised
mod measure; // one call at a time, both sides in turn

pub use check::{Check, FLOOR, MISSED, MOST_BYTES, reaches};
pub use measure::{Best, Duel, Effort, alone, duel, settled};
