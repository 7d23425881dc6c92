//! Faults of weights that users reported, each with the commands that showed it. Those that have a test elsewhere:
//!
//! | what was wrong | test |
//! |---|---|
//! | digests of shards were not checked through their index | `checkpoints::an_index_checks_the_digests_of_its_shards` |
//! | conversions copied corrupt tensors | `checkpoints::corrupt_tensors_are_not_copied` |
//! | digests did not cover types, shapes and their own removal | `checkpoints::digests_cover_headers` |
//! | a column by URL took a request per row | `checkpoints::a_column_by_url_takes_few_requests` |
//! | `--rules` were ignored for an index | `checkpoints::rules_reach_shards` |
//! | an interrupt left hidden files | `signals` |
//! | shards of an earlier output stayed | `checkpoints::nothing_of_an_earlier_output_stays` |
//! | files that are something else were not named | `weights::other_files_are_named` |

use super::{fine, fw};
use std::io::Write;
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A safetensors file from its header and data.
fn safetensors(path: &Path, json: &str, data: &[u8]) {
    std::fs::write(path, [&(json.len() as u64).to_le_bytes()[..], json.as_bytes(), data].concat()).expect("written");
}

/// A zip archive of entries that are stored.
fn stored(path: &Path, entries: &[(&str, &[u8])]) {
    let mut zip = ZipWriter::new(std::fs::File::create(path).expect("made"));
    for (name, data) in entries {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        zip.start_file(*name, options).expect("an entry");
        zip.write_all(data).expect("written");
    }
    zip.finish().expect("written");
}

/// A PyTorch checkpoint was an npz file of no arrays: listed as empty, valid, converted to an empty model.
#[test]
fn a_checkpoint_of_torch_is_no_npz() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let entries: [(&str, &[u8]); 3] =
        [("model/data.pkl", b"\x80\x02}q\0."), ("model/version", b"3\n"), ("model/data/0", &[0; 64])];
    stored(&at.join("model.pt"), &entries);
    let info = fine(at, "info model.pt");
    assert!(info.text().contains("format     PyTorch\ntensors    0, "), "{}", info.text());
    assert_eq!(fine(at, "validate model.pt --json").json()["format"], "torch");
    // Without a pickle it is nothing that can be read.
    stored(&at.join("other.npz"), &entries[1..]);
    for command in ["ls other.npz", "validate other.npz", "convert other.npz out.bt"] {
        let run = fw(at, command);
        assert!(run.code != 0 && !at.join("out.bt").exists(), "{command}: {}{}", run.text(), run.err);
    }
}

/// Escape sequences in names and metadata reached the terminal, and a newline forged a row.
#[test]
fn names_and_metadata_are_printed_escaped() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let forged = r"x\nfake.weight  float32  4096x4096  64.0 MiB";
    let json = format!(
        r#"{{"__metadata__":{{"k\u001b[31m":"v\u001b]0;t\u0007"}},"a\u001b[2J\u001b[31mRED":{{"dtype":"F32","shape":[1],"data_offsets":[0,4]}},"{forged}":{{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}}}"#
    );
    safetensors(&at.join("m.safetensors"), &json, &[0; 8]);
    for command in [
        "ls",
        "info",
        "dump",
        "dump --data",
        "stats",
        "digest --manifest",
        "diff m.safetensors",
        "get -p name",
        "validate",
    ] {
        let run = fine(at, &format!("{command} m.safetensors"));
        assert!(!run.text().chars().any(|c| c.is_control() && c != '\n'), "{command}: {:?}", run.text());
        assert!(!run.text().lines().any(|line| line.starts_with("fake.weight")), "{command}: {:?}", run.text());
    }
    assert!(fine(at, "ls m.safetensors").text().contains(r"a\u{1b}[2J\u{1b}[31mRED"));
}

