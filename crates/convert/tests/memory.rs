//! One tensor in memory at a time, and none where the system copies: counted by an allocator.

use fw_bintensors::{Dtype, PlannedWriter, WriteOptions};
use fw_convert::{ConvertOptions, Transport, convert};
use peak_alloc::PeakAlloc;
use std::path::Path;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

const MIB: usize = 1 << 20;
const TENSORS: usize = 12;
/// Bytes of each tensor.
const LEN: usize = 4 * MIB;

/// The most that `work` held at once, beside what was held before.
fn peak<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    let result = work();
    (HEAP.peak_usage().saturating_sub(before), result)
}

/// One test only: the counter is shared by the whole process.
#[test]
fn memory_holds_one_tensor_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (held, ()) = peak(|| write(&at("a.bt")));
    assert!(held < 2 * MIB, "the planned writer held {held} bytes");

    // Only headers are read and written; the data goes from file to file behind our back.
    for (from, to) in [("a.bt", "b.safetensors"), ("b.safetensors", "c.bt")] {
        let calls = system_calls();
        let (held, done) = peak(|| convert(at(from), at(to), &ConvertOptions::new()).unwrap());
        assert_eq!((done.transport, done.bytes), (Transport::Copied, (TENSORS * LEN) as u64));
        assert!(held < MIB / 4, "{from} to {to} held {held} bytes");
        // Through so little memory of ours, the data would take thousands of reads; the system needs a few calls.
        if let (Some(before), Some(after)) = (calls, system_calls()) {
            assert!(after - before < 300, "{from} to {to}: {} calls", after - before);
        }
    }
    assert!(std::fs::read(at("a.bt")).unwrap() == std::fs::read(at("c.bt")).unwrap());

    // Everything else goes piece by piece; a Tensogram object is written when its whole tensor is known.
    let piecewise = 8 * MIB;
    let whole = 4 * LEN + 4 * MIB;
    for (from, to, allowed) in [
        ("a.bt", "d.npz", piecewise),
        ("d.npz", "e.bt", piecewise),
        ("d.npz", "e.safetensors", piecewise),
        ("a.bt", "e.tgm", whole),
        ("e.tgm", "f.npz", whole),
        ("e.tgm", "f.bt", whole),
    ] {
        let (held, done) = peak(|| convert(at(from), at(to), &ConvertOptions::new()).unwrap());
        assert_eq!((done.tensors, done.losses.len()), (TENSORS, 0));
        assert!(held < allowed, "{from} to {to} held {held} bytes, {allowed} are allowed");
        assert!(allowed < TENSORS * LEN / 2, "far from the whole file");
    }
    let shards = ConvertOptions::new().with_max_shard_size(3 * LEN as u64);
    let (held, done) = peak(|| convert(at("a.bt"), at("s.safetensors"), &shards).unwrap());
    assert!(done.files.len() == 5 && held < piecewise, "{held} bytes for {} files", done.files.len());
    let (held, _) = peak(|| convert(at("s.safetensors.index.json"), at("g.bt"), &ConvertOptions::new()).unwrap());
    assert!(held < piecewise, "joining held {held} bytes");
    assert!(std::fs::read(at("a.bt")).unwrap() == std::fs::read(at("g.bt")).unwrap());
}

/// Calls to read or copy so far, where the system tells.
fn system_calls() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("syscr: "))?.parse().ok()
}

fn write(path: &Path) {
    let names = (0..TENSORS).map(|number| (format!("layer.{number:02}"), Dtype::F32, vec![(LEN / 4) as u64]));
    let writer = PlannedWriter::create(path, names, &WriteOptions::new()).unwrap();
    let piece: Vec<u8> = (0..MIB / 4).flat_map(|number| (number as f32).to_le_bytes()).collect();
    for number in 0..TENSORS {
        let mut tensor = writer.tensor(&format!("layer.{number:02}")).unwrap();
        (0..LEN / MIB).for_each(|_| tensor.put(&piece).unwrap());
        tensor.finish().unwrap();
    }
    writer.finish().unwrap();
}
