//! `cargo xtask test`: every step in order, a table at the end.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, ensure};
use lexopt::prelude::*;

use crate::context::Context;
use crate::outcome::{Outcome, Row, summary};
use crate::steps::STEPS;

/// Runs all steps, or those named by `--only`. A failed step does not stop the ones after it.
pub(crate) fn main(context: &mut Context, mut args: lexopt::Parser) -> Result<ExitCode> {
    let mut only = Vec::new();
    while let Some(argument) = args.next()? {
        match argument {
            Long("only") => only.push(args.value()?.string()?),
            Long("list") => {
                for step in STEPS {
                    println!("{:<12} {}", step.name, step.about);
                }
                return Ok(ExitCode::SUCCESS);
            }
            _ => return Err(argument.unexpected().into()),
        }
    }
    for name in &only {
        ensure!(STEPS.iter().any(|step| step.name == name), "no step `{name}`; `cargo xtask test --list` names them");
    }

    let mut rows = Vec::new();
    for step in STEPS.iter().filter(|step| only.is_empty() || only.iter().any(|name| name == step.name)) {
        println!("\n== {}: {}", step.name, step.about);
        let start = Instant::now();
        let outcome = (step.run)(context).unwrap_or_else(|error| {
            eprintln!("{}: {error:#}", step.name);
            Outcome { failed: 1, ..Outcome::default() }
        });
        rows.push(Row { step: step.name, time: start.elapsed(), outcome });
    }
    println!("{}", summary(&rows));
    let clean = rows.iter().all(|row| row.outcome.failed == 0);
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
