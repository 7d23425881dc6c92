//! The Python environment of the interop tests: the reference implementations as black boxes.
//!
//! It lives in `target/venv`. A stamp file holds what was installed, so that a second run costs nothing; a changed list
//! of packages, or a deleted folder, sets it up anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::debian;
use crate::process::quiet;

/// Without these the interop tests would prove nothing: failing to install one fails the step.
const REQUIRED: &[&str] =
    &["numpy", "ml_dtypes", "tensogram==0.24.0", "bintensors==0.2.0", "safetensors", "struct-frame==0.10.9", "mypy"];

/// Groups that are welcome: one that does not install is named and its tests are skipped.
const OPTIONAL: &[&[&str]] = &[&["eccodes", "eccodeslib"], &["graphql-core"], &["rangehttpserver", "moto[server]"]];

/// A ready environment.
pub(crate) struct Environment {
    pub(crate) interpreter: PathBuf,
    /// One line per optional group that did not install.
    pub(crate) missing: Vec<String>,
}

/// Sets the environment up below `target`, or finds it as an earlier run left it.
pub(crate) fn ensure(target: &Path) -> Result<Environment> {
    let folder = target.join("venv");
    let interpreter = folder.join("bin/python");
    let stamp = folder.join("installed.txt");
    let wanted = format!("{} | {}", REQUIRED.join(" "), OPTIONAL.concat().join(" "));
    if let Ok(found) = fs::read_to_string(&stamp)
        && interpreter.exists()
        && let Some((packages, missing)) = found.split_once('\n')
        && packages == wanted
    {
        return Ok(Environment { interpreter, missing: missing.lines().map(str::to_owned).collect() });
    }

    println!("setting up {} (once)", folder.display());
    create(&folder)?;
    install(&interpreter, REQUIRED)?;
    let mut missing = Vec::new();
    for group in OPTIONAL {
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
    fs::write(&stamp, format!("{wanted}\n{}", missing.join("\n")))?;
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
