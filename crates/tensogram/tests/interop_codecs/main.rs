//! Objects through every codec, exchanged with the reference implementation, which runs as a black box in Python
//! (`FW_PYTHON`). Each direction is a whole message: ours read by it, its own read by us, and both bit for bit the same
//! where the format leaves no choice.

#[path = "../common/cases.rs"]
mod cases;
mod exchange;
#[allow(dead_code, reason = "only what describes a pipeline is used here")]
#[path = "../../../../benches/codecs/src/ours.rs"]
mod ours;
#[allow(dead_code, reason = "only the pipelines and their data are used here")]
#[path = "../../../../benches/codecs/src/rows.rs"]
mod rows;

use cases::{CODECS, Case, Random, doubles};
use exchange::{Answer, Reading, ask};
use fw_tensogram::{DecodeOptions, GlobalMetadata, MessageView, ObjectView, encode};
use fw_tensor::{ByteOrder, DType};
use ours::Ours;

#[test]
fn simple_packing() {
    exchange("simple_packing", 120, 1);
}

#[test]
fn shuffle() {
    exchange("shuffle", 60, 2);
}

#[test]
fn zstd() {
    exchange("zstd", 60, 3);
}

#[test]
fn lz4() {
    exchange("lz4", 60, 4);
}

#[test]
fn rle() {
    exchange("rle", 60, 5);
}

#[test]
fn roaring() {
    exchange("roaring", 60, 6);
}

#[test]
fn masks() {
    exchange("masks", 120, 7);
}

#[test]
fn szip() {
    exchange("szip", 300, 8);
}

#[test]
fn zfp() {
    exchange("zfp", 360, 9);
}

#[test]
fn blosc2() {
    exchange("blosc2", 300, 10);
}

#[test]
fn sz3() {
    exchange("sz3", 360, 11);
}

/// Objects of many blocks, chunks of work and intervals.
#[test]
fn large_objects() {
    for (index, codec) in CODECS.iter().enumerate() {
        for (len, count) in [(150_000, 2), (400_003, 1)] {
            let mut random = Random::new(seed(100 + index as u64 + len)).sized(len);
            exchange_all(codec, (0..count).map(|_| random.case(codec)).collect());
        }
    }
}

/// The pipelines and fields of the bench, at a quarter of their size: payloads take at most a twentieth more than the
/// reference's, each of them.
#[test]
fn payloads_are_not_larger_than_the_reference_s() {
    let shape = [361, 720];
    let compressed = rows::ROWS.iter().filter(|row| row.compression != "none");
    let cases: Vec<(String, Case)> = compressed
        .map(|row| {
            let descriptor = Ours::new(row, shape, 1).descriptor().clone();
            let options = fw_tensogram::EncodeOptions::default();
            (
                format!("{}, {}", row.name, row.data.name()),
                Case { descriptor, data: row.data.bytes(shape), options, ranges: vec![] },
            )
        })
        .collect();
    assert!(cases.len() >= 15, "{} rows", cases.len());
    let encoded = |case: &Case| {
        encode(&GlobalMetadata::default(), &[(&case.descriptor, case.data.as_slice())], &case.options).unwrap()
    };
    for (name, case) in &cases {
        let ours = encoded(case);
        let Some(answers) = ask(name, &[(case, ours.as_slice(), true)]) else { return };
        let (theirs, _) = answers[0].theirs.as_ref().expect("the reference encodes the rows of the bench");
        let (ours, theirs) = (Ours::payload_len(&ours), Ours::payload_len(theirs));
        assert!(ours as f64 <= 1.05 * theirs as f64, "{name}: {ours} bytes, the reference takes {theirs}");
    }
}

