//! Generated Rust: every schema we have compiles without an allocator, without a warning, and as rustfmt writes it.

mod common;

use common::{generated, run, schemas};
use fw_codegen::Lang;
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
