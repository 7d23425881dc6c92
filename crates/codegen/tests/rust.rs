//! Generated Rust: every schema we have compiles without an allocator, without a warning, and as rustfmt writes it.

mod common;

use common::{generated, run, schemas};
use fw_codegen::lang::{RustRuntime, RustSerde};
use fw_codegen::{Lang, Options, generate, write};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A crate outside the workspace that depends on the runtime alone.
fn project(name: &str, dependencies: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let _ = fs::remove_dir_all(folder.join("src"));
    fs::create_dir_all(folder.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[features]\n\
         serde = [\"dep:serde\", \"fw-structframe/serde\"]\n\n[dependencies]\n\
         fw-structframe = {{ path = {:?} }}\n\
         serde = {{ version = \"1.0\", default-features = false, features = [\"derive\"], optional = true }}\n{dependencies}",
        root.join("crates/structframe").canonicalize().unwrap()
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    // The versions that the workspace has tried, and has at hand.
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    folder
}

fn cargo(folder: &Path, arguments: &[&str]) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(arguments).current_dir(folder).env("CARGO_TARGET_DIR", folder.with_file_name("rust-target"));
    run(&mut cargo);
}

#[test]
fn no_std_and_without_a_warning() {
    let folder = project("rust-lints", "");
    let mut lib = "//! Every schema.\n#![no_std]\n#![forbid(unsafe_code)]\n\n".to_owned();
    for (name, path) in schemas() {
        let folder = folder.join("src").join(&name);
        for file in generated(&path, Lang::Rust) {
            let path = folder.join(&file.path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &file.text).unwrap();
        }
        lib += &format!("/// A schema.\npub mod {name};\n");
    }
    fs::write(folder.join("src/lib.rs"), lib).unwrap();
    let lints = ["-D", "warnings", "-D", "missing_docs", "-D", "rust_2018_idioms", "-D", "unreachable_pub"];
    cargo(&folder, &[&["clippy", "--offline", "--quiet", "--features", "serde", "--"][..], &lints].concat());
    cargo(&folder, &[&["clippy", "--offline", "--quiet", "--"][..], &lints].concat());
}

#[test]
fn written_as_rustfmt_writes() {
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--check", "--edition", "2024", "--config", "max_width=100"]);
    let folder = tempfile::tempdir().unwrap();
    for (name, path) in schemas() {
        for file in generated(&path, Lang::Rust) {
            // Alone, so that rustfmt looks for no other modules.
            let text = file.text.replace("pub mod ", "pub use super::");
            let path = folder.path().join(format!("{name}-{}", file.path));
            fs::write(&path, text).unwrap();
            rustfmt.arg(path);
        }
    }
    run(&mut rustfmt);
}

/// What the program checks is written there; here it is built as a build script and `include_schema!` would do it.
#[test]
fn behaves() {
    let folder = project("rust-behaviour", "");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let out = folder.join("out");
    let watched = fw_codegen::build_into(&here.join("tests/schemas/torture.sf"), &out).unwrap();
    assert!(watched.iter().any(|path| path.ends_with("other.sf")), "imports are watched too: {watched:?}");
    fs::copy(here.join("tests/programs/behaviour.rs"), folder.join("src/main.rs")).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--offline", "--quiet"]).current_dir(&folder).env("OUT_DIR", out);
    cargo.env("CARGO_TARGET_DIR", folder.with_file_name("rust-target"));
    assert_eq!(run(&mut cargo), "all as it should be\n");
}

/// With its runtime beside it, code builds in a crate that depends on nothing and uses nothing of it, without a warning.
#[test]
fn standalone() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust-standalone");
    let _ = fs::remove_dir_all(&folder);
    for (name, path) in schemas().into_iter().filter(|(name, _)| name == "robot" || name == "torture") {
        let schema = fw_schema::check(&path).into_result().unwrap_or_else(|faults| panic!("{faults}"));
        let options = Options::default().with_rust_runtime(RustRuntime::Module);
        write(&folder.join("src").join(name), &generate(&schema, Lang::Rust, &options).unwrap()).unwrap();
    }
    fs::write(folder.join("src/main.rs"), "mod robot;\nmod torture;\n\nfn main() {}\n").unwrap();
    for edition in ["2021", "2024"] {
        let manifest = format!(
            "[package]\nname = \"standalone\"\nversion = \"0.0.0\"\nedition = \"{edition}\"\n\n[workspace]\n\n\
             [lints.rust]\nwarnings = \"deny\"\n"
        );
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        cargo(&folder, &["check", "--offline", "--quiet"]);
    }
    let schema = fw_schema::check_text("p.sf", "package p;").into_result().unwrap();
    let both = Options::default().with_rust_runtime(RustRuntime::Module).with_rust_serde(RustSerde::Feature);
    assert_eq!(generate(&schema, Lang::Rust, &both).unwrap_err().code(), "unsupported_by_language");
}

#[test]
fn a_fault_in_the_schema_stops_the_build() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("broken.sf");
    fs::write(&schema, "package broken; message A { uint61 x = 1; }").unwrap();
    let error = fw_codegen::build_into(&schema, folder.path()).unwrap_err();
    assert!(format!("{error:?}").contains("uint61"), "{error:?}");
}

#[test]
fn the_example_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // A copy, so that nothing is built among the sources.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust-example");
    let _ = fs::remove_dir_all(&folder);
    copy(&root.join("examples/struct-frame/rust"), &folder);
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let runtime = root.join("crates/structframe").canonicalize().unwrap();
    fs::write(folder.join("Cargo.toml"), manifest.replace("../../../crates/structframe", runtime.to_str().unwrap()))
        .unwrap();
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--offline", "--quiet"]).current_dir(&folder);
    cargo.env("CARGO_TARGET_DIR", folder.with_file_name("rust-target"));
    let words = run(&mut cargo);
    assert!(words.contains("go to (3, 4, 0): accepted, \"5.0 m, 10 s\"\n"), "{words}");
    assert!(words.contains("telemetry at 0.") && words.contains("AUTOMATIC"), "{words}");
    assert!(words.ends_with("halt: accepted, \"stopped: tea time\"\n"), "{words}");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true if entry.file_name() == "target" => {}
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}