/// `int64` 2^53+1 and `float64` 2^53 were the same, because both were compared as `float64`.
#[test]
fn large_integers_are_compared_exactly() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let header = |dtype: &str| format!(r#"{{"x":{{"dtype":"{dtype}","shape":[1],"data_offsets":[0,8]}}}}"#);
    let big = 1i64 << 53;
    safetensors(&at.join("a.safetensors"), &header("I64"), &(big + 1).to_le_bytes());
    safetensors(&at.join("b.safetensors"), &header("F64"), &(big as f64).to_le_bytes());
    safetensors(&at.join("c.safetensors"), &header("I64"), &big.to_le_bytes());
    for (other, code) in [("b", 1), ("c", 1)] {
        assert_eq!(fw(at, &format!("diff a.safetensors {other}.safetensors --values")).code, code, "{other}");
    }
    let run = fine(at, "diff b.safetensors c.safetensors --values");
    assert!(run.text().ends_with("0 different\n"), "{}", run.text());
}

/// `"__metadata__": null` was refused, and a key that appears twice was valid without a word.
#[test]
fn metadata_that_is_null_or_has_a_key_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let tensor = r#""a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}"#;
    safetensors(&at.join("null.safetensors"), &format!(r#"{{"__metadata__":null,{tensor}}}"#), &[0; 4]);
    safetensors(&at.join("twice.safetensors"), &format!(r#"{{"__metadata__":{{"k":"1","k":"2"}},{tensor}}}"#), &[0; 4]);
    assert!(fine(at, "validate null.safetensors").text().contains("0 errors, 0 warnings"));
    let twice = fine(at, "validate twice.safetensors");
    assert!(twice.text().starts_with("warning[duplicate_metadata_key]"), "{}", twice.text());
}

/// A full disk behind standard output was told as a fault of the input.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_no_fault_of_the_input() {
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let header = r#"{"a":{"dtype":"U8","shape":[100000],"data_offsets":[0,100000]}}"#;
    safetensors(&at.join("m.safetensors"), header, &[0; 100_000]);
    for line in ["cat m.safetensors -t a", "cat m.safetensors -t a --npy", "cat m.safetensors -t a --text"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
        let mut command = Command::new(env!("CARGO_BIN_EXE_fw"));
        command.args(line.split(' ')).current_dir(at).stdin(Stdio::null()).stdout(full);
        let output = command.output().expect("fw runs");
        let words = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(1), "{line}: {words}");
        assert!(words.contains("standard output") && !words.contains("m.safetensors"), "{line}: {words}");
    }
}

/// A checkpoint is split anew where there is no room for it: the old one stays, and nothing is left of the new one. The limit of file
/// sizes stands for the disk.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_up_leaves_the_old_checkpoint() {
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let header = r#"{"a":{"dtype":"U8","shape":[65536],"data_offsets":[0,65536]},"b":{"dtype":"U8","shape":[2097152],"data_offsets":[65536,2162688]}}"#;
    safetensors(&at.join("m.safetensors"), header, &vec![1; 2_162_688]);
    safetensors(&at.join("n.safetensors"), header, &vec![2; 2_162_688]);
    std::fs::create_dir(at.join("o")).expect("a folder");
    fine(at, "convert m.safetensors o/m.bt --max-shard-size 1MiB -q");
    let names = || {
        let found = std::fs::read_dir(at.join("o")).expect("a folder");
        let mut names: Vec<_> = found.map(|one| one.expect("an entry").file_name()).collect();
        names.sort();
        names
    };
    let (digest, before) = (fine(at, "digest o/m.bt.index.json").out, names());
    for size in ["1MiB", "64KiB", "8MiB"] {
        // The signal would end the process, as no full disk does. Blocks have 512 bytes or 1024, as the shell has it.
        let line = format!(
            "trap '' XFSZ; ulimit -f 1000; exec {} convert n.safetensors o/m.bt --max-shard-size {size} -f -q",
            env!("CARGO_BIN_EXE_fw")
        );
        let run =
            Command::new("sh").args(["-c", &line]).current_dir(at).stdin(Stdio::null()).output().expect("sh runs");
        let words = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.code() == Some(1) && words.contains("o/m"), "{size}: {words}");
        assert_eq!(names(), before, "{size}");
        assert_eq!(fine(at, "digest o/m.bt.index.json").out, digest, "{size}");
        fine(at, "validate o/m.bt.index.json");
    }
}

