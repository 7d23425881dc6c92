//! What every bench can be asked for.

use crate::Effort;
use std::process::ExitCode;
use std::time::Duration;

const USAGE: &str = "\
options: --quick        fewer and shorter rounds, for a first look
         --check        a row that misses its target is measured again, and the bench fails when it still does
         --only TEXT    only rows whose names contain it (may be given several times)";

/// The command line of a bench.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Whether the bench fails when a row misses its target.
    pub check: bool,
    quick: bool,
    only: Vec<String>,
}

impl Options {
    /// What the process was started with.
    ///
    /// # Errors
    /// How the process must end: what is not understood, and a wish for help, were answered.
    pub fn from_env() -> Result<Self, ExitCode> {
        Self::parse(std::env::args().skip(1)).map_err(|unknown| match unknown {
            None => {
                println!("{USAGE}");
                ExitCode::SUCCESS
            }
            Some(what) => {
                eprintln!("{what}\n{USAGE}");
                ExitCode::from(2)
            }
        })
    }

    /// `None` as the error is a wish for help.
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, Option<String>> {
        let mut options = Self::default();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--quick" => options.quick = true,
                "--check" => options.check = true,
                "--only" => options.only.push(words.next().ok_or_else(|| "--only needs a text".to_owned())?),
                "--help" | "-h" => return Err(None),
                other => return Err(Some(format!("unknown argument `{other}`"))),
            }
        }
        Ok(options)
    }

    /// How long to measure: rounds and milliseconds of a turn, in a hurry or at full length.
    pub fn effort(&self, quick: (usize, u64), full: (usize, u64)) -> Effort {
        let (rounds, turn) = if self.quick { quick } else { full };
        Effort { rounds, turn: Duration::from_millis(turn) }
    }

    /// How often a row that misses its target is measured again.
    pub fn again(&self) -> usize {
        if self.check { 5 } else { 0 }
    }

    /// Whether a row is wanted.
    pub fn wants(&self, row: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|text| row.contains(text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options, Option<String>> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn rows_are_chosen_by_parts_of_their_names() {
        let options = parsed("--only zstd --quick --only lz4").unwrap();
        assert!(options.wants("shuffle + lz4") && options.wants("zstd 3") && !options.wants("raw"));
        assert_eq!((options.again(), options.effort((3, 10), (7, 60)).rounds), (0, 3));
        assert!(parsed("").unwrap().wants("anything"));
        assert_eq!(parsed("--check").unwrap().again(), 5);
    }

    #[test]
    fn what_is_not_understood_is_said() {
        assert_eq!(parsed("--chekc"), Err(Some("unknown argument `--chekc`".to_owned())));
        assert_eq!(parsed("zstd"), Err(Some("unknown argument `zstd`".to_owned())));
        assert_eq!(parsed("--only"), Err(Some("--only needs a text".to_owned())));
        assert_eq!(parsed("--quick --help"), Err(None));
    }
}
