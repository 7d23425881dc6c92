//! The fuzz target `mcap` on its seeds.

#[path = "../../../../fuzz/corpus.rs"]
mod corpus;
#[path = "../../fuzz/mcap.rs"]
mod entry;

use crate::attacks::declared;
use crate::common::{
    ROBOT, capture, channel_record, chunk_record, file, lines, lz4, message_record, ping, record, schema,
    schema_record, text,
};
use fw_convert::{CaptureInput, CaptureOptions};
use fw_structframe::Profile;
use fw_telemetry::capture_to_mcap;

#[test]
fn mcap() {
    corpus::check("mcap", &seeds(), 40, entry::run);
}

fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mcap");
    let schema = schema(ROBOT);
    let bytes = capture(&schema, Profile::Network.framing(), &lines(8));
    capture_to_mcap(CaptureInput::from_bytes("a", bytes), &path, &schema, &CaptureOptions::new()).unwrap();
    let ours = std::fs::read(&path).unwrap();

    let message = |data: &[u8]| message_record(1, 5, data);
    let every_field = message(&[8, 42, 18, 2, 1, 2, 26, 4, 8, 9, 18, 0, 34, 2, b'h', b'i']);
    let inside = [declared().concat(), every_field.clone(), message(&[])].concat();
    let (len, sum) = (inside.len() as u64, crc32fast::hash(&inside));
    let zstd = zstd::encode_all(&inside[..], 3).unwrap();
    let with = |more: &[Vec<u8>]| file(&[declared().concat(), more.concat()]);
    let metadata = record(0x0c, &[text("about"), vec![0; 4]].concat());
    let attachment = record(0x09, &[1; 40]);
    let mut deep = vec![8u8, 1];
    for _ in 0..60 {
        let mut outer = vec![26];
        prost::encoding::encode_varint(deep.len() as u64, &mut outer);
        outer.extend(&deep);
        deep = outer;
    }
    // The field `syntax`, which is number 12 of a file's descriptor, and which descriptors of today do not have.
    let mut odd_syntax = ping();
    let at = odd_syntax.windows(6).position(|window| window == b"proto3").unwrap();
    odd_syntax[at + 5] = b'9';
    vec![
        ("written-by-us", ours),
        ("plain", with(&[every_field, metadata, attachment, message(&[8, 1])])),
        ("chunk", file(&[chunk_record("", len, sum, &inside)])),
        ("chunk-zstd", file(&[chunk_record("zstd", len, sum, &zstd)])),
        ("chunk-zstd-unchecked", file(&[chunk_record("zstd", len, 0, &zstd)])),
        ("chunk-lz4", file(&[chunk_record("lz4", len, sum, &lz4(&inside))])),
        ("empty", file(&[])),
        ("attack-deep", with(&[message(&deep)])),
        ("attack-unknown-channel", with(&[message_record(9, 1, &[])])),
        ("attack-redeclared", with(&[channel_record(1, 1, "/other", "protobuf")])),
        ("attack-long-field", with(&[message(&[26, 0xff, 0xff, 0xff, 0xff, 0x0f, 8])])),
        ("attack-long-record", with(&[[&[5u8][..], &u64::MAX.to_le_bytes()].concat()])),
        ("attack-long-chunk", file(&[chunk_record("zstd", u64::MAX, 0, &zstd)])),
        (
            "attack-syntax",
            file(&[
                schema_record(1, "demo.Ping", "protobuf", &odd_syntax),
                channel_record(1, 1, "/ping", "protobuf"),
                message(&[]),
            ]),
        ),
    ]
}
