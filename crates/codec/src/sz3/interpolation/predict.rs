//! The formulas, in coding order. Evaluated left to right in double precision, never fused.

/// How a value is predicted from its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Kind {
    /// The mean of two neighbours.
    Linear = 0,
    /// A cubic through four neighbours, a parabola through three at the ends of a block.
    Cubic = 1,
}

/// Visits the gaps of one block in coding order: `visit(j, prediction)` for the value after `known[j]`.
///
/// `known` holds the values at even positions of a block of `points` positions, so it is `ceil(points / 2)` long.
#[inline]
pub(super) fn for_each_gap<E>(
    kind: Kind,
    known: &[f64],
    points: usize,
    mut visit: impl FnMut(usize, f64) -> Result<(), E>,
) -> Result<(), E> {
    debug_assert_eq!(known.len(), points.div_ceil(2));
    let gaps = points / 2;
    if gaps == 0 {
        return Ok(());
    }
    let open_end = points.is_multiple_of(2);
    let interior = if open_end { gaps - 1 } else { gaps };
    if kind == Kind::Linear || points < 5 {
        for j in 0..interior {
            visit(j, linear(known[j], known[j + 1]))?;
        }
        if open_end {
            let last = known[gaps - 1];
            visit(gaps - 1, if points < 4 { last } else { -0.5 * known[gaps - 2] + 1.5 * last })?;
        }
        return Ok(());
    }
    for j in 1..interior - 1 {
        visit(j, cubic(known[j - 1], known[j], known[j + 1], known[j + 2]))?;
    }
    visit(0, first(known[0], known[1], known[2]))?;
    visit(interior - 1, last(known[interior - 2], known[interior - 1], known[interior]))?;
    if open_end {
        visit(gaps - 1, beyond(known[gaps - 3], known[gaps - 2], known[gaps - 1]))?;
    }
    Ok(())
}

/// The predictions of a whole block, by position (not in coding order).
#[inline(always)]
pub(super) fn whole_block(kind: Kind, known: &[f64; 17]) -> [f64; 16] {
    let mut predictions = [0.0; 16];
    match kind {
        Kind::Linear => {
            for j in 0..16 {
                predictions[j] = linear(known[j], known[j + 1]);
            }
        }
        Kind::Cubic => {
            for j in 1..15 {
                predictions[j] = cubic(known[j - 1], known[j], known[j + 1], known[j + 2]);
            }
            predictions[0] = first(known[0], known[1], known[2]);
            predictions[15] = last(known[14], known[15], known[16]);
        }
    }
    predictions
}

/// Puts the items of a whole block from their positions into coding order.
#[inline(always)]
pub(super) fn to_coding_order<T: Copy>(kind: Kind, items: [T; 16]) -> [T; 16] {
    match (kind, items) {
        (Kind::Linear, items) => items,
        (Kind::Cubic, [zero, a, b, c, d, e, f, g, h, i, j, k, l, m, n, end]) => {
            [a, b, c, d, e, f, g, h, i, j, k, l, m, n, zero, end]
        }
    }
}

/// The inverse of [`to_coding_order`].
#[inline(always)]
pub(super) fn from_coding_order<T: Copy>(kind: Kind, items: [T; 16]) -> [T; 16] {
    match (kind, items) {
        (Kind::Linear, items) => items,
        (Kind::Cubic, [a, b, c, d, e, f, g, h, i, j, k, l, m, n, zero, end]) => {
            [zero, a, b, c, d, e, f, g, h, i, j, k, l, m, n, end]
        }
    }
}

#[inline(always)]
fn linear(a: f64, b: f64) -> f64 {
    (a + b) / 2.0
}

#[inline(always)]
fn cubic(a: f64, b: f64, c: f64, d: f64) -> f64 {
    (-a + 9.0 * b + 9.0 * c - d) / 16.0
}

#[inline(always)]
fn first(a: f64, b: f64, c: f64) -> f64 {
    (3.0 * a + 6.0 * b - c) / 8.0
}

#[inline(always)]
fn last(a: f64, b: f64, c: f64) -> f64 {
    (-a + 6.0 * b + 3.0 * c) / 8.0
}

#[inline(always)]
fn beyond(a: f64, b: f64, c: f64) -> f64 {
    (3.0 * a - 10.0 * b + 15.0 * c) / 8.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn gaps(kind: Kind, known: &[f64], points: usize) -> Vec<(usize, f64)> {
        let mut found = Vec::new();
        for_each_gap::<Infallible>(kind, known, points, |j, prediction| {
            found.push((j, prediction));
            Ok(())
        })
        .unwrap();
        found
    }

    #[test]
    fn the_fast_block_agrees_with_the_plain_one() {
        let known: [f64; 17] = std::array::from_fn(|i| (i as f64 * 0.7).sin() * 10.0);
        for kind in [Kind::Linear, Kind::Cubic] {
            let fast = whole_block(kind, &known);
            let plain = gaps(kind, &known, 33);
            assert_eq!(plain.len(), 16);
            assert!(plain.iter().all(|(j, prediction)| fast[*j] == *prediction));
            let order = to_coding_order(kind, std::array::from_fn(|j| j));
            assert!(plain.iter().zip(order).all(|((j, _), slot)| *j == slot));
            assert_eq!(from_coding_order(kind, order), std::array::from_fn(|j| j));
        }
    }

    #[test]
    fn every_gap_is_visited_once_in_blocks_of_any_length() {
        for points in 1..34usize {
            let known = vec![1.5; points.div_ceil(2)];
            for kind in [Kind::Linear, Kind::Cubic] {
                let mut found = gaps(kind, &known, points);
                assert!(found.iter().all(|(_, prediction)| *prediction == 1.5));
                found.sort_by_key(|(j, _)| *j);
                assert!(found.iter().map(|(j, _)| *j).eq(0..points / 2));
            }
        }
    }

    #[test]
    fn cubics_are_met_exactly() {
        // A parabola is reproduced by every formula, whatever the length of the block.
        let curve = |x: f64| 2.0 * x * x - 3.0 * x + 1.0;
        for points in 5..34usize {
            let known: Vec<f64> = (0..points.div_ceil(2)).map(|j| curve(2.0 * j as f64)).collect();
            for (j, prediction) in gaps(Kind::Cubic, &known, points) {
                assert_eq!(prediction, curve(2.0 * j as f64 + 1.0), "gap {j} of {points} points");
            }
        }
    }
}
