//! GGUF files, which are read by every command that looks at tensor files.

use super::{fine, fw};
use std::path::Path;

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

fn info(name: &str, dims: &[u64], code: u32, offset: u64) -> Vec<u8> {
    let mut bytes = [string(name), (dims.len() as u32).to_le_bytes().to_vec()].concat();
    dims.iter().for_each(|dim| bytes.extend(dim.to_le_bytes()));
    bytes.extend(code.to_le_bytes());
    bytes.extend(offset.to_le_bytes());
    bytes
}

/// One plain tensor, one of decoded blocks, one of blocks as they are.
fn write(folder: &Path) {
    let mut bytes = [&b"GGUF\x03\0\0\0"[..], &3u64.to_le_bytes(), &2u64.to_le_bytes()].concat();
    bytes.extend([string("general.architecture"), 8u32.to_le_bytes().to_vec(), string("tiny")].concat());
    bytes.extend([string("tiny.layers"), 4u32.to_le_bytes().to_vec(), 7u32.to_le_bytes().to_vec()].concat());
    bytes.extend(info("w", &[2, 3], 0, 0));
    bytes.extend(info("q", &[32], 8, 32));
    bytes.extend(info("k", &[256], 12, 96));
    bytes.resize(bytes.len().next_multiple_of(32), 0);
    bytes.extend((0..6).flat_map(|number| (number as f32).to_le_bytes()));
    bytes.resize(bytes.len().next_multiple_of(32), 0);
    // A scale of 2, then 0 to 31.
    bytes.extend([0x00, 0x40]);
    bytes.extend(0..32);
    bytes.resize(bytes.len().next_multiple_of(32), 0);
    bytes.extend([5; 144]);
    std::fs::write(folder.join("m.gguf"), bytes).expect("written");
}

#[test]
fn every_command_reads_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    write(at);
    assert_eq!(
        fine(at, "info m.gguf").text(),
        "file       m.gguf, 464 B\nformat     GGUF\ntensors    3, 182 elements, 296 B\ntypes      Q4_K (1), Q8_0 (1), \
         float32 (1)\nmetadata\n  general.architecture: \"tiny\"\n  tiny.layers: \"7\"\n"
    );
    assert_eq!(
        fine(at, "ls m.gguf").text(),
        "name  dtype           shape   size  bytes in the file\n\
         w     float32         3x2     24 B           224..248\n\
         q     float32 (Q8_0)  32     128 B                  -\n\
         k     uint8 (Q4_K)    144    144 B           320..464\n"
    );
    let json = fine(at, "ls m.gguf --json").json();
    assert_eq!((&json["format"], &json["tensors"][1]["block_type"]), (&"gguf".into(), &"Q8_0".into()));
    assert!(fine(at, "dump m.gguf").text().contains("tiny.layers 7\n"));
    assert!(fine(at, "dump m.gguf --hex").text().contains("general.architecture"));
    assert_eq!(fine(at, "validate m.gguf").text(), "m.gguf: 0 errors, 0 warnings: valid\n");
    assert_eq!(fine(at, "cat m.gguf --tensor w --text").text(), "0.0 1.0\n2.0 3.0\n4.0 5.0\n");
    assert_eq!(fine(at, "cat m.gguf --tensor q --slice 3:6 --text").text(), "6.0 8.0 10.0\n");
    assert_eq!(fine(at, "cat m.gguf --tensor k").out, [5; 144]);
}

#[test]
fn it_converts_and_is_not_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    write(at);
    let run = fw(at, "convert m.gguf m.tgm");
    let note = "fw: note, encoding: Q8_0 is not kept: elements are written decoded (\"q\")\n";
    assert_eq!((run.code, run.text(), run.err.as_str()), (0, "wrote m.tgm: 3 tensors, 296 B\n", note));
    assert!(fine(at, "diff m.gguf m.tgm").text().ends_with("3 tensors: 3 identical, 0 different\n"));
    let run = fw(at, "convert m.tgm new.gguf");
    let words = "fw: GGUF files can be read but not written; choose Tensogram, BinTensors, safetensors, npy or npz\n";
    assert_eq!((run.code, run.err.as_str()), (2, words));
    assert_eq!(fw(at, "convert m.tgm x --to gguf").code, 2);
    // Cut short in the last tensor.
    let bytes = std::fs::read(at.join("m.gguf")).expect("read");
    std::fs::write(at.join("short.gguf"), &bytes[..bytes.len() - 1]).expect("written");
    let run = fw(at, "ls short.gguf --json");
    assert_eq!((run.code, &run.json()["error"]["code"]), (1, &"invalid_offset".into()));
    assert_eq!(fw(at, "validate short.gguf").code, 1);
}
