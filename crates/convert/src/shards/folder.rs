//! A directory as a checkpoint: the index in it, or shards whose names say that they belong together.

use super::Index;
use crate::{ConvertError, Format};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a directory holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Checkpoint {
    /// An index.
    Index(PathBuf),
    /// Shards without one: their names, in order.
    Shards(Vec<String>),
}

/// What to open for the checkpoint in a directory: its index, or the directory itself where its shards have no index.
///
/// # Errors
/// `no_checkpoint`, `several_checkpoints`, `missing_shard`; when the directory cannot be read.
pub fn checkpoint_in(folder: impl AsRef<Path>) -> Result<PathBuf, ConvertError> {
    let folder = folder.as_ref();
    Ok(match find(folder)? {
        Checkpoint::Index(path) => path,
        Checkpoint::Shards(_) => folder.to_owned(),
    })
}

/// Finds the checkpoint in a directory.
///
/// # Errors
/// `no_checkpoint`, `several_checkpoints`, `missing_shard`; when the directory cannot be read.
pub(crate) fn find(folder: &Path) -> Result<Checkpoint, ConvertError> {
    let mut indexes = Vec::new();
    let mut sets: BTreeMap<(String, String, usize), Vec<(usize, String)>> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(|error| ConvertError::Io(error).in_file(folder))? {
        let Ok(name) = entry.map_err(ConvertError::Io)?.file_name().into_string() else { continue };
        if name.starts_with('.') {
            continue;
        }
        if Format::of_name(Path::new(&name)) == Some(Format::ShardIndex) {
            indexes.push(name);
        } else if let Some((set, number)) = part_of(&name) {
            sets.entry(set).or_default().push((number, name));
        }
    }
    indexes.sort();
    match &indexes[..] {
        [one] => return Ok(Checkpoint::Index(folder.join(one))),
        [] => {}
        several => return Err(several_of(folder, several)),
    }
    let mut sets: Vec<_> = sets.into_iter().collect();
    match (sets.pop(), sets.len()) {
        (Some(((_, _, count), mut shards)), 0) => {
            shards.sort();
            if let Some(number) = (1..=count).find(|number| !shards.iter().any(|(found, _)| found == number)) {
                let message = format!("{}: shard {number} of {count} is missing", folder.display());
                return Err(ConvertError::format("missing_shard", message, None));
            }
            Ok(Checkpoint::Shards(shards.into_iter().map(|(_, name)| name).collect()))
        }
        (Some(last), _) => {
            sets.push(last);
            let firsts = sets.iter().filter_map(|(_, shards)| shards.iter().min().map(|(_, name)| name.clone()));
            Err(several_of(folder, &firsts.collect::<Vec<_>>()))
        }
        (None, _) => {
            let message = format!("{}: no index of shards (.index.json) in this directory", folder.display());
            Err(ConvertError::unsupported("no_checkpoint", message))
        }
    }
}

fn several_of(folder: &Path, names: &[String]) -> ConvertError {
    let message =
        format!("{}: more than one checkpoint in this directory ({}); name one", folder.display(), names.join(", "));
    ConvertError::unsupported("several_checkpoints", message)
}

/// `model-00002-of-00003.bt` is number 2 of the set of three of `model` and `bt`.
fn part_of(name: &str) -> Option<((String, String, usize), usize)> {
    Format::of_name(Path::new(name))?;
    let (stem, extension) = name.rsplit_once('.')?;
    let (rest, count) = stem.rsplit_once("-of-")?;
    let (stem, number) = rest.rsplit_once('-')?;
    let number_of = |text: &str| text.parse().ok().filter(|_| text.len() >= 5);
    Some(((stem.to_owned(), extension.to_owned(), number_of(count)?), number_of(number)?))
}

/// The index that shards without one would have: each tensor is where it is.
pub(super) fn index_of<'a>(shards: impl IntoIterator<Item = (&'a str, Vec<String>)>) -> Result<Index, ConvertError> {
    let mut index = Index::default();
    for (file, names) in shards {
        for name in names {
            if let Some(other) = index.weight_map.insert(name.clone(), file.to_owned()) {
                let message = format!("tensor {name:?} is in {other} and in {file}");
                return Err(ConvertError::format("duplicate_tensor_name", message, None));
            }
        }
    }
    Ok(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str]) -> Result<Checkpoint, String> {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            std::fs::write(folder.path().join(name), b"").unwrap();
        }
        find(folder.path()).map_err(|error| error.code().to_owned()).map(|checkpoint| match checkpoint {
            Checkpoint::Index(path) => Checkpoint::Index(path.file_name().unwrap().into()),
            shards => shards,
        })
    }

    #[test]
    fn directories_hold_one_checkpoint() {
        let shards = ["m-00002-of-00002.bt", "m-00001-of-00002.bt"];
        assert_eq!(
            found(&[&shards[..], &["m.bt.index.json", "config.json"]].concat()),
            Ok(Checkpoint::Index("m.bt.index.json".into()))
        );
        let sorted = ["m-00001-of-00002.bt", "m-00002-of-00002.bt"].map(str::to_owned).to_vec();
        assert_eq!(found(&[&shards[..], &["other.bt", ".x.index.json"]].concat()), Ok(Checkpoint::Shards(sorted)));
        assert_eq!(found(&shards[..1]), Err("missing_shard".to_owned()));
        assert_eq!(found(&["a.bt.index.json", "b.bt.index.json"]), Err("several_checkpoints".to_owned()));
        assert_eq!(found(&["m-00001-of-00001.bt", "n-00001-of-00001.bt"]), Err("several_checkpoints".to_owned()));
        assert_eq!(found(&["one.bt", "x-1-of-1.bt"]), Err("no_checkpoint".to_owned()));
    }
}
