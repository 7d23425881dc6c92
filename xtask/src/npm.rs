//! The TypeScript compiler, Node's types and a WebSocket server, for tests of generated code.
//!
//! It lives in `target/npm`. A stamp file holds what was installed, so that a second run costs nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::debian;
use crate::process::quiet;

/// One version for everyone: a test compares what it writes.
const PACKAGES: &[&str] = &["typescript@7.0.2", "@types/node@20", "ws@8"];

/// Sets the compiler up below `target`, or finds it as an earlier run left it.
pub(crate) fn ensure(target: &Path) -> Result<PathBuf> {
    let folder = target.join("npm");
    let (compiler, stamp) = (folder.join("node_modules/.bin/tsc"), folder.join("installed.txt"));
    let wanted = PACKAGES.join(" ");
    if compiler.exists() && fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(compiler);
    }
    if quiet(Command::new("npm").arg("--version")).is_err() {
        debian::ensure(&["nodejs", "npm"]).map_err(anyhow::Error::msg)?;
    }
    println!("$ npm install {wanted}");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("package.json"), "{ \"private\": true }\n")?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--silent", "--no-audit", "--no-fund"]).args(PACKAGES).current_dir(&folder);
    quiet(&mut npm).with_context(|| format!("cannot install {wanted}"))?;
    fs::write(&stamp, wanted)?;
    Ok(compiler)
}
