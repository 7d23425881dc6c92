//! The package's code for the languages that are compiled: asked for once per group, whoever comes first.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};

use anyhow::{Context as _, Result, anyhow};

use super::super::{Suite, empty};
use super::run;

type Made = Arc<OnceLock<Result<(), String>>>;

static GROUPS: Mutex<BTreeMap<PathBuf, Made>> = Mutex::new(BTreeMap::new());

/// A folder with `generated/c`, `generated/cpp` and `generated/rust` for the group, beside the languages' own below
/// `work`.
pub(super) fn sources(suite: &Suite, work: &Path) -> Result<PathBuf> {
    let folder = work.join("ref-sources").join(&suite.name);
    let made = Arc::clone(GROUPS.lock().expect("nobody panics with the lock").entry(folder.clone()).or_default());
    let switches = ["--build_c", "--build_cpp", "--build_rust"];
    let generated = || empty(&folder).and_then(|()| generate(&suite.schema_path, &switches, &folder));
    let made = made.get_or_init(|| generated().map_err(|error| format!("{error:#}")));
    made.as_ref().map_err(|error| anyhow!("{error}"))?;
    Ok(folder)
}

/// Asks the package for the code of a schema, which it puts into the folder.
pub(super) fn generate(schema: &Path, switches: &[&str], folder: &Path) -> Result<()> {
    let schema = fs::canonicalize(schema)?;
    let mut generator = Command::new(std::env::var_os("FW_PYTHON").context("FW_PYTHON")?);
    run(generator.args(["-m", "struct_frame", "--force"]).args(switches).arg(schema).current_dir(folder))
}
