//! The steps of `cargo xtask test`, in the order they run: cheap and telling first.

use std::fs;

use anyhow::Result;

use crate::arrows;
use crate::clauses;
use crate::context::{Context, Package};
use crate::dist;
use crate::outcome::Outcome;
use crate::process::{check, tee, tee_both};
use crate::tools;

/// One step.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) run: fn(&mut Context) -> Result<Outcome>,
}

/// All of them.
pub(crate) const STEPS: &[Step] = &[
    Step { name: "fmt", about: "every file is formatted", run: fmt },
    Step {
        name: "arrows",
        about: "crates, and rooms inside them, depend on each other only as docs/architecture.md says",
        run: arrows::check,
    },
    Step { name: "clauses", about: "every clause of docs/spec is shown by a test or a vector", run: clauses::check },
    Step { name: "clippy", about: "no warning in any target", run: clippy },
    Step {
        name: "features",
        about: "each crate without default features; each codec and format feature alone; struct-frame without std",
        run: features,
    },
    Step { name: "docs", about: "the documentation builds without a warning", run: docs },
    Step { name: "python", about: "the reference packages, in a virtual environment", run: python },
    Step { name: "tools", about: "compilers and tools of the generated languages", run: tools::ensure },
    Step { name: "tests", about: "unit, property, integration, interop and documentation tests", run: tests },
    Step {
        name: "package",
        about: "the Python package, installed with pip and tested beside the reference",
        run: package,
    },
    Step { name: "dist", about: "the archive for users has a manual page for every command", run: dist::check },
    Step { name: "golden", about: "what our encoders write, byte by byte", run: golden },
    Step { name: "conformance", about: "every vector manifest of the project", run: conformance },
    Step { name: "matrix", about: "generated code of every language, against the vectors and each other", run: matrix },
];

/// Crates in which every feature must build with no other beside it.
const FEATURES_ALONE: &[&str] = &["fw-codec", "fw-tensogram"];

fn fmt(context: &mut Context) -> Result<Outcome> {
    let mut outcome = check(context.cargo().args(["fmt", "--all", "--check"]))?;
    for apart in ["benches/Cargo.toml", "fuzz/Cargo.toml"] {
        outcome.add(check(context.cargo().args(["fmt", "--all", "--check", "--manifest-path", apart]))?);
    }
    Ok(outcome)
}

fn clippy(context: &mut Context) -> Result<Outcome> {
    let strict = ["--", "-D", "warnings"];
    let mut lint = context.cargo();
    let mut outcome = check(lint.args(["clippy", "--quiet", "--workspace", "--all-targets"]).args(strict))?;
    // The fuzz targets run as tests on their seeds; that they build with the fuzzer is shown here.
    let mut lint = context.cargo();
    lint.args(["clippy", "--quiet", "--locked", "--manifest-path", "fuzz/Cargo.toml"]).args(strict);
    outcome.add(check(&mut lint)?);
    Ok(outcome)
}

fn features(context: &mut Context) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for Package { name, features, has_library, .. } in context.packages()? {
        if !has_library || features.is_empty() {
            continue;
        }
        let alone = FEATURES_ALONE.contains(&name.as_str());
        let single = features.iter().filter(|feature| alone && *feature != "default");
        for feature in std::iter::once(None).chain(single.map(Some)) {
            let mut lint = context.cargo();
            lint.args(["clippy", "--quiet", "--lib", "--package", &name, "--no-default-features"]);
            if let Some(feature) = feature {
                lint.args(["--features", feature]);
            }
            outcome.add(check(lint.args(["--", "-D", "warnings"]))?);
        }
    }
    // What a build without codecs still promises can be shown only by such a build.
    let bare = ["test", "--quiet", "--package", "fw-tensogram", "--no-default-features", "--test", "missing_codec"];
    outcome.add(check(context.cargo().args(bare))?);
    // So is what a build without telemetry says; beside the Python package every build has it.
    let bare = ["test", "--quiet", "--package", "fw", "--no-default-features", "--test", "without_telemetry"];
    outcome.add(check(context.cargo().args(bare))?);
    // A program with a panic handler of its own: it builds only if nothing below it links the standard library. It talks to
    // itself with generated code and fails when an answer is wrong.
    let manifest = context.root.join("crates/structframe/no_std/Cargo.toml");
    outcome.add(check(context.cargo().args(["run", "--quiet", "--locked", "--manifest-path"]).arg(manifest))?);
    Ok(outcome)
}

fn docs(context: &mut Context) -> Result<Outcome> {
    let mut doc = context.cargo();
    doc.env("RUSTDOCFLAGS", "-D warnings").args(["doc", "--quiet", "--workspace", "--no-deps"]);
    check(&mut doc)
}

