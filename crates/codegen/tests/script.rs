//! Generated TypeScript and JavaScript: `tsc --strict`, agreement with the dynamic codec, the runtime's promises, the
//! examples, and the runtime of JavaScript being that of TypeScript.

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
const PACKAGE: &str = "{ \"private\": true, \"type\": \"module\" }\n";

/// What a careful project asks of the compiler.
const STRICT: &[&str] = &[
    "--strict",
    "--noUncheckedIndexedAccess",
    "--exactOptionalPropertyTypes",
    "--noUnusedLocals",
    "--noUnusedParameters",
    "--noImplicitReturns",
    "--noFallthroughCasesInSwitch",
    "--target",
    "es2022",
    // No DOM and no Node: what is generated runs everywhere.
    "--lib",
    "es2022",
    "--types",
    "",
    "--module",
    "esnext",
    "--moduleResolution",
    "bundler",
    "--verbatimModuleSyntax",
    "--isolatedModules",
    "--erasableSyntaxOnly",
    "--noImplicitOverride",
    "--noPropertyAccessFromIndexSignature",
];

fn compiler() -> Option<OsString> {
    let tsc = std::env::var_os("FW_TSC").unwrap_or_else(|| "tsc".into());
    let works = Command::new(&tsc).arg("--version").output().is_ok_and(|output| output.status.success());
    if !works {
        skip("TypeScript is not there: generated TypeScript was not compiled (FW_TSC)");
    }
    works.then_some(tsc)
}

fn node() -> bool {
    let works = Command::new("node").arg("--version").output().is_ok_and(|output| output.status.success());
    if !works {
        skip("Node is not there: generated JavaScript was not run");
    }
    works
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn torture() -> PathBuf {
    Path::new(ROOT).join("tests/schemas/torture.sf")
}

/// Compiles every schema below `folder` in one go.
fn compile(tsc: &OsString, folder: &Path, lang: Lang, more: &[&str]) {
    let mut files = Vec::new();
    for (name, path) in schemas() {
        fw_codegen::write(&folder.join(&name), &generated(&path, lang)).unwrap();
        files.push(format!("{name}/index.{}", if lang == Lang::TypeScript { "ts" } else { "js" }));
    }
    run(Command::new(tsc).args(STRICT).args(more).args(files).current_dir(folder));
}

#[test]
fn strict_types() {
    let Some(tsc) = compiler() else { return };
    let declared = ["--noEmit", "--declaration", "--isolatedDeclarations"];
    compile(&tsc, &folder("ts-types"), Lang::TypeScript, &declared);
}

#[test]
fn strict_types_in_comments() {
    let Some(tsc) = compiler() else { return };
    compile(&tsc, &folder("js-types"), Lang::JavaScript, &["--noEmit", "--allowJs", "--checkJs"]);
}

#[test]
fn the_runtime_of_javascript_is_that_of_typescript() {
    let Some(tsc) = compiler() else { return };
    let folder = folder("js-runtime");
    let runtime = Path::new(ROOT).join("runtime");
    let emit = ["--declaration", "--rootDir", ".", "--outDir"];
    let mut command = Command::new(tsc);
    command.args(STRICT).args(emit).arg(&folder).arg("index.ts").current_dir(runtime.join("ts"));
    run(&mut command);
    let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names.len(), fs::read_dir(runtime.join("js")).unwrap().count());
    for name in names {
        let (made, kept) = (folder.join(&name), runtime.join("js").join(&name));
        if std::env::var_os("FW_BLESS").is_some() {
            fs::copy(&made, &kept).unwrap();
        }
        assert_eq!(fs::read_to_string(made).unwrap(), fs::read_to_string(kept).unwrap(), "{}", name.display());
    }
}

/// Both languages give the same program: each is run where its tools are.
fn programs(name: &str) -> Vec<PathBuf> {
    if !node() {
        return Vec::new();
    }
    let js = folder(&format!("js-{name}"));
    fw_codegen::write(&js.join("torture"), &generated(&torture(), Lang::JavaScript)).unwrap();
    let mut folders = vec![js];
    if let Some(tsc) = compiler() {
        let ts = folder(&format!("ts-{name}"));
        fw_codegen::write(&ts.join("source"), &generated(&torture(), Lang::TypeScript)).unwrap();
        let out = ["--rootDir", "source", "--outDir", "torture", "source/index.ts"];
        run(Command::new(tsc).args(STRICT).args(out).current_dir(&ts));
        folders.push(ts);
    }
    for folder in &folders {
        fs::write(folder.join("package.json"), PACKAGE).unwrap();
        fs::write(folder.join("exchange.js"), include_str!("scripts/exchange.js")).unwrap();
        fs::write(folder.join("check.js"), include_str!("scripts/check.js")).unwrap();
    }
    folders
}

#[test]
fn as_the_dynamic_codec() {
    let schema = fw_schema::check(torture()).into_result().unwrap();
    let (lines, expected) = scripts::exchange(&schema);
    for folder in programs("exchange") {
        let mut program = Command::new("node");
        program.arg("exchange.js").current_dir(&folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = program.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let feed = lines.clone();
        let feeder = std::thread::spawn(move || input.write_all(feed.as_bytes()));
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap().unwrap();
        scripts::compare(&lines, &String::from_utf8(output.stdout).unwrap(), &expected);
    }
}

#[test]
fn promises_of_the_runtime() {
    for folder in programs("check") {
        let words = run(Command::new("node").arg("check.js").current_dir(&folder));
        assert!(words.contains("done"), "{words}");
    }
}

fn talked(words: &str) {
    assert!(words.contains("command 2: accepted, stopped: enough for today"), "{words}");
    assert!(words.contains("AUTOMATIC at (1, 2, 0.5)"), "{words}");
    assert!(words.contains(" 0 damaged"), "{words}");
}

#[test]
fn example_in_javascript_runs() {
    if node() {
        let example = Path::new(ROOT).join("../../examples/struct-frame/js/main.js");
        talked(&run(Command::new("node").arg(example)));
    }
}

#[test]
fn example_in_typescript_runs() {
    let Some(tsc) = compiler().filter(|_| node()) else { return };
    // Node's own types lie beside the compiler, where `cargo xtask` put both.
    let types = Path::new(&tsc).parent().and_then(Path::parent).map(|modules| modules.join("@types"));
    let Some(types) = types.filter(|types| types.join("node").is_dir()) else {
        return skip("@types/node is not beside tsc: the TypeScript example was not run (FW_TSC)");
    };
    let folder = folder("ts-example");
    fs::write(folder.join("package.json"), PACKAGE).unwrap();
    let mut command = Command::new(tsc);
    command.arg("--project").arg(Path::new(ROOT).join("../../examples/struct-frame/ts"));
    run(command.arg("--typeRoots").arg(types).arg("--outDir").arg(folder.join("out")));
    talked(&run(Command::new("node").arg(folder.join("out/main.js"))));
}
