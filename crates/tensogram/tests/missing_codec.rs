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

use fw_tensogram::*;
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
        let (_, descriptors) = decode_descriptors(&message).unwrap();
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

#[test]
fn plain_messages_decode() {
    let message = MessageBuilder::new().tensor(&[3], &[1.0f32, 2.0, 3.0]).unwrap().encode().unwrap();
    let (_, objects) = decode(&message, &DecodeOptions::default()).unwrap();
    assert_eq!(objects.len(), 1);
}
