//! `fw schema`.

use super::{fine, fw};
use std::path::Path;

const OLD: &str = "package demo;\nmessage Ping { option msgid = 7; uint16 seq = 1; bool ack = 2; }\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "old.sf", OLD);
    write(folder.path(), "new.sf", &OLD.replace("uint16", "uint32"));
    write(folder.path(), "ugly.sf", "package demo;message  Ping{option msgid=7;uint16 seq=1;}");
    write(folder.path(), "bad.sf", "package demo; message Ping { uint61 seq = 1; bool ack = 3; }\n");
    folder
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("written");
}

#[test]
fn check() {
    let folder = folder();
    assert_eq!(
        fine(folder.path(), "schema check old.sf").text(),
        "old.sf: 0 errors, 0 warnings, 1 message with an id, 1 in all: valid\n"
    );
    let run = fw(folder.path(), "schema check bad.sf");
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    assert_eq!(
        run.text(),
        "error[unresolved_type]: no type named `uint61`
 --> bad.sf:1:30
  |
1 | package demo; message Ping { uint61 seq = 1; bool ack = 3; }
  |                              ^^^^^^
  = hint: did you mean `uint16`?
  = rule: SF-2.11

error[field_number]: field `ack` has number 3, expected 2
 --> bad.sf:1:57
  |
1 | package demo; message Ping { uint61 seq = 1; bool ack = 3; }
  |                                                         ^
  = hint: numbers run 1, 2, 3, … in declaration order; members of a oneof are counted on their own
  = rule: SF-4.4

bad.sf: 2 errors, 0 warnings, INVALID
"
    );
    let run = fw(folder.path(), "schema check bad.sf --json");
    assert_eq!(run.code, 1);
    assert_eq!(run.json()["ok"], false);
    assert_eq!(run.json()["findings"][0]["code"], "unresolved_type");
    assert_eq!(fine(folder.path(), "schema check old.sf --json").json()["message_count"], 1);
    let run = fw(folder.path(), "schema check absent.sf");
    assert_eq!((run.code, run.err.as_str()), (2, "fw: absent.sf: No such file or directory (os error 2)\n"));
    // Binary data is said to be that, in one line.
    std::fs::copy(super::vectors("bintensors/valid").join("attn0.bt"), folder.path().join("w.bt")).expect("copied");
    std::fs::write(folder.path().join("odd.sf"), b"package\0").expect("written");
    for (line, words) in [
        ("schema check w.bt", "fw: w.bt: a BinTensors file, no schema; fw info shows it\n"),
        ("schema layout odd.sf", "fw: odd.sf: no schema: a schema is text, and byte 7 is 0x00\n"),
    ] {
        let run = fw(folder.path(), line);
        assert_eq!((run.code, run.text(), run.err.as_str()), (1, "", words), "fw {line}");
    }
}

#[test]
fn layout() {
    let folder = folder();
    assert_eq!(
        fine(folder.path(), "schema layout old.sf").text(),
        "demo.Ping  id 7 (0x0007)  max 3  base 3  min 3  magic 0d 11
  offset  size  name  type
       0     2  seq   uint16
       2     1  ack   bool
"
    );
    let json = fine(folder.path(), "schema layout old.sf --json").json();
    assert_eq!(json["messages"][0]["fields"][1]["offset"], 2);
    let run = fw(folder.path(), "schema layout bad.sf");
    assert_eq!((run.code, run.text()), (1, ""), "nothing half made for a pipe");
    assert!(run.err.starts_with("error[unresolved_type]"), "{}", run.err);
}

#[test]
fn fmt() {
    let folder = folder();
    let canonical = "package demo;\nmessage Ping { option msgid = 7; uint16 seq = 1; }\n";
    assert_eq!(fine(folder.path(), "schema fmt ugly.sf").text(), canonical);
    let run = fw(folder.path(), "schema fmt --check ugly.sf");
    assert_eq!(
        (run.code, run.text()),
        (1, "ugly.sf: not in canonical form; fw schema fmt --write ugly.sf rewrites it\n")
    );
    assert_eq!(fine(folder.path(), "schema fmt --write ugly.sf").text(), "");
    assert_eq!(std::fs::read_to_string(folder.path().join("ugly.sf")).expect("read"), canonical);
    assert_eq!(fine(folder.path(), "schema fmt --check ugly.sf").text(), "");
    write(folder.path(), "broken.sf", "package demo; message {");
    let run = fw(folder.path(), "schema fmt --write broken.sf");
    assert_eq!((run.code, run.text()), (1, ""));
    assert_eq!(std::fs::read_to_string(folder.path().join("broken.sf")).expect("read"), "package demo; message {");
    std::fs::write(folder.path().join("latin.sf"), b"package caf\xe9;").expect("written");
    let run = fw(folder.path(), "schema fmt latin.sf");
    assert_eq!((run.code, run.err.as_str()), (1, "fw: latin.sf: not UTF-8 text: the first wrong byte is 11\n"));
}

#[test]
fn diff() {
    let folder = folder();
    let run = fw(folder.path(), "schema diff old.sf new.sf");
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    assert_eq!(
        run.text(),
        "BROKEN      demo.Ping  id 7 (0x0007)
            break: magic changed from 0d 11 to 0f 15: checksums do not verify
            break: field `seq` was `seq uint16` and is now `uint32`
            break: the base changed from 3 to 5 bytes: checksums are split elsewhere
            caution: 3 bytes became 5: profiles without a length (Sensor, IPC) cannot mix old and new
old.sf -> new.sf: peers BREAK
"
    );
    assert_eq!(
        fine(folder.path(), "schema diff old.sf old.sf").text(),
        "same        demo.Ping  id 7 (0x0007)\nold.sf -> old.sf: peers understand each other\n"
    );
    let run = fw(folder.path(), "schema diff old.sf new.sf --json");
    assert_eq!((run.code, run.json()["break"].clone()), (1, true.into()));
    assert_eq!(fw(folder.path(), "schema diff old.sf bad.sf").code, 1);
}
