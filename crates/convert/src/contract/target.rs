//! A planned output.

use super::Writable;
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
}

impl Target {
    /// The tensors of one shard, or all of them.
    pub(crate) fn group(&self, group: Option<&[usize]>) -> Vec<&Planned> {
        match group {
            Some(places) => places.iter().filter_map(|place| self.tensors.get(*place)).collect(),
            None => self.tensors.iter().collect(),
        }
    }

    /// The metadata of one shard: entries about carried types go with their tensors.
    pub(crate) fn metadata_of(&self, group: Option<&[usize]>) -> Option<BTreeMap<String, String>> {
        let mut metadata = self.metadata.clone()?;
        if group.is_some() {
            let held: HashSet<&str> = self.group(group).into_iter().map(|tensor| tensor.name.as_str()).collect();
            let all: HashSet<&str> = self.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
            metadata.retain(|key, _| {
                let name = attributes::belongs_to(key);
                name.is_none_or(|name| held.contains(name) || !all.contains(name))
            });
        }
        Some(metadata)
    }
}
