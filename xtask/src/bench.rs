//! `cargo xtask bench`: our code beside the peers', which live in the workspace `benches/`.

mod facts; // when, where and against what it was measured

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

use anyhow::{Context as _, Result, bail};
use lexopt::prelude::*;

use crate::context::Context;
use crate::debian;
use crate::process::{quiet, tee};
use crate::venv;
use crate::venv::{PYTHON_PEERS, STRUCT_FRAME, TENSOGRAM};

/// What building the reference crate takes beside cmake (C and C++ codecs, bindings made with libclang).
const PACKAGES: &[&str] = &["clang", "libclang-dev", "g++"];
/// What building the generated C and C++ takes.
const COMPILERS: &[&str] = &["gcc", "g++"];

/// The exit code of a bench that ran to its end and found a row that misses its target (`MISSED` in `benches/harness`).
const MISSED: i32 = 3;
/// The exit code of a bench that has none of the rows asked for (`NO_ROW` there).
const NO_ROW: i32 = 4;

/// A bench: a package of the workspace `benches/` and a part of `docs/benchmarks.md`.
struct Bench {
    name: &'static str,
    /// What its peer needs to be built or made.
    needs: Needs,
    peers: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// Cargo alone.
    Nothing,
    /// C++ tools for the `tensogram` crate.
    Cpp,
    /// The `struct-frame` package, which generates the peers at bench time.
    Python,
    /// `fw` itself, and the `tensogram` package, which does the same jobs.
    Commands,
    /// `fw` itself.
    Program,
    /// The Python package, built as users get it, beside packages of the same kind.
    Package,
}

const BENCHES: &[Bench] = &[
    Bench { name: "codecs", needs: Needs::Cpp, peers: &["tensogram"] },
    Bench { name: "files", needs: Needs::Cpp, peers: &["tensogram"] },
    Bench { name: "bintensors", needs: Needs::Nothing, peers: &["bintensors", "safetensors"] },
    Bench { name: "structframe", needs: Needs::Python, peers: &[STRUCT_FRAME] },
    Bench { name: "commands", needs: Needs::Commands, peers: &[TENSOGRAM] },
    Bench { name: "links", needs: Needs::Program, peers: &[] },
    Bench { name: "python", needs: Needs::Package, peers: PYTHON_PEERS },
];

/// Builds the peers and runs the benches that are named, or all of them.
pub(crate) fn main(context: &Context, mut args: lexopt::Parser) -> Result<ExitCode> {
    let (mut which, mut update) = (Vec::new(), false);
    let mut passed_on: Vec<String> = Vec::new();
    while let Some(argument) = args.next()? {
        match argument {
            Value(name) => which.push(find(&name.string()?)?),
            Long("quick") => passed_on.push("--quick".to_owned()),
            Long("check") => passed_on.push("--check".to_owned()),
            Long("only") => passed_on.extend(["--only".to_owned(), args.value()?.string()?]),
            Long("update") => update = true,
            _ => return Err(argument.unexpected().into()),
        }
    }
    if update && passed_on.iter().any(|option| option != "--check") {
        bail!("--update writes whole tables, measured at full length: --quick and --only are for a look");
    }
    if which.is_empty() {
        which = BENCHES.iter().collect();
    }
    let (mut failed, mut empty) = (Vec::new(), Vec::new());
    for bench in &which {
        println!("## {}", bench.name);
        // What one bench lacks is no reason to leave the others out.
        match run(context, bench, &passed_on, update) {
            Ok(status) if status.success() => {}
            Ok(status) if status.code() == Some(NO_ROW) => empty.push(bench.name),
            Ok(_) => failed.push(bench.name),
            Err(error) => {
                eprintln!("{}: {error:#}", bench.name);
                failed.push(bench.name);
            }
        }
    }
    // Rows may be in one bench only of those that were asked.
    if empty.len() == which.len() {
        failed.append(&mut empty);
    }
    if !failed.is_empty() {
        eprintln!("failed or missed a target: {}", failed.join(", "));
    }
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn find(name: &str) -> Result<&'static Bench> {
    let names = BENCHES.iter().map(|bench| bench.name).collect::<Vec<_>>().join(", ");
    BENCHES.iter().find(|bench| bench.name == name).with_context(|| format!("no bench `{name}`; there are {names}"))
}

