//! Blocks of different types.

use super::{Found, Known, Tolerance, kernel};
use crate::block::Block;

/// Compares one block.
pub(super) fn compare(first: &Block<'_>, second: &Block<'_>, known: Known, tolerance: Tolerance) -> Found {
    match (integers(first), integers(second)) {
        (Some(a), Some(b)) => kernel::compare(&a, &b, known, tolerance),
        (Some(a), None) if is_long(first) => with_floats(&a, &second.to_f64(), tolerance, Side::First),
        (None, Some(b)) if is_long(second) => with_floats(&b, &first.to_f64(), tolerance, Side::Second),
        // Doubles hold all other types exactly.
        _ => kernel::compare(&first.to_f64(), &second.to_f64(), known, tolerance),
    }
}

/// Which tensor the integers come from.
#[derive(Clone, Copy)]
enum Side {
    First,
    Second,
}

/// 64-bit integers beside floats: a double does not hold them exactly, so each pair is looked at.
fn with_floats(integers: &[i128], floats: &[f64], tolerance: Tolerance, side: Side) -> Found {
    let mut found = Found::default();
    for (index, (integer, float)) in integers.iter().zip(floats).enumerate() {
        if float.is_nan() {
            found.counts.one_nan += 1;
            found.differs(index, true);
            continue;
        }
        let distance = distance(*integer, *float);
        // They came from 64 bits; conversions from 128 are slow.
        let near = if let Ok(short) = i64::try_from(*integer) { short as f64 } else { *integer as f64 };
        let (first, second, difference) = match side {
            Side::First => (near, *float, distance),
            Side::Second => (*float, near, -distance),
        };
        if float.is_finite() {
            found.sums.add(first, second, difference);
        }
        if distance != 0.0 {
            let allowed = float.is_finite() && tolerance.allows(distance.abs(), first);
            found.differs(index, !allowed);
            found.raise(distance.abs(), index);
        }
    }
    found
}

/// `float - integer`: zero only where they are equal.
fn distance(integer: i128, float: f64) -> f64 {
    // Integers of 64 bits are below this; a float of that size is one too.
    const FAR: f64 = (1u128 << 100) as f64;
    if float.fract() == 0.0 && float.abs() < FAR {
        (float as i128 - integer) as f64
    } else {
        // A float with a fraction is below 2^53, where integers are exact; a huge one is far from every integer.
        float - integer as f64
    }
}

fn is_long(block: &Block<'_>) -> bool {
    matches!(block, Block::I64(_) | Block::U64(_))
}

fn integers(block: &Block<'_>) -> Option<Vec<i128>> {
    fn widen<T: Copy + Into<i128>>(values: &[T]) -> Option<Vec<i128>> {
        Some(values.iter().map(|value| (*value).into()).collect())
    }
    match block {
        Block::I8(values) => widen(values),
        Block::I16(values) => widen(values),
        Block::I32(values) => widen(values),
        Block::I64(values) => widen(values),
        Block::U8(values) => widen(values),
        Block::U16(values) => widen(values),
        Block::U32(values) => widen(values),
        Block::U64(values) => widen(values),
        Block::F32(_) | Block::F64(_) => None,
    }
}
