//! A capture becomes columns in bounded memory: counted by an allocator.

use fw_convert::{columns_to_frames, frames_to_columns, open};
use fw_dynamic::{Codec, FrameCodec};
use fw_schema::check_text;
use fw_structframe::{Header, Profile};
use peak_alloc::PeakAlloc;
use serde_json::json;
use std::io::Write;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

const MIB: usize = 1 << 20;
const CAPTURE_LEN: usize = 64 * MIB;

const ROBOT: &str = "package robot;
    message State { option msgid = 1; uint64 stamp_us = 1; repeated double position = 2 [size=3]; repeated double velocity = 3 [size=3];
        repeated float force = 4 [size=4]; uint32 flags = 5; uint32 errors = 6; }
    message Note { option msgid = 2; option variable = true; string text = 1 [max_size=200]; }";

/// One test only: the counter is shared by the whole process.
#[test]
fn memory_holds_a_batch_and_a_column() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let schema = check_text("robot.sf", ROBOT).into_result().unwrap_or_else(|faults| panic!("{faults}"));
    let codec = Codec::new(&schema);
    let frames = FrameCodec::new(&codec, Profile::Network.framing());
    let mut piece = Vec::new();
    for step in 0..200_u8 {
        let header = Header { sequence: step, system: 1, component: 2 };
        let state = json!({"stamp_us": u32::from(step) * 1000, "position": [step, 1, 2], "velocity": [0, -1, step],
            "force": [1, 2, 3, step], "flags": step, "errors": 0});
        frames.write_json(schema.find("State").unwrap(), header, &state, &mut piece).unwrap();
        if step % 10 == 0 {
            let note = json!({ "text": "step" });
            frames.write_json(schema.find("Note").unwrap(), header, &note, &mut piece).unwrap();
        }
        if step % 50 == 0 {
            // Of an id that the schema does not know.
            frames.write_payload(9, header, &[step; 40], &mut piece).unwrap();
        }
    }
    let pieces = CAPTURE_LEN / piece.len() + 1;
    let mut file = std::fs::File::create(at("a.bin")).unwrap();
    (0..pieces).for_each(|_| file.write_all(&piece).unwrap());
    drop(file);

    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    let done = frames_to_columns(at("a.bin"), at("a.tgm"), &schema, None).unwrap();
    let held = HEAP.peak_usage().saturating_sub(before);
    assert_eq!((done.frames, done.bytes), (224 * pieces as u64, (piece.len() * pieces) as u64));
    assert!(held < 32 * MIB, "{} MiB held for a capture of {} MiB", held / MIB, CAPTURE_LEN / MIB);

    let columns = open(at("a.tgm")).unwrap();
    let arrival = columns.data(columns.find("@stray.arrival").unwrap()).unwrap();
    let last = u64::from_le_bytes(*arrival.last_chunk().unwrap());
    assert_eq!((arrival.len(), last / 224), (4 * 8 * pieces, pieces as u64 - 1));
    // The order of frames and every byte of them.
    columns_to_frames(at("a.tgm"), at("b.bin")).unwrap();
    assert!(std::fs::read(at("b.bin")).unwrap() == std::fs::read(at("a.bin")).unwrap());
}
