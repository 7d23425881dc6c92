//! Every clause of the specification is shown by something that can fail, and every clause that is cited exists.
//!
//! A clause is a numbered item of a page in `docs/spec` (`**TG-4.5** …`), or a heading without numbered items. It is shown when a
//! test cites it, or when `conformance/clauses.txt` names vectors or tests for it. A clause that leaves nothing to test says so in the
//! page: `(Nothing to test: …)`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::context::Context;
use crate::outcome::Outcome;

const PAGES: &[&str] = &["tensogram.md", "bintensors.md", "struct-frame.md", "codecs.md", "recording.md"];
const PREFIXES: &[&str] = &["TG-", "BT-", "SF-", "REC-"];
const UNTESTABLE: &str = "(Nothing to test: ";

/// One check per clause, and one per line of `conformance/clauses.txt` or source file that is wrong.
pub(crate) fn check(context: &mut Context) -> Result<Outcome> {
    let root = &context.root;
    let mut pages = Page::default();
    for page in PAGES {
        pages.read(&read(&root.join("docs/spec").join(page))?);
    }
    let mut faults = Vec::new();
    let mut cited = BTreeSet::new();
    for path in sources(root)? {
        let text = read(&path)?;
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        for clause in citations(&text).into_iter().filter(|clause| !pages.exists(clause)) {
            faults.push(format!("{name} cites {clause}, which is not a clause of docs/spec"));
        }
        if path.extension().is_some_and(|extension| extension == "rs") {
            cited.extend(citations(&tests_of(&name, &text)));
        }
    }
    let rows = rows(&root.join("vectors"))?;
    let list = read(&root.join(LIST))?;
    for (number, line) in list.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let clause = words.next().unwrap_or("");
        let proofs: Vec<&str> = words.collect();
        let missing = proofs.iter().find(|proof| !is_proof(root, &rows, proof));
        match missing {
            _ if !pages.exists(clause) => faults.push(format!("{LIST}:{}: no clause {clause}", number + 1)),
            Some(proof) => faults.push(format!("{LIST}:{}: no vector or test {proof}", number + 1)),
            None if proofs.is_empty() => faults.push(format!("{LIST}:{}: nothing shows {clause}", number + 1)),
            None => drop(cited.insert(clause.to_owned())),
        }
    }
    let mut passed = 0;
    for clause in &pages.clauses {
        match (cited.contains(clause), pages.untestable.contains(clause)) {
            (false, false) => faults.push(format!("{clause} is cited by no test and no vector ({LIST})")),
            (true, true) => faults.push(format!("{clause} says that there is nothing to test, and is cited by a test")),
            (true, false) | (false, true) => passed += 1,
        }
    }
    faults.iter().for_each(|fault| eprintln!("{fault}"));
    Ok(Outcome { passed, failed: faults.len() as u64, ..Outcome::default() })
}

/// Which vectors and tests show a clause, where these do not cite it themselves.
const LIST: &str = "conformance/clauses.txt";

/// The clauses of all pages.
#[derive(Debug, Default)]
struct Page {
    /// What must be shown.
    clauses: BTreeSet<String>,
    /// Those of them that leave nothing to test.
    untestable: BTreeSet<String>,
    /// Headings over clauses: they may be cited, and show nothing.
    chapters: BTreeSet<String>,
}

impl Page {
    fn read(&mut self, text: &str) {
        let mut items: BTreeMap<String, String> = BTreeMap::new();
        let mut headings = BTreeSet::new();
        let mut current = None;
        for line in text.lines() {
            if let Some(heading) = line.strip_prefix("## ") {
                current = citations(heading).into_iter().next().filter(|clause| heading.starts_with(clause.as_str()));
                headings.extend(current.clone());
            } else if let Some(item) = line.strip_prefix("**").and_then(|rest| rest.split_once("** ")) {
                current = citations(item.0).into_iter().next().filter(|clause| clause == item.0).or(current);
            }
            if let Some(clause) = &current {
                items.entry(clause.clone()).or_default().push_str(line);
            }
        }
        for heading in headings {
            let chapter = format!("{heading}.");
            if items.keys().any(|clause| clause.starts_with(&chapter)) {
                items.remove(&heading);
                self.chapters.insert(heading);
            }
        }
        for (clause, text) in items {
            if text.contains(UNTESTABLE) {
                self.untestable.insert(clause.clone());
            }
            self.clauses.insert(clause);
        }
    }

    fn exists(&self, clause: &str) -> bool {
        self.clauses.contains(clause) || self.chapters.contains(clause)
    }
}

/// Every clause that a text names: `TG-4`, `TG-4.5`, `TG-C9.2`, `TG-A`.
fn citations(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for prefix in PREFIXES {
        for (at, _) in text.match_indices(prefix) {
            let before = text[..at].chars().next_back();
            let rest = &text[at + prefix.len()..];
            let letter = rest.chars().take_while(char::is_ascii_uppercase).count();
            let digits = rest[letter..].find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len() - letter);
            let number = rest[..letter + digits].trim_end_matches('.');
            let is_name =
                before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '-') || number.is_empty() || letter > 1;
            // A range, as in `TG-4.5`-`TG-4.7`, is two citations; `TG-4-byte` is none.
            let follows = rest[number.len()..].chars().next();
            if !is_name && !follows.is_some_and(|c| c.is_ascii_alphabetic() || c == '_') {
                found.insert(format!("{prefix}{number}"));
            }
        }
    }
    found
}

