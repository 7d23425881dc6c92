//! Generated C: every schema we have compiles as C99 without a warning, packed and aligned, also as part of a C++ program.

mod common;

use common::{run, schemas, skip};
use fw_codegen::lang::Packing;
use fw_codegen::{File, Lang, Options, generate, write};
use fw_schema::{Disk, Variable};
use std::path::Path;
use std::process::Command;

const STRICT: [&str; 6] = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-O1"];
const SANITIZERS: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

#[test]
fn behaves() {
    let Some(folder) = folder() else { return };
    let program = folder.path().join("program");
    for packing in [Packing::Packed, Packing::Natural] {
        let files = emit(folder.path(), "torture", packing);
        let mut gcc = compiler(folder.path(), &files);
        let test = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/behaviour.c");
        run(gcc.args(SANITIZERS).arg("-I.").arg(test).arg("-o").arg(&program));
        assert_eq!(run(&mut Command::new(&program)), "all as it should be\n");
    }
}

#[test]
fn the_example_runs() {
    let Some(folder) = folder() else { return };
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/struct-frame/c");
    let program = folder.path().join("robot");
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=c99"]).args(STRICT).args(SANITIZERS).args(["-Igenerated", "robot.c"]).current_dir(example);
    run(gcc.args(["generated/structframe.c", "generated/robot.structframe.c", "-o"]).arg(&program));
    let words = run(&mut Command::new(&program));
    assert!(words.contains("go to (3.0, 4.0, 0.0): accepted, \"on my way\"\n"), "{words}");
    assert!(words.contains("telemetry: AUTOMATIC"), "{words}");
    assert!(words.ends_with("halt: accepted, \"stopped: tea time\"\n"), "{words}");
}

#[test]
fn without_a_warning() {
    let Some(folder) = folder() else { return };
    for (name, _) in schemas() {
        for packing in [Packing::Packed, Packing::Natural] {
            let folder = folder.path().join(&name);
            let files = emit(&folder, &name, packing);
            if packing == Packing::Natural {
                run(compiler(&folder, &files).arg("-fsyntax-only"));
                continue;
            }
            run(compiler(&folder, &files).arg("-c"));
            // All headers in one C++ file: nothing is defined twice, and no word is taken there.
            let headers = files.iter().filter(|file| file.path.ends_with(".h"));
            let text: String = headers.map(|file| format!("#include \"{}\"\n", file.path)).collect();
            std::fs::write(folder.join("all.cpp"), text).unwrap();
            let mut gxx = Command::new("g++");
            run(gxx.args(["-std=c++11", "-c", "-fsyntax-only", "all.cpp"]).args(STRICT).current_dir(&folder));
        }
    }
}

fn folder() -> Option<tempfile::TempDir> {
    if Command::new("gcc").arg("--version").output().is_err() || Command::new("g++").arg("--version").output().is_err()
    {
        skip("generated C was not compiled: apt-get install gcc g++");
        return None;
    }
    Some(tempfile::tempdir().unwrap())
}

fn emit(folder: &Path, name: &str, packing: Packing) -> Vec<File> {
    let (_, path) = schemas().into_iter().find(|(known, _)| known == name).unwrap();
    // As `fw gen --no-packed` does it.
    let variable = if packing == Packing::Natural { Variable::All } else { Variable::AsDeclared };
    let options = fw_schema::Options::default().with_variable(variable);
    let compiled = fw_schema::check_with(&Disk, &path, &options);
    let schema = compiled.schema.unwrap_or_else(|| panic!("{}", compiled.diagnostics));
    let files = generate(&schema, Lang::C, &Options::default().with_packing(packing)).unwrap();
    write(folder, &files).unwrap();
    files
}

fn compiler(folder: &Path, files: &[File]) -> Command {
    let mut gcc = Command::new("gcc");
    gcc.current_dir(folder).arg("-std=c99").args(STRICT);
    gcc.args(files.iter().map(|file| &file.path).filter(|path| path.ends_with(".c")));
    gcc
}
