//! One damage, one finding: code, severity, level, bytes and path of faults that no shared vector has.
//!
//! Messages are put together frame by frame, every digest right, so that a report holds the damage and nothing else.

mod common;

use common::*;
use fw_bytes::{Span, checksum::xxh3_64};
use fw_report::{Finding, Severity};
use fw_tensogram::describe::cbor;
use fw_tensogram::wire::{FRAME_END, FrameFlags, FrameHeader, FrameType, MessageFlags, Postamble, Preamble};
use fw_tensogram::*;
use fw_tensor::DType;
use serde_json::json;

/// A message of given frames, and where each stands.
struct Built {
    bytes: Vec<u8>,
    frames: Vec<Span>,
}

impl Built {
    fn new(flags: MessageFlags, frames: &[Vec<u8>]) -> Self {
        let total = 48 + frames.iter().map(|frame| frame.len().next_multiple_of(8)).sum::<usize>();
        let total_length = Some(total as u64);
        let flags = flags | MessageFlags::HASHES_PRESENT;
        let mut built = Self { bytes: Preamble { flags, reserved: 0, total_length }.to_bytes().into(), frames: vec![] };
        for frame in frames {
            let start = built.bytes.len();
            built.bytes.extend(frame);
            built.frames.push(Span::new(start as u64, built.bytes.len() as u64));
            built.bytes.resize(built.bytes.len().next_multiple_of(8), 0);
        }
        let first_footer_offset = built.bytes.len() as u64;
        built.bytes.extend(Postamble { first_footer_offset, total_length }.to_bytes());
        built
    }

    /// Changes bytes, counted from the start of a frame.
    fn patch(mut self, frame: usize, at: usize, with: &[u8]) -> Self {
        let start = self.frames[frame].start as usize + at;
        self.bytes[start..start + with.len()].copy_from_slice(with);
        self
    }
}

/// A frame that is no object.
fn frame(frame_type: FrameType, body: &[u8]) -> Vec<u8> {
    finished(frame_type, FrameFlags::HASH_PRESENT, body, &[])
}

/// An object: descriptor behind the payload.
fn tensor(descriptor: &DataObjectDescriptor, payload: &[u8]) -> Vec<u8> {
    let body = [payload, &descriptor.to_cbor()].concat();
    let offset = 16 + payload.len() as u64;
    let flags = FrameFlags::CBOR_AFTER_PAYLOAD | FrameFlags::HASH_PRESENT;
    finished(FrameType::NTENSOR, flags, &body, &offset.to_be_bytes())
}

fn finished(frame_type: FrameType, flags: FrameFlags, body: &[u8], slot: &[u8]) -> Vec<u8> {
    let length = (16 + body.len() + slot.len() + 12) as u64;
    let header = FrameHeader { frame_type, version: 1, flags, length }.to_bytes();
    [&header[..], body, slot, &xxh3_64(body).to_be_bytes(), FRAME_END].concat()
}

fn metadata(base: Vec<MetadataMap>) -> Vec<u8> {
    frame(FrameType::HEADER_METADATA, &GlobalMetadata { base, ..GlobalMetadata::default() }.to_cbor())
}

/// Metadata, then one object.
fn with_object(object: Vec<u8>) -> Built {
    Built::new(MessageFlags::HEADER_METADATA, &[metadata(vec![]), object])
}

fn with_descriptor(change: impl FnOnce(&mut DataObjectDescriptor)) -> Built {
    let (mut descriptor, data) = object(DType::Float32, &[3], 1);
    change(&mut descriptor);
    with_object(tensor(&descriptor, &data))
}

fn with_base(reserved: impl Into<Value>) -> Built {
    let (descriptor, data) = object(DType::Float32, &[3], 1);
    let base = vec![MetadataMap::from([("_reserved_".to_owned(), reserved.into())])];
    Built::new(MessageFlags::HEADER_METADATA, &[metadata(base), tensor(&descriptor, &data)])
}

fn plain() -> Built {
    with_descriptor(|_| {})
}

/// Code, severity, level, bytes, path.
type Row = (String, Severity, Option<String>, Option<Span>, String);

fn row(code: &str, severity: Severity, level: &'static str, span: impl Into<Span>, path: &str) -> Row {
    (code.to_owned(), severity, Some(level.to_owned()), Some(span.into()), path.to_owned())
}

fn rows(findings: &[Finding]) -> Vec<Row> {
    let row = |f: &Finding| {
        (f.code.clone().into_owned(), f.severity, f.level.as_deref().map(str::to_owned), f.span, f.path.clone())
    };
    findings.iter().map(row).collect()
}

fn full() -> ValidateOptions {
    ValidateOptions { canonical: true, ..ValidateOptions::mode(ValidateMode::Full) }
}

