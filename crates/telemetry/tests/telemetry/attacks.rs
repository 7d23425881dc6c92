//! MCAP files that are wrong: an error with a code, no panic, no memory beyond what the file justifies, no output left behind.

use crate::common::{
    capture, channel_record, chunk_record, file, lines, lz4, message_record, ping, record, schema, schema_record, text,
};
use fw_convert::{CaptureInput, CaptureOptions, open};
use fw_structframe::Profile;
use fw_telemetry::{McapRead, TelemetryError, capture_to_mcap, mcap_to_columns};

fn read(bytes: &[u8]) -> Result<McapRead, TelemetryError> {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("a.mcap"), folder.path().join("a.tgm"));
    std::fs::write(&input, bytes).unwrap();
    let read = mcap_to_columns(&input, &output);
    assert_eq!(output.exists(), read.is_ok(), "an output exists only after success");
    read
}

#[track_caller]
fn refused(bytes: &[u8], code: &str, words: &str) {
    let error = read(bytes).expect_err("wrong");
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

pub(crate) fn declared() -> Vec<Vec<u8>> {
    vec![schema_record(1, "demo.Ping", "protobuf", &ping()), channel_record(1, 1, "/ping", "protobuf")]
}

fn with(mut records: Vec<Vec<u8>>, more: &[Vec<u8>]) -> Vec<u8> {
    records.extend_from_slice(more);
    file(&records)
}

/// The same records, plain and in chunks of each kind, are the same columns.
#[test]
fn chunks_of_every_kind() {
    let inside = [declared().concat(), message_record(1, 5, &[8, 42, 18, 2, 1, 2, 34, 1, b'x'])].concat();
    let sum = crc32fast::hash(&inside);
    let len = inside.len() as u64;
    let chunks = [
        inside.clone(),
        chunk_record("", len, sum, &inside),
        chunk_record("zstd", len, sum, &zstd::encode_all(&inside[..], 3).unwrap()),
        chunk_record("lz4", len, sum, &lz4(&inside)),
        chunk_record("lz4", len, 0, &lz4(&inside)),
    ];
    for chunk in chunks {
        let folder = tempfile::tempdir().unwrap();
        let (input, output) = (folder.path().join("a.mcap"), folder.path().join("a.tgm"));
        std::fs::write(&input, file(&[chunk])).unwrap();
        assert_eq!(mcap_to_columns(&input, &output).unwrap().messages, 1);
        let columns = open(&output).unwrap();
        let column = |name: &str| {
            let at = columns.entries().iter().position(|entry| entry.name == name);
            columns.data(at.unwrap_or_else(|| panic!("no column {name}"))).unwrap().to_vec()
        };
        assert_eq!(column("ping.seq"), 42u32.to_le_bytes());
        assert_eq!(column("ping.v@count"), 2u32.to_le_bytes());
        assert_eq!(column("ping.v"), [1u32.to_le_bytes(), 2u32.to_le_bytes()].concat());
        assert_eq!((column("ping.s@len"), column("ping.s")), (1u32.to_le_bytes().to_vec(), b"x".to_vec()));
        assert_eq!(
            (column("ping@log_time"), column("ping@publish_time")),
            (5u64.to_le_bytes().to_vec(), 6u64.to_le_bytes().to_vec())
        );
        assert_eq!((column("ping.next@valid"), column("ping@sequence")), (vec![0], 7u32.to_le_bytes().to_vec()));
    }
}

/// A message in a message appears late: its columns still line up with the rows. Parts of one message are merged, and the last
/// value wins.
#[test]
fn rows_line_up() {
    let late = [8, 1, 26, 2, 8, 9, 8, 3, 26, 5, 34, 3, b'a', b'b', b'c'];
    let bytes =
        with(declared(), &[message_record(1, 1, &[8, 1]), message_record(1, 2, &late), message_record(1, 3, &[])]);
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("a.mcap"), folder.path().join("a.tgm"));
    std::fs::write(&input, bytes).unwrap();
    mcap_to_columns(&input, &output).unwrap();
    let columns = open(&output).unwrap();
    let column = |name: &str| {
        let at = columns.entries().iter().position(|entry| entry.name == name).unwrap();
        columns.data(at).unwrap().to_vec()
    };
    let numbers = |numbers: [u32; 3]| numbers.map(u32::to_le_bytes).concat();
    assert_eq!(column("ping.seq"), numbers([1, 3, 0]));
    assert_eq!(column("ping.next@valid"), [0, 1, 0]);
    assert_eq!(column("ping.next.seq"), numbers([0, 9, 0]));
    assert_eq!(column("ping.next.s@len"), numbers([0, 3, 0]));
    assert_eq!(column("ping.next.s"), b"abc");
}

