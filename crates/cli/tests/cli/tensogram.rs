//! Tensogram files.

use super::{fine, fw, vectors};

#[track_caller]
fn prints(line: &str, expected: &str) {
    assert_eq!(fine(&vectors("tensogram"), line).text(), expected, "fw {line}");
}

#[test]
fn info() {
    prints(
        "info f32_hash.tgm",
        "file       f32_hash.tgm, 560 B
format     Tensogram version 3
messages   1 (1 with digests, 0 streamed)
objects    1, 12 B decoded, 12 B stored (1.00 to 1)
shapes     3 (1)
types      float32 (1)
pipelines  raw (1)
encoders   tensogram 0.24.0 (1)
written    2026-11-15T19:54:58Z
",
    );
    prints(
        "info multi_junk_between.tgm",
        "file       multi_junk_between.tgm, 1.64 KiB
format     Tensogram version 3
messages   3 (3 with digests, 0 streamed)
objects    3, 12 B decoded, 12 B stored (1.00 to 1)
shapes     3 (1), 4 (1), 5 (1)
types      uint8 (3)
pipelines  raw (3)
encoders   tensogram 0.24.0 (3)
written    2026-11-15T19:54:58Z
outside    27 B are not part of any message; run fw validate for details
",
    );
    let json = fine(&vectors("tensogram"), "info f32_hash.tgm --json").json();
    assert_eq!(
        (&json["format"], &json["file_bytes"], &json["data_bytes"]),
        (&"tensogram".into(), &560.into(), &12.into())
    );
}

#[test]
fn ls() {
    prints(
        "ls two_objects_metadata.tgm",
        "message  object  name  dtype    shape  pipeline  stored  decoded
      0       0  2t    float32  3      raw         12 B     12 B
      0       1  msl   int16    2x2    raw          8 B      8 B
",
    );
    prints(
        "ls zstd_i32.tgm",
        "message  object  name      dtype  shape  pipeline  stored  decoded
      0       0  object_0  int32  64     zstd       111 B    256 B
",
    );
    prints(
        "ls zero_object.tgm",
        "message  object  name          dtype  shape  pipeline  stored  decoded
      0       -  (no objects)
",
    );
    let json = fine(&vectors("tensogram"), "ls two_objects_metadata.tgm --json").json();
    assert_eq!(json["tensors"][1]["name"], "msl");
    assert_eq!(json["tensors"][1]["shape"], serde_json::json!([2, 2]));
}

/// A descriptor that cannot be read is a row of question marks, and a remark beside the table.
#[test]
fn ls_of_a_broken_object() {
    let run = fw(&vectors("tensogram"), "ls desc_missing_dtype.tgm");
    assert_eq!(run.code, 1);
    assert_eq!(
        run.text(),
        "message  object  name  dtype  shape  pipeline  stored  decoded
      0       0  ?     ?      ?      ?           12 B        ?
"
    );
    assert!(
        run.err.starts_with("message 0, object 0: metadata: descriptor has no \"dtype\" at byte 84"),
        "{}",
        run.err
    );
}

