//! Documents generated from every schema of the vectors: GraphQL that a GraphQL library accepts, Markdown without holes.

use fw_codegen::{Lang, Options, generate};
use fw_schema::Schema;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every schema that the vectors hold and that compiles, with its path.
fn schemas() -> Vec<(PathBuf, Schema)> {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/struct-frame");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(vectors)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()))
        .filter(|path| path.extension().is_some_and(|end| end == "proto" || end == "sf"))
        .collect();
    paths.sort();
    let compiled = paths.into_iter().filter_map(|path| Some((path.clone(), fw_schema::check(&path).schema?)));
    compiled.collect()
}

#[test]
fn markdown_names_every_message_and_field() {
    for (path, schema) in schemas() {
        let files = generate(&schema, Lang::Markdown, &Options::default()).unwrap();
        let text: String = files.into_iter().map(|file| file.text).collect();
        for message in schema.messages() {
            let heading = format!("### {}\n", schema.qualified(message));
            let section = text.split(&heading).nth(1).unwrap_or_else(|| panic!("{}: {heading}", path.display()));
            let section = section.split("\n### ").next().unwrap_or_default();
            for field in &message.fields {
                assert!(section.contains(&format!("| {} |", field.offset)), "{}: {}", path.display(), field.name);
                assert!(section.contains(&format!("`{}`", field.name)), "{}: {}", path.display(), field.name);
            }
            for member in message.unions.iter().flat_map(|union| &union.members) {
                assert!(section.contains(&format!("`{}`", member.name)), "{}: {}", path.display(), member.name);
            }
        }
    }
}

#[test]
fn graphql_is_valid() {
    let Some(python) = std::env::var_os("FW_PYTHON") else {
        return skipped("GraphQL schemas were not checked: FW_PYTHON names no interpreter");
    };
    if !Command::new(&python).args(["-c", "import graphql"]).output().unwrap().status.success() {
        return skipped("GraphQL schemas were not checked: no Python package graphql-core");
    }
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    for (at, (_, schema)) in schemas().into_iter().enumerate() {
        let files = generate(&schema, Lang::GraphQl, &Options::default()).unwrap();
        files
            .iter()
            .for_each(|file| std::fs::write(folder.path().join(format!("{at}-{}", file.path)), &file.text).unwrap());
        count += files.len();
    }
    let script = "import sys, pathlib\n\
                  from graphql import build_schema, validate_schema\n\
                  for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):\n    \
                      schema = build_schema(path.read_text())\n    \
                      assert not validate_schema(schema), (path, validate_schema(schema))\n    \
                      print(path.name)\n";
    let output = Command::new(python).args(["-c", script]).arg(folder.path()).output().unwrap();
    let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{errors}");
    assert_eq!(out.lines().count(), count);
}

/// A skip that nobody sees is a hole: it goes to the list that the test command prints.
fn skipped(line: &str) {
    eprintln!("{line}");
    if let Some(log) = std::env::var_os("FW_SKIPPED") {
        use std::io::Write;
        let mut log = std::fs::OpenOptions::new().append(true).create(true).open(log).unwrap();
        writeln!(log, "{line}").unwrap();
    }
}
