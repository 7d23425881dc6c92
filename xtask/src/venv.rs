//! Python environments with the reference implementations as black boxes: one with all of them for the interop tests in
//! `target/venv`, one with `struct-frame` alone, which is there in seconds, for its bench in `target/venv-struct-frame`;
//! and one with a `cmake` for machines whose own is too old to build the peers of benches, in `target/venv-cmake`.
//!
//! A stamp file holds what was installed, so that a second run costs nothing; a changed list of packages, or a deleted
//! folder, sets an environment up anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::debian;
use crate::process::quiet;

/// What generates the peers of the struct-frame bench.
pub(crate) const STRUCT_FRAME: &str = "struct-frame==0.10.9";

/// What does the jobs of our commands beside them.
pub(crate) const TENSOGRAM: &str = "tensogram==0.24.0";

/// What the Python package is measured beside.
pub(crate) const PYTHON_PEERS: &[&str] =
    &[TENSOGRAM, BINTENSORS, "safetensors==0.8.0", "numpy==2.4.6", "zarr==3.1.6", "h5py==3.16.0"];

const BINTENSORS: &str = "bintensors==0.2.0";

/// What builds the C++ peers of benches.
const CMAKE: &str = "cmake>=3.26,<4";

/// What builds the Python package.
const MATURIN: &str = "maturin>=1.16,<2";

/// Without these the interop tests would prove nothing: failing to install one fails the step.
const REQUIRED: &[&str] = &[
    "numpy",
    "ml_dtypes",
    TENSOGRAM,
    BINTENSORS,
    "safetensors",
    "gguf",
    STRUCT_FRAME,
    "mypy",
    // readers of what telemetry writes, and writers of what it reads
    "mcap",
    "mcap-protobuf-support",
    "pyarrow",
    "websockets",
    // what builds and tests the Python package
    MATURIN,
    "pytest",
    "auditwheel",
    // what fwright.xarray is an engine of, with what it is used with
    "xarray==2026.9.0",
    "dask==2026.8.0",
    "cftime==1.6.6.1",
];

/// Groups that are welcome: one that does not install is named and its tests are skipped.
const OPTIONAL: &[&[&str]] = &[
    &["eccodes", "eccodeslib"],
    &["graphql-core"],
    &["pyserial"],
    &["rangehttpserver", "moto[server]"],
    &["tensogram-xarray==0.24.0", "tensogram-zarr==0.24.0"],
    // whose arrays fwright.bintensors reads and writes; PyTorch, with its GPU libraries, is too large to install here
    &["jax", "mlx[cpu]"],
    &["pyserial", "pandas"],
];

/// What was installed, in the folder of an environment.
const STAMP: &str = "installed.txt";

/// A ready environment.
pub(crate) struct Environment {
    pub(crate) interpreter: PathBuf,
    /// One line per optional group that did not install.
    pub(crate) missing: Vec<String>,
}

/// Sets the environment of the interop tests up below `target`, or finds it as an earlier run left it.
pub(crate) fn ensure(target: &Path) -> Result<Environment> {
    ensure_with(target.join("venv"), REQUIRED, OPTIONAL)
}

/// The interpreter of an environment that holds the `struct-frame` package; that of the interop tests will do.
pub(crate) fn ensure_struct_frame(target: &Path) -> Result<PathBuf> {
    if let Some(environment) = found(&target.join("venv"), REQUIRED, OPTIONAL) {
        return Ok(environment.interpreter);
    }
    Ok(ensure_with(target.join("venv-struct-frame"), &[STRUCT_FRAME], &[])?.interpreter)
}

/// The interpreter of an environment with what the Python package is measured beside, and what builds it.
pub(crate) fn ensure_python_bench(target: &Path) -> Result<PathBuf> {
    let packages: Vec<&str> = PYTHON_PEERS.iter().copied().chain([MATURIN]).collect();
    Ok(ensure_with(target.join("venv-bench"), &packages, &[])?.interpreter)
}

/// The folder of programs of an environment that holds `cmake`.
pub(crate) fn ensure_cmake(target: &Path) -> Result<PathBuf> {
    let folder = target.join("venv-cmake");
    ensure_with(folder.clone(), &[CMAKE], &[])?;
    Ok(folder.join("bin"))
}

/// The environment as an earlier run left it, when that held the same packages.
fn found(folder: &Path, required: &[&str], optional: &[&[&str]]) -> Option<Environment> {
    let interpreter = folder.join("bin/python");
    let stamp = fs::read_to_string(folder.join(STAMP)).ok()?;
    let (packages, missing) = stamp.split_once('\n')?;
    let same = packages == listed(required, optional) && interpreter.exists();
    same.then(|| Environment { interpreter, missing: missing.lines().map(str::to_owned).collect() })
}

/// The line of the stamp file that says what was asked for.
fn listed(required: &[&str], optional: &[&[&str]]) -> String {
    format!("{} | {}", required.join(" "), optional.concat().join(" "))
}

fn ensure_with(folder: PathBuf, required: &[&str], optional: &[&[&str]]) -> Result<Environment> {
    if let Some(environment) = found(&folder, required, optional) {
        return Ok(environment);
    }
    let interpreter = folder.join("bin/python");
    println!("setting up {} (once)", folder.display());
    create(&folder)?;
    install(&interpreter, required)?;
    let mut missing = Vec::new();
    for group in optional {
        if let Err(error) = install(&interpreter, group) {
            let names = group.join(" ");
            let last = error.to_string().lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("").to_owned();
            eprintln!("OPTIONAL PACKAGES DID NOT INSTALL: {names}: {last}");
            missing.push(format!(
                "Python packages {names} did not install ({last}); delete {} to retry",
                folder.display()
            ));
        }
    }
    fs::write(folder.join(STAMP), format!("{}\n{}", listed(required, optional), missing.join("\n")))?;
    Ok(Environment { interpreter, missing })
}

/// A fresh, empty environment.
fn create(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot clear {}", folder.display()))?;
    }
    let make = || quiet(Command::new("python3").args(["-m", "venv"]).arg(folder));
    if make().is_ok() {
        return Ok(());
    }
    // Debian splits the module off from its interpreter.
    debian::ensure(&["python3", "python3-venv"]).map_err(anyhow::Error::msg)?;
    make().map(drop).context("cannot make a Python environment")
}

fn install(interpreter: &Path, packages: &[&str]) -> Result<()> {
    println!("$ pip install {}", packages.join(" "));
    let mut pip = Command::new(interpreter);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]).args(packages);
    quiet(&mut pip).map(drop).with_context(|| format!("cannot install {}", packages.join(" ")))
}