#[test]
fn dump() {
    prints(
        "dump two_objects_metadata.tgm",
        "message 0, bytes 0..912 (912 B)
  flags: 0x0095 = HEADER_METADATA | HEADER_INDEX | HEADER_HASHES | HASHES_PRESENT
  metadata:
    run: 20240115
    source: \"ifs\"
  provenance:
    encoder: {\"name\":\"tensogram\",\"version\":\"0.24.0\"}
    time: \"2026-11-15T19:54:58Z\"
    uuid: \"9eb65566-5a99-41b0-a96d-8b5dce25b79d\"
  object 0, frame at byte 560:
    float32 3, little endian, raw, stored in 12 B
    mars: {\"step\":6,\"param\":\"2t\",\"levtype\":\"sfc\"}
    units: \"K\"
  object 1, frame at byte 728:
    int16 2x2, little endian, raw, stored in 8 B
    mars: {\"step\":6,\"param\":\"msl\"}
    units: \"Pa\"
    valid: true
",
    );
    prints(
        "dump multi_three.tgm --message 1",
        "message 1, bytes 552..1104 (552 B)
  flags: 0x0095 = HEADER_METADATA | HEADER_INDEX | HEADER_HASHES | HASHES_PRESENT
  metadata:
    n: 2
  provenance:
    encoder: {\"name\":\"tensogram\",\"version\":\"0.24.0\"}
    time: \"2026-11-15T19:54:58Z\"
    uuid: \"1c115f0a-ad01-472e-b5bc-005133ea4980\"
  object 0, frame at byte 928:
    uint8 4, little endian, raw, stored in 4 B
",
    );
    let json = fine(&vectors("tensogram"), "dump multi_three.tgm --json").json();
    assert_eq!(json["messages"].as_array().map(Vec::len), Some(3));
    assert_eq!(json["messages"][1]["metadata"]["_extra_"]["n"], 2);
    let json = fine(&vectors("tensogram"), "dump masks_small.tgm --json").json();
    assert_eq!(json["messages"][0]["objects"][0]["masks"][1]["kind"], "inf+");
}

/// The worked example of the format's description: the same ranges, bytes and words, hex indented by CBOR depth.
#[test]
fn dump_hex() {
    prints("dump --hex f32_hash.tgm", include_str!("f32_hash.hex.txt"));
    let json = fine(&vectors("tensogram"), "dump --hex f32_hash.tgm --json").json();
    assert_eq!(json["messages"][0]["offset"], 0);
    assert!(json["messages"][0]["tree"].is_object());
}

/// Later messages show the bytes of the file, not of the message; every byte is shown once.
#[test]
fn dump_hex_covers_the_file() {
    let run = fine(&vectors("tensogram"), "dump --hex multi_three.tgm");
    let mut reached = 0u64;
    for line in run.text().lines().filter(|line| !line.starts_with(['-', '='])) {
        let (range, rest) = line.split_once("  ").expect("range, then hex");
        let (start, end) = range.split_once("..").expect("a range");
        assert_eq!(start.parse::<u64>().expect("a number"), reached, "{line}");
        reached = end.parse().expect("a number");
        assert!(rest.trim_start().split_once("  ").is_some(), "hex, then meaning: {line}");
    }
    let len = std::fs::metadata(vectors("tensogram").join("multi_three.tgm")).expect("it is there").len();
    assert_eq!(reached, len);
}

#[test]
fn validate() {
    prints(
        "validate f32_hash.tgm",
        "f32_hash.tgm: 1 message, 1 object, 0 errors, 0 warnings, 1 message verified by digest: valid\n",
    );
    let folder = vectors("tensogram");
    let run = fw(&folder, "validate flip_obj0_payload.tgm");
    let hint = "hint: fw recover flip_obj0_payload.tgm -o repaired.tgm saves what is intact\n";
    assert_eq!((run.code, run.err.as_str()), (1, hint));
    assert_eq!(
        run.text(),
        "error[hash_mismatch] message[0].object[0]: stored e1389444acf19752, computed 24240d4c68b72151 (bytes 464..629)
flip_obj0_payload.tgm: 1 message, 2 objects, 1 error, 0 warnings, 0 messages verified by digest: INVALID
"
    );
    let run = fw(&folder, "validate multi_junk_between.tgm");
    assert_eq!(run.code, 1);
    assert_eq!(
        run.text(),
        "error[gap_between_messages]: 4 bytes between messages are not part of any message (bytes 0..4)
error[gap_between_messages]: 13 bytes between messages are not part of any message (bytes 556..569)
error[gap_between_messages]: 5 bytes between messages are not part of any message (bytes 1121..1126)
error[trailing_bytes]: 5 bytes after the last message are not part of any message (bytes 1678..1683)
multi_junk_between.tgm: 3 messages, 3 objects, 4 errors, 0 warnings, 3 messages verified by digest: INVALID
"
    );
    let run = fw(&folder, "validate flip_obj0_payload.tgm --json");
    assert_eq!(run.code, 1);
    assert!(run.json().to_string().contains("hash_mismatch"));
    // Structure alone is in order.
    assert_eq!(fw(&folder, "validate flip_obj0_payload.tgm --mode quick").code, 0);
    for mode in ["quick", "checksum", "default", "full"] {
        assert_eq!(fw(&folder, &format!("validate f32_hash.tgm --mode {mode} --rules canonical")).code, 0);
    }
}

#[test]
fn cat() {
    let elements = b"\0\0\xc0\x3f\0\0\x10\xc0\0\0\x80\x44";
    let folder = vectors("tensogram");
    assert_eq!(fine(&folder, "cat f32_hash.tgm").out, elements);
    let npy = fine(&folder, "cat f32_hash.tgm --npy").out;
    let (head, data) = npy.split_at(128);
    assert_eq!(data, elements);
    let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
    let expected = [&b"\x93NUMPY\x01\0\x76\0"[..], format!("{text:<117}\n").as_bytes()].concat();
    assert_eq!(head, expected);
    prints("cat f32_hash.tgm --text", "1.5 -2.25 1024.0\n");
    prints("cat two_objects_metadata.tgm --object 1 --text", "-32768 32767\n17195 11710\n");
    prints("cat two_objects_metadata.tgm --tensor msl --text", "-32768 32767\n17195 11710\n");
    let by_place = fine(&folder, "cat multi_three.tgm --message 2 --text").out;
    assert_eq!(fine(&folder, "cat multi_three.tgm --tensor 2/object_0 --text").out, by_place);
    assert_eq!(fine(&folder, "cat multi_three.tgm --message 2").out.len(), 5);
    assert_eq!(fine(&folder, "cat multi_three.tgm --message 2 --tensor object_0 --text").out, by_place);
    prints("cat two_objects_metadata.tgm --message 0 --tensor msl --text", "-32768 32767\n17195 11710\n");
    for (line, words) in [
        (
            "cat multi_three.tgm --tensor object_0",
            "fw: multi_three.tgm: 3 messages have a tensor named \"object_0\"\nhint: add --message 0, or use --tensor 0/object_0\n",
        ),
        (
            "cat multi_three.tgm --message 7 --tensor object_0",
            "fw: multi_three.tgm: message 7: no tensor is named \"object_0\"\nhint: fw ls lists the names\n",
        ),
        (
            "cat two_objects_metadata.tgm --message 1 --tensor msl",
            "fw: two_objects_metadata.tgm: message 1: no tensor is named \"msl\"\nhint: fw ls lists the names\n",
        ),
    ] {
        let run = fw(&folder, line);
        assert_eq!((run.code, run.err.as_str()), (2, words), "fw {line}");
    }
}

/// A frame of a type that version 3 does not have: said, stepped over, and what follows is still shown, by the number that
/// the index has for it.
#[test]
fn unknown_frames_are_stepped_over() {
    let folder = vectors("tensogram");
    let said = "frame type 10, unknown is not part of version 3 and was skipped (bytes 464..629)";
    let run = fw(&folder, "ls frame_type_10.tgm");
    assert_eq!(run.code, 1);
    assert_eq!(
        run.text(),
        "message  object  name      dtype  shape  pipeline  stored  decoded
      0       1  object_1  int16  3      raw          6 B      6 B
"
    );
    assert!(run.err.contains(said), "{}", run.err);
    let json = fw(&folder, "ls frame_type_10.tgm --json").json();
    assert_eq!(json["findings"][0]["span"], serde_json::json!([464, 629]));
    assert_eq!(json["tensors"][0]["offset"], 632);

    let run = fw(&folder, "dump frame_type_10.tgm");
    assert_eq!(run.code, 0);
    let object = "  object 1, frame at byte 632:\n    int16 3, little endian, raw, stored in 6 B\n";
    assert!(run.text().contains(object) && run.text().contains(said), "{}", run.text());

    let run = fw(&folder, "validate frame_type_10.tgm");
    let hint = "hint: fw recover frame_type_10.tgm -o repaired.tgm saves what is intact\n";
    assert_eq!((run.code, run.err.as_str()), (1, hint));
    assert!(run.text().starts_with(&format!("error[invalid_frame_header] message[0]: {said}\n")), "{}", run.text());
    // What no longer fits because of it is said as well: the walk went on.
    for code in ["index_count_mismatch", "hash_frame_count_mismatch", "base_count_exceeds_objects"] {
        assert!(run.text().contains(&format!("error[{code}] message[0]: ")), "{code}: {}", run.text());
    }
    assert!(run.text().contains("frame_type_10.tgm: 1 message, 1 object, "), "{}", run.text());
}

/// The tour takes no time and leaves its files in one folder.
#[test]
fn tour_is_quick_and_tidy() {
    let folder = tempfile::tempdir().expect("a folder");
    let start = std::time::Instant::now();
    fine(folder.path(), "tour");
    // Five hundredths of a second on an idle machine; a busy one gets plenty.
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    let names = |path: &std::path::Path| {
        let entries = std::fs::read_dir(path).expect("a folder");
        let mut names: Vec<_> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(folder.path()), ["fw-tour"]);
    let left = names(&folder.path().join("fw-tour"));
    let left: Vec<&str> = left.iter().filter_map(|name| name.to_str()).collect();
    for name in [
        ".tour",
        "forecast.tgm",
        "forecast.bt",
        "forecast.safetensors",
        "forecast.npz",
        "flight.bin",
        "2t.svg",
        "snow.png",
    ] {
        assert!(left.contains(&name), "{name} in {left:?}");
    }
    assert_eq!(left.len(), 23, "{left:?}");
}

/// The page shows every step and names every file, and nothing in it comes from elsewhere.
#[test]
fn tour_leaves_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = fine(folder.path(), "tour --json").json();
    let page = std::fs::read_to_string(folder.path().join("fw-tour/index.html")).expect("the page");
    let steps = json["steps"].as_array().expect("a list");
    assert!(steps.len() > 20);
    for step in steps {
        let title = step["title"].as_str().expect("text");
        assert!(page.contains(&title.replace('\'', "&#39;")), "{title}");
    }
    for file in json["files"].as_array().expect("a list") {
        let name = file.as_str().and_then(|file| file.strip_prefix("fw-tour/")).expect("a file of the tour");
        assert!(
            folder.path().join("fw-tour").join(name).exists() && page.contains(&format!("href=\"{name}\"")),
            "{name}"
        );
    }
    // The only address in it is the name of a vocabulary, which nobody fetches.
    let bare = page.replace("http://www.w3.org/2000/svg", "");
    assert!(page.contains("src=\"data:image/svg+xml,") && !bare.contains("http://") && !bare.contains("https://"));
    assert!(!page.contains("<script") && !page.contains(folder.path().to_str().expect("text")));
    let picture = |name: &str| std::fs::read(folder.path().join("fw-tour").join(name)).expect("a picture");
    assert!(picture("snow.png").starts_with(b"\x89PNG") && picture("2t.svg").starts_with(b"<"));
}

/// The tour runs twice in the same place, and what it leaves behind is what it says.
#[test]
fn tour() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = fine(folder.path(), "tour");
    for part in
        ["1. List what", "$ fw stats fw-tour/forecast.tgm\n", "error[hash_mismatch]", ": 9 identical, 0 different\n"]
    {
        assert!(first.text().contains(part), "{part}: {}", first.text());
    }
    let again = |name: &str| std::fs::read(folder.path().join("fw-tour").join(name)).expect("it is there");
    assert!(again("flight.bin") == again("again.bin"));
    fine(folder.path(), "tour");
    fine(folder.path(), "validate fw-tour/forecast.tgm --mode full");
    assert_eq!(fw(folder.path(), "validate fw-tour/damaged.tgm").code, 1);
    fine(folder.path(), "diff fw-tour/forecast.tgm fw-tour/forecast.npz");
}

/// What others put into the folder stays there, and so does a finished tour whose reader goes away.
#[test]
fn tour_replaces_only_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join("fw-tour").join(name);
    std::fs::create_dir(folder.path().join("fw-tour")).expect("made");
    std::fs::write(at("robot.sf"), "precious").expect("written");
    let refused = |name: &str| {
        let run = fw(folder.path(), "tour");
        assert_eq!((run.code, run.text()), (2, ""), "{}", run.err);
        let words = format!("changed since: {name}\nhint: use --force to overwrite them");
        assert!(
            run.err.starts_with("fw: fw-tour: has files that no tour wrote") && run.err.contains(&words),
            "{}",
            run.err
        );
        assert_eq!(std::fs::read(at(name)).expect("there"), b"precious");
    };
    refused("robot.sf");
    assert_eq!(std::fs::read_dir(folder.path().join("fw-tour")).expect("a folder").count(), 1, "nothing is made");
    fine(folder.path(), "tour --force");
    std::fs::write(at("mine.txt"), "mine").expect("written");
    std::fs::remove_file(at("again.bin")).expect("removed");
    fine(folder.path(), "tour");
    std::fs::write(at("flight.jsonl"), "precious").expect("written");
    refused("flight.jsonl");
    fine(folder.path(), "tour --force");
    assert_eq!(std::fs::read(at("mine.txt")).expect("there"), b"mine");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut again = std::process::Command::new(env!("CARGO_BIN_EXE_fw"));
    assert!(again.arg("tour").current_dir(folder.path()).stdout(writer).status().expect("fw runs").success());
    assert_eq!(std::fs::read_dir(folder.path().join("fw-tour")).expect("a folder").count(), 24);
    fine(folder.path(), "validate fw-tour/flight.tgm --mode full");
}

/// Everything that a vector can do to us ends in an answer.
#[test]
fn no_vector_crashes_a_command() {
    let folder = vectors("tensogram");
    let mut files: Vec<String> = std::fs::read_dir(&folder)
        .expect("vectors")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".tgm"))
        .collect();
    files.sort();
    assert!(files.len() > 150);
    for file in files {
        for line in
            ["info", "ls --json", "dump --data", "dump --hex", "validate --mode full --json", "cat", "stats", "plot"]
        {
            let run = fw(&folder, &format!("{line} {file}"));
            assert!(matches!(run.code, 0..=2), "fw {line} {file}: {} {}", run.code, run.err);
            assert!(!run.err.contains("panicked"), "fw {line} {file}: {}", run.err);
        }
    }
}