fn python(context: &mut Context) -> Result<Outcome> {
    let environment = context.python()?;
    println!("{}", environment.interpreter.display());
    Ok(Outcome { passed: 1, failed: 0, skipped: environment.missing.clone(), ..Outcome::default() })
}

/// A test that cannot run here appends a line to the file named by `FW_SKIPPED`: the harness swallows what passing
/// tests print, and a skip that nobody sees is a hole.
fn tests(context: &mut Context) -> Result<Outcome> {
    let skip_log = context.target.join("skipped-tests.txt");
    fs::create_dir_all(&context.target)?;
    fs::write(&skip_log, "")?;
    let mut outcome = Outcome::default();
    let mut test = context.cargo();
    test.args(["test", "--workspace", "--no-fail-fast"]).env("FW_SKIPPED", &skip_log);
    match context.python() {
        Ok(environment) => drop(test.env("FW_PYTHON", &environment.interpreter)),
        Err(error) => {
            eprintln!("{error:#}");
            outcome.skipped.push("no Python environment: the interop tests did not run".to_owned());
        }
    }
    match context.tsc() {
        Ok(compiler) => drop(test.env("FW_TSC", compiler)),
        Err(error) => {
            eprintln!("{error:#}");
            outcome.skipped.push("no TypeScript compiler: generated TypeScript was not tested".to_owned());
        }
    }
    match context.golden_set() {
        Some(folder) => drop(test.env("FW_GOLDEN", folder)),
        None => outcome.skipped.push("the struct-frame golden set is not beside the project (FW_GOLDEN)".to_owned()),
    }
    let (output, errors, status) = tee_both(&mut test)?;
    outcome.add(Outcome::from_harness_output(&output, status.success()));
    // A test program that died counted nothing: cargo says which one, and how.
    let died = |line: &&str| line.starts_with("error") || line.contains("(signal: ") || line.contains("(exit status: ");
    outcome.failures.extend(errors.lines().filter(died).map(str::to_owned));
    // What decides whether a bench misses its target; it depends on no peer.
    let mut harness = context.cargo();
    harness.args(["test", "--locked", "--package", "bench-harness", "--manifest-path", "benches/Cargo.toml"]);
    let (output, status) = tee(&mut harness)?;
    outcome.add(Outcome::from_harness_output(&output, status.success()));
    outcome.skipped.extend(fs::read_to_string(&skip_log)?.lines().map(str::to_owned));
    Ok(outcome)
}

/// Installs `python/` as its users do, and runs its tests. One difference: the development profile, which the other steps have
/// built most of, instead of an optimised build of everything.
fn package(context: &mut Context) -> Result<Outcome> {
    let interpreter = context.python()?.interpreter.clone();
    let programs = interpreter.parent().map(std::path::Path::to_owned).unwrap_or_default();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&path)))?;
    let mut install = std::process::Command::new(&interpreter);
    install.current_dir(&context.root).env("CARGO_TARGET_DIR", &context.target).env("PATH", path);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps"]);
    // maturin is in the environment; an isolated build would fetch it again.
    install.args([
        "--no-build-isolation",
        "--force-reinstall",
        "--config-settings=build-args=--profile dev",
        "./python",
    ]);
    let installed = check(&mut install)?;
    if installed.failed > 0 {
        return Ok(installed);
    }
    let mut tests = std::process::Command::new(&interpreter);
    // What is tested is what was installed, not the folder beside it, which has no compiled module.
    tests.current_dir(context.root.join("python")).env("PYTHONSAFEPATH", "1");
    tests.args(["-m", "pytest", "--color=no", "-rs"]);
    let (output, status) = tee(&mut tests)?;
    let mut outcome = Outcome::from_pytest_output(&output, status.success());
    outcome.add(installed);
    Ok(outcome)
}

fn golden(context: &mut Context) -> Result<Outcome> {
    let (output, errors, status) = tee_both(context.conformance().args(["golden", "--quiet"]))?;
    Ok(Outcome::from_closing_line(&output, status.success()).because(&errors))
}

fn conformance(context: &mut Context) -> Result<Outcome> {
    let (output, errors, status) = tee_both(context.conformance().arg("--quiet"))?;
    Ok(Outcome::from_closing_line(&output, status.success()).because(&errors))
}

fn matrix(context: &mut Context) -> Result<Outcome> {
    let skip_log = context.target.join("skipped-matrix.txt");
    fs::write(&skip_log, "")?;
    let mut matrix = context.matrix()?;
    let (output, errors, status) = tee_both(matrix.env("FW_SKIPPED", &skip_log))?;
    let mut outcome = Outcome::from_closing_line(&output, status.success()).because(&errors);
    outcome.skipped.extend(fs::read_to_string(&skip_log)?.lines().map(str::to_owned));
    Ok(outcome)
}
