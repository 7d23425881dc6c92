//! Changed files, read by the reference implementation, which runs as a black box in Python (`FW_PYTHON`): values, metadata and digests
//! are what they were, but for what was asked for.

use fw_convert::Format;
use fw_edit::{
    Change, CopyOptions, Edit, Input, MergeOptions, Names, ReshuffleOptions, SetOptions, SplitOptions, Target, Unit,
    copy, merge, reshuffle, set, split,
};
use fw_query::Where;
use serde_json::{Value as Json, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn the_reference_reads_what_was_changed() {
    let Some(written) = reference(&["write", "15", "60", "masks"]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // Whole messages only: some of the reference's own are streamed, masked, without digests, or without objects.
    let messages: Vec<Vec<u8>> = written.iter().map(|line| unhex(line["message"].as_str().unwrap())).collect();
    let path = at("in.tgm");
    std::fs::write(&path, messages.concat()).unwrap();
    let input = Input { path: &path, format: Format::Tensogram, name: "in.tgm" };
    let before = read(&path);
    assert_eq!(before.len(), 60);

    // Keys: what was there is there, and the new one in every entry, as an integer.
    let changes = [Change::new(Where::default(), Edit::parse("fw_step=12").unwrap())];
    let done = set(&input, Target::new_file(&at("set.tgm")), &changes, &SetOptions::default()).unwrap();
    assert_eq!(done.changed_messages, 60);
    for (number, (old, new)) in before.iter().zip(read(&at("set.tgm"))).enumerate() {
        same_objects(old, &new, number);
        assert_eq!(old["reserved"], new["reserved"], "message {number}: provenance");
        let step = json!([{"s": "fw_step"}, {"i": "12"}]);
        let mut expected = old.clone();
        let maps = match expected["objects"].as_array().unwrap().len() {
            0 => vec![&mut expected["extra"]],
            _ => expected["base"].as_array_mut().unwrap().iter_mut().collect(),
        };
        for map in maps {
            let entries = map["m"].as_array_mut().unwrap();
            entries.push(step.clone());
        }
        assert_eq!(sorted(&expected["base"]), sorted(&new["base"]), "message {number}");
        assert_eq!(sorted(&expected["extra"]), sorted(&new["extra"]), "message {number}");
    }

    // Order: everything at the start, nothing else.
    reshuffle(&input, Target::new_file(&at("index.tgm")), &ReshuffleOptions::default()).unwrap();
    for (number, (old, new)) in before.iter().zip(read(&at("index.tgm"))).enumerate() {
        same_objects(old, &new, number);
        for key in ["base", "extra", "reserved"] {
            assert_eq!(sorted(&old[key]), sorted(&new[key]), "message {number}: {key}");
        }
    }

    // One message of all objects, and a file per object.
    merge(&[input], Target::new_file(&at("all.tgm")), &MergeOptions::default()).unwrap();
    let all = read(&at("all.tgm"));
    let objects = |file: &[Json]| -> Vec<Json> {
        file.iter().flat_map(|message| message["objects"].as_array().unwrap().clone()).collect()
    };
    let bases = |file: &[Json]| -> Vec<Json> {
        file.iter()
            .flat_map(|message| message["base"].as_array().unwrap().iter().map(sorted).collect::<Vec<_>>())
            .collect()
    };
    assert_eq!(all.len(), 1);
    assert!(objects(&all) == objects(&before) && bases(&all) == bases(&before));
    let names = Names::parse(at("part-[index].tgm").to_str().unwrap()).unwrap();
    let parts = split(&input, &names, &SplitOptions::new(Where::parse("ndim>=0").unwrap())).unwrap();
    // In one file again, as the reference takes longer to start than to read.
    let joined: Vec<u8> = parts.files.iter().flat_map(|file| std::fs::read(&file.path).unwrap()).collect();
    std::fs::write(at("parts.tgm"), joined).unwrap();
    let found = read(&at("parts.tgm"));
    assert_eq!(found.len(), parts.files.len());
    assert!(objects(&found) == objects(&before) && bases(&found) == bases(&before));

    // Some objects out of their messages.
    let floats = CopyOptions::new(Where::parse("dtype=float32/float64").unwrap()).with_unit(Unit::Objects);
    copy(&input, &Names::parse(at("floats.tgm").to_str().unwrap()).unwrap(), &floats).unwrap();
    let is_float = |object: &Json| matches!(object["dtype"].as_str(), Some("float32" | "float64"));
    let expected: Vec<Json> = objects(&before).into_iter().filter(is_float).collect();
    assert!(!expected.is_empty() && objects(&read(&at("floats.tgm"))) == expected);
}

#[track_caller]
fn same_objects(old: &Json, new: &Json, number: usize) {
    assert_eq!(old["objects"], new["objects"], "message {number}");
    // A stream that becomes indexed may lose a remark about its flags; nothing else is said about any message.
    let (old, new) = (old["issues"].as_array().unwrap(), new["issues"].as_array().unwrap());
    assert!(new.iter().all(|issue| old.contains(issue)), "message {number}: {new:?}");
}

/// Entries of maps in the order of their keys.
fn sorted(value: &Json) -> Json {
    match value {
        Json::Array(items) => Json::Array(items.iter().map(sorted).collect()),
        Json::Object(map) => {
            let mut map: serde_json::Map<String, Json> =
                map.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            if let Some(Json::Array(entries)) = map.get_mut("m") {
                entries.sort_by_key(ToString::to_string);
            }
            Json::Object(map)
        }
        other => other.clone(),
    }
}

/// What the reference makes of each message of a file; it verifies digests and validates on the way.
fn read(path: &Path) -> Vec<Json> {
    reference(&["file", path.to_str().unwrap()]).expect("it ran before")
}

fn reference(arguments: &[&str]) -> Option<Vec<Json>> {
    let Some(python) = std::env::var_os("FW_PYTHON").map(PathBuf::from) else {
        skip("changed files read by the reference: FW_PYTHON is not set (cargo xtask test sets it)");
        return None;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tensogram/tests/interop/reference.py");
    let output = Command::new(python).arg(script).args(arguments).output().expect("FW_PYTHON runs");
    assert!(output.status.success(), "the reference failed: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("JSON is text");
    Some(text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect())
}

fn skip(reason: &str) {
    eprintln!("SKIPPED {reason}");
    if let Some(path) = std::env::var_os("FW_SKIPPED")
        && let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path)
    {
        _ = writeln!(file, "{reason}");
    }
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}