#[track_caller]
fn finds(what: &str, built: &Built, options: &ValidateOptions, expected: &[Row]) {
    let report = validate_message(&built.bytes, options);
    assert_eq!(rows(report.report.findings()), expected, "{what}: {:#?}", report.report);
    let wrong = expected.iter().any(|row| row.1 == Severity::Error);
    assert_eq!((report.is_ok(), report.hash_verified), (!wrong, !wrong), "{what}");
}

/// What the damages are done to is in perfect order.
#[test]
fn undamaged_messages_have_no_findings() {
    finds("plain", &plain(), &full(), &[]);
    let tensor_info: Value = [("tensor", Value::Map(vec![]))].into_iter().collect();
    finds("with base", &with_base(tensor_info), &full(), &[]);
}

#[test]
fn structure() {
    use Severity::{Error, Warning};
    let finds = |what, built: &Built, expected: &[Row]| finds(what, built, &full(), expected);
    let check = |what, built: Built, row: &dyn Fn(&Built) -> Vec<Row>| finds(what, &built, &row(&built));

    // Eight bytes of room before the postamble, and they begin like a frame. The object before them is whole.
    let (descriptor, data) = object(DType::Float32, &[3], 1);
    let stub = [metadata(vec![]), tensor(&descriptor, &data), b"FR\0\x09\0\x01\0\x03".to_vec()];
    check("a header cut short", Built::new(MessageFlags::HEADER_METADATA, &stub), &|built| {
        let at = built.frames[2].start;
        vec![row("truncated_frame_header", Error, "structure", at..at, "")]
    });
    check("a length past the end", plain().patch(1, 8, &4096u64.to_be_bytes()), &|built| {
        let at = built.frames[1].start + 8;
        vec![row("frame_exceeds_message", Error, "structure", at..at, "")]
    });
    // The descriptor comes first, so its end is known from its CBOR alone; and that is cut.
    let cut = &descriptor.to_cbor()[..40];
    let object = finished(FrameType::NTENSOR, FrameFlags::HASH_PRESENT, cut, &16u64.to_be_bytes());
    check("a descriptor without end", with_object(object), &|built| {
        vec![row("cbor_before_boundary_unknown", Error, "structure", built.frames[1], "object[0]")]
    });
    let twice = [metadata(vec![]), metadata(vec![]), tensor(&descriptor, &data)];
    check("two header metadata frames", Built::new(MessageFlags::HEADER_METADATA, &twice), &|built| {
        vec![row("repeated_frame", Warning, "structure", built.frames[1], "")]
    });
    // Without its marker the object is no frame any more, only bytes between frames.
    check("a frame marker overwritten", plain().patch(1, 0, b"XX"), &|built| {
        let gap = built.frames[0].end..built.bytes.len() as u64 - 24;
        vec![
            row("non_zero_padding", Warning, "structure", gap.clone(), ""),
            row("frame_chain_broken", Error, "structure", gap, ""),
        ]
    });
    let mut reserved = plain();
    reserved.bytes[15] = 1;
    check("the reserved word", reserved, &|_| vec![row("reserved_not_zero", Warning, "structure", 12..16, "")]);
    let mut flags = plain();
    flags.bytes[10] = 0x80;
    check("an unused flag of the message", flags, &|_| vec![row("unknown_flags", Warning, "structure", 10..12, "")]);
    for (frame, bits, what) in [(1, 0x4003, "an unused flag"), (0, 0x0003, "CBOR_AFTER_PAYLOAD on metadata")] {
        check(what, plain().patch(frame, 6, &u16::to_be_bytes(bits)), &|built| {
            let at = built.frames[frame].start + 6;
            vec![row("unknown_flags", Warning, "structure", at..at + 2, "")]
        });
    }
}

#[test]
fn metadata_level() {
    use Severity::{Error, Warning};
    let default = ValidateOptions::default();
    let check = |built: Built, code, severity, frame: usize, path| {
        finds(code, &built, &default, &[row(code, severity, "metadata", built.frames[frame], path)]);
    };
    let path = "object[0].descriptor.type";
    check(with_descriptor(|d| d.obj_type.clear()), "empty_obj_type", Error, 1, path);
    let path = "object[0].descriptor.shape";
    let huge = |d: &mut DataObjectDescriptor| (d.ndim, d.shape, d.strides) = (2, vec![1 << 40; 2], vec![1; 2]);
    check(with_descriptor(huge), "shape_overflow", Error, 1, path);
    let path = "object[0].descriptor.ndim";
    check(with_descriptor(|d| d.ndim = 2), "ndim_shape_mismatch", Error, 1, path);
    let path = "object[0].descriptor.strides";
    check(with_descriptor(|d| d.strides.push(1)), "strides_shape_mismatch", Error, 1, path);
    let path = "base[0]._reserved_";
    check(with_base(7), "reserved_not_a_map", Error, 0, path);
    check(with_base(Value::Map(vec![])), "reserved_missing_tensor", Warning, 0, path);
}

