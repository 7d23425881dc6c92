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
        ("schema check w.bt", "fw: w.bt: is a BinTensors file, not a schema\nhint: fw info shows it\n"),
        ("schema layout odd.sf", "fw: odd.sf: is not a schema: byte 7 is 0x00, and a schema is text\n"),
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
    assert_eq!((&json["packages"][0]["name"], &json["variable"]), (&"demo".into(), &"as_declared".into()));
    assert_eq!(fine(folder.path(), "schema layout old.sf --no-packed --json").json()["variable"], "all");
    write(
        folder.path(),
        "three.sf",
        "package p; message In { uint8 x = 1; } message A { option msgid = 1; In i = 1; } message B { option msgid = 2; uint8 y = 1; }",
    );
    let text = "p.B  id 2 (0x0002)  max 1  base 1  min 1  magic 02 02\n  offset  size  name  type\n       0     1  y     uint8\n";
    assert_eq!(fine(folder.path(), "schema layout three.sf B").text(), text);
    assert_eq!(fine(folder.path(), "schema layout three.sf 2").text(), text);
    let json = fine(folder.path(), "schema layout three.sf A --json").json();
    let names = |json: &serde_json::Value| {
        let messages = json["messages"].as_array().expect("a list").clone();
        messages.iter().map(|message| message["name"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&json), ["In", "A"], "with what it contains");
    let run = fw(folder.path(), "schema layout three.sf Z");
    assert_eq!((run.code, run.err.as_str()), (2, "fw: Z: no such message; the schema has In, A, B\n"));
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
        (1, "ugly.sf: not in canonical form\nhint: run fw schema fmt --write ugly.sf\n")
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
            break: `seq` was `uint16` and is now `uint32`
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

/// Fields, enum values and extensions that changed places; and a trailing extension that was dropped.
#[test]
fn diff_follows_names() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "old.sf", include_str!("../data/structframe/diff_swap_old.sf"));
    write(folder.path(), "new.sf", include_str!("../data/structframe/diff_swap_new.sf"));
    let run = fw(folder.path(), "schema diff old.sf new.sf");
    assert_eq!(
        (run.code, run.text()),
        (
            1,
            "BROKEN      p.M  id 1 (0x0001)
            break: field `v.lat` was number 1 and is now number 2
            break: field `v.lon` was number 2 and is now number 1
            break: enum `Dir`: `LEFT` was 0 and is now 1
            break: enum `Dir`: `RIGHT` was 1 and is now 0
BROKEN      p.N  id 2 (0x0002)
            break: field `roll` was number 1 and is now number 2
            break: field `pitch` was number 2 and is now number 1
BROKEN      p.X  id 3 (0x0003)
            break: field `hum` was number 2 and is now number 3
            note: extension field `hum` was added
            caution: 2 bytes became 3: profiles without a length (Sensor, IPC) cannot mix old and new
old.sf -> new.sf: peers BREAK
"
        )
    );
    write(folder.path(), "a.sf", include_str!("../data/structframe/remove_ext_a.sf"));
    write(folder.path(), "b.sf", include_str!("../data/structframe/remove_ext_b.sf"));
    for (line, change) in [("a.sf b.sf", "removed"), ("b.sf a.sf", "added")] {
        let run = fine(folder.path(), &format!("schema diff {line}"));
        assert!(run.text().contains(&format!("note: extension field `b` was {change}")), "{}", run.text());
        assert!(run.text().ends_with("peers understand each other\n"), "{}", run.text());
    }
}

/// Ids that a one-byte field cannot carry.
#[test]
fn wide_ids_are_warned_about() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "plain.sf", "package p; message M { option msgid = 300; uint8 a = 1; }");
    write(folder.path(), "package.sf", "package p; option pkgid = 3; message M { option msgid = 1; uint8 a = 1; }");
    for (line, warnings) in [
        ("plain.sf", 1),
        ("plain.sf --profile standard", 1),
        ("plain.sf --profile bulk", 0),
        ("package.sf", 0),
        ("package.sf --profile sensor", 1),
        ("package.sf --profile network", 0),
    ] {
        let run = fine(folder.path(), &format!("schema check {line} --json"));
        assert_eq!(run.json()["warning_count"], warnings, "{line}");
        if warnings == 1 {
            assert_eq!(run.json()["findings"][0]["code"], "id_over_byte", "{line}");
        }
    }
}