#[cfg(target_os = "linux")]
mod memory {
    use super::safetensors;
    use crate::fine;
    use std::io::Write;
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::time::Duration;
    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipWriter};

    /// Exit code and output of a run, and the most memory that it held, as far as it was seen.
    fn measured(folder: &Path, line: &str) -> (i32, String, u64) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fw"));
        command.args(line.split(' ')).current_dir(folder).stdin(Stdio::null());
        let out = folder.join(".out");
        command.stdout(std::fs::File::create(&out).expect("made")).stderr(Stdio::null());
        let mut child = command.spawn().expect("fw runs");
        let (status, mut peak) = (format!("/proc/{}/status", child.id()), 0);
        let code = loop {
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            let found = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let found = found.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
            peak = peak.max(found.unwrap_or(0) << 10);
            match child.try_wait().expect("a child") {
                Some(ended) => break ended.code().expect("fw ends by itself"),
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        (code, std::fs::read_to_string(&out).expect("text"), peak)
    }

    /// The whole message of a Tensogram file was held.
    #[test]
    fn messages_are_validated_object_by_object() {
        const LEN: usize = 16 << 20;
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path();
        let entry = |number: usize| {
            let (start, end) = (number * LEN, (number + 1) * LEN);
            format!(r#""{number}":{{"dtype":"U8","shape":[{LEN}],"data_offsets":[{start},{end}]}}"#)
        };
        let header = (0..8).map(entry).collect::<Vec<_>>().join(",");
        safetensors(&at.join("m.safetensors"), &format!("{{{header}}}"), &vec![7; 8 * LEN]);
        fine(at, "convert m.safetensors m.tgm -q");
        // What decodes holds an object and what it becomes.
        for (mode, most) in [("quick", 40 << 20), ("checksum", 40 << 20), ("default", 40 << 20), ("full", 90 << 20)] {
            let (code, text, peak) = measured(at, &format!("validate m.tgm --mode {mode}"));
            assert!(code == 0 && text.contains(": valid"), "{mode}: {text}");
            assert!(peak < most, "{mode}: {peak} bytes for a message of {} MiB", (8 * LEN) >> 20);
        }
        // A fault in the last object is found all the same.
        let mut bytes = std::fs::read(at.join("m.tgm")).expect("read");
        let place = bytes.len() - LEN;
        bytes[place] ^= 1;
        std::fs::write(at.join("m.tgm"), bytes).expect("written");
        let (code, text, _) = measured(at, "validate m.tgm");
        assert!(code == 1 && text.starts_with("error[hash_mismatch]"), "{text}");
    }

    /// A deflated npz held a thousand times its size.
    #[test]
    fn a_deflate_bomb_is_not_held() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path();
        let mut zip = ZipWriter::new(std::fs::File::create(at.join("b.npz")).expect("made"));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).large_file(true);
        zip.start_file("w.npy", options).expect("an entry");
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (100000000,), }\n";
        let head = [b"\x93NUMPY\x01\0", &(text.len() as u16).to_le_bytes()[..], text.as_bytes()].concat();
        zip.write_all(&head).expect("written");
        (0..400).for_each(|_| zip.write_all(&vec![0; 1_000_000]).expect("written"));
        zip.finish().expect("written");
        for line in
            ["cat b.npz --slice 0:3 --text", "diff b.npz b.npz", "convert b.npz b.tgm", "validate b.npz", "stats b.npz"]
        {
            let (code, _, peak) = measured(at, line);
            assert!(code <= 2 && peak < 100 << 20, "{line}: exit code {code}, {peak} bytes");
        }
        assert_eq!(fine(at, "cat b.npz --slice 0:3 --text").text(), "0.0 0.0 0.0\n");
    }
}
