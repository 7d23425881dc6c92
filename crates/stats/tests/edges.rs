//! Limits of the types, element types without a Rust type, and misuse.

use fw_stats::{BLOCK, Compare, Histogram, Scalar, Stats, StatsError, Tolerance, summarize};
use fw_tensor::{DType, TensorView};

#[test]
fn values_near_the_limit_have_a_mean() {
    let values = vec![f64::MAX; BLOCK + 3];
    let summary = summarize(&TensorView::from_values(&[values.len() as u64], &values).unwrap()).unwrap();
    assert_eq!((summary.mean, summary.std, summary.nan, summary.pos_inf), (Some(f64::MAX), Some(0.0), 0, 0));

    let values: Vec<f64> = (0..2 * BLOCK).map(|i| if i < BLOCK { f64::MAX } else { -f64::MAX }).collect();
    let summary = summarize(&TensorView::from_values(&[values.len() as u64], &values).unwrap()).unwrap();
    assert_eq!((summary.mean, summary.std, summary.finite), (Some(0.0), Some(f64::INFINITY), values.len() as u64));
}

#[test]
fn the_first_zero_gives_its_sign() {
    let mut values = vec![1.0f64; 100];
    values[40] = -0.0;
    values[41] = 0.0;
    let summary = summarize(&TensorView::from_values(&[100], &values).unwrap()).unwrap();
    let Some(Scalar::Float(min)) = summary.min else { panic!("{summary:?}") };
    assert!(min == 0.0 && min.is_sign_negative());
    assert_eq!((summary.min_at, summary.zeros), (Some(40), 2));
}

#[test]
fn every_type_of_whole_bytes_is_supported() {
    for dtype in DType::ALL {
        let mut stats = match (Stats::new(*dtype), dtype.byte_width()) {
            (Ok(stats), Some(_)) => stats,
            (Err(error), None) => {
                assert_eq!(error.code(), "unsupported_element_type");
                continue;
            }
            (result, _) => panic!("{dtype}: {result:?}"),
        };
        // Enough zero bytes for every width; a zero byte is the smallest power of two in E8M0 and zero elsewhere.
        stats.update(&vec![0; 16 * (BLOCK + 1)]);
        let summary = stats.finish().unwrap();
        assert_eq!(summary.count, (16 * (BLOCK + 1) / dtype.byte_width().unwrap()) as u64, "{dtype}");
        assert_eq!(summary.zeros, if *dtype == DType::Float8E8M0 { 0 } else { summary.count }, "{dtype}");
    }
}

#[test]
fn complex_numbers_count_by_modulus_and_compare_by_parts() {
    let values = [[3.0f32, 4.0], [0.0, -1.0], [f32::NAN, f32::INFINITY], [f32::INFINITY, 0.0]];
    let summary = summarize(&TensorView::from_values(&[4], &values).unwrap()).unwrap();
    assert_eq!((summary.max, summary.max_at, summary.mean), (Some(Scalar::Float(5.0)), Some(0), Some(3.0)));
    assert_eq!((summary.count, summary.nan, summary.pos_inf), (4, 1, 1));

    let mut compare = Compare::new(DType::Complex64, DType::Complex128, Tolerance::default()).unwrap();
    compare.update_values(&[[1.0f32, 0.0], [0.0, 1.0]], &[[1.0f64, 0.0], [1.0, 0.0]]).unwrap();
    let difference = compare.finish();
    assert_eq!((difference.count, difference.differing, difference.first_at), (4, 2, Some(1)));
}

#[test]
fn small_floats_have_their_values() {
    let mut stats = Stats::new(DType::Float8E4M3).unwrap();
    stats.update(&[0x38, 0x7e, 0x7f, 0x00]);
    let summary = stats.finish().unwrap();
    assert_eq!((summary.max, summary.nan, summary.zeros), (Some(Scalar::Float(448.0)), 1, 1));
}

#[test]
fn short_integers_differ_by_integers() {
    let mut compare = Compare::new(DType::UInt8, DType::Int32, Tolerance { rtol: 0.0, atol: 5.0 }).unwrap();
    compare.update_values(&[250u8, 7], &[-2i32, 10]).unwrap();
    let difference = compare.finish();
    assert_eq!((difference.max_abs, difference.max_abs_at), (Some(Scalar::Integer(252)), Some(0)));
    assert_eq!((difference.differing, difference.beyond), (2, 1));
}

