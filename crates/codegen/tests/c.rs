//! Generated C: every schema we have compiles as C99 without a warning, packed and aligned, also as part of a C++ program;
//! in later standards, with another compiler, for a machine of 32 bits, and without anything that could allocate.

mod common;

use common::{has, keywords, run, schemas, skip};
use fw_codegen::lang::Packing;
use fw_codegen::{File, Lang, Options, generate, write};
use fw_schema::{Disk, Variable};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What careful projects switch on. Not among them is `-Wfloat-equal`: equal messages have equal numbers.
const STRICT: [&str; 18] = [
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
    "-Wwrite-strings",
    "-Wformat=2",
    "-Wvla",
    "-Wredundant-decls",
    "-Wmissing-declarations",
    "-Werror",
    "-O1",
];
/// Of C alone.
const PROTOTYPES: [&str; 2] = ["-Wstrict-prototypes", "-Wmissing-prototypes"];
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

/// Each switch of the runtime alone, and those that a small receiver sets together.
#[test]
fn every_switch_compiles() {
    let Some(folder) = folder() else { return };
    let files = emit(folder.path(), "torture", Packing::Packed);
    let together = ["-DSF_RECEIVE_ONLY", "-DSF_NO_SEARCH", "-DSF_NO_COUNTERS", "-DSF_NO_NAMES"];
    for switches in [
        &["-DSF_SEND_ONLY"][..],
        &["-DSF_RECEIVE_ONLY"],
        &["-DSF_NO_SEARCH"],
        &["-DSF_NO_COUNTERS"],
        &["-DSF_NO_NAMES"],
        &["-DSF_SMALL_CHECKSUM=1"],
        &["-DSF_LITTLE_ENDIAN=0"],
        &["-DSF_ONLY_FRAMING=SF_PAYLOAD_DEFAULT"],
        &together,
    ] {
        let mut gcc = compiler(folder.path(), &files);
        run(gcc.args(switches).args(["-I.", "-c"]));
    }
    // Field by field is right on every machine, and the short loop sums as the long one does.
    let program = folder.path().join("program");
    let test = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/behaviour.c");
    let mut gcc = compiler(folder.path(), &files);
    gcc.args(SANITIZERS).args(["-DSF_LITTLE_ENDIAN=0", "-DSF_SMALL_CHECKSUM=1", "-I."]);
    run(gcc.arg(&test).arg("-o").arg(&program));
    assert_eq!(run(&mut Command::new(&program)), "all as it should be\n");
}

#[test]
fn the_example_runs() {
    let Some(folder) = folder() else { return };
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/struct-frame/c");
    let program = folder.path().join("robot");
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=c99"])
        .args(STRICT)
        .args(PROTOTYPES)
        .args(SANITIZERS)
        .args(["-Igenerated", "robot.c"])
        .current_dir(example);
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
            fs::write(folder.join("all.cpp"), text).unwrap();
            let mut gxx = Command::new("g++");
            run(gxx.args(["-std=c++11", "-c", "-fsyntax-only", "all.cpp"]).args(STRICT).current_dir(&folder));
        }
    }
}

#[test]
fn in_every_standard_and_by_every_compiler() {
    let Some(folder) = folder() else { return };
    let files = emit(folder.path(), "torture", Packing::Packed);
    for compiler in ["gcc", "clang"] {
        if !has(compiler) {
            skip("generated C was not compiled by clang: apt-get install clang");
            continue;
        }
        for standard in ["c99", "c11", "c17", "c2x", "gnu2x"] {
            run(compile(compiler, standard, folder.path(), &files).arg("-fsyntax-only"));
        }
    }
}

/// A small machine: no library but for a few functions of `string.h`, and a `size_t` that is not the longest integer.
#[test]
fn for_32_bits_without_a_library() {
    let Some(folder) = folder() else { return };
    if Command::new("gcc").args(["-m32", "-E", "-x", "c", "/dev/null"]).output().is_ok_and(|out| !out.status.success())
    {
        skip("generated C was not compiled for 32 bits: this gcc cannot");
        return;
    }
    let system = folder.path().join("system");
    fs::create_dir(&system).unwrap();
    let declared = "#include <stddef.h>\nvoid *memcpy(void *, const void *, size_t);\n\
                    void *memmove(void *, const void *, size_t);\nvoid *memset(void *, int, size_t);\n\
                    int memcmp(const void *, const void *, size_t);\nvoid *memchr(const void *, int, size_t);\n\
                    size_t strlen(const char *);\n";
    fs::write(system.join("string.h"), declared).unwrap();
    // For defaults that are not finite.
    fs::write(system.join("math.h"), "#define INFINITY __builtin_inff()\n#define NAN __builtin_nanf(\"\")\n").unwrap();
    let files = emit(folder.path(), "torture", Packing::Packed);
    let mut gcc = compile("gcc", "c99", folder.path(), &files);
    run(gcc.args(["-c", "-m32", "-ffreestanding", "-isystem", "system"]));
}

