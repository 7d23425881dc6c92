//! Every statistic against a plain twin: one loop, no blocks, no lanes.

use fw_stats::{BLOCK, Compare, Difference, Histogram, Scalar, Stats, Summary, Tolerance, summarize};
use fw_tensor::{DType, Element, TensorView};
use half::{bf16, f16};
use proptest::prelude::*;

/// A sum whose rounding errors are carried along.
fn exact_sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0f64);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + lost
}

fn summary<T: Element>(values: &[T]) -> Summary {
    summarize(&TensorView::from_values(&[values.len() as u64], values).unwrap()).unwrap()
}

fn close(found: f64, expected: f64, scale: f64) -> bool {
    found == expected || (found - expected).abs() <= 1e-12 * scale.abs().max(expected.abs())
}

/// Holds a summary to plain loops over the same values as doubles.
fn hold_to_twin(found: &Summary, values: &[f64]) {
    let finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    assert_eq!(found.count, values.len() as u64);
    assert_eq!(found.finite, finite.len() as u64);
    assert_eq!(found.nan, values.iter().filter(|v| v.is_nan()).count() as u64);
    assert_eq!(found.pos_inf, values.iter().filter(|v| **v == f64::INFINITY).count() as u64);
    assert_eq!(found.neg_inf, values.iter().filter(|v| **v == f64::NEG_INFINITY).count() as u64);
    assert_eq!(found.zeros, values.iter().filter(|v| **v == 0.0).count() as u64);
    if finite.is_empty() {
        assert_eq!((found.min, found.max_at, found.mean, found.std, found.norm), (None, None, None, None, None));
        return;
    }
    let min = finite.iter().copied().fold(f64::INFINITY, f64::min);
    let max = finite.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert_eq!((found.min.unwrap().to_f64(), found.max.unwrap().to_f64()), (min, max));
    assert_eq!(found.min_at, values.iter().position(|v| *v == min).map(|at| at as u64));
    assert_eq!(found.max_at, values.iter().position(|v| *v == max).map(|at| at as u64));
    let n = finite.len() as f64;
    let largest = min.abs().max(max.abs());
    let mean = exact_sum(finite.iter().copied()) / n;
    assert!(close(found.mean.unwrap(), mean, largest), "{found:?} {mean}");
    // From distances to one of the values: a mean far from zero has no room for the digits that count here.
    let shifted: Vec<f64> = finite.iter().map(|v| v - finite[0]).collect();
    let center = exact_sum(shifted.iter().copied()) / n;
    let std = (exact_sum(shifted.iter().map(|v| (v - center) * (v - center))) / n).sqrt();
    assert!(close(found.std.unwrap(), std, 0.0) || std < 1e-15 * largest, "{found:?} {std}");
    let norm = exact_sum(finite.iter().map(|v| v * v)).sqrt();
    assert!(close(found.norm.unwrap(), norm, 0.0), "{found:?} {norm}");
}

fn special() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -1e3f64..1e3,
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
        1 => Just(f64::NEG_INFINITY),
        1 => prop_oneof![Just(0.0), Just(-0.0)],
    ]
}

