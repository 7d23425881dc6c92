//! Generated Python: `mypy --strict`, agreement with the dynamic codec, the runtime's promises, the example.

mod common;
mod scripts;

use common::{generated, run, schemas, skip};
use fw_codegen::Lang;
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn interpreter() -> OsString {
    std::env::var_os("FW_PYTHON").unwrap_or_else(|| "python3".into())
}

/// Whether the interpreter is there and new enough, and can import a module.
fn can(module: &str) -> bool {
    let words = format!("import sys, {module}; sys.exit(sys.version_info < (3, 10))");
    Command::new(interpreter()).args(["-c", &words]).output().is_ok_and(|output| output.status.success())
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn torture(folder: &Path) -> fw_schema::Schema {
    let path = Path::new(ROOT).join("tests/schemas/torture.sf");
    fw_codegen::write(&folder.join("torture"), &generated(&path, Lang::Python)).unwrap();
    fw_schema::check(path).into_result().unwrap()
}

#[test]
fn strict_types() {
    if !can("mypy") {
        return skip("mypy is not there: generated Python was not checked (FW_PYTHON)");
    }
    let folder = folder("python-types");
    for (name, path) in schemas() {
        fw_codegen::write(&folder.join(name), &generated(&path, Lang::Python)).unwrap();
    }
    let example = Path::new(ROOT).join("../../examples/struct-frame/python/main.py");
    let mypy = ["-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", ".cache"];
    run(Command::new(interpreter()).args(mypy).arg(".").current_dir(&folder));
    run(Command::new(interpreter()).args(mypy).arg(example).current_dir(&folder));
    // Where NumPy is not installed, as on most robots: nothing of it is asked for.
    run(Command::new(interpreter())
        .args(mypy)
        .args(["--cache-dir", ".bare", "--no-site-packages", "."])
        .current_dir(&folder));
}

/// Nothing is warned of, and nothing imported that is not used.
#[test]
fn without_a_warning() {
    if !can("struct") {
        return skip("Python 3.10 is not there: generated Python was not compiled");
    }
    let folder = folder("python-warnings");
    for (name, path) in schemas() {
        fw_codegen::write(&folder.join(name), &generated(&path, Lang::Python)).unwrap();
    }
    let mut python = Command::new(interpreter());
    run(python.args(["-W", "error", "-m", "compileall", "-q", "-f", "."]).current_dir(&folder));
    let imports = Path::new(ROOT).join("tests/scripts/imports.py");
    assert_eq!(run(Command::new(interpreter()).arg(imports).current_dir(&folder)), "done\n");
}

#[test]
fn as_the_dynamic_codec() {
    if !can("struct") {
        return skip("Python 3.10 is not there: generated Python was not run");
    }
    let folder = folder("python-exchange");
    let (lines, expected) = scripts::exchange(&torture(&folder));
    fs::write(folder.join("exchange.py"), include_str!("scripts/exchange.py")).unwrap();
    let mut program = Command::new(interpreter());
    program.arg("exchange.py").current_dir(&folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = program.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let feed = lines.clone();
    let feeder = std::thread::spawn(move || input.write_all(feed.as_bytes()));
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap().unwrap();
    scripts::compare(&lines, &String::from_utf8(output.stdout).unwrap(), &expected);
}

#[test]
fn promises_of_the_runtime() {
    if !can("struct") {
        return skip("Python 3.10 is not there: generated Python was not run");
    }
    let folder = folder("python-check");
    torture(&folder);
    fs::write(folder.join("check.py"), include_str!("scripts/check.py")).unwrap();
    // Of ours nothing may be warned of; a library may warn while it is imported.
    let strict = ["-X", "dev", "-W", "error", "-W", "default::ImportWarning", "check.py"];
    let words = run(Command::new(interpreter()).args(strict).current_dir(&folder));
    if words.contains("no numpy") {
        skip("numpy is not there: batches were not tried (FW_PYTHON)");
    }
    assert!(words.contains("done"), "{words}");
}

#[test]
fn example_runs() {
    if !can("struct") {
        return skip("Python 3.10 is not there: the example was not run");
    }
    let example = Path::new(ROOT).join("../../examples/struct-frame/python/main.py");
    let words = run(Command::new(interpreter()).arg("-B").arg(example));
    assert!(words.contains("command 2: accepted, stopped: enough for today"), "{words}");
    assert!(words.contains("AUTOMATIC at (1.0, 2.0, 0.5)"), "{words}");
    assert!(words.contains(" 0 damaged"), "{words}");
}
