//! What commands about `fw` itself may be told.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "Every codec encodes and decodes a field, and the result is compared.\nExit codes: 0 healthy, 1 a self-test \
                  failed."
)]
pub(crate) struct Doctor {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  fw completions bash > ~/.local/share/bash-completion/completions/fw\n  \
                        fw completions zsh > ~/.zfunc/_fw     # fpath+=~/.zfunc before compinit\n  \
                        fw completions fish > ~/.config/fish/completions/fw.fish\n  \
                        fw completions powershell >> $PROFILE")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  fw man | man -l -\n  fw man convert | man -l -\n  \
                        fw man --output ~/.local/share/man/man1 && man fw-convert")]
pub(crate) struct Man {
    /// The command whose page to print, such as `convert` or `schema check` [default: fw itself]
    pub(crate) command: Vec<String>,
    /// Write the pages of all commands into this directory instead
    #[arg(long, short, value_name = "DIR", value_parser = super::output::file(), conflicts_with = "command")]
    pub(crate) output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