/// Keys of a preceder in the wrong order: readable, and only a warning to those who ask for canonical form.
#[test]
fn canonical_preceder() {
    let body = b"\xa1\x64base\x81\xa2\x61b\x01\x61a\x02";
    let sorted = cbor::encode(&cbor::read_value(body, 0, 8).unwrap());
    assert_ne!(sorted, body);
    let (descriptor, data) = object(DType::Float32, &[3], 1);
    let build = |body: &[u8]| {
        let preceder = frame(FrameType::PRECEDER_METADATA, body);
        let flags = MessageFlags::HEADER_METADATA | MessageFlags::PRECEDER_METADATA;
        Built::new(flags, &[metadata(vec![]), preceder, tensor(&descriptor, &data)])
    };
    let built = build(body);
    let span = built.frames[1];
    let warning = row("preceder_cbor_non_canonical", Severity::Warning, "metadata", span, "");
    finds("unsorted", &built, &full(), &[warning]);
    finds("unsorted, not asked", &built, &ValidateOptions::default(), &[]);
    finds("sorted", &build(&sorted), &full(), &[]);
}

#[test]
fn payloads() {
    use Severity::Error;
    let (descriptor, _) = object(DType::Float32, &[3], 1);
    let zstd = with_object(tensor(&descriptor.clone().with_compression("zstd"), b"this is no zstd frame"));
    let failed = row("decode_pipeline_failed", Error, "integrity", zstd.frames[1], "object[0]");
    finds("garbage for zstd", &zstd, &ValidateOptions::default(), std::slice::from_ref(&failed));
    let again = row("decode_object_failed", Error, "fidelity", zstd.frames[1], "object[0]");
    finds("garbage for zstd, in full", &zstd, &full(), &[failed, again]);

    for (value, code) in
        [(f32::INFINITY, "inf_detected"), (f32::NEG_INFINITY, "inf_detected"), (f32::NAN, "nan_detected")]
    {
        let data: Vec<u8> = [1.0, value, 2.0].iter().flat_map(|value| value.to_ne_bytes()).collect();
        let built = with_object(tensor(&descriptor, &data));
        finds(code, &built, &full(), &[row(code, Error, "fidelity", built.frames[1], "object[0]")]);
        finds("only a full validation looks at values", &built, &ValidateOptions::default(), &[]);
    }
}

/// The first fault does not hide the others.
#[test]
fn every_fault_is_reported() {
    use Severity::{Error, Warning};
    let mut built = with_base(7).patch(1, 16, &[0xff]);
    built.bytes[12] = 1;
    let expected = [
        row("reserved_not_zero", Warning, "structure", 12..16, ""),
        row("reserved_not_a_map", Error, "metadata", built.frames[0], "base[0]._reserved_"),
        row("hash_mismatch", Error, "integrity", built.frames[1], "object[0]"),
    ];
    finds("three faults", &built, &ValidateOptions::default(), &expected);
}

#[test]
fn a_file_without_a_message() {
    let file = validate_source(&b"nothing of the kind"[..], &ValidateOptions::default()).unwrap();
    assert!(file.messages.is_empty() && !file.is_ok());
    assert_eq!(rows(file.report.findings()), [row("no_message", Severity::Error, "file", 0..19, "")]);
}

/// The JSON that tools and scripts read.
#[test]
fn reports_as_json() {
    let mut built = with_base(7);
    built.bytes[15] = 1;
    let message = validate_message(&built.bytes, &ValidateOptions::default());
    let [reserved, base] = [0, 1].map(|index| message.report.findings()[index].message.clone());
    assert_eq!(reserved, "reserved word of the preamble is 0x00000001, expected zero");
    let frame = built.frames[0];
    assert_eq!(
        serde_json::to_value(&message).unwrap(),
        json!({
            "ok": false,
            "object_count": 1,
            "hash_verified": false,
            "decoded": false,
            "findings": [
                {"code": "reserved_not_zero", "severity": "warning", "message": reserved, "span": [12, 16],
                 "level": "structure"},
                {"code": "reserved_not_a_map", "severity": "error", "message": base,
                 "span": [frame.start, frame.end], "path": "base[0]._reserved_", "level": "metadata"},
            ],
        })
    );

    // In a file, bytes and paths count from its start.
    let sound = plain().bytes;
    let file = [b"junk!", &sound[..], &built.bytes].concat();
    let report = serde_json::to_value(validate_source(&file[..], &ValidateOptions::default()).unwrap()).unwrap();
    assert_eq!(report["ok"], false);
    assert_eq!(report["file_findings"][0]["code"], "gap_between_messages");
    assert_eq!(report["file_findings"][0]["span"], json!([0, 5]));
    let second = 5 + sound.len() as u64;
    assert_eq!(
        report["messages"],
        json!([
            {"offset": 5, "length": sound.len(), "ok": true, "object_count": 1, "hash_verified": true, "decoded": false,
             "findings": []},
            {"offset": second, "length": built.bytes.len(), "ok": false, "object_count": 1, "hash_verified": false,
             "decoded": false, "findings": [
                {"code": "reserved_not_zero", "severity": "warning", "message": reserved,
                 "span": [second + 12, second + 16], "path": "message[1]", "level": "structure"},
                {"code": "reserved_not_a_map", "severity": "error", "message": base,
                 "span": [second + frame.start, second + frame.end], "path": "message[1].base[0]._reserved_",
                 "level": "metadata"},
            ]},
        ])
    );
}

