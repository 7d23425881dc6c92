//! Documents generated from every schema of the vectors: GraphQL that a GraphQL library accepts, Markdown without holes.

mod common;

use common::{generated, schemas, skip};
use fw_codegen::Lang;
use std::process::Command;

#[test]
fn markdown_names_every_message_and_field() {
    for (_, path) in schemas() {
        let schema = fw_schema::check(&path).into_result().unwrap_or_else(|faults| panic!("{faults}"));
        let text: String = generated(&path, Lang::Markdown).into_iter().map(|file| file.text).collect();
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
        return skip("GraphQL schemas were not checked: FW_PYTHON names no interpreter");
    };
    if !Command::new(&python).args(["-c", "import graphql"]).output().unwrap().status.success() {
        return skip("GraphQL schemas were not checked: no Python package graphql-core");
    }
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    for (name, path) in schemas() {
        let files = generated(&path, Lang::GraphQl);
        files
            .iter()
            .for_each(|file| std::fs::write(folder.path().join(format!("{name}-{}", file.path)), &file.text).unwrap());
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
