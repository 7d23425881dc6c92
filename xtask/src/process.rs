//! Running other programs, with their output both shown and kept.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context as _, Result};

use crate::outcome::Outcome;

/// Runs a command with its output going to ours: one check that passes when it exits with 0.
pub(crate) fn check(command: &mut Command) -> Result<Outcome> {
    announce(command);
    let mut child =
        command.stderr(Stdio::piped()).spawn().with_context(|| format!("cannot start {:?}", command.get_program()))?;
    let errors = child.stderr.take().expect("error output was piped above");
    let kept = copied(errors, std::io::stderr())?;
    Ok(Outcome::from_success(child.wait()?.success()).because(&kept))
}

/// Runs a command, shows its standard output while it comes and returns it with how that ended.
pub(crate) fn tee(command: &mut Command) -> Result<(String, ExitStatus)> {
    announce(command);
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start {:?}", command.get_program()))?;
    let output = child.stdout.take().expect("standard output was piped above");
    let kept = copied(output, std::io::stdout())?;
    Ok((kept, child.wait()?))
}

/// As [`tee`], with its error output, shown and returned as well.
pub(crate) fn tee_both(command: &mut Command) -> Result<(String, String, ExitStatus)> {
    announce(command);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {:?}", command.get_program()))?;
    let errors = child.stderr.take().expect("error output was piped above");
    let errors = std::thread::spawn(move || copied(errors, std::io::stderr()));
    let output = child.stdout.take().expect("standard output was piped above");
    let kept = copied(output, std::io::stdout())?;
    let errors = errors.join().map_err(|_| anyhow::anyhow!("the thread that shows error output died"))??;
    Ok((kept, errors, child.wait()?))
}

/// Copies lines as they come, and returns them.
fn copied(from: impl Read, mut to: impl Write) -> std::io::Result<String> {
    let mut kept = String::new();
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        kept.push_str(&String::from_utf8_lossy(&line));
        line.clear();
    }
    Ok(kept)
}

/// Runs a command quietly: its output on success, all it said as the error otherwise.
pub(crate) fn quiet(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {:?}", command.get_program()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    anyhow::ensure!(
        output.status.success(),
        "{:?} failed with {}:\n{}\n{}",
        command,
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
    Ok(text(&output.stdout))
}

/// Says which command runs, with what the environment adds to it.
fn announce(command: &Command) {
    let program = command.get_program().to_string_lossy();
    let program = program.rsplit('/').next().unwrap_or(&program);
    let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy()).collect();
    println!("$ {program} {}", arguments.join(" "));
}
