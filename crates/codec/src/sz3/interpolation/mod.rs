//! Prediction from coarse to fine: every other value lies between two that are already known.
//!
//! Level `l` fills the values an odd number of strides `2^(l-1)` from the start, in blocks of 32 strides. All
//! predictions of a level use only coarser values, so each level is a pass from one dense array (the known values) to
//! another twice as long, and the loops over blocks vectorise. The two arrays are the caller's output and one scratch
//! array of half its length, in turn.

mod decode; // codes to values
mod encode; // values to codes
mod layout; // which levels there are, and the parameters stored with them
mod predict; // the formulas, in coding order

pub(super) use decode::decode;
pub(super) use encode::{encode, write_section};
pub(super) use layout::{Layout, Tuning};
pub(super) use predict::Kind;

/// Blocks between two looks at whether to stop.
const CHECKED: usize = 1024;