/// Runs one bench; its table goes to `docs/benchmarks.md` when that is asked for, also when it says that a row misses.
fn run(context: &Context, bench: &Bench, options: &[String], update: bool) -> Result<ExitStatus> {
    let mut command = package(context, bench)?;
    command.args(options);
    let (mut table, status) = tee(&mut command)?;
    let complete = status.success() || status.code() == Some(MISSED);
    if complete && update {
        if bench.name == "files" {
            let plot = context.root.join("docs/growth.svg");
            let (growth, status) = tee(cargo_run(context, "bench-growth").arg(&plot))?;
            anyhow::ensure!(status.success(), "the plot of growth was not drawn");
            table = format!(
                "{}\n\n{}\n\n![How opening, looking up and scanning grow](growth.svg)\n",
                table.trim(),
                growth.trim()
            );
        }
        let check = if options.is_empty() { "" } else { "--check " };
        let command = format!("cargo xtask bench {} {check}--update", bench.name);
        let facts = facts::measured(&context.root, &command, bench.peers);
        table = format!("{}\n\n{facts}\n", table.trim());
        let page = context.root.join("docs/benchmarks.md");
        let text = fs::read_to_string(&page).with_context(|| format!("cannot read {}", page.display()))?;
        fs::write(&page, replaced(&text, bench.name, &table)?)?;
        println!("docs/benchmarks.md is updated; its remarks below the table are yours to check");
    }
    if !complete && status.code() != Some(NO_ROW) {
        eprintln!("{} broke off ({status}): there is no table to keep", bench.name);
    }
    Ok(status)
}

/// The command that builds a bench and starts it.
fn package(context: &Context, bench: &Bench) -> Result<Command> {
    if bench.needs == Needs::Package {
        return python(context);
    }
    let interpreter = match bench.needs {
        Needs::Python => {
            if let Err(reason) = compilers() {
                bail!("the generated code of the peer cannot be built: {reason}");
            }
            Some(context.python_with_struct_frame()?)
        }
        Needs::Commands => Some(context.python_with_tensogram()?),
        Needs::Nothing | Needs::Cpp | Needs::Program | Needs::Package => None,
    };
    let mut run = cargo_run(context, &format!("bench-{}", bench.name));
    if bench.needs == Needs::Cpp {
        if let Err(reason) = tools() {
            bail!("the reference crate cannot be built: {reason}");
        }
        if let Some(folder) = cmake_folder(context)? {
            let others = std::env::var_os("PATH").unwrap_or_default();
            run.env("PATH", std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&others)))?);
        }
        if !context.target.join("release").join(format!("bench-{}", bench.name)).exists() {
            println!("the first build compiles the reference's C++ codecs: about five minutes and 2.4 GB");
        }
    }
    if let Some(interpreter) = interpreter {
        run.env("FW_PYTHON", interpreter);
    }
    if matches!(bench.needs, Needs::Commands | Needs::Program) {
        let mut build = context.cargo();
        build.args(["build", "--quiet", "--release", "--locked"]);
        anyhow::ensure!(build.status()?.success(), "fw does not build");
        run.env("FW_BIN", context.target.join("release/fw"));
    }
    Ok(run)
}

