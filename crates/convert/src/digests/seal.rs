//! What a new file keeps to check its tensors by.

use super::is_seal_key;
use fw_bintensors::{MANIFEST_KEY, Manifest, SIGNATURE_KEY};
use std::collections::{BTreeMap, HashSet};

/// The digests of an output.
#[derive(Default)]
pub(crate) struct Seal {
    /// Of every tensor, where they are known.
    pub(crate) manifest: Option<Manifest>,
    /// Whether files keep the digest of their manifest.
    pub(crate) is_kept: bool,
    /// Of the whole output.
    pub(crate) signature: Option<String>,
}

impl Seal {
    /// What an index keeps of the tensors in its shards.
    pub(crate) fn of_index(&self) -> BTreeMap<String, String> {
        let mut entries = self.manifest.as_ref().map(Manifest::to_metadata).unwrap_or_default();
        if !entries.is_empty() {
            entries.extend(self.signature.iter().map(|text| (SIGNATURE_KEY.to_owned(), text.clone())));
        }
        entries
    }

    /// Adds what a file keeps of all its tensors together: of all of the output, or of the tensors in one shard.
    pub(crate) fn put(
        &self,
        held: Option<&HashSet<String>>,
        metadata: Option<BTreeMap<String, String>>,
    ) -> Option<BTreeMap<String, String>> {
        let (Some(manifest), true) = (&self.manifest, self.is_kept) else { return metadata };
        let mut map = metadata.unwrap_or_default();
        map.retain(|key, _| !is_seal_key(key));
        match held {
            None => {
                map.insert(MANIFEST_KEY.to_owned(), manifest.digest());
                map.extend(self.signature.iter().map(|text| (SIGNATURE_KEY.to_owned(), text.clone())));
            }
            Some(held) => {
                let entries = manifest.entries().iter().filter(|entry| held.contains(&entry.name)).cloned();
                // Names are unique: they were so in the manifest of all.
                map.extend(Manifest::new(entries).ok().map(|part| (MANIFEST_KEY.to_owned(), part.digest())));
            }
        }
        Some(map)
    }
}
