//! Generated C#: every schema we have compiles with mono's compiler as C# 7.2, without a warning.

mod common;

use common::{generated, run, schemas, skip};
use fw_codegen::Lang;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What the program checks is written there.
#[test]
fn behaves() {
    let Some(folder) = folder() else { return };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut mcs = compiler(folder.path(), &here.join("tests/schemas/torture.sf"));
    mcs.arg(format!("-out:{}", folder.path().join("program.exe").display()));
    run(mcs.arg(here.join("tests/programs/Behaviour.cs")));
    let mut mono = Command::new("mono");
    assert_eq!(run(mono.arg(folder.path().join("program.exe"))), "all as it should be\n");
}

#[test]
fn the_example_runs() {
    let Some(folder) = folder() else { return };
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/struct-frame/csharp");
    let program = folder.path().join("robot.exe");
    let mut mcs = Command::new("mcs");
    mcs.args(["-langversion:7.2", "-warnaserror", "-warn:4", "-recurse:*.cs"]).current_dir(example);
    run(mcs.arg(format!("-out:{}", program.display())));
    let words = run(Command::new("mono").arg(program));
    assert!(words.contains("go to (3, 4, 0): accepted, \"5.0 m, 10 s\"\n"), "{words}");
    assert!(words.contains("telemetry at 0.") && words.contains("Automatic"), "{words}");
    assert!(words.ends_with("halt: accepted, \"stopped: tea time\"\n"), "{words}");
}

#[test]
fn without_a_warning() {
    let Some(folder) = folder() else { return };
    for (name, path) in schemas() {
        let folder = folder.path().join(&name);
        let mut mcs = compiler(&folder, &path);
        mcs.arg(format!("-doc:{}", folder.join("docs.xml").display()));
        run(mcs.args(["-target:library", &format!("-out:{}", folder.join("out.dll").display())]));
    }
}

fn folder() -> Option<tempfile::TempDir> {
    if Command::new("mcs").arg("--version").output().is_err() || Command::new("mono").arg("--version").output().is_err()
    {
        skip("generated C# was not compiled: apt-get install mono-mcs mono-runtime");
        return None;
    }
    Some(tempfile::tempdir().unwrap())
}

/// The compiler with the code of a schema.
fn compiler(folder: &Path, schema: &Path) -> Command {
    let mut mcs = Command::new("mcs");
    mcs.args(["-langversion:7.2", "-warnaserror", "-warn:4"]);
    for file in generated(schema, Lang::CSharp) {
        let path = folder.join(&file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &file.text).unwrap();
        mcs.arg(path);
    }
    mcs
}
