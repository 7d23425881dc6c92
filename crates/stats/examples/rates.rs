//! How fast statistics are formed, on one core: `cargo run --release -p fw-stats --example rates`.

use fw_stats::{Compare, Histogram, Stats, Tolerance};
use fw_tensor::Element;
use std::hint::black_box;
use std::time::Instant;
use zerocopy::IntoBytes;

/// Runs of a few milliseconds, so that the shortest of many is seldom interrupted.
const COUNT: usize = 1 << 20;

fn main() -> Result<(), fw_stats::StatsError> {
    let doubles: Vec<f64> = (0..COUNT).map(|i| (i as f64 * 0.001).sin() * 30.0 + 270.0).collect();
    let mut holes = doubles.clone();
    holes.iter_mut().step_by(100).for_each(|value| *value = f64::NAN);
    rate("float64", &doubles)?;
    rate("float64, 1 % NaN", &holes)?;
    rate("float32", &doubles.iter().map(|v| *v as f32).collect::<Vec<_>>())?;
    rate("float16", &doubles.iter().map(|v| half::f16::from_f64(*v)).collect::<Vec<_>>())?;
    rate("bfloat16", &doubles.iter().map(|v| half::bf16::from_f64(*v)).collect::<Vec<_>>())?;
    rate("int64", &doubles.iter().map(|v| (*v * 1e6) as i64).collect::<Vec<_>>())?;
    rate("int16", &doubles.iter().map(|v| *v as i16).collect::<Vec<_>>())?;
    rate("uint8", &doubles.iter().map(|v| *v as u8).collect::<Vec<_>>())?;
    Ok(())
}

fn rate<T: Element>(name: &str, values: &[T]) -> Result<(), fw_stats::StatsError> {
    let bytes = values.as_bytes();
    let mut changed = values.to_vec();
    changed.reverse();
    let changed = changed.as_bytes();

    let summary = best(|| {
        let mut stats = Stats::new(T::DTYPE)?;
        stats.update(bytes);
        stats.finish()
    })?;
    let over = Histogram::over(T::DTYPE, &summary.1, 64)?;
    let histogram = best(|| {
        let mut histogram = over.clone();
        histogram.update(bytes);
        histogram.finish()
    })?;
    let compare = |other: &[u8]| {
        best(|| {
            let mut compare = Compare::new(T::DTYPE, T::DTYPE, Tolerance::default())?;
            compare.update(bytes, other)?;
            Ok(compare.finish())
        })
    };
    let gigabytes = |seconds: f64, tensors: usize| (tensors * bytes.len()) as f64 / seconds / 1e9;
    println!(
        "{name:18} summary {:5.2} GB/s, histogram {:5.2} GB/s, compare equal {:5.2} GB/s, different {:5.2} GB/s (both sides)",
        gigabytes(summary.0, 1),
        gigabytes(histogram.0, 1),
        gigabytes(compare(bytes)?.0, 2),
        gigabytes(compare(changed)?.0, 2),
    );
    Ok(())
}

/// The shortest of many runs, and the last result.
fn best<R>(mut run: impl FnMut() -> Result<R, fw_stats::StatsError>) -> Result<(f64, R), fw_stats::StatsError> {
    let mut shortest = f64::INFINITY;
    let mut result = None;
    for _ in 0..60 {
        let start = Instant::now();
        result = Some(black_box(run()?));
        shortest = shortest.min(start.elapsed().as_secs_f64());
    }
    Ok((shortest, result.expect("there was at least one run")))
}
