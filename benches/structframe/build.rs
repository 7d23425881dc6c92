//! Generates the peers with the reference package and builds them. Nothing generated is kept outside the target folder.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    for input in ["bench.sf", "src/peer.c", "src/peer.cpp", "build.rs"] {
        println!("cargo:rerun-if-changed={input}");
    }
    println!("cargo:rerun-if-env-changed=FW_PYTHON");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let python = env::var_os("FW_PYTHON").expect("FW_PYTHON must name an interpreter with struct-frame 0.10.9");
    // The package writes its catalogue into the working directory.
    let mut generate = Command::new(python);
    generate.current_dir(&out).args(["-m", "struct_frame", "--force", "--build_c", "--build_cpp", "--build_rust"]);
    run(generate.arg(here.join("bench.sf")));
    let generated = out.join("generated");
    run(Command::new("gcc")
        .args(["-O3", "-std=c11", "-c", "-fPIC", "-I"])
        .arg(generated.join("c"))
        .arg(here.join("src/peer.c"))
        .arg("-o")
        .arg(out.join("peer_c.o")));
    run(Command::new("g++")
        .args(["-O3", "-std=c++20", "-c", "-fPIC", "-I"])
        .arg(generated.join("cpp"))
        .arg(here.join("src/peer.cpp"))
        .arg("-o")
        .arg(out.join("peer_cpp.o")));
    run(Command::new("ar").arg("crs").arg(out.join("libpeers.a")).args([out.join("peer_c.o"), out.join("peer_cpp.o")]));
    rust(&generated.join("rust"), &out);
    println!("cargo:rustc-link-search={}", out.display());
    println!("cargo:rustc-link-lib=static=peers");
    println!("cargo:rustc-link-lib=stdc++");
}

/// The generated Rust refers to itself as a crate, so it is one; cargo's own flags apply to it when it is linked.
fn rust(sources: &Path, out: &Path) {
    let mut rustc = Command::new(env::var_os("RUSTC").expect("cargo sets it"));
    rustc.args([
        "--crate-type",
        "rlib",
        "--crate-name",
        "struct_frame_sdk",
        "--edition",
        "2021",
        "--cap-lints",
        "allow",
    ]);
    rustc.args(["-C", "opt-level=3", "-C", "codegen-units=1"]);
    run(rustc.arg(sources.join("lib.rs")).arg("--out-dir").arg(out));
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let words = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{command:?}\n{words}");
}
