//! `fw`: one tool for Tensogram, BinTensors and struct-frame data.
#![forbid(unsafe_code)]

mod args; // what the user may say
mod commands; // one file per command
mod exit; // what the process returns
mod frames; // where frames come from
mod input; // where files come from
mod render; // text for people, JSON for programs

use clap::Parser;

fn main() -> std::process::ExitCode {
    let args = args::Args::parse();
    exit::code(commands::run(&args.command))
}
