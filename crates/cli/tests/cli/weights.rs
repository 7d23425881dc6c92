//! Weights from anywhere, through the commands: PyTorch checkpoints, files that are something else, small floats.

use super::{fine, fw};
use std::path::{Path, PathBuf};

fn given(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../convert/tests/torch").join(name)
}

fn safetensors(path: &Path, json: &str, data: &[u8]) {
    let bytes = [&(json.len() as u64).to_le_bytes()[..], json.as_bytes(), data].concat();
    std::fs::write(path, bytes).expect("written");
}

#[test]
fn every_command_reads_checkpoints() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    std::fs::copy(given("views.pt"), at.join("pytorch_model.bin")).expect("copied");
    std::fs::copy(given("state.pt"), at.join("state.pt")).expect("copied");
    let info = fine(at, "info pytorch_model.bin");
    assert!(info.text().contains("format     PyTorch\ntensors    9, "), "{}", info.text());
    let ls = fine(at, "ls pytorch_model.bin").text().to_owned();
    assert!(ls.contains("transposed  float32  6x4"), "{ls}");
    assert_eq!(fine(at, "cat pytorch_model.bin -t transposed -s 0 --text").text(), "0.0 6.0 12.0 18.0\n");
    assert_eq!(fine(at, "cat pytorch_model.bin -t offset --text").text(), "5.0 6.0 7.0 8.0 9.0 10.0\n");
    assert_eq!(fine(at, "validate state.pt --mode full").text(), "state.pt: 0 errors, 0 warnings: valid\n");
    assert!(fine(at, "dump state.pt").text().contains("state/data.pkl"));
    let stats = fine(at, "stats pytorch_model.bin --json").json();
    assert_eq!((&stats["tensors"][0]["zeros"], &stats["format"]), (&1.into(), &"torch".into()));
    let run = fw(at, "convert state.pt state.safetensors");
    assert_eq!(run.code, 0, "notes are no losses: {}", run.err);
    assert!(run.err.contains("note, shared storage: shares its storage with \"embed.weight\""), "{}", run.err);
    assert!(
        fine(at, "diff state.pt state.safetensors --ignore-metadata")
            .text()
            .ends_with("7 tensors: 7 identical, 0 different\n")
    );
    let run = fw(at, "convert state.safetensors new.pt");
    let words =
        "fw: PyTorch checkpoints can be read but not written; choose Tensogram, BinTensors, safetensors, npy or npz\n";
    assert_eq!((run.code, run.err.as_str()), (2, words));
    std::fs::copy(given("namespace.pt"), at.join("bad.pt")).expect("copied");
    let error = fw(at, "ls bad.pt --json").json()["error"].clone();
    assert_eq!(error["code"], "unsafe_pickle");
    assert!(error["message"].as_str().expect("text").contains("argparse.Namespace"), "{error}");
}

/// What people download by mistake is named, with what to do.
#[test]
fn other_files_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    for (name, bytes, code) in [
        ("lfs.safetensors", &pointer[..], "git_lfs_pointer"),
        ("page.safetensors", b"<!DOCTYPE html><html>", "html_page"),
        ("old.pt", b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.", "legacy_torch"),
        ("m.onnx", b"\x08\x07\x12\x07pytorch\x1a\x051.9.0", "onnx"),
    ] {
        std::fs::write(at.join(name), bytes).expect("written");
        for command in ["ls", "info", "validate"] {
            let run = fw(at, &format!("{command} {name}"));
            assert!(
                run.code != 0 && run.err.starts_with(&format!("fw: {name}: this is ")),
                "{command} {name}: {}",
                run.err
            );
            assert!(run.err.contains("\nhint: "), "{}", run.err);
            let report = fw(at, &format!("{command} {name} --json")).json();
            assert_eq!(report["error"]["code"], code, "{command} {name}: {report}");
        }
        let run = fw(at, &format!("convert {name} out.bt"));
        assert!(run.code != 0 && run.err.contains("this is ") && !at.join("out.bt").exists(), "{}", run.err);
    }
}