/// The command that measures the Python package: a release build of it, in an environment of its own.
fn python(context: &Context) -> Result<Command> {
    let interpreter = venv::ensure_python_bench(&context.target)?;
    let programs = interpreter.parent().map(Path::to_owned).unwrap_or_default();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&path)))?;
    let mut install = Command::new(&interpreter);
    install.current_dir(&context.root).env("CARGO_TARGET_DIR", &context.target).env("PATH", path);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps"]);
    install.args(["--no-build-isolation", "--force-reinstall", "./python"]);
    anyhow::ensure!(install.status()?.success(), "the Python package does not build");
    let mut run = Command::new(interpreter);
    run.current_dir(&context.target).env("PYTHONPATH", context.root.join("python/bench"));
    run.arg(context.root.join("python/bench/run.py"));
    Ok(run)
}

/// The command that builds a package of `benches/` and starts it.
fn cargo_run(context: &Context, package: &str) -> Command {
    let mut run = context.cargo();
    run.args(["run", "--release", "--locked", "--package", package, "--manifest-path"]);
    run.arg(context.root.join("benches/Cargo.toml")).arg("--");
    run
}

/// Tools that are there count whoever installed them; what is missing is asked for as a Debian package.
fn tools() -> Result<(), String> {
    if version("clang").is_none() || version("g++").is_none() || !has_clang_headers() {
        debian::ensure(PACKAGES)?;
    }
    Ok(())
}

fn compilers() -> Result<(), String> {
    if COMPILERS.iter().any(|program| version(program).is_none()) {
        debian::ensure(COMPILERS)?;
    }
    Ok(())
}

/// Where a cmake is that is recent enough, unless the one in the path is: many systems have an older one, or none.
fn cmake_folder(context: &Context) -> Result<Option<PathBuf>> {
    if version("cmake").is_some_and(|version| is_recent(&version)) {
        return Ok(None);
    }
    let missing =
        "the reference crate needs cmake 3.26 or later (Debian's package `cmake`, where that is recent enough)";
    context.cmake_folder().context(missing).map(Some)
}

fn version(program: &str) -> Option<String> {
    quiet(Command::new(program).arg("--version")).ok()
}

/// Whether `cmake --version` says 3.26 or later.
fn is_recent(version: &str) -> bool {
    let number = version.split_whitespace().nth(2).unwrap_or_default();
    let mut parts = number.split('.').map_while(|part| part.parse::<u32>().ok());
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= (3, 26)
}

fn has_clang_headers() -> bool {
    let mut folders: Vec<_> = vec![Path::new("/usr").to_path_buf(), Path::new("/usr/local").to_path_buf()];
    folders.extend(fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path()));
    folders.iter().any(|folder| folder.join("include/clang-c/Index.h").is_file())
}

/// The page with a new table between the marks of a bench.
fn replaced(page: &str, name: &str, table: &str) -> Result<String> {
    let (begin, end) = (format!("<!-- bench {name}: begin -->\n"), format!("<!-- bench {name}: end -->"));
    let missing = || format!("docs/benchmarks.md has no mark `{}`", begin.trim());
    let (head, rest) = page.split_once(&begin).with_context(missing)?;
    let (_, tail) = rest.split_once(&end).context("docs/benchmarks.md has no mark where the table ends")?;
    Ok(format!("{head}{begin}\n{}\n\n{end}{tail}", table.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_table_changes() {
        let page = |table| format!("# T\n<!-- bench x: begin -->\n\n{table}\n\n<!-- bench x: end -->\nremarks\n");
        let once = replaced(&page("old"), "x", "| a |\n").unwrap();
        assert_eq!(once, page("| a |"));
        assert_eq!(replaced(&once, "x", "| a |").unwrap(), once);
        assert!(replaced(&once, "y", "| a |").is_err());
    }

    #[test]
    fn versions_of_cmake() {
        for (version, recent) in [
            ("cmake version 3.25.1\n\nCMake suite", false),
            ("cmake version 3.26.0", true),
            ("cmake version 3.31.10", true),
            ("cmake version 4.0.1-rc1", true),
            ("", false),
        ] {
            assert_eq!(is_recent(version), recent, "{version}");
        }
    }

    #[test]
    fn a_page_without_marks_is_left_alone() {
        assert!(replaced("# Title\n", "x", "| a |").is_err());
    }
}
