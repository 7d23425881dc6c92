//! Messages that need a codec left out of the build still list, inspect and validate structurally; only decoding says no.
//!
//! Runs with `cargo test -p fw-tensogram --no-default-features --test missing_codec`.
#![cfg(not(any(
    feature = "zstd",
    feature = "lz4",
    feature = "blosc2",
    feature = "szip",
    feature = "zfp",
    feature = "sz3",
    feature = "shuffle",
    feature = "packing",
    feature = "rle",
    feature = "roaring"
)))]

use fw_codec::spec::{CodecInfo, Compression, Dtypes, Encoding, Filter, KeyKind, Need};
use fw_tensogram::*;
use fw_tensor::DType;
use std::path::PathBuf;

const MESSAGES: [&str; 10] = [
    "zstd-L3.tgm",
    "lz4-walk.tgm",
    "blosc2-default.tgm",
    "szip-uint16.tgm",
    "zfp-rate16.0.tgm",
    "sz3-",
    "shuffle-es4-float32.tgm",
    "simple_packing-b12.tgm",
    "rle-runs.tgm",
    "roaring-runs.tgm",
];

#[test]
fn everything_but_decoding_works() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors/tensogram-codecs");
    let files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    for prefix in MESSAGES {
        let named = |path: &&PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with(prefix) && !name.contains("empty")
        };
        let path = files.iter().find(named).unwrap_or_else(|| panic!("no {prefix}"));
        let message = std::fs::read(path).unwrap();
        let codec = prefix.split('-').next().unwrap();

        assert_eq!(scan(&message).len(), 1, "{codec}");
        let descriptors = decode_descriptors(&message).unwrap().descriptors;
        assert_eq!(descriptors.len(), 1, "{codec}");
        let stages = [&descriptors[0].encoding, &descriptors[0].filter, &descriptors[0].compression];
        assert!(stages.iter().any(|stage| *stage == codec), "{codec}: {stages:?}");

        let tree = inspect(&message);
        assert_eq!(tree.leaves().last().unwrap().1.span.end, message.len() as u64, "{codec}");
        for mode in [ValidateMode::Quick, ValidateMode::Checksum, ValidateMode::Default] {
            let report = validate_message(&message, &ValidateOptions::mode(mode));
            assert!(report.is_ok(), "{codec} {mode:?}: {:?}", report.report.findings());
        }

        let view = MessageView::open(&message).unwrap();
        let object = view.object(0).unwrap();
        object.verify_hash().unwrap();
        let error = object.decode(&DecodeOptions::default()).unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::Unsupported, "codec_not_built"), "{codec}: {error}");
        // Features are named like the codecs, but for one.
        let feature = if codec == "simple_packing" { "packing" } else { codec };
        assert!(error.to_string().contains(&format!("enable the cargo feature `{feature}`")), "{error}");
    }
}

/// A descriptor that names a codec, with a value for every parameter that a stored object states.
fn naming(codec: &CodecInfo) -> DataObjectDescriptor {
    let dtype = match codec.dtypes {
        Dtypes::Only([dtype, ..]) => *dtype,
        _ => DType::UInt8,
    };
    let mut descriptor = DataObjectDescriptor::new(dtype, &[64]).unwrap();
    for key in codec.keys {
        let value = match key.kind {
            KeyKind::Unsigned => Value::from(8u64),
            KeyKind::Integer => Value::from(1),
            KeyKind::Float => Value::from(1.0),
            KeyKind::Name(names) => Value::from(names[0]),
            KeyKind::UnsignedList => continue,
            other => panic!("{other:?} needs a value"),
        };
        if key.need != Need::Written {
            descriptor = descriptor.with_param(key.name, value);
        }
    }
    descriptor
}

/// Every codec of the table, whatever its payload: one that is added is covered at once.
#[test]
fn every_codec_of_the_table_is_listed_and_its_feature_named() {
    type Name = fn(DataObjectDescriptor, &'static str) -> DataObjectDescriptor;
    let stages: [(&[&CodecInfo], Name); 3] = [
        (Encoding::CODECS, |descriptor, name| descriptor.with_encoding(name)),
        (Filter::CODECS, |descriptor, name| descriptor.with_filter(name)),
        (Compression::CODECS, |descriptor, name| descriptor.with_compression(name)),
    ];
    for (codec, name) in stages.iter().flat_map(|(codecs, name)| codecs.iter().map(move |codec| (*codec, name))) {
        let descriptor = name(naming(codec), codec.name);
        // Where nothing is compressed, the length of the payload must fit.
        let payload = vec![0; 64];
        let message =
            encode_pre_encoded(&GlobalMetadata::default(), &[(&descriptor, &payload)], &EncodeOptions::default())
                .unwrap_or_else(|error| panic!("{}: {error}", codec.name));
        assert_eq!(decode_descriptors(&message).unwrap().descriptors.len(), 1, "{}", codec.name);
        assert_eq!(inspect(&message).leaves().last().unwrap().1.span.end, message.len() as u64, "{}", codec.name);
        let report = validate_message(&message, &ValidateOptions::mode(ValidateMode::Default));
        assert!(report.is_ok(), "{}: {:?}", codec.name, report.report.findings());
        let view = MessageView::open(&message).unwrap();
        let object = view.object(0).unwrap();
        let error = object.decode(&DecodeOptions::default()).unwrap_err();
        assert_eq!(error.code(), "codec_not_built", "{}: {error}", codec.name);
        assert!(error.to_string().contains(&format!("enable the cargo feature `{}`", codec.feature)), "{error}");
        let compressed = Compression::CODECS.contains(&codec);
        if compressed && descriptor.dtype != DType::Bitmask {
            assert_eq!(
                object.decode_range(&[(0, 1)], &DecodeOptions::default()).unwrap_err().code(),
                "codec_not_built"
            );
        }
    }
}

#[test]
fn plain_messages_decode() {
    let message = MessageBuilder::new().tensor(&[3], &[1.0f32, 2.0, 3.0]).unwrap().encode().unwrap();
    let objects = decode(&message, &DecodeOptions::default()).unwrap().objects;
    assert_eq!(objects.len(), 1);
}
