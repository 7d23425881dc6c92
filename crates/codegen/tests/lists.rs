//! Documents that list the languages list those of the table.

use fw_codegen::{Lang, LangKind};
use std::path::Path;

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap()
}

/// The rest of the line after the only place where `start` stands.
fn after<'t>(text: &'t str, start: &str) -> &'t str {
    let mut places = text.match_indices(start);
    let (at, _) = places.next().unwrap_or_else(|| panic!("{start:?} is missing"));
    text[at + start.len()..].lines().next().unwrap_or("")
}

#[test]
fn the_readme_lists_every_language() {
    let readme = read("README.md");
    let titles: Vec<&str> = Lang::ALL.iter().map(|lang| lang.title()).collect();
    let (last, others) = titles.split_last().unwrap();
    let listed = after(&readme, "generators for ");
    let expected = format!("{} and {last}", others.join(", "));
    assert!(listed.starts_with(&expected), "README.md lists {listed:?}, the table {expected:?}");

    let code: Vec<&str> = Lang::of_kind(LangKind::Code).map(Lang::name).collect();
    let shown = after(&readme, "fw gen robot.proto --lang ").split(' ').next().unwrap();
    assert_eq!(shown.split(',').collect::<Vec<_>>(), code, "the first example of fw gen");
}

#[test]
fn every_language_in_an_example_exists() {
    for path in ["README.md", "examples/struct-frame/README.md", "CONTRIBUTING.md"] {
        let text = read(path);
        for (at, option) in text.match_indices("--lang ") {
            let words = text[at + option.len()..].split([' ', '\n', '`']).next().unwrap();
            for word in words.split(',').filter(|word| *word != "LANG") {
                assert!(word.parse::<Lang>().is_ok(), "{path}: no language {word:?}");
            }
        }
    }
}

#[test]
fn counts_in_documents_are_those_of_the_table() {
    let code = Lang::of_kind(LangKind::Code).count();
    let word = NUMBERS.get(code).expect("a word for the number of languages");
    for (path, sentence) in [
        ("README.md", format!("{word} languages, a dissector and documents")),
        ("docs/architecture.md", format!("{word} languages, a dissector and documents")),
        ("examples/struct-frame/README.md", format!("One robot, {word} languages")),
    ] {
        assert!(read(path).contains(&sentence), "{path} does not say {sentence:?}");
    }
    assert_eq!(Lang::of_kind(LangKind::Dissector).count(), 1, "the documents speak of one dissector");
}

/// Every language has an example, and the page of examples names its folder.
#[test]
fn every_language_has_an_example() {
    let page = read("examples/struct-frame/README.md");
    for lang in Lang::of_kind(LangKind::Code) {
        assert!(page.contains(&format!("[{lang}]({lang})")), "{lang}");
    }
}

const NUMBERS: [&str; 13] =
    ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
