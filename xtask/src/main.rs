//! Sets up and runs everything this project promises. `cargo xtask` alone says what there is.

#![forbid(unsafe_code)]

mod arrows;
mod bench;
mod clauses;
mod context;
mod debian;
mod dist;
mod fuzz;
mod npm;
mod outcome;
mod pictures;
mod process;
mod rooms;
mod steps;
mod test;
mod tokens;
mod tools;
mod venv;

use std::process::ExitCode;

use anyhow::{Result, bail};
use lexopt::prelude::*;

use context::Context;

const HELP: &str = "\
usage: cargo xtask COMMAND

  test [--only STEP]... [--list]   lints, then every test; the one command that CI runs
  conformance [--vectors DIR] [--quiet]
                                   every vector manifest below DIR (the project's own vectors), one row per vector
  golden [--update]                our golden bytes, compared; --update rewrites them on purpose
  matrix [--lang LANG]...          generated code of every language against the vectors and each other
  bench [NAME]... [--quick] [--check] [--only TEXT]... [--update]
                                   our code beside its peers (codecs, files, bintensors, structframe, commands, links, python;
                                   all when none is named); --quick takes a fraction of the time, --check fails when a target is missed,
                                   --only takes rows whose names contain a text, --update writes docs/benchmarks.md
  dist [--program FILE]            an archive of fw, its manual pages and completions, in target/dist; of a release build
                                   with all features, or of a program that is built already
  fuzz [TARGET]... [--seconds N] [--list]
                                   the fuzz targets (all when none is named), each for N seconds (60); what it finds is
                                   kept in target/fuzz
  pictures                         the pictures of the documents, drawn again by fw
  venv                             set up the Python environment that interop tests use, print its interpreter
";

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode> {
    let mut args = lexopt::Parser::from_env();
    let wants_help = std::env::args().skip(1).any(|argument| argument == "--help" || argument == "-h");
    let Some(Value(command)) = args.next()?.filter(|_| !wants_help) else {
        print!("{HELP}");
        return Ok(ExitCode::SUCCESS);
    };
    let mut context = Context::locate()?;
    match command.string()?.as_str() {
        "test" => test::main(&mut context, args),
        "bench" => bench::main(&context, args),
        command @ ("conformance" | "golden") => {
            let mut runner = context.conformance();
            if command == "golden" {
                runner.arg("golden");
            }
            let status = runner.args(args.raw_args()?).status()?;
            Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
        }
        "matrix" => {
            let mut runner = context.matrix()?;
            let status = runner.args(args.raw_args()?).status()?;
            Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
        }
        "dist" => dist::main(&context, args),
        "fuzz" => fuzz::main(&context, args),
        "pictures" => pictures::main(&context),
        "venv" => {
            let environment = context.python()?;
            for skipped in &environment.missing {
                eprintln!("skipped: {skipped}");
            }
            println!("{}", environment.interpreter.display());
            Ok(ExitCode::SUCCESS)
        }
        "help" => {
            print!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        other => bail!("no command `{other}`\n{HELP}"),
    }
}
