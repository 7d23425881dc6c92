//! `fw doctor`: is this build sound on this machine?

use super::{print, print_report};
use crate::args::Doctor;
use crate::exit::Outcome;
use crate::render::Ink;
use anyhow::Result;
use framewright::doctor::examine;

pub(crate) fn run(args: &Doctor) -> Result<Outcome> {
    let report = examine();
    if args.json {
        print_report("doctor", report.is_healthy(), serde_json::to_value(&report)?)?;
    } else {
        print(&painted(&report.to_string()))?;
    }
    Ok(if report.is_healthy() { Outcome::Fine } else { Outcome::Invalid })
}

/// The heads of sections bold, the verdict in its colour.
fn painted(text: &str) -> String {
    let line = |line: &str| match line {
        "Status: HEALTHY" => Ink::Good.paint(line),
        "Status: UNHEALTHY" => Ink::Bad.paint(line),
        head if !head.starts_with(' ') => Ink::Head.paint(head),
        failed if failed.contains("  FAILED (") => Ink::Bad.paint(failed),
        other => other.to_owned(),
    };
    text.lines().map(|one| line(one) + "\n").collect()
}
