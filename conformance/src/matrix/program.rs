//! The command line that every program of the matrix has.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use fw_bytes::Cursor;

/// A program of one language for one suite.
///
/// - `encode OUT` writes a record per case: its frame, as a length of four bytes, little-endian, and the bytes;
///   the length is `0xffff_ffff`, with nothing behind it, when the frame was refused
/// - `decode IN` reads such records, one per case, through the buffer reader, the accumulating reader byte by byte, and in
///   chunks of seven; it compares message and header with its own and prints a line per case, `ok` or `bad WHY`; a
///   refused frame is `ok`
/// - `hostile IN` reads records of a byte (the framing: its place in [`Suite::framings`](super::Suite::framings)), a length
///   and bytes; finds frames in each (end of input included), decodes and encodes every known message again, and prints
///   `done FRAMES BAD ACCEPTED SUM`: [`Findings`]
pub struct Program {
    pub(super) command: Vec<OsString>,
    pub(super) folder: PathBuf,
}

/// What was found in damaged and lying frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Frames delivered.
    pub frames: u64,
    /// Frames whose checksum was wrong.
    pub bad: u64,
    /// Frames whose payload could be decoded.
    pub accepted: u64,
    /// Over the frames that were made of those again, with the header they came with: for each byte, 31 times the sum
    /// so far and the byte, modulo 2³².
    pub sum: u32,
}

impl Findings {
    pub(super) fn accept(&mut self, again: &[u8]) {
        self.accepted += 1;
        self.sum = again.iter().fold(self.sum, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)));
    }
}

const REFUSED: u32 = u32::MAX;

impl Program {
    pub(super) fn encode(&self, out: &Path, cases: usize) -> Result<Vec<Option<Vec<u8>>>> {
        self.run("encode", out)?;
        let bytes = fs::read(out).with_context(|| out.display().to_string())?;
        let records = read_records(&bytes).context("records of `encode`")?;
        ensure!(records.len() == cases, "{} records for {cases} cases", records.len());
        Ok(records)
    }

    pub(super) fn decode(&self, path: &Path, cases: usize) -> Result<Vec<Result<(), String>>> {
        let text = self.run("decode", path)?;
        let verdict = |line: &str| match line.trim_end().split_once(' ') {
            None if line.trim_end() == "ok" => Ok(Ok(())),
            Some(("bad", why)) => Ok(Err(why.to_owned())),
            _ => bail!("`decode` printed {line:?}"),
        };
        let verdicts: Vec<_> = text.lines().map(verdict).collect::<Result<_>>()?;
        ensure!(verdicts.len() == cases, "{} lines for {cases} cases", verdicts.len());
        Ok(verdicts)
    }

    pub(super) fn hostile(&self, path: &Path) -> Result<Findings> {
        let text = self.run("hostile", path)?;
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            ["done", frames, bad, accepted, sum] => Ok(Findings {
                frames: frames.parse()?,
                bad: bad.parse()?,
                accepted: accepted.parse()?,
                sum: sum.parse()?,
            }),
            _ => bail!("`hostile` printed {text:?}"),
        }
    }

    fn run(&self, verb: &str, path: &Path) -> Result<String> {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).arg(verb).arg(path).current_dir(&self.folder);
        let output = command.output().with_context(|| format!("{:?}", self.command))?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`{verb}` ended with {}: {errors}", output.status);
        Ok(String::from_utf8(output.stdout)?)
    }
}

/// Records as programs read them.
pub(super) fn records(frames: &[Option<Vec<u8>>]) -> Vec<u8> {
    let mut out = Vec::new();
    for frame in frames {
        let len = frame.as_ref().map_or(REFUSED, |frame| u32::try_from(frame.len()).expect("frames are short"));
        out.extend(len.to_le_bytes());
        out.extend(frame.iter().flatten());
    }
    out
}

fn read_records(bytes: &[u8]) -> Result<Vec<Option<Vec<u8>>>> {
    let mut cursor = Cursor::new(bytes);
    let mut records = Vec::new();
    while !cursor.is_empty() {
        let len = u32::from_le_bytes(cursor.array("length of a record")?);
        records.push(match len {
            REFUSED => None,
            len => Some(cursor.take(len as usize, "frame")?.to_vec()),
        });
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_there_and_back() {
        let frames = [Some(vec![1, 2, 3]), None, Some(Vec::new())];
        assert_eq!(read_records(&records(&frames)).unwrap(), frames);
        assert!(read_records(&[3, 0, 0, 0, 1]).is_err());
    }
}