/// Long enough for several blocks, without making proptest draw every value.
fn long(seed: &[f64], len: usize) -> Vec<f64> {
    (0..len).map(|i| seed[i % seed.len()] * (1.0 + (i / seed.len()) as f64 * 0.37)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn floats(seed in prop::collection::vec(special(), 1..40), len in 0usize..3 * BLOCK) {
        let doubles = long(&seed, len);
        hold_to_twin(&summary(&doubles), &doubles);
        let singles: Vec<f32> = doubles.iter().map(|v| *v as f32).collect();
        hold_to_twin(&summary(&singles), &singles.iter().map(|v| f64::from(*v)).collect::<Vec<_>>());
        let halves: Vec<f16> = doubles.iter().map(|v| f16::from_f64(*v)).collect();
        hold_to_twin(&summary(&halves), &halves.iter().map(|v| v.to_f64()).collect::<Vec<_>>());
        let brains: Vec<bf16> = doubles.iter().map(|v| bf16::from_f64(*v)).collect();
        hold_to_twin(&summary(&brains), &brains.iter().map(|v| v.to_f64()).collect::<Vec<_>>());
    }

    #[test]
    fn a_large_offset_does_not_drown_the_deviation(seed in prop::collection::vec(-1.0f64..1.0, 2..40), len in 100usize..9000) {
        let values: Vec<f64> = (0..len).map(|i| 1e9 + seed[i % seed.len()]).collect();
        hold_to_twin(&summary(&values), &values);
    }

    #[test]
    fn integers_are_exact(seed in prop::collection::vec(any::<i64>(), 1..40), len in 1usize..2 * BLOCK) {
        let values: Vec<i64> = (0..len).map(|i| seed[i % seed.len()].wrapping_add(i as i64)).collect();
        let found = summary(&values);
        prop_assert_eq!(found.sum, Some(values.iter().map(|v| i128::from(*v)).sum()));
        let (min, max) = (*values.iter().min().unwrap(), *values.iter().max().unwrap());
        prop_assert_eq!((found.min, found.max), (Some(Scalar::Integer(min.into())), Some(Scalar::Integer(max.into()))));
        prop_assert_eq!(found.min_at, values.iter().position(|v| *v == min).map(|at| at as u64));
        prop_assert_eq!(found.max_at, values.iter().position(|v| *v == max).map(|at| at as u64));
        let unsigned: Vec<u64> = values.iter().map(|v| *v as u64).collect();
        prop_assert_eq!(summary(&unsigned).sum, Some(unsigned.iter().map(|v| i128::from(*v)).sum()));
    }

    #[test]
    fn deviations_of_integers_follow_the_rational_formula(
        seed in prop::collection::vec(any::<i16>(), 1..40), len in 1usize..2 * BLOCK, offset in prop_oneof![Just(0i64), Just(1 << 61), Just(-(1 << 62))],
    ) {
        let small: Vec<i16> = (0..len).map(|i| seed[i % seed.len()]).collect();
        let n = len as i128;
        let (sum, squares) = small.iter().fold((0i128, 0i128), |(s, q), v| (s + i128::from(*v), q + i128::from(*v).pow(2)));
        // Variance as a fraction of integers; only the last step rounds.
        let std = ((n * squares - sum * sum) as f64).sqrt() / len as f64;
        let found = [
            summary(&small),
            summary(&small.iter().map(|v| i32::from(*v)).collect::<Vec<_>>()),
            // Far above 2^53, where doubles cannot tell neighbours apart.
            summary(&small.iter().map(|v| i64::from(*v) + offset).collect::<Vec<_>>()),
            summary(&small.iter().map(|v| (i64::from(*v) + 40_000) as u32).collect::<Vec<_>>()),
        ];
        for found in found {
            prop_assert!(close(found.std.unwrap(), std, 0.0), "{:?} {}", found, std);
        }
        prop_assert!(close(summary(&small).norm.unwrap(), (squares as f64).sqrt(), 0.0));
    }

    #[test]
    fn neither_chunks_nor_threads_nor_alignment_change_a_bit(
        seed in prop::collection::vec(special(), 1..40), len in 0usize..6 * BLOCK,
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6), parts in prop::collection::vec(0usize..7, 0..4),
    ) {
        let values = long(&seed, len);
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
        let whole = format!("{:?}", summary(&values));

        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let mut chunked = Stats::new(DType::Float64).unwrap();
        cuts.windows(2).for_each(|cut| chunked.update(&bytes[cut[0]..cut[1]]));
        prop_assert_eq!(&format!("{:?}", chunked.finish().unwrap()), &whole);

        let mut borders: Vec<usize> = parts.iter().map(|part| (part * BLOCK).min(len)).collect();
        borders.extend([0, len]);
        borders.sort_unstable();
        borders.dedup();
        let mut merged: Option<Stats> = None;
        for border in borders.windows(2) {
            let mut part = Stats::starting_at(DType::Float64, border[0] as u64).unwrap();
            part.update_values(&values[border[0]..border[1]]).unwrap();
            match &mut merged {
                None => merged = Some(part),
                Some(merged) => merged.merge(part).unwrap(),
            }
        }
        let merged = merged.unwrap_or(Stats::new(DType::Float64).unwrap());
        prop_assert_eq!(&format!("{:?}", merged.finish().unwrap()), &whole);

        let mut odd = vec![0u8];
        odd.extend_from_slice(&bytes);
        let mut shifted = Stats::new(DType::Float64).unwrap();
        shifted.update(&odd[1..]);
        prop_assert_eq!(&format!("{:?}", shifted.finish().unwrap()), &whole);
    }

    #[test]
    fn histograms(seed in prop::collection::vec(special(), 1..40), len in 0usize..2 * BLOCK, bins in 1usize..50, half in 1.0f64..2000.0) {
        let values = long(&seed, len);
        let mut histogram = Histogram::new(DType::Float64, -half, half, bins).unwrap();
        let mut other = histogram.clone();
        let middle = len / 3;
        histogram.update_values(&values[..middle]).unwrap();
        other.update_values(&values[middle..]).unwrap();
        histogram.merge(other).unwrap();
        let found = histogram.finish().unwrap();
        let edges = found.edges();
        prop_assert_eq!((edges.len(), edges[0], edges[bins]), (bins + 1, -half, half));
        for bin in 0..bins {
            let inside = |v: &f64| *v >= edges[bin] && (*v < edges[bin + 1] || bin + 1 == bins && *v == half);
            prop_assert_eq!(found.counts[bin], values.iter().filter(|v| inside(v)).count() as u64);
        }
        prop_assert_eq!(found.below, values.iter().filter(|v| **v < -half).count() as u64);
        prop_assert_eq!(found.above, values.iter().filter(|v| **v > half).count() as u64);
        prop_assert_eq!(found.nan, values.iter().filter(|v| v.is_nan()).count() as u64);
    }

    #[test]
    fn differences(
        seed in prop::collection::vec((special(), special(), any::<bool>()), 1..40), len in 1usize..3 * BLOCK,
        rtol in prop_oneof![Just(0.0), Just(0.01)], atol in prop_oneof![Just(0.0), Just(1.0)], cut in any::<prop::sample::Index>(),
    ) {
        let first: Vec<f64> = (0..len).map(|i| seed[i % seed.len()].0).collect();
        let second: Vec<f64> = (0..len).map(|i| {
            let (a, b, same) = seed[i % seed.len()];
            if same || i % 7 == 0 { a } else { b }
        }).collect();
        let tolerance = Tolerance { rtol, atol };
        let cut = cut.index(len);
        let mut compare = Compare::new(DType::Float64, DType::Float64, tolerance).unwrap();
        compare.update_values(&first[..cut], &second[..cut]).unwrap();
        compare.update_values(&first[cut..], &second[cut..]).unwrap();
        hold_difference_to_twin(&compare.finish(), &first, &second, tolerance);

        let narrow: Vec<f32> = second.iter().map(|v| *v as f32).collect();
        let mut compare = Compare::new(DType::Float64, DType::Float32, tolerance).unwrap();
        compare.update_values(&first, &narrow).unwrap();
        let widened: Vec<f64> = narrow.iter().map(|v| f64::from(*v)).collect();
        hold_difference_to_twin(&compare.finish(), &first, &widened, tolerance);
    }

    #[test]
    fn differences_of_integers_are_exact(
        pairs in prop::collection::vec((any::<i64>(), prop_oneof![Just(None), any::<i64>().prop_map(Some)]), 1..60),
    ) {
        let first: Vec<i64> = pairs.iter().map(|(a, _)| *a).collect();
        let second: Vec<i64> = pairs.iter().map(|(a, b)| b.unwrap_or(*a)).collect();
        let mut compare = Compare::new(DType::Int64, DType::Int64, Tolerance::default()).unwrap();
        compare.update_values(&first, &second).unwrap();
        let found = compare.finish();
        let gaps: Vec<i128> = first.iter().zip(&second).map(|(a, b)| (i128::from(*b) - i128::from(*a)).abs()).collect();
        let worst = *gaps.iter().max().unwrap();
        prop_assert_eq!(found.differing, gaps.iter().filter(|gap| **gap != 0).count() as u64);
        prop_assert_eq!(found.beyond, found.differing);
        prop_assert_eq!(found.max_abs, (worst != 0).then_some(Scalar::Integer(worst)));
        prop_assert_eq!(found.max_abs_at, (worst != 0).then(|| gaps.iter().position(|gap| *gap == worst).unwrap() as u64));

        // Against doubles: equal exactly where the double is that integer.
        let floats: Vec<f64> = second.iter().map(|v| *v as f64).collect();
        let mut compare = Compare::new(DType::Int64, DType::Float64, Tolerance::default()).unwrap();
        compare.update_values(&first, &floats).unwrap();
        let equal = first.iter().zip(&floats).filter(|(a, b)| **b as i128 == i128::from(**a)).count();
        prop_assert_eq!(compare.finish().differing, (first.len() - equal) as u64);
    }
}