/// What the code needs from outside is this and nothing else: neither the heap nor files nor `printf`.
#[test]
fn calls_only_memory_functions() {
    let Some(folder) = folder() else { return };
    for name in ["robot", "torture"] {
        let folder = folder.path().join(name);
        let files = emit(&folder, name, Packing::Packed);
        run(compiler(&folder, &files).args(["-c", "-fno-stack-protector"]));
        let objects = files.iter().filter_map(|file| file.path.strip_suffix(".c")).map(|stem| format!("{stem}.o"));
        let symbols = run(Command::new("nm").args(["--portability"]).args(objects).current_dir(&folder));
        let (mut needed, mut defined) = (BTreeSet::new(), BTreeSet::new());
        for line in symbols.lines() {
            // Name, kind and perhaps place; lines that name an object file have one word.
            let mut words = line.split(' ');
            match (words.next(), words.next()) {
                (Some(symbol), Some("U")) => drop(needed.insert(symbol)),
                (Some(symbol), Some(_)) => drop(defined.insert(symbol)),
                _ => {}
            }
        }
        assert!(defined.contains("sf_client_request"), "{symbols}");
        let outside: BTreeSet<_> = needed.difference(&defined).copied().collect();
        let allowed = BTreeSet::from(["memchr", "memcmp", "memcpy", "memmove", "memset", "strlen"]);
        assert!(outside.is_subset(&allowed), "{outside:?}");
    }
}

#[test]
fn no_word_of_a_language_is_in_the_way() {
    let Some(folder) = folder() else { return };
    let path = folder.path().join("words.sf");
    fs::write(&path, keywords::schema()).unwrap();
    let files = emit_from(folder.path(), &path, Packing::Packed);
    for standard in ["c99", "gnu2x"] {
        run(compile("gcc", standard, folder.path(), &files).arg("-fsyntax-only"));
    }
    let mut gxx = Command::new("g++");
    gxx.args(["-std=c++20", "-fsyntax-only", "-x", "c++", "words.structframe.h"]).args(STRICT);
    run(gxx.current_dir(folder.path()));
}

fn folder() -> Option<tempfile::TempDir> {
    if !has("gcc") || !has("g++") {
        skip("generated C was not compiled: apt-get install gcc g++");
        return None;
    }
    Some(tempfile::tempdir().unwrap())
}

fn emit(folder: &Path, name: &str, packing: Packing) -> Vec<File> {
    let (_, path) = schemas().into_iter().find(|(known, _)| known == name).unwrap();
    emit_from(folder, &path, packing)
}

fn emit_from(folder: &Path, schema: &Path, packing: Packing) -> Vec<File> {
    // As `fw gen --no-packed` does it.
    let variable = if packing == Packing::Natural { Variable::All } else { Variable::AsDeclared };
    let options = fw_schema::Options::default().with_variable(variable);
    let compiled = fw_schema::check_with(&Disk, schema, &options);
    let schema = compiled.schema.unwrap_or_else(|| panic!("{}", compiled.diagnostics));
    let files = generate(&schema, Lang::C, &Options::default().with_packing(packing)).unwrap();
    write(folder, &files).unwrap();
    files
}

fn compiler(folder: &Path, files: &[File]) -> Command {
    compile("gcc", "c99", folder, files)
}

fn compile(compiler: &str, standard: &str, folder: &Path, files: &[File]) -> Command {
    let mut command = Command::new(compiler);
    command.current_dir(folder).arg(format!("-std={standard}")).args(STRICT).args(PROTOTYPES);
    command.args(files.iter().map(|file| &file.path).filter(|path| path.ends_with(".c")));
    command
}
