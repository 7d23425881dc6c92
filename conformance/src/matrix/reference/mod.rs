//! What the reference package generates, as peers: they read what our languages write and the other way around.
//!
//! The package is asked for its code when the matrix runs, and only then; nothing of it is kept. Its known defects are
//! exceptions, told from schema and value and named by number ([`defects`]); one that turns out not to be needed is a
//! failure, so that the list stays true. Peers are not fed damaged frames, which crash them (R12), and do not read
//! each other, which would tell nothing about us.
//!
//! - [`cases`] the cases as data, which programs turn into messages by reflection
//! - [`defects`] where the package is known to be wrong
//! - [`generated`] the package's code, once per group for the languages that are compiled
//! - `python/`, `script/`, [`native`], [`rust`] the programs

mod cases;
mod defects;
mod generated;
mod native;
mod rust;

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::{Adapter, Case, Suite};
use native::Dialect;

const VERSION: &str = "0.10.9";

/// A language of the reference package.
#[derive(Clone, Copy)]
pub(super) enum Reference {
    Python,
    JavaScript,
    TypeScript,
    C,
    Cpp,
    Rust,
}

impl Adapter for Reference {
    fn name(&self) -> &'static str {
        match self {
            Self::Python => "ref-python",
            Self::JavaScript => "ref-js",
            Self::TypeScript => "ref-ts",
            Self::C => "ref-c",
            Self::Cpp => "ref-cpp",
            Self::Rust => "ref-rust",
        }
    }

    fn is_peer(&self) -> bool {
        true
    }

    fn missing(&self) -> Option<String> {
        let Some(python) = std::env::var_os("FW_PYTHON") else {
            return Some(format!("needs FW_PYTHON, an interpreter with struct-frame {VERSION}"));
        };
        let check = format!("from importlib.metadata import version; assert version('struct-frame') == '{VERSION}'");
        let works = |program: &OsString, args: &[&str]| {
            Command::new(program).args(args).output().is_ok_and(|output| output.status.success())
        };
        if !works(&python, &["-c", &check]) {
            return Some(format!("needs struct-frame {VERSION} in FW_PYTHON"));
        }
        let tools: &[(OsString, &str)] = match self {
            Self::Python => &[],
            Self::JavaScript => &[("node".into(), NODE)],
            Self::TypeScript => {
                &[("node".into(), NODE), (super::script::compiler(), "TypeScript: npm install typescript (FW_TSC)")]
            }
            Self::C => &[("gcc".into(), "gcc: apt-get install gcc")],
            Self::Cpp => &[("g++".into(), "g++: apt-get install g++")],
            Self::Rust => &[("rustc".into(), "rustc")],
        };
        let absent = tools.iter().find(|(program, _)| !works(program, &["--version"]));
        absent.map(|(_, what)| format!("needs {what}"))
    }

    fn build(&self, suite: &Suite, folder: &Path) -> Result<Vec<OsString>> {
        let work = || folder.parent().and_then(Path::parent).context("the folder lies in the language's");
        match self {
            Self::Python => interpreted(suite, folder, "--build_py", python),
            Self::JavaScript => interpreted(suite, folder, "--build_js", |folder| script(folder, "generated/js")),
            Self::TypeScript => interpreted(suite, folder, "--build_ts", |folder| {
                transpile(folder)?;
                script(folder, "out")
            }),
            Self::C => native::build(Dialect::C, suite, &generated::sources(suite, work()?)?, folder),
            Self::Cpp => native::build(Dialect::Cpp, suite, &generated::sources(suite, work()?)?, folder),
            Self::Rust => rust::build(suite, &generated::sources(suite, work()?)?, folder),
        }
    }

    fn unusable(&self, suite: &Suite) -> Option<String> {
        match self {
            Self::Python => defects::python_group(suite),
            Self::JavaScript | Self::TypeScript | Self::Rust => None,
            Self::C | Self::Cpp => defects::native_group(suite),
        }
    }

    fn exception(&self, suite: &Suite, case: &Case) -> Option<String> {
        match self {
            Self::Python => defects::python(suite, case),
            Self::JavaScript => defects::javascript(suite, case),
            Self::TypeScript => defects::typescript(suite, case),
            Self::C => defects::c(suite, case),
            Self::Cpp => defects::cpp(suite, case),
            Self::Rust => defects::rust(suite, case),
        }
    }
}

const NODE: &str = "Node 18 or newer: apt-get install nodejs";

/// Generates, puts the program beside it, and sees that it loads: code that was generated may still not.
fn interpreted(
    suite: &Suite,
    folder: &Path,
    switch: &str,
    program: impl FnOnce(&Path) -> Result<Vec<OsString>>,
) -> Result<Vec<OsString>> {
    fs::write(folder.join("cases.json"), serde_json::to_vec(&cases::json(suite)?)?)?;
    generated::generate(&suite.schema_path, &[switch], folder)?;
    let command = program(folder)?;
    run(Command::new(&command[0]).args(&command[1..]).arg("load").current_dir(folder))?;
    Ok(command)
}

fn python(folder: &Path) -> Result<Vec<OsString>> {
    fs::write(folder.join("program.py"), include_str!("python/program.py"))?;
    Ok(vec![std::env::var_os("FW_PYTHON").context("FW_PYTHON")?, folder.join("program.py").into_os_string()])
}

/// The program for Node; `modules` is where the generated ones lie.
fn script(folder: &Path, modules: &str) -> Result<Vec<OsString>> {
    fs::write(folder.join("program.cjs"), include_str!("script/program.cjs"))?;
    Ok(vec!["node".into(), folder.join("program.cjs").into_os_string(), folder.join(modules).into_os_string()])
}

/// TypeScript to CommonJS without type checking: what the package prints does not pass a strict compiler, and types have
/// no bearing on bytes.
fn transpile(folder: &Path) -> Result<()> {
    let mut sources = Vec::new();
    for entry in fs::read_dir(folder.join("generated/ts"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "ts") {
            sources.push(path);
        }
    }
    sources.sort();
    let mut tsc = Command::new(super::script::compiler());
    tsc.args(["--target", "es2022", "--module", "commonjs", "--outDir", "out", "--noCheck", "--skipLibCheck"]);
    let output = tsc.args(["--types", ""]).args(&sources).current_dir(folder).output()?;
    let words = String::from_utf8_lossy(&output.stdout).into_owned();
    let made = folder.join("out/frame-profiles.js").is_file();
    ensure!(made, "tsc: {}", words.lines().take(8).collect::<Vec<_>>().join("; "));
    Ok(())
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = words.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
    ensure!(output.status.success(), "{} ended with {}: {last}", command.get_program().display(), output.status);
    Ok(())
}
