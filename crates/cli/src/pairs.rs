//! Which file is compared with which: two files, two directories, two patterns, or files and a directory.

use crate::exit::Usage;
use crate::inputs::expanded;
use anyhow::Result;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The pairs that words on the command line stand for.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    /// First and second file, in the order of the first.
    pub(crate) both: Vec<(PathBuf, PathBuf)>,
    /// Files that have no counterpart.
    pub(crate) only_first: Vec<PathBuf>,
    pub(crate) only_second: Vec<PathBuf>,
    /// Whether the words name more than two files.
    pub(crate) several: bool,
}

impl Pairs {
    /// Pairs the files below the first words with those below the last one.
    ///
    /// # Errors
    /// `Usage` for words that cannot be paired, directories without tensor files and patterns that nothing matches.
    pub(crate) fn of(words: &[PathBuf]) -> Result<Self> {
        let Some((last, first)) = words.split_last() else { return Ok(Self::default()) };
        if words.iter().filter(|word| word.as_os_str() == "-").count() > 1 {
            return Err(Usage("standard input can be only one of the two files".to_owned()).into());
        }
        if let [first] = first {
            return match (expanded(first)?, expanded(last)?) {
                (None, None) => Ok(Self { both: vec![(first.clone(), last.clone())], ..Self::default() }),
                (Some(first), Some(last)) => Ok(Self::matched(first, last)),
                (None, Some(_)) if last.is_dir() => beside(std::slice::from_ref(first), last),
                (Some(_), None) if first.is_dir() => beside(std::slice::from_ref(last), first).map(Self::turned),
                _ => Err(unpaired(words)),
            };
        }
        match last.is_dir() {
            true => beside(first, last),
            false => Err(unpaired(words)),
        }
    }

    /// Files of equal paths, then files whose paths differ in their endings only.
    fn matched(first: Vec<(PathBuf, PathBuf)>, second: Vec<(PathBuf, PathBuf)>) -> Self {
        let mut pairs = Self { several: true, ..Self::default() };
        let mut rest: BTreeMap<PathBuf, PathBuf> = second.into_iter().collect();
        let mut lonely = Vec::new();
        let mut found = Vec::new();
        for (number, (inner, path)) in first.into_iter().enumerate() {
            match rest.remove(&inner) {
                Some(other) => found.push((number, path, other)),
                None => lonely.push((number, inner, path)),
            }
        }
        let stems = |path: &Path| path.with_extension("");
        for (number, inner, path) in &lonely {
            let stem = stems(inner);
            let alike: Vec<PathBuf> = rest.keys().filter(|other| stems(other) == stem).cloned().collect();
            let rivals = lonely.iter().filter(|(_, other, _)| stems(other) == stem).count();
            match (&alike[..], rivals) {
                ([only], 1) => found.extend(rest.remove(only).map(|other| (*number, path.clone(), other))),
                _ => pairs.only_first.push(path.clone()),
            }
        }
        found.sort();
        pairs.both = found.into_iter().map(|(_, first, second)| (first, second)).collect();
        pairs.only_second = rest.into_values().collect();
        pairs
    }

    /// With first and second exchanged.
    fn turned(self) -> Self {
        let both = self.both.into_iter().map(|(first, second)| (second, first)).collect();
        Self { both, ..self }
    }
}

/// Each file with the file of its name in a directory.
fn beside(files: &[PathBuf], directory: &Path) -> Result<Pairs> {
    let mut pairs = Pairs { several: files.len() > 1, ..Pairs::default() };
    for file in files {
        match expanded(file)? {
            None => match file.file_name() {
                Some(name) if file.as_os_str() != "-" => pairs.both.push((file.clone(), directory.join(name))),
                _ => return Err(Usage(format!("{}: name a file, not a directory", directory.display())).into()),
            },
            Some(found) => {
                pairs.several = true;
                pairs.both.extend(found.into_iter().map(|(inner, path)| (path, directory.join(inner))));
            }
        }
    }
    Ok(pairs)
}

fn unpaired(words: &[PathBuf]) -> anyhow::Error {
    let what = match words {
        [first, second] => format!("{} and {} cannot be paired", first.display(), second.display()),
        _ => format!("{} files: only two, or files and a directory, can be compared", words.len()),
    };
    let hint = "compare two files, two directories, two patterns in quotes, or files and a directory (last)";
    Usage(format!("{what}\nhint: {hint}")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_paired_by_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in
            ["a/x.tgm", "a/sub/y.tgm", "a/m.bt", "a/only.tgm", "b/x.tgm", "b/sub/y.tgm", "b/m.safetensors", "b/z.npy"]
        {
            std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            std::fs::write(at(name), "").unwrap();
        }
        let of = |words: &[&str]| Pairs::of(&words.iter().map(|word| at(word)).collect::<Vec<_>>());
        let names = |paths: &[PathBuf]| -> Vec<String> {
            paths.iter().map(|path| path.strip_prefix(folder.path()).unwrap().display().to_string()).collect()
        };
        let both = |pairs: &Pairs| -> Vec<String> {
            pairs.both.iter().map(|(first, second)| names(&[first.clone(), second.clone()]).join(" ")).collect()
        };
        let pairs = of(&["a", "b"]).unwrap();
        assert_eq!(both(&pairs), ["a/m.bt b/m.safetensors", "a/sub/y.tgm b/sub/y.tgm", "a/x.tgm b/x.tgm"]);
        assert_eq!(names(&pairs.only_first), ["a/only.tgm"]);
        assert_eq!((names(&pairs.only_second), pairs.several), (vec!["b/z.npy".to_owned()], true));
        let pairs = of(&["a/*.tgm", "b/*.tgm"]).unwrap();
        assert_eq!(
            (both(&pairs), names(&pairs.only_first)),
            (vec!["a/x.tgm b/x.tgm".to_owned()], vec!["a/only.tgm".to_owned()])
        );
        let pairs = of(&["a/x.tgm", "b"]).unwrap();
        assert_eq!((both(&pairs), pairs.several), (vec!["a/x.tgm b/x.tgm".to_owned()], false));
        assert_eq!(both(&of(&["b", "a/x.tgm"]).unwrap()), ["b/x.tgm a/x.tgm"]);
        assert_eq!(both(&of(&["a/x.tgm", "a/m.bt", "b"]).unwrap()), ["a/x.tgm b/x.tgm", "a/m.bt b/m.bt"]);
        assert!(of(&["a/x.tgm", "b/x.tgm", "a/m.bt"]).unwrap_err().to_string().contains("3 files: only two"));
        assert!(of(&["a/x.tgm", "b/*.tgm"]).unwrap_err().to_string().contains("cannot be paired"));
        assert!(Pairs::of(&["-".into(), "-".into()]).is_err());
    }
}
