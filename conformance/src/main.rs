//! The runner: `fw-conformance [--vectors DIR] [--known FILE] [--quiet]`, `fw-conformance golden [--update]`, and
//! `fw-conformance matrix --work DIR [--lang LANG]...`.

#![forbid(unsafe_code)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, ensure};
use fw_conformance::golden::Mode;
use fw_conformance::known::KnownFailures;
use fw_conformance::row::{Meter, Rows, Show};
use lexopt::prelude::*;
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const HELP: &str = "\
usage: cargo xtask conformance [--vectors DIR] [--known FILE] [--quiet]

  --vectors DIR   run every manifest below DIR (the project's own vectors)
  --known FILE    rows that may deviate, each with its reason (conformance/known-failures.txt)
  --quiet         print only rows that deviate

usage: cargo xtask golden [--update]

  --update        rewrite golden bytes that changed; the old ones go to golden/legacy/

usage: cargo xtask matrix [--lang LANG]...

  --lang LANG     only this language; all of them otherwise
";

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("conformance: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut vectors, mut known, mut show) = (None, here.join("known-failures.txt"), Show::All);
    let (mut golden, mut mode) = (false, Mode::Verify);
    let (mut matrix, mut work, mut langs) = (false, None, Vec::new());
    let mut args = lexopt::Parser::from_env();
    while let Some(argument) = args.next()? {
        match argument {
            Long("vectors") => vectors = Some(PathBuf::from(args.value()?)),
            Long("known") => known = PathBuf::from(args.value()?),
            Value(command) if command == "golden" => golden = true,
            Value(command) if command == "matrix" => matrix = true,
            Long("work") if matrix => work = Some(PathBuf::from(args.value()?)),
            Long("lang") if matrix => langs.push(args.value()?.string()?),
            Long("update") if golden => mode = Mode::Update,
            Long("quiet") => show = Show::Deviations,
            Long("help") | Short('h') => {
                print!("{HELP}");
                return Ok(ExitCode::SUCCESS);
            }
            _ => return Err(argument.unexpected().into()),
        }
    }
    let meter = Meter {
        reset: || ALLOCATOR.reset_peak_usage(),
        in_use: || ALLOCATOR.current_usage(),
        peak: || ALLOCATOR.peak_usage(),
    };
    if golden {
        let mut rows = Rows::new(KnownFailures::default(), meter, show);
        fw_conformance::golden::run(&here.join("../golden"), mode, &mut rows)?;
        println!("{} passed, {} failed", rows.passed(), rows.failed());
        return Ok(if rows.failed() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    if matrix {
        let work = work.unwrap_or_else(|| std::env::temp_dir().join("fw-matrix"));
        let vectors = vectors.unwrap_or_else(|| here.join("../vectors/struct-frame"));
        return run_matrix(&vectors, &work, &langs);
    }
    let mut rows = Rows::new(KnownFailures::read(&known)?, meter, show);
    let own = vectors.is_none();
    let folder = vectors.unwrap_or_else(|| here.join("../vectors"));
    std::panic::set_hook(Box::new(|_| ())); // a panic is told in its row
    fw_conformance::discover::run(&folder, &mut rows)?;
    if own {
        rows.check_known_were_seen();
    }
    let (passed, failed, expected) = (rows.passed(), rows.failed(), rows.expected());
    ensure!(passed + failed + expected > 0, "no manifest below {}", folder.display());
    println!("{passed} passed, {failed} failed, {expected} known failures");
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints the matrix; a hole is a failure. Skipped languages go to the file that `FW_SKIPPED` names.
fn run_matrix(vectors: &Path, work: &Path, langs: &[String]) -> Result<ExitCode> {
    let outcome = fw_conformance::matrix::run(vectors, work, langs)?;
    let mut failures = outcome.failures;
    failures.extend(outcome.table.holes());
    failures.iter().for_each(|failure| println!("FAIL {failure}"));
    print!("{}", outcome.table);
    outcome.skipped.iter().for_each(|skipped| println!("skipped: {skipped}"));
    if let Some(log) = std::env::var_os("FW_SKIPPED") {
        let mut log = std::fs::OpenOptions::new().append(true).create(true).open(log)?;
        outcome.skipped.iter().try_for_each(|skipped| writeln!(log, "{skipped}"))?;
    }
    println!("{} passed, {} failed", outcome.passed, failures.len());
    Ok(if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