#[test]
fn wrong_files_have_codes() {
    let message = |data: &[u8]| with(declared(), &[message_record(1, 1, data)]);
    refused(b"", "truncated", "the magic bytes needs 8 bytes");
    refused(b"\x89MCAP1\r\n", "bad_magic", "at byte 0 (0x0)");
    refused(&file(&[message_record(9, 1, &[])]), "unknown_channel", "channel 9");
    refused(&file(&[channel_record(1, 4, "/a", "protobuf"), message_record(1, 1, &[])]), "unknown_schema", "schema 4");
    refused(
        &file(&[channel_record(1, 0, "/a", "json"), message_record(1, 1, b"{}")]),
        "unsupported_encoding",
        "\"json\"",
    );
    let ros = schema_record(1, "std_msgs/String", "ros1msg", b"string data");
    refused(
        &file(&[ros, channel_record(1, 1, "/a", "protobuf"), message_record(1, 1, &[])]),
        "unsupported_encoding",
        "\"ros1msg\"",
    );
    let junk = schema_record(1, "demo.Ping", "protobuf", b"\xff\xff\xff");
    refused(
        &file(&[junk, channel_record(1, 1, "/a", "protobuf"), message_record(1, 1, &[])]),
        "bad_schema",
        "FileDescriptorSet",
    );
    let other = schema_record(1, "demo.Pong", "protobuf", &ping());
    refused(
        &file(&[other, channel_record(1, 1, "/a", "protobuf"), message_record(1, 1, &[])]),
        "bad_schema",
        "demo.Pong",
    );
    refused(&with(declared(), &[channel_record(1, 1, "/other", "protobuf")]), "conflicting_channel", "/other");
    refused(&with(declared(), &[schema_record(1, "x", "protobuf", &[])]), "conflicting_schema", "\"x\"");
    refused(&file(&[schema_record(0, "x", "protobuf", &[])]), "bad_record", "id 0");
    refused(&message(&[8]), "bad_message", "need 1 bytes");
    refused(&message(&[0xff; 11]), "bad_message", "more than 10 bytes");
    refused(&message(&[26, 200, 1, 8]), "bad_message", "need 200 bytes");
    refused(&message(&[15, 1]), "bad_message", "wire type 7");
    refused(&message(&[18, 1, 0x80]), "bad_message", "in v");
    refused(&file(&[chunk_record("brotli", 1, 0, &[0])]), "unsupported_compression", "\"brotli\"");
    refused(&file(&[chunk_record("zstd", 100, 0, &[1, 2, 3])]), "bad_compression", "cannot be decompressed");
    refused(&file(&[chunk_record("lz4", 100, 0, &[1, 2, 3])]), "bad_compression", "cannot be decompressed");
    refused(&file(&[chunk_record("", 20, 1, &record(0x80, &[0; 11]))]), "checksum_mismatch", "chunk");
    // A record that is longer than its chunk, and one that cannot be in a chunk.
    let mut long = message_record(1, 1, &[]);
    long[1] = 0xff;
    refused(&file(&[chunk_record("", long.len() as u64, 0, &long)]), "bad_chunk", "of a chunk");
    refused(&file(&[chunk_record("", 9, 0, &record(6, &[]))]), "bad_chunk", "inside a chunk");
    let mut trailing = file(&declared());
    trailing.push(0);
    refused(&trailing, "trailing_bytes", "after the end");
    // More metadata than any recorder writes.
    let big = record(0x0c, &[text("a"), (16u32 << 20).to_le_bytes().to_vec(), vec![0; 16 << 20]].concat());
    refused(&file(&[big.clone(), big]), "too_much_metadata", "metadata");
}

