//! What every command may be told.

use crate::exit::Usage;
use clap::{Args, ValueEnum};

/// How the output looks.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Look {
    /// When to colour text: on a terminal unless NO_COLOR is set, always, or never
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Colour::Auto, help_heading = HEADING)]
    pub(crate) color: Colour,
    /// Print no progress, notes or warnings on standard error, only errors
    #[arg(long, short, global = true, help_heading = HEADING)]
    pub(crate) quiet: bool,
    /// Accept decoded objects far larger than their payload, and standard input, up to SIZE (such as 4GiB)
    #[arg(long = "limit", global = true, value_name = "SIZE", value_parser = budget, conflicts_with = "trust", help_heading = HEADING)]
    pub(crate) most: Option<u64>,
    /// Accept them whatever their size: for trusted files
    #[arg(long, global = true, help_heading = HEADING)]
    pub(crate) trust: bool,
}

/// A number of bytes.
fn budget(text: &str) -> Result<u64, String> {
    crate::render::parse_size(text).ok_or_else(|| "expected a number of bytes such as 500MB or 4GiB".to_owned())
}

/// When text is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Also into files and pipes
    Always,
    /// Nowhere
    Never,
}

/// How many threads a command uses. Commands that decode or encode flatten this.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Threads {
    /// Use at most N threads [default: FW_THREADS, else one per processor]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

impl Threads {
    /// At least one.
    ///
    /// # Errors
    /// An environment variable that is not a number of threads.
    pub(crate) fn count(self) -> anyhow::Result<usize> {
        let asked = framewright::codec::parallel::resolve(self.threads.unwrap_or(0));
        Ok(match asked.map_err(|error| Usage(error.to_string()))? {
            0 => std::thread::available_parallelism().map_or(1, Into::into),
            threads => threads,
        })
    }

    /// Runs a command with that many threads for everything that it decodes.
    ///
    /// # Errors
    /// As [`Threads::count`], and those of the command.
    pub(crate) fn within<R>(self, command: impl FnOnce() -> anyhow::Result<R>) -> anyhow::Result<R> {
        framewright::codec::parallel::with_threads(self.count()?, command)
    }
}

const HEADING: &str = "Global options";
