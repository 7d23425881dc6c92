//! What the process returns: 0 fine, 1 failed, invalid or different, 2 usage, 3 done with loss.

use framewright::convert::ConvertError;
use std::io;
use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All is well.
    Fine,
    /// The command worked, and what it looked at is wrong, or two things differ.
    Invalid,
    /// The command worked, and something could not be kept.
    Lossy,
}

/// Turns the end of a command into an exit code, and says on stderr what went wrong.
pub(crate) fn code(result: anyhow::Result<Outcome>) -> ExitCode {
    match result {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Invalid) => ExitCode::from(1),
        Ok(Outcome::Lossy) => ExitCode::from(3),
        // A reader that closed its end has seen enough: `fw ls big.tgm | head` is no failure.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) if error.is::<Usage>() => {
            eprintln!("fw: {error:#}");
            ExitCode::from(2)
        }
        Err(error) => {
            eprintln!("fw: {error:#}");
            ExitCode::from(1)
        }
    }
}

/// A request that cannot be served as it was put.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let failed = |cause: &(dyn std::error::Error + 'static)| match cause.downcast_ref::<ConvertError>() {
        Some(ConvertError::Io(error)) => Some(error.kind()),
        _ => cause.downcast_ref::<io::Error>().map(io::Error::kind),
    };
    error.chain().any(|cause| failed(cause) == Some(io::ErrorKind::BrokenPipe))
}
