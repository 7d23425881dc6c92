//! Many inputs: words on the command line become files, and one that fails does not stop the others.

use crate::commands::{print, print_report};
use crate::exit::{self, Outcome, Usage, Voice};
use anyhow::Result;
use framewright::Format;
use framewright::convert::{checkpoint_in, index_files};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The inputs that words on the command line stand for.
#[derive(Debug)]
pub(crate) struct Inputs {
    /// Files, URLs and `-`, in the order of the words; those of a directory or pattern sorted by name.
    pub(crate) words: Vec<PathBuf>,
    /// Whether several are shown together: more than one, or what a directory or pattern stands for.
    pub(crate) several: bool,
    /// Directories below the words that cannot be read.
    unreadable: Vec<(PathBuf, anyhow::Error)>,
}

impl Inputs {
    /// Expands directories (every tensor file below them, a checkpoint in several files as one) and patterns that the shell has left alone. Files that exist, URLs and
    /// `-` stand for themselves.
    ///
    /// # Errors
    /// `Usage` for a directory without tensor files, and for a pattern that nothing matches.
    pub(crate) fn of(words: &[PathBuf]) -> Result<Self> {
        let (mut found, mut unreadable) = (Vec::new(), Vec::new());
        let mut several = words.len() > 1;
        for word in words {
            if word.is_dir() {
                let files = below(word, &mut unreadable)?;
                match checkpoint(word, &files) {
                    Some(only) => found.push(only),
                    None => {
                        several = true;
                        found.extend(files);
                    }
                }
            } else if let Some(pattern) = pattern(word) {
                several = true;
                found.extend(matching(word, pattern)?);
            } else {
                found.push(word.clone());
            }
        }
        Ok(Self { words: found, several, unreadable })
    }
}

/// What a command found out about one input.
pub(crate) struct Answer {
    pub(crate) outcome: Outcome,
    pub(crate) body: Body,
}

/// In the form that was asked for.
pub(crate) enum Body {
    Text(String),
    Json(Value),
}

impl Answer {
    pub(crate) const fn text(text: String) -> Self {
        Self { outcome: Outcome::Fine, body: Body::Text(text) }
    }

    pub(crate) const fn json(json: Value) -> Self {
        Self { outcome: Outcome::Fine, body: Body::Json(json) }
    }
}

/// The answers of a command to its inputs, printed as they come; JSON of several inputs is one object with a list `files`.
pub(crate) struct Answers {
    command: &'static str,
    json: bool,
    several: bool,
    files: Vec<Value>,
    outcome: Outcome,
    /// What is printed between the texts of two inputs.
    between: &'static str,
    printed: bool,
    /// Whether JSON is a line per answer instead of a list.
    lines: bool,
}

impl Answers {
    pub(crate) fn new(command: &'static str, json: bool, inputs: &Inputs) -> Self {
        let (several, files) = (inputs.several, Vec::new());
        let mut answers = Self {
            command,
            json,
            several,
            files,
            outcome: Outcome::Fine,
            between: "",
            printed: false,
            lines: command == "get",
        };
        for (path, error) in &inputs.unreadable {
            answers.fail(path, error);
        }
        answers
    }

    /// With something between the texts of two inputs.
    pub(crate) const fn between(mut self, text: &'static str) -> Self {
        self.between = text;
        self
    }

    /// Takes the answer to one input. Among several, an input that failed is told, and the others go on.
    ///
    /// # Errors
    /// The failure of the only input; a closed standard output.
    pub(crate) fn take(&mut self, word: &Path, answer: Result<Answer>) -> Result<()> {
        let Answer { outcome, body } = match answer {
            Ok(answer) => answer,
            Err(error) if !self.several || exit::is_closed_pipe(&error) => return Err(error),
            Err(error) => {
                self.fail(word, &error);
                return Ok(());
            }
        };
        self.outcome = self.outcome.or(outcome);
        match body {
            Body::Text(text) => {
                if std::mem::replace(&mut self.printed, true) {
                    print(self.between)?;
                }
                print(&text)
            }
            Body::Json(report) if !self.several => print_report(self.command, outcome == Outcome::Fine, report),
            Body::Json(mut report) => {
                report["ok"] = (outcome == Outcome::Fine).into();
                self.files.push(report);
                Ok(())
            }
        }
    }