fn hold_difference_to_twin(found: &Difference, first: &[f64], second: &[f64], tolerance: Tolerance) {
    let pairs: Vec<(f64, f64)> = first.iter().copied().zip(second.iter().copied()).collect();
    let equal = |(a, b): &(f64, f64)| a == b || a.is_nan() && b.is_nan();
    let near = |pair: &(f64, f64)| {
        let finite = pair.0.is_finite() && pair.1.is_finite();
        equal(pair) || finite && (pair.1 - pair.0).abs() <= tolerance.atol + tolerance.rtol * pair.0.abs()
    };
    let count = |test: &dyn Fn(&(f64, f64)) -> bool| pairs.iter().filter(|pair| test(pair)).count() as u64;
    assert_eq!(found.count, pairs.len() as u64);
    assert_eq!(found.differing, count(&|pair| !equal(pair)));
    assert_eq!(found.beyond, count(&|pair| !near(pair)));
    assert_eq!(found.both_nan, count(&|(a, b)| a.is_nan() && b.is_nan()));
    assert_eq!(found.one_nan, count(&|(a, b)| a.is_nan() != b.is_nan()));
    assert_eq!(found.first_at, pairs.iter().position(|pair| !equal(pair)).map(|at| at as u64));
    let gap = |(a, b): &(f64, f64)| if a == b { 0.0 } else { (b - a).abs() };
    let worst = pairs.iter().map(gap).filter(|gap| !gap.is_nan()).fold(0.0, f64::max);
    assert_eq!(found.max_abs, (worst > 0.0).then_some(Scalar::Float(worst)));
    let worst_at = pairs.iter().position(|pair| gap(pair) == worst).filter(|_| worst > 0.0);
    assert_eq!(found.max_abs_at, worst_at.map(|at| at as u64));

    let finite: Vec<(f64, f64)> = pairs.iter().copied().filter(|(a, b)| a.is_finite() && b.is_finite()).collect();
    assert_eq!(found.finite, finite.len() as u64);
    if finite.is_empty() {
        assert_eq!((found.rmse, found.bias, found.relative_l2, found.cosine), (None, None, None, None));
        return;
    }
    let n = finite.len() as f64;
    let squares = exact_sum(finite.iter().map(|(a, b)| (b - a) * (b - a)));
    let (aa, bb) = (exact_sum(finite.iter().map(|(a, _)| a * a)), exact_sum(finite.iter().map(|(_, b)| b * b)));
    assert!(close(found.rmse.unwrap(), (squares / n).sqrt(), 0.0), "{found:?}");
    assert!(close(found.bias.unwrap(), exact_sum(finite.iter().map(|(a, b)| b - a)) / n, (squares / n).sqrt()));
    match found.relative_l2 {
        Some(relative) => assert!(close(relative, if squares == 0.0 { 0.0 } else { (squares / aa).sqrt() }, 0.0)),
        None => assert!(aa == 0.0 && squares > 0.0),
    }
    match found.cosine {
        Some(cosine) => {
            let expected = exact_sum(finite.iter().map(|(a, b)| a * b)) / (aa.sqrt() * bb.sqrt());
            assert!((cosine - expected).abs() < 1e-12);
        }
        None => assert!(aa == 0.0 || bb == 0.0),
    }
}