#[test]
fn small_floats_as_float32() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let json = r#"{"f4":{"dtype":"F4","shape":[2,4],"data_offsets":[0,4]},"s":{"dtype":"F8_E8M0","shape":[2],"data_offsets":[4,6]},"w":{"dtype":"BF16","shape":[2],"data_offsets":[6,10]},"d":{"dtype":"F64","shape":[1],"data_offsets":[10,18]}}"#;
    safetensors(
        &at.join("m.safetensors"),
        json,
        &[0x10, 0x32, 0x54, 0x76, 127, 130, 0x80, 0x3f, 0x00, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0],
    );
    assert_eq!(fine(at, "cat m.safetensors -t f4 --text").text(), "0.0 0.5 1.0 1.5\n2.0 3.0 4.0 6.0\n");
    assert_eq!(fine(at, "cat m.safetensors -t f4 -s 1").out, [0x54, 0x76]);
    assert_eq!(fine(at, "cat m.safetensors -t f4 -s :,1 --as f32 --text").text(), "0.5 3.0\n");
    let floats = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    assert_eq!(fine(at, "cat m.safetensors -t s --as f32").out, floats(&[1.0, 8.0]));
    let npy = fine(at, "cat m.safetensors -t w --npy --as f32").out;
    assert!(npy.starts_with(b"\x93NUMPY") && npy.ends_with(&floats(&[1.0, -2.0])));
    let run = fw(at, "cat m.safetensors -t f4 -s :,1");
    assert!(run.code == 2, "a slice inside of a byte: {}", run.err);
    let run = fw(at, "cat m.safetensors -t d --as f32");
    assert_eq!((run.code, run.out.len()), (2, 0));
    assert!(run.err.contains("float64 elements are not written as float32"), "{}", run.err);
    // The same through a message, and from a part of it.
    assert_eq!(fw(at, "convert m.safetensors m.tgm").code, 0);
    assert_eq!(fine(at, "cat m.tgm -t w --as f32").out, floats(&[1.0, -2.0]));
    assert_eq!(fine(at, "cat m.tgm -t w -s 1 --as f32").out, floats(&[-2.0]));
    assert_eq!(fine(at, "cat m.tgm -t f4 -s 1,3 --as f32 --text").text(), "6.0\n");
}

#[test]
fn nan_and_infinities_of_weights_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let data: Vec<u8> = [1.0f32, f32::NAN, f32::INFINITY].iter().flat_map(|value| value.to_le_bytes()).collect();
    safetensors(&at.join("m.safetensors"), r#"{"w":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}}"#, &data);
    let text = "m.safetensors: 0 errors, 0 warnings, 0 of 1 tensor compared with a digest: valid\n";
    assert_eq!(fine(at, "validate m.safetensors").text(), text);
    let full = fine(at, "validate m.safetensors --mode full").text().to_owned();
    assert!(
        full.contains("\"w\": 1 of 3 elements are NaN") && full.contains("\"w\": 1 of 3 elements are infinite"),
        "{full}"
    );
    assert!(
        full.ends_with("m.safetensors: 0 errors, 2 warnings, 0 of 1 tensor compared with a digest: valid\n"),
        "{full}"
    );
}

/// An index as coordinates, and how far apart two tensors are as vectors.
#[test]
fn differences_have_coordinates_norm_and_cosine() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let file = |name: &str, last: f32| {
        let data: Vec<u8> = [3.0f32, 0.0, 0.0, last].iter().flat_map(|value| value.to_le_bytes()).collect();
        safetensors(&at.join(name), r#"{"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}"#, &data);
    };
    file("a.safetensors", 0.0);
    file("b.safetensors", 4.0);
    let run = fw(at, "diff a.safetensors b.safetensors");
    assert!(run.text().contains("8.000e-1  0.600000  1 element, first at 1,1"), "{}", run.text());
    let json = fw(at, "diff a.safetensors b.safetensors --json").json();
    let row = &json["tensors"][0];
    assert_eq!((&row["first"], &row["first_index"]), (&3.into(), &serde_json::json!([1, 1])));
    assert_eq!((&row["relative_norm"], &row["cosine"]), (&0.8.into(), &0.6.into()));
}
