//! What the tests of several languages share.
#![allow(dead_code, reason = "each test uses its share")]

pub(crate) mod keywords; // the words of C and C++

use fw_codegen::lang::RustSerde;
use fw_codegen::{File, Lang, Options, generate};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Every schema of the vectors, the example, the one made to hurt, one that needs little and names much, and one with comments that
/// would become code, and an empty package.
pub(crate) fn schemas() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = vec![
        ("robot".to_owned(), root.join("../../examples/struct-frame/robot.proto")),
        ("torture".to_owned(), root.join("tests/schemas/torture.sf")),
        ("quiet".to_owned(), root.join("tests/schemas/quiet.sf")),
        ("comments".to_owned(), root.join("tests/schemas/comments.sf")),
        ("empty".to_owned(), root.join("tests/schemas/empty.sf")),
    ];
    let mut groups: Vec<_> =
        fs::read_dir(root.join("../../vectors/struct-frame")).unwrap().map(|entry| entry.unwrap().path()).collect();
    groups.sort();
    // Several groups share a schema; once is enough.
    let mut seen = BTreeSet::new();
    for group in groups.iter().filter(|group| group.is_dir() && !group.ends_with("14-schema-checks")) {
        let mut files: Vec<_> = fs::read_dir(group).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "sf" || end == "proto")) {
            if !seen.insert(fs::read(file).unwrap()) {
                continue;
            }
            let name = format!("{}_{}", group.file_name().unwrap().display(), file.file_stem().unwrap().display());
            found.push((format!("v{}", name.replace('-', "_")), file.clone()));
        }
    }
    found
}

/// What is generated for a schema.
pub(crate) fn generated(path: &Path, lang: Lang) -> Vec<File> {
    let schema = fw_schema::check(path).into_result().unwrap_or_else(|faults| panic!("{}:\n{faults}", path.display()));
    generate(&schema, lang, &Options::default().with_rust_serde(RustSerde::Feature)).unwrap()
}

/// Runs a command that must succeed and returns what it printed.
pub(crate) fn run(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?}\n{stdout}{stderr}");
    stdout.into_owned()
}

/// True when a tool is there.
pub(crate) fn has(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok()
}

/// Says that something could not be tried here, where `cargo xtask test` collects it.
pub(crate) fn skip(what: &str) {
    eprintln!("skipped: {what}");
    if let Some(log) = std::env::var_os("FW_SKIPPED") {
        let mut log = fs::OpenOptions::new().append(true).create(true).open(log).unwrap();
        writeln!(log, "{what}").unwrap();
    }
}
