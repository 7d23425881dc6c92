//! BinTensors, safetensors, npy and npz files.

use super::{fine, fw, vectors};
use framewright::tensogram::{MessageBuilder, Pipe};
use std::path::Path;

/// The same small tensors in every format: `w` float32 2x3 and `n` int16.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("m.safetensors"), safetensors()).expect("written");
    for to in ["bt", "npz", "tgm"] {
        let run = fw(folder.path(), &format!("convert m.safetensors m.{to}"));
        assert!(matches!(run.code, 0 | 3), "{}", run.err);
    }
    folder
}

fn safetensors() -> Vec<u8> {
    let header = concat!(
        r#"{"__metadata__":{"made":"by hand"},"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"#,
        r#""n":{"dtype":"I16","shape":[2],"data_offsets":[24,28]}}      "#,
    );
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend([1.0f32, 2.0, 3.0, -4.5, 0.25, 6.0].iter().flat_map(|value| value.to_le_bytes()));
    bytes.extend([7i16, -8].iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

const FILES: [&str; 4] = ["m.safetensors", "m.bt", "m.npz", "m.tgm"];

#[track_caller]
fn prints(folder: &Path, line: &str, expected: &str) {
    assert_eq!(fine(folder, line).text(), expected, "fw {line}");
}

#[test]
fn info() {
    let folder = folder();
    prints(
        folder.path(),
        "info m.safetensors",
        "file       m.safetensors, 188 B
format     safetensors
tensors    2, 8 elements, 28 B
types      float32 (1), int16 (1)
metadata
  made: \"by hand\"
",
    );
    prints(
        &vectors("bintensors"),
        "info valid/attn0.bt",
        "file       valid/attn0.bt, 48 B
format     BinTensors
tensors    1, 6 elements, 24 B
types      float32 (1)
",
    );
    // One shape, whatever the format.
    for file in FILES {
        let json = fine(folder.path(), &format!("info {file} --json")).json();
        assert_eq!((&json["command"], &json["ok"]), (&"info".into(), &true.into()));
        assert_eq!((&json["file"], &json["tensor_count"]), (&file.into(), &2.into()));
        assert_eq!((&json["element_count"], &json["data_bytes"]), (&8.into(), &28.into()), "{file}");
        assert_eq!(json["types"]["float32"], serde_json::json!({ "tensor_count": 1, "data_bytes": 24 }), "{file}");
    }
}

#[test]
fn ls() {
    let folder = folder();
    prints(
        folder.path(),
        "ls m.safetensors",
        "name  dtype    shape  size  bytes in the file
w     float32  2x3    24 B           160..184
n     int16    2       4 B           184..188
",
    );
    for file in FILES {
        let json = fine(folder.path(), &format!("ls {file} --json")).json();
        let row = &json["tensors"][0];
        assert_eq!(
            (&row["name"], &row["dtype"], &row["bytes"]),
            (&"w".into(), &"float32".into(), &24.into()),
            "{file}"
        );
        assert_eq!(row["shape"], serde_json::json!([2, 3]), "{file}");
        assert!(row["span"].is_array() && json["findings"].is_array() && json["unreadable"].is_array(), "{file}");
    }
}

#[test]
fn dump() {
    let folder = folder();
    prints(
        folder.path(),
        "dump m.safetensors",
        "0000..0188  safetensors
0000..0008    header size 152
0008..0154    header JSON, 2 tensors
0154..0160    padding spaces
0160..0188    data
0160..0184      w float32 [2, 3]
0184..0188      n int16 [2]
",
    );
    prints(
        folder.path(),
        "dump --hex m.safetensors",
        "0000..0008  9800000000000000  header size 152
0008..0154  7b225f5f6d657461646174615f5f223a…32342c32385d7d7d  header JSON, 2 tensors
0154..0160  202020202020  padding spaces
-- data
0160..0184  0000803f0000004000004040000090c00000803e0000c040  w float32 [2, 3]
0184..0188  0700f8ff  n int16 [2]
",
    );
    for file in ["m.safetensors", "m.bt", "m.npz"] {
        assert!(fine(folder.path(), &format!("dump {file} --json")).json()["tree"].is_object());
        let run = fw(folder.path(), &format!("dump {file} --message 0"));
        assert_eq!(run.code, 2, "{}", run.err);
    }
}

#[test]
fn validate() {
    let folder = folder();
    for file in ["m.safetensors", "m.bt"] {
        let text = format!("{file}: 0 errors, 0 warnings, 0 of 2 tensors compared with a digest: valid\n");
        prints(folder.path(), &format!("validate {file}"), &text);
    }
    prints(folder.path(), "validate m.npz", "m.npz: 0 errors, 0 warnings: valid\n");
    for file in FILES {
        let json = fine(folder.path(), &format!("validate {file} --json")).json();
        assert_eq!((&json["ok"], &json["error_count"], &json["file"]), (&true.into(), &0.into(), &file.into()));
        assert!(json["findings"].is_array());
    }
    let run = fw(&vectors("bintensors"), "validate malformed/count_2000.bt");
    assert_eq!(run.code, 1);
    assert!(run.text().starts_with("error[unexpected_end]: "), "{}", run.text());
    assert!(run.text().ends_with("malformed/count_2000.bt: 1 error, 0 warnings: INVALID\n"), "{}", run.text());
    let run = fw(&vectors("bintensors"), "info malformed/count_2000.bt");
    assert_eq!((run.code, run.text()), (1, ""));
    assert!(!run.err.contains("UnexpectedEnd"), "class names are for programs: {}", run.err);
    assert_eq!(run.err.matches("at byte").count(), 1, "said once: {}", run.err);
    assert!(run.err.starts_with("fw: malformed/count_2000.bt: "), "{}", run.err);
}

#[test]
fn cat() {
    let folder = folder();
    for file in ["m.safetensors", "m.bt", "m.npz", "m.tgm"] {
        prints(folder.path(), &format!("cat {file} --tensor w --text"), "1.0 2.0 3.0\n-4.5 0.25 6.0\n");
        assert_eq!(fine(folder.path(), &format!("cat {file} --tensor n")).out, [7, 0, 0xf8, 0xff]);
        let npy = fine(folder.path(), &format!("cat {file} --tensor n --npy")).out;
        assert!(npy.starts_with(b"\x93NUMPY\x01\0") && npy.ends_with(&[7, 0, 0xf8, 0xff]));
        std::fs::write(folder.path().join("n.npy"), npy).expect("written");
        prints(folder.path(), "cat n.npy --text", "7 -8\n");
    }
    let run = fw(folder.path(), "cat m.bt");
    assert_eq!(
        (run.code, run.err.as_str()),
        (2, "fw: m.bt: the file has 2 tensors\nhint: choose one with --tensor NAME; fw ls lists the names\n")
    );
    let run = fw(folder.path(), "cat m.bt --message 0");
    assert_eq!(
        (run.code, run.err.as_str()),
        (
            2,
            "fw: m.bt: BinTensors files have no messages\nhint: choose a tensor with --tensor NAME; fw ls lists the names\n"
        )
    );
}

/// A BinTensors file has no mark of its own and is found by its header, whatever it is called.
#[test]
fn bintensors_without_a_name() {
    let folder = folder();
    std::fs::copy(folder.path().join("m.bt"), folder.path().join("weights")).expect("copied");
    assert!(fine(folder.path(), "info weights").text().contains("format     BinTensors\n"));
}

/// Everything that a vector can do to us ends in an answer.
#[test]
fn no_vector_crashes_a_command() {
    for part in ["malformed", "noncanonical"] {
        let folder = vectors("bintensors").join(part);
        for entry in std::fs::read_dir(&folder).expect("vectors") {
            let file = entry.expect("an entry").file_name().to_string_lossy().into_owned();
            for line in ["info", "dump --hex", "validate --json"] {
                let run = fw(&folder, &format!("{line} {file}"));
                assert!(matches!(run.code, 0 | 1) && !run.err.contains("panicked"), "fw {line} {file}: {}", run.err);
            }
        }
    }
}

/// How many threads decode changes nothing but the time.
#[test]
fn threads_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let values: Vec<f64> = (0..200_000).map(|at| 280.0 + (f64::from(at) / 300.0).sin()).collect();
    for (name, pipe) in [("a.tgm", Pipe::pack(16).szip()), ("b.tgm", Pipe::shuffle().lz4())] {
        let message = MessageBuilder::new().tensor(&[400, 500], &values).unwrap().base("name", "x").pipeline(pipe);
        std::fs::write(at.join(name), message.encode().unwrap()).unwrap();
    }
    for line in [
        "cat a.tgm --npy",
        "cat a.tgm --slice 7:300:3,5 --text",
        "diff a.tgm b.tgm --atol 0.1",
        "plot a.tgm --format svg -o -",
    ] {
        let [one, three] = [1, 3].map(|threads| fine(at, &format!("{line} --threads {threads}")));
        assert!(one.out == three.out && one.err == three.err, "fw {line}");
    }
    let [one, three] = [1, 3].map(|threads| {
        fine(at, &format!("convert a.tgm o{threads}.tgm --drop-codecs --quiet --threads {threads}"));
        fine(at, &format!("convert a.tgm o{threads}.bt --quiet --threads {threads}"));
        std::fs::read(at.join(format!("o{threads}.bt"))).unwrap()
    });
    assert!(one == three);
    fine(at, "diff o1.tgm o3.tgm");
    for line in ["cat a.tgm --npy", "convert a.tgm x.bt", "diff a.tgm b.tgm", "plot a.tgm"] {
        let run = super::fw_with(at, line, &[("FW_THREADS", "two")]);
        assert_eq!((run.code, run.text()), (2, ""), "fw {line}");
        assert!(run.err.contains("FW_THREADS is \"two\", expected a number of threads"), "fw {line}: {}", run.err);
    }
}