/// A few bytes that become gigabytes, in chunks and in columns, are refused before they do.
#[test]
fn bombs_are_refused() {
    let zeros = record(0x80, &vec![0; 200 << 20]);
    let stored = zstd::encode_all(&zeros[..], 19).unwrap();
    assert!(stored.len() < 100_000);
    refused(&file(&[chunk_record("zstd", zeros.len() as u64, 0, &stored)]), "expands_too_much", "1000 times");
    drop(zeros);
    // Deeper than any reader goes.
    let mut deep = vec![8u8, 1];
    for _ in 0..120 {
        let mut outer = vec![26];
        prost::encoding::encode_varint(deep.len() as u64, &mut outer);
        outer.extend(&deep);
        deep = outer;
    }
    refused(&with(declared(), &[message_record(1, 1, &deep)]), "bad_message", "nested more than 100 deep");
}

/// A real file, cut anywhere and with any byte changed: an error or other values, never a panic. What the checksums cover is
/// never accepted changed.
#[test]
fn cuts_and_changes() {
    let schema = schema(crate::common::ROBOT);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mcap");
    let bytes = capture(&schema, Profile::Standard.framing(), &lines(8));
    capture_to_mcap(CaptureInput::from_bytes("a", bytes), &path, &schema, &CaptureOptions::new()).unwrap();
    let whole = std::fs::read(&path).unwrap();
    assert!(read(&whole).is_ok());
    for len in (0..whole.len()).step_by(7) {
        let error = read(&whole[..len]).expect_err("cut");
        assert!(["truncated", "bad_magic", "bad_compression"].contains(&error.code()), "{len}: {error}");
    }
    let mut accepted = 0;
    for at in (0..whole.len()).step_by(5) {
        let mut changed = whole.clone();
        changed[at] ^= 1 << (at % 8);
        accepted += usize::from(read(&changed).is_ok());
    }
    // Only the checksums themselves, set to zero, could turn a check off, and one bit does not do that.
    assert_eq!(accepted, 0, "a changed file was accepted");
}

/// Files without checksums, so that nothing hides what the readers of records, chunks, descriptors and messages do with a changed byte, a
/// cut or a repetition: an error with a code, or other values.
#[test]
fn changes_that_no_checksum_notices() {
    let message =
        |seq: u8| message_record(1, u64::from(seq), &[8, seq, 18, 2, 1, 2, 26, 4, 8, 9, 18, 0, 34, 2, b'h', b'i']);
    let inside = [declared().concat(), message(1), message(2)].concat();
    let len = inside.len() as u64;
    let metadata = record(0x0c, &[text("about"), vec![0; 4]].concat());
    let mut plain = declared();
    plain.extend([message(1), metadata, message(2)]);
    let files = [
        file(&plain),
        file(&[chunk_record("", len, 0, &inside)]),
        file(&[chunk_record("zstd", len, 0, &zstd::encode_all(&inside[..], 3).unwrap())]),
        file(&[chunk_record("lz4", len, 0, &lz4(&inside))]),
    ];
    for whole in &files {
        let (mut refused, mut other) = (0, 0);
        let mut look = |bytes: &[u8]| match read(bytes) {
            Ok(_) => other += 1,
            Err(error) => {
                refused += 1;
                assert!(
                    !error.code().is_empty()
                        && error.code().chars().all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit())
                );
            }
        };
        assert!(read(whole).is_ok());
        for at in 8..whole.len() {
            for byte in [whole[at] ^ 1 << (at % 8), 0xff] {
                let mut changed = whole.clone();
                changed[at] = byte;
                look(&changed);
            }
        }
        for at in (8..whole.len()).step_by(11) {
            let (head, tail) = whole.split_at(at);
            look(&[head, &tail[tail.len().min(5)..]].concat());
            look(&[head, &tail[..tail.len().min(9)], tail].concat());
        }
        assert!(refused > 100 && other > 0, "{refused} {other}");
    }
}
