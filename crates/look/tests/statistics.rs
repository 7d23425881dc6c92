//! Statistics of tensors in files: every format, every way to be stored, in bounded memory.

mod common;

use common::{folder, packed};
use fw_look::{Catalog, StatsOptions};
use fw_stats::Scalar;
use fw_tensogram::{DataObjectDescriptor, EncodeOptions, GlobalMetadata, MessageBuilder, Pipe, encode};
use fw_tensor::DType;
use peak_alloc::PeakAlloc;

#[global_allocator]
static PEAK: PeakAlloc = PeakAlloc;

/// Mean and standard deviation the plain way.
fn plain(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64;
    (mean, variance.sqrt())
}

#[test]
fn raw_and_encoded_tensors_agree() {
    let (_folder, path) = folder("m.tgm");
    let values: Vec<f64> = (0..10_007).map(|index| f64::from(index).sin() * 40.0 + 280.0).collect();
    let shape = [values.len() as u64];
    let message = MessageBuilder::new().tensor(&shape, &values).unwrap();
    let message = message.tensor(&shape, &values).unwrap().pipeline(Pipe::shuffle().zstd(1));
    std::fs::write(&path, message.encode().unwrap()).unwrap();
    let catalog = Catalog::open(&path).unwrap();
    let record = catalog.record(0).unwrap();
    let options = StatsOptions::new().with_bins(16);
    let raw = catalog.statistics(&record, 0, &options).unwrap();
    let zstd = catalog.statistics(&record, 1, &options).unwrap();
    assert_eq!(raw.summary, zstd.summary);
    assert_eq!(raw.histogram.as_ref().unwrap().counts, zstd.histogram.unwrap().counts);
    assert_eq!(raw.histogram.unwrap().counts.iter().sum::<u64>(), 10_007);
    let (mean, std) = plain(&values);
    assert!((raw.summary.mean.unwrap() - mean).abs() < 1e-9);
    assert!((raw.summary.std.unwrap() - std).abs() < 1e-9);
}

#[test]
fn bits_are_counted() {
    let (_folder, path) = folder("m.tgm");
    let descriptor = DataObjectDescriptor::new(DType::Bitmask, &[11]).unwrap();
    let bytes = encode(
        &GlobalMetadata::default(),
        &[(&descriptor, &[0b1010_0000, 0b0110_0000][..])],
        &EncodeOptions::default(),
    );
    std::fs::write(&path, bytes.unwrap()).unwrap();
    let catalog = Catalog::open(&path).unwrap();
    let found = catalog.statistics(&catalog.record(0).unwrap(), 0, &StatsOptions::new()).unwrap();
    assert_eq!((found.summary.count, found.summary.sum, found.summary.zeros), (11, Some(4), 7));
    assert_eq!(found.summary.max, Some(Scalar::Integer(1)));
}

#[test]
fn a_range_out_of_order_is_refused() {
    let (_folder, path) = folder("m.tgm");
    std::fs::write(&path, packed(&[4], |index| index as f64)).unwrap();
    let catalog = Catalog::open(&path).unwrap();
    let record = catalog.record(0).unwrap();
    let error = catalog.statistics(&record, 0, &StatsOptions::new().with_bins(4).with_range(2.0, 1.0)).unwrap_err();
    assert!(error.is_misuse());
    assert_eq!(error.code(), "bad_histogram");
    let error = catalog.statistics(&record, 3, &StatsOptions::new()).unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("object_index_out_of_range", "object 3 does not exist: message 0 has 1")
    );
}

/// A tensor of 64 MiB that is stored as it is, is summarised in a few.
#[test]
fn raw_tensors_are_streamed() {
    let (_folder, path) = folder("big.tgm");
    let values = vec![1.5f32; 16 << 20];
    let bytes = MessageBuilder::new().tensor(&[4096, 4096], &values).unwrap().encode().unwrap();
    std::fs::write(&path, bytes).unwrap();
    drop(values);
    PEAK.reset_peak_usage();
    let before = PEAK.current_usage();
    let catalog = Catalog::open(&path).unwrap();
    let found = catalog.statistics(&catalog.record(0).unwrap(), 0, &StatsOptions::new().with_bins(4)).unwrap();
    let held = PEAK.peak_usage().saturating_sub(before);
    assert_eq!((found.summary.count, found.summary.mean), (16 << 20, Some(1.5)));
    assert!(held < 8 << 20, "held {held} bytes");
}
