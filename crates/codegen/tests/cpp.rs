//! Generated C++: every schema we have compiles as C++17 without a warning; later standards and another compiler do as well.

mod common;

use common::{generated, has, keywords, run, schemas, skip};
use fw_codegen::{Lang, write};
use std::path::Path;
use std::process::Command;

/// What careful projects switch on. Not among them is `-Wfloat-equal`: equal messages have equal numbers.
const STRICT: [&str; 17] = [
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wshadow",
    "-Wcast-align",
    "-Wcast-qual",
    "-Wundef",
    "-Wdouble-promotion",
    "-Wswitch-enum",
    "-Wold-style-cast",
    "-Wnon-virtual-dtor",
    "-Woverloaded-virtual",
    "-Wextra-semi",
    "-Wzero-as-null-pointer-constant",
    "-Werror",
];
const SANITIZERS: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

#[test]
fn behaves() {
    let Some(folder) = folder() else { return };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    write(folder.path(), &generated(&here.join("tests/schemas/torture.sf"), Lang::Cpp)).unwrap();
    let mut gxx = compile("g++", "c++17");
    gxx.args(SANITIZERS).arg("-I.").arg(here.join("tests/programs/behaviour.cpp"));
    run(gxx.args(["-o", "program"]).current_dir(folder.path()));
    assert_eq!(run(&mut Command::new(folder.path().join("program"))), "all as it should be\n");
}

#[test]
fn the_example_runs() {
    let Some(folder) = folder() else { return };
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/struct-frame/cpp");
    let program = folder.path().join("robot");
    let mut gxx = compile("g++", "c++17");
    gxx.args(SANITIZERS).args(["-Igenerated", "robot.cpp", "-pthread", "-o"]).arg(&program);
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
        run(compile("g++", "c++17").args(["-fsyntax-only", "all.cpp"]).current_dir(&folder));
    }
}

/// Compiled through, so that templates are as well.
#[test]
fn in_every_standard_and_by_every_compiler() {
    let Some(folder) = folder() else { return };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    write(folder.path(), &generated(&here.join("tests/schemas/torture.sf"), Lang::Cpp)).unwrap();
    for compiler in ["g++", "clang++"] {
        if !has(compiler) {
            skip("generated C++ was not compiled by clang: apt-get install clang");
            continue;
        }
        for standard in ["c++17", "c++20", "c++2b"] {
            let mut command = compile(compiler, standard);
            command.args(["-fsyntax-only", "-I."]).arg(here.join("tests/programs/behaviour.cpp"));
            run(command.current_dir(folder.path()));
        }
    }
}

#[test]
fn no_word_of_the_language_is_in_the_way() {
    let Some(folder) = folder() else { return };
    let path = folder.path().join("words.sf");
    std::fs::write(&path, keywords::schema()).unwrap();
    write(folder.path(), &generated(&path, Lang::Cpp)).unwrap();
    let mut gxx = compile("g++", "c++20");
    run(gxx.args(["-fsyntax-only", "-x", "c++", "words.structframe.hpp"]).current_dir(folder.path()));
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
        run(compile("g++", "c++17").args(["-fsyntax-only", "-x", "c++"]).arg(part));
    }
    // Each is shipped.
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas/torture.sf");
    let files = generated(&schema, Lang::Cpp);
    assert_eq!(files.iter().filter(|file| file.path.starts_with("structframe/")).count(), parts.len());
}

fn folder() -> Option<tempfile::TempDir> {
    if !has("g++") {
        skip("generated C++ was not compiled: apt-get install g++");
        return None;
    }
    Some(tempfile::tempdir().unwrap())
}

fn compile(compiler: &str, standard: &str) -> Command {
    let mut command = Command::new(compiler);
    command.arg(format!("-std={standard}")).args(STRICT);
    command
}