/// The parts of a source file that are tests: all of it below `tests` and in the conformance runner, else its test module.
fn tests_of(name: &str, text: &str) -> String {
    let file = Path::new(name);
    let whole = name.starts_with("conformance/")
        || file.components().any(|part| part.as_os_str() == "tests")
        || file.file_stem().is_some_and(|stem| stem == "tests");
    if whole {
        return text.to_owned();
    }
    text.find("#[cfg(test)]\nmod ").map_or_else(String::new, |at| text[at..].to_owned())
}

/// Sources and documents that may cite clauses. This crate's own tests cite clauses that do not exist.
fn sources(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = vec![root.join("CONTRIBUTING.md"), root.join("README.md")];
    for (folder, extension) in [("crates", "rs"), ("conformance", "rs"), ("docs", "md")] {
        files(&root.join(folder), extension, &mut found)?;
    }
    Ok(found)
}

fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) -> Result<()> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() && path.file_name().is_none_or(|name| name != "target") {
            files(&path, extension, found)?;
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    Ok(())
}

/// The rows of every manifest, as folder and id: `struct-frame/12-streams/crc-middle`.
fn rows(vectors: &Path) -> Result<BTreeSet<String>> {
    let mut manifests = Vec::new();
    files(vectors, "json", &mut manifests)?;
    let mut rows = BTreeSet::new();
    for path in manifests {
        let folder = path.parent().unwrap_or(vectors).strip_prefix(vectors)?.display().to_string();
        let json: Value = serde_json::from_str(&read(&path)?).with_context(|| path.display().to_string())?;
        collect(&json, &folder, &mut rows);
    }
    Ok(rows)
}

fn collect(json: &Value, folder: &str, rows: &mut BTreeSet<String>) {
    match json {
        Value::Array(items) => items.iter().for_each(|item| collect(item, folder, rows)),
        Value::Object(map) => match ["id", "file", "name"].iter().find_map(|key| map.get(*key)?.as_str()) {
            Some(id) => drop(rows.insert(format!("{folder}/{id}"))),
            None => map.values().for_each(|item| collect(item, folder, rows)),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether a word of the list is a row (a trailing `*` is any ending), or a test as `path::function`.
fn is_proof(root: &Path, rows: &BTreeSet<String>, word: &str) -> bool {
    if let Some((path, function)) = word.split_once("::") {
        let text = fs::read_to_string(root.join(path)).unwrap_or_default();
        return tests_of(path, &text).contains(&format!("fn {function}("));
    }
    match word.strip_suffix('*') {
        Some(start) => rows.iter().any(|row| row.starts_with(start)),
        None => rows.contains(word),
    }
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn citations_are_found() {
        let text = "TG-4.5, (BT-12); SF-3.5. TG-C9.2: TG-A and TG-9's; not XTG-1, BT-, TG-4-byte? TG-1x, a-SF-2";
        assert_eq!(citations(text), set(&["TG-4.5", "BT-12", "SF-3.5", "TG-C9.2", "TG-A", "TG-9", "TG-4"]));
    }

    #[test]
    fn pages_have_clauses_chapters_and_headings_that_are_clauses() {
        let mut page = Page::default();
        page.read(
            "# Title with TG-9\n\n## TG-1 One\n\n**TG-1.1** First.\n**We:** bold.\n\n**TG-1.2** Second.\n(Nothing to test: a name.)\n\n\
             ## TG-2 Two\n\nA table.\n\n## Worked example\n\n**TG-1.1** is shown.\n",
        );
        assert_eq!(page.clauses, set(&["TG-1.1", "TG-1.2", "TG-2"]));
        assert_eq!(page.untestable, set(&["TG-1.2"]));
        assert!(page.exists("TG-1") && page.exists("TG-2") && !page.exists("TG-9"));
    }

    #[test]
    fn only_tests_count() {
        let text = "//! TG-1.1\nfn f() {}\n#[cfg(test)]\nmod tests { /// TG-1.2\n }";
        assert_eq!(citations(&tests_of("crates/x/src/a.rs", text)), set(&["TG-1.2"]));
        assert_eq!(citations(&tests_of("crates/x/tests/a.rs", text)), set(&["TG-1.1", "TG-1.2"]));
        assert_eq!(citations(&tests_of("crates/x/src/a/tests.rs", text)), set(&["TG-1.1", "TG-1.2"]));
        assert_eq!(tests_of("crates/x/src/a.rs", "#[cfg(test)]\nextern crate std;\n// TG-1.1"), "");
    }

    #[test]
    fn rows_are_named_by_folder_and_id() {
        let json = serde_json::json!({ "title": "t", "cases": [{ "id": "a", "inner": { "id": "b" } }], "deep": { "list": [{ "file": "c.bt" }] } });
        let mut rows = BTreeSet::new();
        collect(&json, "set", &mut rows);
        assert_eq!(rows, set(&["set/a", "set/c.bt"]));
        let is_row = |word: &str| is_proof(Path::new("/nowhere"), &rows, word);
        assert!(is_row("set/a") && is_row("set/c*"));
        assert!(!is_row("set/b") && !is_row("set/d*") && !is_row("src/none.rs::test"));
    }
}
