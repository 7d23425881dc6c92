//! How much memory conversions take: one test, so that nothing else allocates beside what is measured.

#[allow(dead_code, reason = "made for the other tests, which use all of it")]
#[path = "telemetry/common.rs"]
mod common;

use common::{
    ROBOT, capture, channel_record, chunk_record, file, lines, message_record, ping, record, schema, schema_record,
    text,
};
use fw_convert::{CaptureInput, CaptureOptions, Csv, TableFormat, capture_to_columns, frames_to_tables};
use fw_dynamic::EnumStyle;
use fw_structframe::Profile;
use fw_telemetry::{ArrowFile, Parquet, capture_to_mcap, mcap_to_columns};
use peak_alloc::PeakAlloc;
use std::path::Path;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The most that is allocated at a time while this runs.
fn used<T>(run: impl FnOnce() -> T) -> (T, usize) {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let done = run();
    (done, MEMORY.peak_usage().saturating_sub(before))
}

#[test]
fn memory_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    lies(folder.path());
    rows_of_nothing(folder.path());
    large_captures(folder.path());
}

/// Lengths that lie cost no memory, wherever they stand.
fn lies(folder: &Path) {
    let mut lies = Vec::new();
    for len in [1u64 << 20, 1 << 28, 1 << 40, u64::MAX] {
        for kind in [1u8, 2, 3, 4, 5, 6, 7, 9, 0x0c, 0x0f, 0x80] {
            let mut bytes = b"\x89MCAP0\r\n".to_vec();
            bytes.push(kind);
            bytes.extend(len.to_le_bytes());
            bytes.extend([0; 64]);
            lies.push(bytes);
        }
        // A chunk that claims to hold a lot.
        let mut head = vec![0; 16];
        head.extend(len.to_le_bytes());
        head.extend(0u32.to_le_bytes());
        head.extend(text("zstd"));
        head.extend(len.to_le_bytes());
        lies.push(file(&[record(6, &head)]));
    }
    let (input, output) = (folder.join("lie.mcap"), folder.join("lie.tgm"));
    for lie in lies {
        std::fs::write(&input, &lie).unwrap();
        let (read, used) = used(|| mcap_to_columns(&input, &output));
        read.expect_err("a lie");
        assert!(used < 2 << 20, "{used} bytes for {} bytes: {:02x?}", lie.len(), &lie[8..17]);
    }
}

/// Messages without a byte are rows of zeros; a deep type makes many columns of them, which wait on disk.
fn rows_of_nothing(folder: &Path) {
    let mut deep = vec![8u8, 1];
    for _ in 0..60 {
        let mut outer = vec![26];
        prost::encoding::encode_varint(deep.len() as u64, &mut outer);
        outer.extend(&deep);
        deep = outer;
    }
    let mut inside = schema_record(1, "demo.Ping", "protobuf", &ping());
    inside.extend(channel_record(1, 1, "/ping", "protobuf"));
    inside.extend(message_record(1, 1, &deep));
    let empty = message_record(1, 1, &[]);
    (0..50_000).for_each(|_| inside.extend(&empty));
    let stored = zstd::encode_all(&inside[..], 3).unwrap();
    let (input, output) = (folder.join("rows.mcap"), folder.join("rows.tgm"));
    std::fs::write(&input, file(&[chunk_record("zstd", inside.len() as u64, 0, &stored)])).unwrap();
    drop(inside);
    let (read, used) = used(|| mcap_to_columns(&input, &output));
    assert_eq!(read.unwrap().messages, 50_001);
    assert!(used < 48 << 20, "{used} bytes");
}

/// A capture of 12 MiB, and the same twice as long: no format takes much more for more.
fn large_captures(folder: &Path) {
    let schema = schema(ROBOT);
    let once = capture(&schema, Profile::Network.framing(), &lines(2_000));
    let path = folder.join("large.bin");
    let options = CaptureOptions::new();
    let mut before: Vec<usize> = Vec::new();
    for times in [80, 160] {
        std::fs::write(&path, once.repeat(times)).unwrap();
        let input = || CaptureInput::open(&path).unwrap();
        let tables = |format: &dyn TableFormat, name: &str| {
            used(|| frames_to_tables(input(), folder.join(name), &schema, &options, EnumStyle::Names, format).unwrap())
                .1
        };
        let all = [
            used(|| capture_to_mcap(input(), folder.join("a.mcap"), &schema, &options).unwrap()).1,
            tables(&Csv::default(), "a.csv"),
            tables(&ArrowFile::default(), "a.arrow"),
            tables(&Parquet::new(), "a.parquet"),
            used(|| capture_to_columns(input(), folder.join("a.tgm"), &schema, &options).unwrap()).1,
            used(|| mcap_to_columns(folder.join("a.mcap"), folder.join("b.tgm")).unwrap()).1,
        ];
        assert!(all.iter().all(|used| *used < 96 << 20), "{all:?}");
        if let [mcap, csv, arrow, ..] = before[..] {
            for (now, before) in all.iter().zip([mcap, csv, arrow]) {
                assert!(*now < before + (2 << 20), "{now} bytes after {before}");
            }
        }
        before = all.to_vec();
    }
    println!("peak bytes of mcap, csv, arrow, parquet, columns, columns of mcap: {before:?}");
}