/// TG-17.1: what passes in the mode `decode` can be decoded, for every vector, and for every cut and changed byte of some.
#[test]
fn messages_that_pass_can_be_decoded() {
    let (mut passed, mut refused) = (0, 0);
    let mut check = |message: &[u8], what: &str| {
        let report = validate_message(message, &ValidateOptions::mode(ValidateMode::Decode));
        if report.decoded {
            let decoded = decode(message, &DecodeOptions::default());
            assert!(decoded.is_ok(), "{what}: valid, and cannot be decoded: {}", decoded.unwrap_err());
            passed += 1;
        } else {
            refused += 1;
        }
    };
    for set in ["tensogram", "tensogram-codecs", "robustness"] {
        let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(set);
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "tgm") {
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            for span in scan(&bytes) {
                check(span.slice_of(&bytes, 0).unwrap(), &path.display().to_string());
            }
        }
    }
    for (name, message) in ten_kinds() {
        for at in 0..message.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut damaged = message.clone();
                damaged[at] ^= change;
                check(&damaged, &format!("{name}, byte {at}"));
            }
        }
    }
    assert!(passed > 300 && refused > 5000, "{passed} passed, {refused} refused");
}

/// A message that is too long to be held is validated in parts, with the same findings.
#[test]
fn long_messages_are_validated_in_parts() {
    let values: Vec<f32> = (0..3_000_000).map(|i| i as f32).collect();
    let build = || {
        let raw = MessageBuilder::new().tensor(&[3000, 1000], &values).unwrap().base("name", "raw");
        raw.tensor(&[3000, 1000], &values)
            .unwrap()
            .pipeline(Pipe::shuffle().zstd(1))
            .base("name", "packed")
            .encode()
            .unwrap()
    };
    let message = build();
    assert!(message.len() > 9 << 20);
    let changes = [None, Some(50), Some(200), Some(5 << 20), Some(message.len() - 40), Some(message.len() - 100_000)];
    for mode in
        [ValidateMode::Quick, ValidateMode::Checksum, ValidateMode::Default, ValidateMode::Decode, ValidateMode::Full]
    {
        for change in changes {
            let mut message = message.clone();
            if let Some(at) = change {
                message[at] ^= 0x10;
            }
            let options = ValidateOptions::mode(mode);
            let (parts, whole) =
                (validate_source(&message[..], &options).unwrap(), validate_buffer(&message, &options));
            assert_eq!(parts, whole, "{mode:?}, {change:?}");
        }
    }
    assert_eq!(validate_buffer(&message, &ValidateOptions::mode(ValidateMode::Decode)).verdict(), "valid");
    let checked = validate_buffer(&message, &ValidateOptions::mode(ValidateMode::Checksum));
    assert_eq!(checked.verdict(), "valid (digests match, not decoded)");
    let quick = validate_buffer(&message, &ValidateOptions::mode(ValidateMode::Quick));
    assert_eq!(quick.verdict(), "valid (not decoded)");
}

/// Digests match where the descriptor says something else than the payload.
#[test]
fn objects_that_cannot_be_decoded_are_not_valid() {
    for name in ["flagflip-none", "flagflip-streamed", "flagflip-two"] {
        let path = format!("{}/../../vectors/robustness/{name}.tgm", env!("CARGO_MANIFEST_DIR"));
        let message = std::fs::read(path).unwrap();
        let (default, decoding) = [ValidateMode::Default, ValidateMode::Decode]
            .map(|mode| validate_message(&message, &ValidateOptions::mode(mode)))
            .into();
        assert!(default.is_ok() && !default.decoded, "{name}: the level keeps its meaning");
        assert!(!decoding.is_ok(), "{name}");
    }
}
