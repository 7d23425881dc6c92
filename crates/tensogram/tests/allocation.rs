//! No input makes us hold more than it justifies: eight times its size and a mebibyte.

mod common;

use fw_tensogram::*;
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// One test only: the counter is shared by the whole process.
#[test]
fn memory_stays_in_proportion_to_the_input() {
    let mut checked = 0;
    for entry in std::fs::read_dir(common::vectors()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "tgm") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let allowed = bytes.len() * 8 + (1 << 20);
        let calls: [(&str, &dyn Fn()); 7] = [
            ("decode", &|| drop(decode(&bytes, &DecodeOptions::default()))),
            ("verified decode", &|| drop(decode(&bytes, &DecodeOptions::default().with_verify_hash()))),
            ("decode_metadata", &|| drop(decode_metadata(&bytes))),
            ("view", &|| drop(MessageView::open(&bytes).map(|view| view.objects().count()))),
            ("stream", &|| StreamReader::new(&bytes[..], DecodeOptions::default()).for_each(drop)),
            ("scan", &|| drop(scan(&bytes))),
            ("validate", &|| drop(validate_message(&bytes, &ValidateOptions::mode(ValidateMode::Full)))),
        ];
        for (name, call) in calls {
            HEAP.reset_peak_usage();
            let before = HEAP.current_usage();
            call();
            let held = HEAP.peak_usage().saturating_sub(before);
            assert!(held <= allowed, "{name} of {} held {held} bytes, {allowed} are allowed", path.display());
            checked += 1;
        }
    }
    assert!(checked > 1000);
}
