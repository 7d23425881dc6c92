//! The fuzz target `recording`: any bytes as a file of a recording.

use fw_recording::{Capture, Recording, RecordingError, is_recording};

/// Alone and in a directory, the pieces follow each other without a hole, and what is wrong has a code.
pub(crate) fn run(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("a.tgm");
    std::fs::write(&file, bytes).expect("written");
    let read = match Capture::open(&file) {
        Ok(capture) if capture.recording().is_some() => pieces(capture),
        Ok(capture) => {
            assert!(!is_recording(&file));
            assert!(pieces(capture).is_some_and(|read| read == bytes), "other files are captures as they are");
            None
        }
        Err(error) => {
            is_told(&error);
            None
        }
    };
    match Recording::open(folder.path()) {
        Ok(recording) => {
            assert!(is_recording(folder.path()));
            assert_eq!(recording.files().count(), 1);
            let again = Capture::open(folder.path()).ok().and_then(pieces);
            assert!(again == read, "a directory with one file holds what the file holds");
        }
        Err(error) => is_told(&error),
    }
}

/// All bytes; `None` when reading failed.
fn pieces(mut capture: Capture) -> Option<Vec<u8>> {
    let (mut read, mut stream) = (Vec::new(), 0);
    loop {
        match capture.next_chunk() {
            Ok(Some(chunk)) => {
                assert_eq!(chunk.at, read.len() as u64);
                assert!(chunk.stream >= stream);
                stream = chunk.stream;
                read.extend_from_slice(chunk.bytes);
            }
            Ok(None) => break,
            Err(error) => {
                is_told(&error);
                return None;
            }
        }
    }
    for damage in capture.damage() {
        assert!(!damage.code.is_empty() && !damage.message.is_empty());
    }
    Some(read)
}

fn is_told(error: &RecordingError) {
    let code = error.code();
    assert!(!code.is_empty() && code.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')), "{code}");
    assert_ne!(code, "io_error", "the file can be read: {error}");
}
