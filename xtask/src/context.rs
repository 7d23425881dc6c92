//! Where things are: the project, its one target directory, the Python environment.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::npm;
use crate::venv::{self, Environment};

/// What every step works with.
pub(crate) struct Context {
    /// The project's root folder.
    pub(crate) root: PathBuf,
    /// The one target directory that every build of a run shares.
    pub(crate) target: PathBuf,
    python: Option<Environment>,
}

impl Context {
    /// Finds the project from this crate's own place in it.
    pub(crate) fn locate() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in a folder of the project")?;
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => env::current_dir()?.join(folder),
            None => root.join("target"),
        };
        Ok(Self { root: root.to_path_buf(), target, python: None })
    }

    /// The Python environment of the interop tests, set up on first use.
    pub(crate) fn python(&mut self) -> Result<&Environment> {
        if self.python.is_none() {
            self.python = Some(venv::ensure(&self.target)?);
        }
        Ok(self.python.as_ref().expect("set on the line above"))
    }

    /// A Python interpreter that has the `struct-frame` package, and perhaps nothing else.
    pub(crate) fn python_with_struct_frame(&self) -> Result<PathBuf> {
        venv::ensure_struct_frame(&self.target)
    }

    /// An interpreter with the `tensogram` package, set up on first use.
    pub(crate) fn python_with_tensogram(&self) -> Result<PathBuf> {
        venv::ensure(&self.target).map(|environment| environment.interpreter)
    }

    /// The folder of a cmake that is new enough for the peers of benches.
    pub(crate) fn cmake_folder(&self) -> Result<PathBuf> {
        venv::ensure_cmake(&self.target)
    }

    /// The TypeScript compiler of the tests of generated code, set up on first use.
    pub(crate) fn tsc(&self) -> Result<PathBuf> {
        npm::ensure(&self.target)
    }

    /// `cargo`, started in the project's root with the shared target directory.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
        command
    }

    /// The conformance runner, built on the way. It keeps the caller's directory, so that `--vectors` is relative to it.
    pub(crate) fn conformance(&self) -> Command {
        let mut command = self.cargo();
        command.args(["run", "--quiet", "--package", "fw-conformance", "--manifest-path"]);
        command.arg(self.root.join("Cargo.toml")).arg("--");
        if let Ok(directory) = env::current_dir() {
            command.current_dir(directory);
        }
        command
    }

    /// The matrix of generated languages. Without Python the languages that need it say so themselves.
    pub(crate) fn matrix(&mut self) -> Result<Command> {
        let interpreter = self.python().map(|environment| environment.interpreter.clone());
        let mut command = self.conformance();
        command.arg("matrix").arg("--work").arg(self.target.join("matrix"));
        match interpreter {
            Ok(interpreter) => drop(command.env("FW_PYTHON", interpreter)),
            Err(error) => eprintln!("{error:#}"),
        }
        match self.tsc() {
            Ok(compiler) => drop(command.env("FW_TSC", compiler)),
            Err(error) => eprintln!("{error:#}"),
        }
        Ok(command)
    }

    /// The canonical struct-frame golden set, which lives beside the project and is never part of it.
    pub(crate) fn golden_set(&self) -> Option<PathBuf> {
        let folder = match env::var_os("FW_GOLDEN") {
            Some(folder) => PathBuf::from(folder),
            None => self.root.join("../shared/vectors/struct-frame-golden"),
        };
        folder.is_dir().then(|| folder.canonicalize().unwrap_or(folder))
    }

    /// Every package of the workspace with its features.
    pub(crate) fn packages(&self) -> Result<Vec<Package>> {
        let output = self.cargo().args(["metadata", "--no-deps", "--format-version", "1"]).output()?;
        anyhow::ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
        let metadata: Value = serde_json::from_slice(&output.stdout)?;
        let packages = metadata["packages"].as_array().context("cargo metadata lists packages")?;
        Ok(packages.iter().filter_map(Package::read).collect())
    }
}

/// A package of the workspace, as far as the steps care.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) features: Vec<String>,
    pub(crate) has_library: bool,
    /// Packages of the workspace that it is built on; what only its tests need is left out.
    pub(crate) built_on: Vec<String>,
}

impl Package {
    fn read(package: &Value) -> Option<Self> {
        let has_library = package["targets"]
            .as_array()?
            .iter()
            .any(|target| target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "lib")));
        let features = package["features"].as_object()?.keys().cloned().collect();
        let ours = |dependency: &&Value| dependency["path"].is_string() && dependency["kind"] != "dev";
        let built_on = package["dependencies"].as_array()?.iter().filter(ours);
        let built_on = built_on.filter_map(|dependency| dependency["name"].as_str().map(str::to_owned)).collect();
        Some(Self { name: package["name"].as_str()?.to_owned(), features, has_library, built_on })
    }
}
