//! Stores without a server: files by URL, and the memory of this process.

use super::{message, quick, ramp};
use fw_source::remote::StoreWriter;
use fw_tensogram::{DecodeOptions, open_source};
use std::io::Write;

#[test]
fn files_and_memory_are_stores_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let options = quick().with_part_len(1 << 20);
    for base in [format!("file://{}", folder.path().display()), "memory:///of-this-test".to_owned()] {
        let url = format!("{base}/deep/fields.tgm");
        let put = |from: f32| {
            let mut writer = StoreWriter::create(&url, &options).unwrap();
            writer.write_all(&message(0, &ramp(10, from))).unwrap();
            // Three parts and a rest.
            writer.write_all(&message(1, &ramp(900_000, from))).unwrap();
            writer.finish().unwrap()
        };
        let stored = put(0.0);
        assert!(stored.len > 3_600_000, "{url}");
        let remote = open_source(&url, &options).unwrap();
        assert_eq!(remote.source().object_len(), stored.len, "{url}");
        let selection = fw_tensor::Selection::new().axis(800_000..800_003);
        let slice = remote.slice(1usize, 0, &selection, &DecodeOptions::default()).unwrap();
        assert_eq!(slice.view().to_vec::<f32>().unwrap(), [800_000.0, 800_001.0, 800_002.0], "{url}");
        let traffic = remote.traffic();
        assert!(traffic.requests > 1 && traffic.received < 64 << 10, "{url}: {traffic:?}");

        put(5.0);
        let error = remote.read_message(1usize).unwrap_err();
        assert_eq!((error.class(), error.code()), ("Remote", "remote_changed"), "{error}");
        assert_eq!(open_source(&url, &options).unwrap().message_count().unwrap(), 2, "{url}");
        let error = open_source(&format!("{base}/absent.tgm"), &options).unwrap_err();
        assert_eq!(error.code(), "remote_not_found", "{error}");
    }
    assert_eq!(fw_tensogram::scan_file(folder.path().join("deep/fields.tgm")).unwrap().len(), 2);
}