/// More than 256 MiB: several chunks in a blosc2 frame, written by either side and read by the other.
#[test]
fn blosc2_frames_of_several_chunks() {
    let Some(python) = std::env::var_os("FW_PYTHON") else {
        exchange::skip("tensogram interop of large blosc2 frames: FW_PYTHON is not set (cargo xtask test sets it)");
        return;
    };
    let len = (256u64 << 20) + 12_345;
    let byte = |at: usize| ((at % 251) ^ (at >> 20)) as u8;
    let data: Vec<u8> = (0..len as usize).map(byte).collect();
    let descriptor = fw_tensogram::DataObjectDescriptor::new(DType::UInt8, &[len])
        .unwrap()
        .with_compression("blosc2")
        .with_param("blosc2_clevel", 1u64);
    let options = fw_tensogram::EncodeOptions { threads: 2, ..Default::default() };
    let message = encode(&GlobalMetadata::default(), &[(&descriptor, data.as_slice())], &options).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (folder.path().join("ours.tgm"), folder.path().join("theirs.tgm"));
    std::fs::write(&ours, &message).unwrap();
    drop(message);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/interop_codecs/chunks.py");
    let output = std::process::Command::new(python).arg(script).arg(len.to_string()).args([&ours, &theirs]).output();
    let output = output.expect("FW_PYTHON runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let theirs = std::fs::read(&theirs).unwrap();
    let view = MessageView::open(&theirs).unwrap();
    let object = view.object(0).unwrap();
    let border = 256 << 20;
    let parts = object.decode_range(&[(border - 5, 10), (len - 3, 3)], &DecodeOptions::default()).unwrap();
    assert_eq!(parts[0], data[border as usize - 5..border as usize + 5]);
    assert_eq!(parts[1], data[len as usize - 3..]);
    assert!(object.decode(&DecodeOptions::default().with_threads(2)).unwrap() == data);
}

/// `count` random objects of one codec there and back.
fn exchange(codec: &str, count: usize, number: u64) {
    let mut random = Random::new(seed(number));
    exchange_all(codec, (0..count).map(|_| random.case(codec)).collect());
}

/// The same objects in every run, or others if `FW_INTEROP_SEED` says so.
fn seed(number: u64) -> u64 {
    let other = std::env::var("FW_INTEROP_SEED").map_or(0, |seed| seed.parse().expect("FW_INTEROP_SEED is a number"));
    other << 32 | number
}

fn exchange_all(codec: &str, mut cases: Vec<Case>) {
    let count = cases.len();
    cases.retain(reference_survives);
    assert!(cases.len() * 10 >= count * 9, "{codec}: only {} cases left", cases.len());
    let ours: Vec<Vec<u8>> = cases
        .iter()
        .enumerate()
        .map(|(number, case)| {
            let objects = [(&case.descriptor, case.data.as_slice())];
            encode(&GlobalMetadata::default(), &objects, &case.options)
                .unwrap_or_else(|error| panic!("{codec} {number}: {error}: {}", case.label()))
        })
        .collect();
    let requests: Vec<_> =
        cases.iter().zip(&ours).map(|(case, message)| (case, message.as_slice(), reference_encodes(case))).collect();
    let Some(answers) = ask(codec, &requests) else { return };
    if cases.len() > 200 {
        // Enough of them in both directions.
        assert!(answers.iter().filter(|answer| answer.theirs.is_some()).count() >= 200, "{codec}");
    }
    let (mut our_bytes, mut their_bytes) = (0, 0);
    for (number, ((case, message), answer)) in cases.iter().zip(&ours).zip(&answers).enumerate() {
        compare(case, message, answer, &format!("{codec} {number}: {}", case.label()));
        if let Some((theirs, _)) = &answer.theirs {
            our_bytes += Ours::payload_len(message);
            their_bytes += Ours::payload_len(theirs);
        }
    }
    // One by one, small payloads of another compressor may differ by more; all together they do not.
    assert!(our_bytes as f64 <= 1.05 * their_bytes as f64, "{codec}: {our_bytes} bytes, the reference's {their_bytes}");
}

/// Whether the reference does not crash.
fn reference_survives(case: &Case) -> bool {
    // It dies of its own blosc2 messages of packed values when all bytes are zero and do not fill the last item.
    let descriptor = &case.descriptor;
    let Some(bits) = descriptor.params.get("sp_bits_per_value").and_then(|bits| bits.as_integer()) else { return true };
    if descriptor.compression != "blosc2" {
        return true;
    }
    let plain = descriptor.clone().with_compression("none");
    let message = encode(&GlobalMetadata::default(), &[(&plain, &case.data)], &case.options).unwrap();
    let view = MessageView::open(&message).unwrap();
    let object = view.object(0).unwrap();
    let packed = object.payload();
    packed.len().is_multiple_of(bits.unsigned_abs().div_ceil(8) as usize) || packed.iter().any(|byte| *byte != 0)
}

/// Whether the reference encodes this correctly.
fn reference_encodes(case: &Case) -> bool {
    // Its zfp and sz3 encoders read big-endian doubles as if they were little-endian (TG-C1.4).
    let values = matches!(case.descriptor.compression.as_str(), "zfp" | "sz3");
    !(values && case.descriptor.byte_order == ByteOrder::Big)
}

/// Whether the ranges that the reference reads from its own message are right.
fn reference_ranges(case: &Case) -> bool {
    // The offsets it stores may point one block too far back (TG-C10.3).
    case.descriptor.compression != "szip" && reads_ranges(case)
}

/// Whether the reference can read ranges from a correct message.
fn reads_ranges(case: &Case) -> bool {
    let descriptor = &case.descriptor;
    // It wants whole items of the type size, and packed payloads may end in the middle of one (TG-C9.3).
    let bits = descriptor.params.get("sp_bits_per_value").and_then(|bits| bits.as_integer());
    !(descriptor.compression == "blosc2" && bits.is_some_and(|bits| bits % 8 != 0))
}

fn compare(case: &Case, message: &[u8], answer: &Answer, what: &str) {
    let view = MessageView::open(message).unwrap();
    let ours = view.object(0).unwrap();
    let (wire, native) = (decoded(&ours, &in_wire_order()), decoded(&ours, &DecodeOptions::default()));
    check_values(case, &wire, what);
    assert!(answer.ours.wire == wire, "ours read by the reference, as written: {what}");
    assert!(answer.ours.native == native, "ours read by the reference: {what}");
    check_ranges(case, &ours, &native, &answer.ours, reads_ranges(case), what);

    let Some((message, reading)) = &answer.theirs else {
        assert!(!reference_encodes(case));
        return;
    };
    let view = MessageView::open(message).unwrap();
    let theirs = view.object(0).unwrap();
    theirs.verify_hash().unwrap();
    let (wire, native) = (decoded(&theirs, &in_wire_order()), decoded(&theirs, &DecodeOptions::default()));
    check_values(case, &wire, what);
    assert!(reading.wire == wire, "the reference's read by us, as written: {what}");
    assert!(reading.native == native, "the reference's read by us: {what}");
    check_ranges(case, &theirs, &native, reading, reference_ranges(case), what);
    same_object(&ours, &theirs, what);
}

/// Lossless codecs return what went in; the others come close enough.
fn check_values(case: &Case, wire: &[u8], what: &str) {
    let descriptor = &case.descriptor;
    if case.is_lossless() {
        assert!(wire == case.data, "lossless: {what}");
        return;
    }
    assert_eq!(wire.len(), case.data.len(), "{what}");
    let Some(bound) = bound(case) else { return };
    assert_eq!(descriptor.dtype, DType::Float64);
    for (at, (given, found)) in case.doubles().iter().zip(doubles(wire, descriptor.byte_order)).enumerate() {
        let holds = (given - found).abs() <= bound || (!given.is_finite() && given.to_bits() == found.to_bits());
        assert!(holds, "[{at}] {given} came back as {found}, bound {bound}: {what}");
    }
}

/// The largest error that the parameters allow.
fn bound(case: &Case) -> Option<f64> {
    let params = &case.descriptor.params;
    if let Some(tolerance) = params.get("zfp_tolerance") {
        return tolerance.as_float();
    }
    let bound = params.get("sz3_error_bound")?.as_float()?;
    let values = case.doubles();
    let extent = values.iter().copied().fold(f64::MIN, f64::max) - values.iter().copied().fold(f64::MAX, f64::min);
    Some(match params["sz3_error_bound_mode"].as_text()? {
        "abs" => bound,
        "rel" => bound * extent,
        _ => extent * 10f64.powf(-(bound + 10.0 * 0.34f64.log10()) / 20.0) * (1.0 + 1e-12),
    })
}

fn check_ranges(case: &Case, object: &ObjectView<'_>, native: &[u8], theirs: &Reading, right: bool, what: &str) {
    let width = case.descriptor.dtype.byte_width().unwrap_or(1) as u64;
    let slice =
        |&(first, count): &(u64, u64)| native[(first * width) as usize..((first + count) * width) as usize].to_vec();
    let expected: Vec<Vec<u8>> = case.ranges.iter().map(slice).collect();
    if !case.has_ranges() {
        assert!(object.decode_range(&[(0, 0)], &DecodeOptions::default()).is_err(), "{what}");
        return;
    }
    let found = object.decode_range(&case.ranges, &DecodeOptions::default());
    assert!(found.unwrap_or_else(|error| panic!("{error}: {what}")) == expected, "ranges: {what}");
    if right {
        match &theirs.ranges {
            Ok(ranges) => assert!(*ranges == expected, "ranges of the reference: {what}"),
            Err(error) => panic!("ranges of the reference: {error}: {what}"),
        }
    }
}

/// Where the format leaves no choice, both write the same.
fn same_object(ours: &ObjectView<'_>, theirs: &ObjectView<'_>, what: &str) {
    let plain = |object: &ObjectView<'_>| {
        let mut descriptor = object.descriptor().clone();
        // Those of the reference may be wrong, ours are true.
        descriptor.params.remove("szip_block_offsets");
        descriptor.masks = None;
        descriptor
    };
    assert_eq!(plain(ours), plain(theirs), "{what}");
    if matches!(ours.descriptor().compression.as_str(), "none" | "szip" | "zfp" | "rle" | "roaring") {
        assert!(ours.payload() == theirs.payload(), "payload bytes: {what}");
    }
    let (ours, theirs): (Vec<_>, Vec<_>) = (ours.masks().collect(), theirs.masks().collect());
    assert_eq!(ours.len(), theirs.len(), "masks: {what}");
    for ((kind, mask, blob), (their_kind, their_mask, their_blob)) in ours.iter().zip(&theirs) {
        assert_eq!((kind, &mask.method, &mask.params), (their_kind, &their_mask.method, &their_mask.params), "{what}");
        if matches!(mask.method.as_str(), "none" | "rle" | "roaring") {
            assert!(blob == their_blob, "mask bytes: {what}");
        }
    }
}

fn decoded(object: &ObjectView<'_>, options: &DecodeOptions) -> Vec<u8> {
    object.decode(options).unwrap_or_else(|error| panic!("{error}: {:?}", object.descriptor()))
}

fn in_wire_order() -> DecodeOptions {
    DecodeOptions { native_byte_order: false, ..DecodeOptions::default() }
}
