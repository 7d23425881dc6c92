//! Generates the peers with the reference package, our C and C++ with ours, and builds all with the same flags. Nothing
//! generated is kept outside the target folder.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    for input in ["bench.sf", "src/ours.c", "src/ours.cpp", "src/peer.c", "src/peer.cpp", "build.rs"] {
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
    let ours = out.join("ours");
    own(&here, &ours);
    let mut objects = Vec::new();
    let mut compile = |compiler: &str, standard: &str, include: PathBuf, source: PathBuf, name: &str| {
        let object = out.join(name);
        let mut command = Command::new(compiler);
        command.args(["-O3", standard, "-c", "-fPIC", "-I"]).arg(include).arg(source).arg("-o").arg(&object);
        run(&mut command);
        objects.push(object);
    };
    compile("gcc", "-std=c11", generated.join("c"), here.join("src/peer.c"), "peer_c.o");
    compile("g++", "-std=c++20", generated.join("cpp"), here.join("src/peer.cpp"), "peer_cpp.o");
    compile("gcc", "-std=c11", ours.join("c"), here.join("src/ours.c"), "our_c.o");
    for source in ["structframe.c", "bench.structframe.c"] {
        compile("gcc", "-std=c11", ours.join("c"), ours.join("c").join(source), &format!("our_{source}.o"));
    }
    compile("g++", "-std=c++20", ours.join("cpp"), here.join("src/ours.cpp"), "our_cpp.o");
    // What an earlier build has put into the archive stays there otherwise.
    let archive = out.join("libpeers.a");
    let _ = std::fs::remove_file(&archive);
    run(Command::new("ar").arg("crs").arg(&archive).args(&objects));
    rust(&generated.join("rust"), &out);
    println!("cargo:rustc-link-search={}", out.display());
    println!("cargo:rustc-link-lib=static=peers");
    println!("cargo:rustc-link-lib=stdc++");
}

/// What `fw gen --lang c,cpp` writes for the schema of the bench.
fn own(here: &Path, out: &Path) {
    let schema = fw_schema::check(here.join("bench.sf")).into_result().unwrap_or_else(|faults| panic!("{faults}"));
    for lang in [fw_codegen::Lang::C, fw_codegen::Lang::Cpp] {
        let files = fw_codegen::generate(&schema, lang, &fw_codegen::Options::default()).expect("it can be said in C");
        fw_codegen::write(&out.join(lang.name()), &files).expect("the target folder can be written");
    }
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
