//! Sizes that the whole crate agrees on.

/// Elements of one block. Two passes over a block stay in the first cache; parts for threads start at multiples of it.
pub const BLOCK: usize = 4096;

/// The most bins a histogram can have.
pub(crate) const MOST_BINS: usize = 1 << 20;