#[test]
fn distances_of_long_integers_are_exact() {
    // As doubles both distances are 2^62, and both pairs of the second case are equal.
    let mut compare = Compare::new(DType::Int64, DType::Int64, Tolerance::default()).unwrap();
    compare.update_values(&[0i64, 0], &[1i64 << 62, (1 << 62) + 1]).unwrap();
    let difference = compare.finish();
    assert_eq!((difference.max_abs, difference.max_abs_at), (Some(Scalar::Integer((1 << 62) + 1)), Some(1)));

    for (first, second) in [(DType::Float64, DType::Int64), (DType::Float64, DType::UInt64)] {
        let mut compare = Compare::new(first, second, Tolerance::default()).unwrap();
        compare.update_values(&[(1u64 << 53) as f64], &[(1i64 << 53) + 1]).unwrap_or_else(|_| {
            compare.update_values(&[(1u64 << 53) as f64], &[(1u64 << 53) + 1]).unwrap();
        });
        let difference = compare.finish();
        assert_eq!((difference.differing, difference.max_abs), (1, Some(Scalar::Float(1.0))));
        assert_eq!(difference.bias, Some(1.0));
    }

    let mut compare = Compare::new(DType::Int64, DType::UInt64, Tolerance::default()).unwrap();
    compare.update_values(&[i64::MIN, 7], &[u64::MAX, 7]).unwrap();
    let difference = compare.finish();
    assert_eq!(difference.max_abs, Some(Scalar::Integer((1 << 64) + (1 << 63) - 1)));
    assert_eq!(difference.differing, 1);
}

#[test]
fn comparing_in_parts_gives_the_same_bits() {
    let first: Vec<f32> = (0..5 * BLOCK + 11).map(|i| (i as f32).sin()).collect();
    let second: Vec<f32> = first.iter().map(|v| v * 1.001).collect();
    let compare = |from: usize, to: usize| {
        let mut compare =
            Compare::starting_at(DType::Float32, DType::Float32, Tolerance::default(), from as u64).unwrap();
        compare.update_values(&first[from..to], &second[from..to]).unwrap();
        compare
    };
    let whole = compare(0, first.len()).finish();
    for border in 1..=5 {
        let mut parts = compare(0, border * BLOCK);
        parts.merge(compare(border * BLOCK, first.len())).unwrap();
        assert_eq!(parts.finish(), whole);
    }
    let mut parts = compare(0, BLOCK + 1);
    assert_eq!(parts.merge(compare(2 * BLOCK, 3 * BLOCK)).unwrap_err().code(), "parts_not_adjacent");
}

#[test]
fn histograms_of_odd_ranges_count_everything() {
    for values in [
        vec![5.0f64; 10],
        vec![f64::MAX; 3],
        vec![f64::MIN, f64::MAX, 0.0],
        vec![1e-320, 2e-320, 5e-324],
        vec![f64::NAN],
    ] {
        let view = [values.len() as u64];
        let summary = summarize(&TensorView::from_values(&view, &values).unwrap()).unwrap();
        let mut histogram = Histogram::over(DType::Float64, &summary, 7).unwrap();
        histogram.update_values(&values).unwrap();
        let histogram = histogram.finish().unwrap();
        assert_eq!(histogram.counts.iter().sum::<u64>(), summary.finite, "{values:?}");
        assert_eq!((histogram.below, histogram.above), (0, 0), "{values:?}");
    }
    for (low, high, bins) in
        [(1.0, 1.0, 3), (0.0, f64::INFINITY, 3), (f64::NAN, 1.0, 3), (0.0, 1.0, 0), (0.0, 1.0, 1 << 21)]
    {
        assert_eq!(Histogram::new(DType::Float32, low, high, bins).unwrap_err(), StatsError::BadHistogram);
    }
}

#[test]
fn misuse_has_codes() {
    let mut stats = Stats::new(DType::Float32).unwrap();
    assert_eq!(stats.update_values(&[1i32]).unwrap_err().code(), "wrong_element_type");
    assert_eq!(stats.merge(Stats::new(DType::Int8).unwrap()).unwrap_err().code(), "wrong_element_type");
    assert_eq!(Stats::starting_at(DType::Float32, 5).unwrap_err().code(), "part_not_at_block");
    stats.update(&[1, 2, 3]);
    assert_eq!(stats.finish().unwrap_err(), StatsError::PartialElement { dtype: DType::Float32, bytes: 3 });

    let compare = |a, b| Compare::new(a, b, Tolerance::default());
    assert_eq!(compare(DType::Complex64, DType::Float32).unwrap_err().code(), "accumulator_mismatch");
    assert_eq!(compare(DType::Bitmask, DType::Float32).unwrap_err().code(), "unsupported_element_type");
    let mut pair = compare(DType::Float32, DType::Float64).unwrap();
    assert_eq!(pair.update(&[0; 8], &[0; 8]).unwrap_err().code(), "length_mismatch");
    assert_eq!(pair.update(&[0; 5], &[0; 8]).unwrap_err().code(), "partial_element");
}
