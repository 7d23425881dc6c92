//! Comments and tests point into the specification: every clause they name must be there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Every `BT-n` or `BT-n.m` in a text.
fn clauses(text: &str) -> BTreeSet<String> {
    text.match_indices("BT-")
        .filter_map(|(place, _)| {
            let rest = &text[place + 3..];
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let clause = rest[..end].trim_end_matches('.');
            (!clause.is_empty()).then(|| clause.to_owned())
        })
        .collect()
}

#[test]
fn every_clause_named_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let spec = std::fs::read_to_string(root.join("../../docs/spec/bintensors.md")).unwrap();
    let defined: BTreeSet<String> = spec
        .lines()
        .filter_map(|line| line.strip_prefix("**BT-").or_else(|| line.strip_prefix("## BT-")))
        .map(|rest| rest.split(['*', ' ']).next().unwrap().to_owned())
        .collect();
    assert!(defined.len() > 60, "only {} clauses", defined.len());
    let mut files = Vec::new();
    sources(root, &mut files);
    let mut named = BTreeSet::new();
    for file in files {
        for clause in clauses(&std::fs::read_to_string(&file).unwrap()) {
            assert!(defined.contains(&clause), "{} names BT-{clause}, which the specification lacks", file.display());
            named.insert(clause);
        }
    }
    // Each chapter has something that points to it.
    for chapter in 1..=12 {
        let points = |clause: &String| clause.split('.').next() == Some(&chapter.to_string());
        assert!(named.iter().any(points), "nothing points to BT-{chapter}");
    }
}