    /// Notes that an input failed.
    pub(crate) fn fail(&mut self, word: &Path, error: &anyhow::Error) {
        self.outcome = self.outcome.or(if exit::is_usage_error(error) { Outcome::Unopened } else { Outcome::Invalid });
        let mut fault = exit::fault(error);
        let name = word.display().to_string();
        if self.json {
            let failed = json!({ "file": name, "ok": false, "error": fault });
            if self.lines {
                // Where nothing can be written, the exit code still tells.
                let _ = print(&format!("{failed}\n"));
            } else {
                self.files.push(failed);
            }
            return;
        }
        if let Some(message) = fault["message"].as_str().filter(|message| !message.contains(&name)) {
            fault["message"] = format!("{name}: {message}").into();
        }
        exit::tell(self.command, Voice::Words, &fault);
    }

    /// Adds what was made of an input to the list that [`Answers::finish_list`] prints.
    pub(crate) fn add(&mut self, report: Value) {
        self.files.push(report);
    }

    /// How the command ended; prints the list for a command that may make several files of one input, or none.
    ///
    /// # Errors
    /// A closed standard output.
    pub(crate) fn finish_list(self) -> Result<Outcome> {
        if self.json {
            print_report(self.command, self.outcome == Outcome::Fine, json!({ "files": self.files }))?;
        }
        Ok(self.outcome)
    }

    /// Whether an input failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.outcome != Outcome::Fine
    }

    /// How the command ended; prints the JSON of several inputs.
    ///
    /// # Errors
    /// A closed standard output.
    pub(crate) fn finish(self) -> Result<Outcome> {
        if self.json && self.several && !self.lines {
            print_report(self.command, self.outcome == Outcome::Fine, json!({ "files": self.files }))?;
        }
        Ok(self.outcome)
    }
}

/// The files that one word stands for, each with its path below the directory or pattern; `None` where the word is a file, a URL
/// or `-` itself.
///
/// # Errors
/// As [`Inputs::of`], and a directory below the word that cannot be read.
pub(crate) fn expanded(word: &Path) -> Result<Option<Vec<(PathBuf, PathBuf)>>> {
    let (base, files) = if word.is_dir() {
        let mut unreadable = Vec::new();
        let files = below(word, &mut unreadable)?;
        if checkpoint(word, &files).is_some() {
            return Ok(None);
        }
        if let Some((_, error)) = unreadable.into_iter().next() {
            return Err(error);
        }
        (word.to_owned(), files)
    } else if let Some(pattern) = pattern(word) {
        // What stands before the first part with a wildcard is the same in all names.
        let fixed = word.iter().take_while(|part| !part.as_encoded_bytes().iter().any(|byte| b"*?[".contains(byte)));
        (fixed.collect(), matching(word, pattern)?)
    } else {
        return Ok(None);
    };
    let inner = |path: PathBuf| (path.strip_prefix(&base).unwrap_or(&path).to_owned(), path);
    Ok(Some(files.into_iter().map(inner).collect()))
}

/// The tensor files in a directory and below, by name; hidden ones are left out, links to directories are not followed.
fn below(directory: &Path, unreadable: &mut Vec<(PathBuf, anyhow::Error)>) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(folder) = waiting.pop() {
        let entries = std::fs::read_dir(&folder).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => {
                let error = anyhow::Error::new(error).context(folder.display().to_string());
                if folder == directory {
                    return Err(error);
                }
                unreadable.push((folder, error));
                continue;
            }
        };
        entries.retain(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
        for entry in entries {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => waiting.push(path),
                _ if path.is_file() && Format::of_name(&path).is_some() => found.push(path),
                _ => {}
            }
        }
    }
    if found.is_empty() && unreadable.is_empty() {
        let endings: Vec<String> = Format::ALL.iter().map(|format| format!(".{}", format.extension())).collect();
        let text = format!("{}: no tensor files in this directory ({})", directory.display(), endings.join(", "));
        return Err(Usage(text).into());
    }
    found.sort();
    Ok(without_shards(found))
}

