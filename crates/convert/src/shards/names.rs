//! What files of a split output are called, and which ones an earlier output left.
//!
//! `model-00001-of-00003.bt` beside `model.bt.index.json`. Where files of that pattern exist, the new ones are of the next
//! generation, `model-r1-00001-of-00003.bt`, and the index is what makes them the checkpoint: a write that is cut off at any moment
//! leaves the old index with the old files, or the new index with the new ones.

use std::io;
use std::path::{Path, PathBuf};

/// The names that belong to one output.
pub(crate) struct Names {
    folder: PathBuf,
    stem: String,
    extension: &'static str,
}

impl Names {
    /// Those beside `output`, such as `model.bt`.
    pub(crate) fn of(output: &Path, extension: &'static str) -> Self {
        let stem = output.file_stem().map_or_else(|| "model".into(), |stem| stem.to_string_lossy());
        let folder = output.parent().map(Path::to_owned).unwrap_or_default();
        Self { folder, stem: stem.into_owned(), extension }
    }

    /// `model.bt.index.json`.
    pub(crate) fn index(&self) -> PathBuf {
        self.folder.join(format!("{}.{}.index.json", self.stem, self.extension))
    }

    /// A file of this name beside the output.
    pub(crate) fn beside(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// The files of a generation; the first one is 0.
    pub(crate) fn shards(&self, generation: u64, count: usize) -> Vec<PathBuf> {
        let of = match generation {
            0 => String::new(),
            number => format!("-r{number}"),
        };
        let name = |number| format!("{}{of}-{number:05}-of-{count:05}.{}", self.stem, self.extension);
        (1..=count).map(|number| self.folder.join(name(number))).collect()
    }

    /// The files of every generation that exist, sorted, each with its generation.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub(crate) fn existing(&self) -> io::Result<Vec<(u64, PathBuf)>> {
        let folder = if self.folder.as_os_str().is_empty() { Path::new(".") } else { &self.folder };
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let name = entry?.file_name();
            let generation = name.to_str().and_then(|name| self.generation(name));
            found.extend(generation.map(|generation| (generation, self.folder.join(&name))));
        }
        found.sort();
        Ok(found)
    }

    /// The generation that a file name of this output has.
    fn generation(&self, name: &str) -> Option<u64> {
        let rest = name.strip_prefix(self.stem.as_str())?.strip_suffix(self.extension)?.strip_suffix('.')?;
        let (rest, count) = rest.rsplit_once("-of-")?;
        let (rest, number) = rest.rsplit_once('-')?;
        let is_number = |text: &str| text.len() >= 5 && text.bytes().all(|digit| digit.is_ascii_digit());
        if !is_number(count) || !is_number(number) {
            return None;
        }
        match rest {
            "" => Some(0),
            other => other.strip_prefix("-r")?.parse().ok().filter(|generation| *generation > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        let names = Names::of(Path::new("o/model.bt"), "bt");
        assert_eq!(names.index(), Path::new("o/model.bt.index.json"));
        assert_eq!(names.shards(0, 2), ["o/model-00001-of-00002.bt", "o/model-00002-of-00002.bt"].map(PathBuf::from));
        assert_eq!(names.shards(3, 1), [PathBuf::from("o/model-r3-00001-of-00001.bt")]);
        for (name, generation) in [
            ("model-00001-of-00002.bt", Some(0)),
            ("model-r3-00001-of-00002.bt", Some(3)),
            ("model-123456-of-123456.bt", Some(0)),
            ("model-r0-00001-of-00002.bt", None),
            ("model-rx-00001-of-00002.bt", None),
            ("model-1-of-2.bt", None),
            ("model-00001-of-00002.safetensors", None),
            ("model-00001-of-00002bt", None),
            ("model-x-00001-of-00002.bt", None),
            ("models-00001-of-00002.bt", None),
            ("model.bt", None),
        ] {
            assert_eq!(names.generation(name), generation, "{name}");
        }
    }
}
