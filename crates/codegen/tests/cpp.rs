//! Generated C++: every schema we have compiles as C++17 without a warning.

mod common;

use common::{generated, run, schemas, skip};
use fw_codegen::{Lang, write};
use std::path::Path;
use std::process::Command;

const STRICT: [&str; 6] = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"];
const SANITIZERS: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

#[test]
fn behaves() {
    let Some(folder) = folder() else { return };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    write(folder.path(), &generated(&here.join("tests/schemas/torture.sf"), Lang::Cpp)).unwrap();
    let mut gxx = Command::new("g++");
    gxx.args(STRICT).args(SANITIZERS).arg("-I.").arg(here.join("tests/programs/behaviour.cpp"));
    run(gxx.args(["-o", "program"]).current_dir(folder.path()));
    assert_eq!(run(&mut Command::new(folder.path().join("program"))), "all as it should be\n");
}

#[test]
fn the_example_runs() {
    let Some(folder) = folder() else { return };
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/struct-frame/cpp");
    let program = folder.path().join("robot");
    let mut gxx = Command::new("g++");
    gxx.args(STRICT).args(SANITIZERS).args(["-Igenerated", "robot.cpp", "-pthread", "-o"]).arg(&program);
    run(gxx.current_dir(example));
    let words = run(&mut Command::new(&program));
    assert!(words.contains("go to (3, 4, 0): accepted, \"on my way\"\n"), "{words}");
    assert!(words.contains("telemetry: AUTOMATIC"), "{words}");
    assert!(words.ends_with("halt: accepted, \"stopped: tea time\"\n"), "{words}");
}

#[test]
fn without_a_warning() {
    let Some(folder) = folder() else { return };
    for (name, path) in schemas() {
        let folder = folder.path().join(&name);
        let files = generated(&path, Lang::Cpp);
        write(&folder, &files).unwrap();
        let text: String = files.iter().map(|file| format!("#include \"{}\"\n", file.path)).collect();
        std::fs::write(folder.join("all.cpp"), text).unwrap();
        run(Command::new("g++").args(STRICT).args(["-fsyntax-only", "all.cpp"]).current_dir(&folder));
    }
}

/// Whoever wants only a part may include only that.
#[test]
fn every_part_of_the_runtime_stands_alone() {
    if folder().is_none() {
        return;
    }
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("runtime/cpp/structframe");
    let parts: Vec<_> = std::fs::read_dir(runtime).unwrap().map(|entry| entry.unwrap().path()).collect();
    for part in &parts {
        run(Command::new("g++").args(STRICT).args(["-fsyntax-only", "-x", "c++"]).arg(part));
    }
    // Each is shipped.
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas/torture.sf");
    let files = generated(&schema, Lang::Cpp);
    assert_eq!(files.iter().filter(|file| file.path.starts_with("structframe/")).count(), parts.len());
}

fn folder() -> Option<tempfile::TempDir> {
    if Command::new("g++").arg("--version").output().is_err() {
        skip("generated C++ was not compiled: apt-get install g++");
        return None;
    }
    Some(tempfile::tempdir().unwrap())
}
