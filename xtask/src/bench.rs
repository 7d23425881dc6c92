//! `cargo xtask bench`: our code beside the peers', which live in the workspace `benches/`.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use lexopt::prelude::*;

use crate::context::Context;
use crate::debian;
use crate::process::{quiet, tee};

/// What building the reference crate takes (C and C++ codecs, bindings made with libclang).
const PACKAGES: &[&str] = &["cmake", "clang", "libclang-dev"];

const BEGIN: &str = "<!-- bench codecs: begin -->\n";
const END: &str = "<!-- bench codecs: end -->";

/// Builds the peers and runs one bench.
pub(crate) fn main(context: &Context, mut args: lexopt::Parser) -> Result<ExitCode> {
    let (mut which, mut update) = (None, false);
    let mut passed_on = Vec::new();
    while let Some(argument) = args.next()? {
        match argument {
            Value(name) if which.is_none() => which = Some(name.string()?),
            Long("quick") => passed_on.push("--quick"),
            Long("check") => passed_on.push("--check"),
            Long("update") => update = true,
            _ => return Err(argument.unexpected().into()),
        }
    }
    match which.as_deref() {
        Some("codecs") => {}
        Some(other) => bail!("no bench `{other}`; there is `codecs`"),
        None => bail!("which bench? there is `codecs`"),
    }
    if let Err(reason) = tools() {
        bail!("the reference crate cannot be built: {reason}");
    }
    println!("the first build compiles the reference's C++ codecs: about five minutes and 2.4 GB");
    let mut run = context.cargo();
    run.args(["run", "--release", "--locked", "--package", "bench-codecs", "--manifest-path"]);
    run.arg(context.root.join("benches/Cargo.toml")).arg("--");
    run.args(passed_on);
    let (table, success) = tee(&mut run)?;
    if success && update {
        let page = context.root.join("docs/benchmarks.md");
        let text = fs::read_to_string(&page).with_context(|| format!("cannot read {}", page.display()))?;
        fs::write(&page, replaced(&text, &table)?)?;
        println!("docs/benchmarks.md is updated; its remarks below the table are yours to check");
    }
    Ok(if success { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Tools that are there count whoever installed them; what is missing is asked for as a Debian package.
fn tools() -> Result<(), String> {
    let version = |name: &str| quiet(Command::new(name).arg("--version")).ok();
    if version("cmake").is_none() || version("clang").is_none() || !has_clang_headers() {
        debian::ensure(PACKAGES)?;
    }
    let found = version("cmake").unwrap_or_default();
    if is_recent(&found) {
        return Ok(());
    }
    let found = found.lines().next().unwrap_or("no cmake").to_owned();
    Err(format!(
        "it needs cmake 3.26 or later, found {found}: install cmake from Debian 13 or bookworm-backports, or \
         `pip install 'cmake>=3.26,<4'` in a virtual environment whose bin folder comes first in PATH"
    ))
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

/// The page with a new table between its marks.
fn replaced(page: &str, table: &str) -> Result<String> {
    let (head, rest) = page.split_once(BEGIN).context("docs/benchmarks.md has no mark where the table begins")?;
    let (_, tail) = rest.split_once(END).context("docs/benchmarks.md has no mark where the table ends")?;
    Ok(format!("{head}{BEGIN}\n{}\n\n{END}{tail}", table.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_table_changes() {
        let page = format!("# Title\n{BEGIN}\nold\n\n{END}\nremarks\n");
        let once = replaced(&page, "| a |\n").unwrap();
        assert_eq!(once, format!("# Title\n{BEGIN}\n| a |\n\n{END}\nremarks\n"));
        assert_eq!(replaced(&once, "| a |").unwrap(), once);
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
        assert!(replaced("# Title\n", "| a |").is_err());
    }
}
