//! `cargo xtask fuzz`: the programs in `fuzz/`, built with what libFuzzer counts, on the toolchain of everything else.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use lexopt::prelude::*;
use serde_json::Value as Json;

use crate::context::Context;
use crate::process::quiet;

/// What makes the compiler count edges and compare operands, as cargo-fuzz asks for it; and AddressSanitizer.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions -Zsanitizer=address --cfg fuzzing";

/// Seconds for each target.
const SECONDS: u64 = 60;

/// Where many small files cost no disk.
const SHARED_MEMORY: &str = "/dev/shm";

/// Runs the targets that are named, or all of them.
pub(crate) fn main(context: &Context, mut args: lexopt::Parser) -> Result<ExitCode> {
    let (mut wanted, mut seconds, mut list) = (Vec::new(), SECONDS, false);
    while let Some(argument) = args.next()? {
        match argument {
            Value(name) => wanted.push(name.string()?),
            Long("seconds") => seconds = args.value()?.parse()?,
            Long("list") => list = true,
            _ => return Err(argument.unexpected().into()),
        }
    }
    let targets = targets(context)?;
    if list {
        targets.iter().for_each(|target| println!("{target}"));
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(stranger) = wanted.iter().find(|name| !targets.contains(name)) {
        bail!("no fuzz target `{stranger}`; there are {}", targets.join(", "));
    }
    let chosen: Vec<&String> = targets.iter().filter(|name| wanted.is_empty() || wanted.contains(name)).collect();
    let host = host()?;
    let folder = context.target.join("fuzz");
    let mut build = context.cargo();
    // The sanitizer and its flag are the only things that are not stable.
    build.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", FLAGS).env("CARGO_TARGET_DIR", &folder);
    build.args(["build", "--release", "--locked", "--target", &host, "--manifest-path", "fuzz/Cargo.toml"]);
    for name in &chosen {
        build.args(["--bin", name.as_str()]);
    }
    anyhow::ensure!(build.status()?.success(), "the fuzz targets do not build");
    let mut failed = Vec::new();
    for name in chosen {
        println!("\n== {name}");
        let (corpus, found) = (folder.join("corpus").join(name), folder.join("found"));
        fs::create_dir_all(&corpus)?;
        fs::create_dir_all(&found)?;
        let mut run = Command::new(folder.join(&host).join("release").join(name));
        run.arg(format!("-max_total_time={seconds}")).args(["-timeout=20", "-rss_limit_mb=4096", "-verbosity=1"]);
        run.arg(format!("-artifact_prefix={}/{name}-", found.display()));
        // New inputs go to the first directory.
        run.arg(&corpus).arg(context.root.join("fuzz/seeds").join(name));
        if Path::new(SHARED_MEMORY).is_dir() {
            run.env("TMPDIR", SHARED_MEMORY);
        }
        if !run.status()?.success() {
            failed.push(name.as_str());
        }
    }
    if failed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("failed: {}; the inputs are in {}", failed.join(", "), folder.join("found").display());
    eprintln!("put one into fuzz/seeds/TARGET/ and cargo test tries it every time");
    Ok(ExitCode::FAILURE)
}

/// The programs of `fuzz/`, by name.
fn targets(context: &Context) -> Result<Vec<String>> {
    let mut metadata = context.cargo();
    metadata.args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path", "fuzz/Cargo.toml"]);
    let metadata: Json = serde_json::from_str(&quiet(&mut metadata)?)?;
    let found = metadata["packages"][0]["targets"].as_array().context("cargo metadata lists targets")?;
    let mut names: Vec<String> = found.iter().filter_map(|target| target["name"].as_str().map(str::to_owned)).collect();
    names.sort();
    Ok(names)
}

/// The triple of this machine: with it flags are for the programs and not for build scripts.
fn host() -> Result<String> {
    let version = quiet(Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc does not name its host")
}