/// The files without those that an index among them names: an index stands for its shards.
fn without_shards(mut files: Vec<PathBuf>) -> Vec<PathBuf> {
    let indexes = files.iter().filter(|path| Format::of_name(path) == Some(Format::ShardIndex));
    let named = indexes.filter_map(|path| {
        let names = index_files(&std::fs::read(path).ok()?, "").ok()?;
        Some(names.into_iter().map(|name| path.with_file_name(name)).collect::<Vec<_>>())
    });
    let shards: HashSet<PathBuf> = named.flatten().collect();
    files.retain(|path| !shards.contains(path));
    files
}

/// What to open for a directory all of whose `files` are one checkpoint in several files.
fn checkpoint(directory: &Path, files: &[PathBuf]) -> Option<PathBuf> {
    let found = checkpoint_in(directory).ok()?;
    let is_shard = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        path.parent() == Some(directory) && name.is_some_and(|name| name.contains("-of-"))
    };
    let is_all = match files {
        [only] if *only == found => true,
        files => found == directory && files.iter().all(is_shard),
    };
    is_all.then_some(found)
}

/// The pattern that a word is, when no file has that name.
fn pattern(word: &Path) -> Option<&str> {
    let text = word.to_str()?;
    let is_pattern = text.contains(['*', '?', '[']) && !text.contains("://") && !word.exists();
    is_pattern.then_some(text)
}

fn matching(word: &Path, pattern: &str) -> Result<Vec<PathBuf>> {
    let options = glob::MatchOptions { require_literal_leading_dot: true, ..glob::MatchOptions::default() };
    let paths = glob::glob_with(pattern, options)
        .map_err(|error| Usage(format!("{pattern}: not a valid pattern: {} at character {}", error.msg, error.pos)))?;
    let mut found: Vec<PathBuf> = paths.filter_map(Result::ok).filter(|path| path.is_file()).collect();
    if found.is_empty() {
        return Err(Usage(format!("{}: no file matches this pattern", word.display())).into());
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(inputs: &Inputs, folder: &Path) -> Vec<String> {
        inputs.words.iter().map(|path| path.strip_prefix(folder).unwrap_or(path).display().to_string()).collect()
    }

    /// A directory that cannot be read does not hide the others. The superuser reads everything: nothing to see then.
    #[cfg(unix)]
    #[test]
    fn directories_that_cannot_be_read_are_noted() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let locked = folder.path().join("locked");
        std::fs::create_dir(&locked).unwrap();
        std::fs::write(folder.path().join("a.tgm"), "").unwrap();
        std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o000)).unwrap();
        let hidden = std::fs::read_dir(&locked).is_err();
        let inputs = Inputs::of(&[folder.path().to_owned()]).unwrap();
        std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!((inputs.words.len(), inputs.unreadable.len()), (1, usize::from(hidden)));
    }

    #[test]
    fn words_become_files() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("a/b")).unwrap();
        for name in ["z.tgm", "a/m.bt", "a/b/n.npy", "a/notes.txt", "a/.hidden.tgm", "[x].tgm"] {
            std::fs::write(at(name), "").unwrap();
        }
        let of = |words: &[&str]| Inputs::of(&words.iter().map(|word| at(word)).collect::<Vec<_>>());
        let one = of(&["z.tgm"]).unwrap();
        assert_eq!((names(&one, folder.path()), one.several), (vec!["z.tgm".to_owned()], false));
        let all = of(&["a"]).unwrap();
        assert_eq!(
            (names(&all, folder.path()), all.several),
            (vec!["a/b/n.npy".to_owned(), "a/m.bt".to_owned()], true)
        );
        assert_eq!(names(&of(&["?.tgm"]).unwrap(), folder.path()), ["z.tgm"]);
        // A file of that name is meant, not a pattern.
        assert_eq!(names(&of(&["[x].tgm"]).unwrap(), folder.path()), ["[x].tgm"]);
        assert!(of(&["*.gguf"]).unwrap_err().to_string().ends_with("no file matches this pattern"));
        std::fs::create_dir(at("empty")).unwrap();
        assert!(of(&["empty"]).unwrap_err().to_string().contains("no tensor files in this directory"));
        let plain = Inputs::of(&["-".into(), "s3://b/*.tgm".into(), "absent.tgm".into()]).unwrap();
        assert_eq!(plain.words.len(), 3);
    }
}
