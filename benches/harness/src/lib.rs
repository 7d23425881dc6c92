//! What every bench shares.
#![forbid(unsafe_code)]

mod check; // rows held against what was promised
mod limit; // what the machine allows, beside a row
mod measure; // one call at a time, both sides in turn
mod options; // what a bench can be asked for
mod pages; // warm memory and fresh

pub use check::{Check, FLOOR, MISSED, MOST_BYTES, NO_ROW, reaches};
pub use limit::{Least, Limit, copy, copy_fresh, limit, pass, spread};
pub use measure::{Best, Duel, Effort, alone, duel, duel_of_processes, rest, settled};
pub use options::Options;
pub use pages::Fresh;
