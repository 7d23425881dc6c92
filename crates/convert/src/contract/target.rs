//! A planned output.

use super::Writable;
use crate::digests::Seal;
use crate::{Format, Loss, attributes};
use fw_tensor::DType;
use std::collections::{BTreeMap, HashSet};

/// A planned output.
pub(crate) struct Target {
    pub(crate) format: Format,
    /// How the format is written.
    pub(crate) writable: &'static dyn Writable,
    pub(crate) tensors: Vec<Planned>,
    pub(crate) metadata: Option<BTreeMap<String, String>>,
    pub(crate) losses: Vec<Loss>,
    /// What it keeps to check its tensors by.
    pub(crate) seal: Seal,
}

/// One tensor of it.
pub(crate) struct Planned {
    /// Place in the source.
    pub(crate) index: usize,
    pub(crate) name: String,
    /// As the target stores it.
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<u64>,
    pub(crate) len: u64,
    /// What a tensor that is stored as bytes stands for, where the format keeps that with it.
    pub(crate) logical: Option<(DType, Vec<u64>)>,
    /// Whether only its bits are kept, under another type.
    pub(crate) is_raw: bool,
}

impl Target {
    /// The tensors of one shard, or all of them.
    pub(crate) fn group(&self, group: Option<&[usize]>) -> Vec<&Planned> {
        match group {
            Some(places) => places.iter().filter_map(|place| self.tensors.get(*place)).collect(),
            None => self.tensors.iter().collect(),
        }
    }

    /// The metadata of one shard, or of all: entries about single tensors go with them.
    pub(crate) fn metadata_of(&self, group: Option<&[usize]>) -> Option<BTreeMap<String, String>> {
        let mut metadata = self.metadata.clone();
        let names = |tensors: Vec<&Planned>| tensors.into_iter().map(|tensor| tensor.name.clone()).collect();
        let held: Option<HashSet<String>> = group.is_some().then(|| names(self.group(group)));
        if let (Some(map), Some(held)) = (&mut metadata, &held) {
            let all: HashSet<String> = names(self.group(None));
            map.retain(|key, _| {
                let name = attributes::belongs_to(key);
                name.is_none_or(|name| held.contains(name) || !all.contains(name))
            });
        }
        self.seal.put(held.as_ref(), metadata)
    }
}
