//! What is generated for the example schema is checked in, beside the examples that use it, and stays as it is.
//!
//! After a change on purpose, `FW_BLESS=1 cargo test -p fw-codegen --test golden` writes it anew.

use fw_codegen::{File, Freshness, Lang, LangKind, Options, compare, generate, write};
use fw_schema::Schema;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Where the files of a language lie below `examples/struct-frame`.
fn folder_of(lang: Lang) -> String {
    match lang.kind() {
        LangKind::Code => format!("{lang}/generated"),
        LangKind::Dissector | LangKind::Document => "documents".to_owned(),
    }
}

#[test]
fn generated_files_are_as_checked_in() {
    let (examples, schema) = robot();
    let mut stale = Vec::new();
    for &lang in Lang::ALL {
        let folder = folder_of(lang);
        let files = generate(&schema, lang, &Options::default()).unwrap();
        assert_eq!(generate(&schema, lang, &Options::default()).unwrap(), files, "{lang} gives the same files twice");
        let found = match std::env::var_os("FW_BLESS") {
            Some(_) => write(&examples.join(&folder), &files).unwrap(),
            None => compare(&examples.join(&folder), &files).unwrap(),
        };
        let stale_one =
            |(file, was): (&File, Freshness)| (was != Freshness::Fresh).then(|| format!("{folder}/{}", file.path));
        stale.extend(found.into_iter().filter_map(stale_one));
    }
    assert!(stale.is_empty() || std::env::var_os("FW_BLESS").is_some(), "differ from what is checked in: {stale:?}");
}

/// What is no longer generated would still be compiled by whoever takes all files of a folder.
#[test]
fn nothing_else_lies_beside_them() {
    let (examples, schema) = robot();
    let mut expected = BTreeSet::new();
    for &lang in Lang::ALL {
        let files = generate(&schema, lang, &Options::default()).unwrap();
        expected.extend(files.iter().map(|file| examples.join(folder_of(lang)).join(&file.path)));
    }
    let found: BTreeSet<PathBuf> = Lang::ALL.iter().flat_map(|lang| below(&examples.join(folder_of(*lang)))).collect();
    let surplus: Vec<_> = found.difference(&expected).collect();
    assert!(surplus.is_empty(), "no longer generated: {surplus:?}");
}

/// A part of a runtime that is written and not shipped would be missed by the first program that needs it.
#[test]
fn every_part_of_a_runtime_is_shipped() {
    let (_, schema) = robot();
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("runtime");
    for entry in std::fs::read_dir(&runtime).unwrap() {
        let folder = entry.unwrap().file_name().into_string().unwrap();
        let lang = Lang::ALL.iter().copied().find(|lang| lang.name() == folder).expect("a folder per language");
        let files = generate(&schema, lang, &Options::default()).unwrap();
        let parts = below(&runtime.join(&folder));
        assert!(!parts.is_empty(), "{folder}");
        for part in parts {
            let text = std::fs::read_to_string(&part).unwrap();
            assert!(files.iter().any(|file| file.text.contains(&text)), "not shipped: {}", part.display());
        }
    }
}

/// The bench measures what is generated, not what somebody wrote once.
#[test]
fn the_bench_has_what_is_generated() {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/structframe");
    let schema = fw_schema::check(bench.join("bench.sf")).into_result().unwrap_or_else(|faults| panic!("{faults}"));
    let files = generate(&schema, Lang::Rust, &Options::default()).unwrap();
    let text = &files.iter().find(|file| file.path == "bench.rs").unwrap().text;
    let path = bench.join("src/generated.rs");
    if std::env::var_os("FW_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    assert!(std::fs::read_to_string(&path).unwrap() == *text, "differs from what is generated: {}", path.display());
}

fn robot() -> (PathBuf, Schema) {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/struct-frame");
    let checked = fw_schema::check(examples.join("robot.proto")).into_result();
    (examples, checked.unwrap_or_else(|faults| panic!("{faults}")))
}

/// Every file in a folder and its folders, but for what Python leaves where it has run.
fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .filter(|path| !path.ends_with("__pycache__"))
        .flat_map(|path| if path.is_dir() { below(&path) } else { vec![path] })
        .collect()
}
