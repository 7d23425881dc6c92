//! The fuzz target `mcap`: any bytes as an MCAP file.

use fw_convert::open;
use fw_telemetry::mcap_to_columns;

/// Columns are made of the file, or an error says why not. A file of columns exists only after success, and is whole.
pub(crate) fn run(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a directory");
    let (input, output) = (folder.path().join("a.mcap"), folder.path().join("a.tgm"));
    std::fs::write(&input, bytes).expect("written");
    let columns = match mcap_to_columns(&input, &output) {
        Ok(read) => {
            let columns = open(&output).expect("what was written opens");
            assert_eq!(columns.entries().len(), read.columns);
            for (at, entry) in columns.entries().iter().enumerate() {
                columns.data(at).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
            }
            1
        }
        Err(error) => {
            let code = error.code();
            assert!(
                !code.is_empty() && code.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')),
                "{code}"
            );
            assert_ne!(code, "io_error", "the file can be read: {error}");
            0
        }
    };
    let left = std::fs::read_dir(folder.path()).expect("listed").count();
    assert_eq!(left, 1 + columns, "nothing but the output is left behind");
}
