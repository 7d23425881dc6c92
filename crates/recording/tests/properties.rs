//! Whatever arrives comes back, and whatever is done to the files is survived.

use fw_recording::{Recorder, RecorderOptions, Recording};
use proptest::prelude::*;
use std::path::Path;
use std::time::Duration;

fn record(folder: &Path, pieces: &[(i64, u32, Vec<u8>)], block: usize, rotate: Option<u64>) -> Vec<std::path::PathBuf> {
    let options = RecorderOptions::new("-").with_blocks(block, Duration::from_secs(3600)).with_rotation(rotate, None);
    let mut recorder = Recorder::create(folder, options).unwrap();
    for (time, connection, bytes) in pieces {
        recorder.push(*time, *connection, bytes).unwrap();
    }
    recorder.finish().unwrap().files
}

/// Reads until the end; what comes back must at least be well-formed.
fn read(path: &Path) -> Option<(Vec<u8>, usize)> {
    let mut reader = Recording::open(path).ok()?.reader();
    let mut bytes = Vec::new();
    while let Some(chunk) = reader.next_chunk().ok()? {
        assert_eq!(chunk.at, bytes.len() as u64);
        bytes.extend_from_slice(chunk.bytes);
    }
    Some((bytes, reader.damage().len()))
}

fn pieces() -> impl Strategy<Value = Vec<(i64, u32, Vec<u8>)>> {
    let piece = (any::<i64>(), 0_u32..3, prop::collection::vec(any::<u8>(), 0..200));
    prop::collection::vec(piece, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Bytes, times and borders come back, whatever the sizes of blocks and files are.
    #[test]
    fn round_trip(mut pieces in pieces(), block in 1_usize..2000, rotate in prop::option::of(1_u64..20_000)) {
        // Connections follow each other; pieces that fit into a block are not split.
        pieces.sort_by_key(|(_, connection, _)| *connection);
        let folder = tempfile::tempdir().unwrap();
        record(folder.path(), &pieces, block, rotate);
        let mut reader = Recording::open(folder.path()).unwrap().reader();
        let mut found = Vec::new();
        while let Some(chunk) = reader.next_chunk().unwrap() {
            found.push((chunk.time, chunk.bytes.to_vec()));
        }
        prop_assert!(reader.damage().is_empty(), "{:?}", reader.damage());
        let all = |pieces: &[(i64, Vec<u8>)]| pieces.iter().flat_map(|(_, bytes)| bytes.clone()).collect::<Vec<u8>>();
        let given: Vec<(i64, Vec<u8>)> = pieces.into_iter().map(|(time, _, bytes)| (time, bytes)).collect();
        prop_assert_eq!(all(&found), all(&given));
        if block >= 200 {
            prop_assert_eq!(found, given);
        }
    }

    /// A file that is cut gives a prefix of what was recorded.
    #[test]
    fn a_cut_file_gives_a_prefix(pieces in pieces(), cut in 0.0_f64..1.0) {
        let pieces: Vec<_> = pieces.into_iter().map(|(time, _, bytes)| (time, 0, bytes)).collect();
        let folder = tempfile::tempdir().unwrap();
        let file = record(folder.path(), &pieces, 300, None).remove(0);
        let whole = std::fs::read(&file).unwrap();
        std::fs::write(&file, &whole[..(whole.len() as f64 * cut) as usize]).unwrap();
        let all: Vec<u8> = pieces.iter().flat_map(|(_, _, bytes)| bytes.clone()).collect();
        if let Some((bytes, _)) = read(&file) {
            prop_assert!(all.starts_with(&bytes));
        }
    }

    /// Changed bytes never panic, hang or invent data; a block whose bytes changed is not handed out.
    #[test]
    fn changed_bytes_are_survived(pieces in pieces(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let folder = tempfile::tempdir().unwrap();
        let file = record(folder.path(), &pieces, 300, None).remove(0);
        let mut bytes = std::fs::read(&file).unwrap();
        for (index, byte) in changes {
            let at = index.index(bytes.len());
            bytes[at] ^= byte;
        }
        std::fs::write(&file, &bytes).unwrap();
        let total: usize = pieces.iter().map(|(_, _, bytes)| bytes.len()).sum();
        if let Some((bytes, _)) = read(&file) {
            prop_assert!(bytes.len() <= total);
        }
    }
}