/// Bytes that belong to no message are not passed over in silence.
#[test]
fn ls_says_what_it_does_not_list() {
    let folder = tempfile::tempdir().unwrap();
    let message = std::fs::read(vectors("tensogram").join("frame_type_10.tgm")).unwrap();
    std::fs::write(folder.path().join("cut.tgm"), [&message[..], &message, &message[..100]].concat()).unwrap();
    let run = fw(folder.path(), "ls cut.tgm");
    assert_eq!(run.code, 1);
    assert!(run.err.contains("100 bytes are not part of any message; fw validate shows where they are"), "{}", run.err);
    // Faults of the second message stand where they are in the file.
    let (start, end) = (message.len() + 464, message.len() + 629);
    assert!(run.err.contains("message[1]: ") && run.err.contains(&format!("(bytes {start}..{end})")), "{}", run.err);
    let findings = fw(folder.path(), "ls cut.tgm --json").json()["findings"].clone();
    let findings = findings.as_array().expect("a list");
    let said = |path: &str, span: [usize; 2]| {
        findings.iter().any(|one| one["path"] == path && one["span"] == serde_json::json!(span))
    };
    assert!(said("message[0]", [464, 629]) && said("message[1]", [start, end]), "{findings:?}");
    assert_eq!(findings.last().expect("one")["code"], "bytes_outside_messages");
}
