//! A file whose tensors are compared with their digests when they are read as a whole.

use super::stored_digests;
use crate::model::{Entry, Located, Pieces, TensorFile, Unreadable};
use crate::{ConvertError, Format, Loss};
use fw_bintensors::{HeaderAlignment, StoredDigests};
use fw_bytes::Span;
use fw_tensor::Selection;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A file of tensors. A tensor that is read as a whole is an error at its end when it differs from the digest that the file keeps of
/// it; parts are handed out as they are.
///
/// ```
/// use fw_convert::{Checked, MemoryTensors, TensorFile};
/// use fw_tensor::DType;
///
/// let mut tensors = MemoryTensors::new();
/// tensors.push("w", DType::UInt8, &[3], vec![1, 2, 3])?;
/// tensors.set_metadata("bt.hash/w", &format!("sha256:{}", "0".repeat(64)));
/// let checked = Checked::new(Box::new(tensors));
/// assert_eq!(checked.data(0).unwrap_err().code(), "checksum_mismatch");
/// # Ok::<(), fw_convert::ConvertError>(())
/// ```
pub struct Checked {
    inner: Box<dyn TensorFile>,
    stored: StoredDigests,
}

impl Checked {
    /// Checks what is read from a file.
    pub fn new(inner: Box<dyn TensorFile>) -> Self {
        let stored = stored_digests(&*inner);
        Self { inner, stored }
    }
}

impl TensorFile for Checked {
    fn format(&self) -> Format {
        self.inner.format()
    }

    fn entries(&self) -> &[Entry] {
        self.inner.entries()
    }

    fn metadata(&self) -> Option<&BTreeMap<String, String>> {
        self.inner.metadata()
    }

    fn index_digests(&self) -> &BTreeMap<String, String> {
        self.inner.index_digests()
    }

    fn json_keys(&self) -> &BTreeSet<String> {
        self.inner.json_keys()
    }

    fn stream(&self, index: usize, take: &mut Pieces<'_>) -> Result<(), ConvertError> {
        let check = match self.entries().get(index) {
            Some(entry) => self.stored.check(index, &entry.name, entry.dtype, &entry.shape)?,
            None => None,
        };
        let Some(mut check) = check else { return self.inner.stream(index, take) };
        self.inner.stream(index, &mut |piece| {
            check.update(piece);
            take(piece)
        })?;
        Ok(check.finish()?)
    }

    fn unreadable(&self) -> &[Unreadable] {
        self.inner.unreadable()
    }

    fn located(&self, index: usize) -> Option<Located<'_>> {
        // The data is read by who has it, and nobody would compare it.
        if self.stored.keeps(index) { None } else { self.inner.located(index) }
    }

    fn alignment(&self) -> HeaderAlignment {
        self.inner.alignment()
    }

    fn shard(&self, index: usize) -> Option<(&Path, Span)> {
        self.inner.shard(index)
    }

    fn shards_len(&self) -> Option<u64> {
        self.inner.shards_len()
    }

    fn has_order(&self) -> bool {
        self.inner.has_order()
    }

    fn remarks(&self) -> Vec<Loss> {
        self.inner.remarks()
    }

    fn check_held(&self, index: usize) -> Result<(), ConvertError> {
        self.inner.check_held(index)
    }

    fn slice(&self, index: usize, selection: &Selection) -> Result<(Vec<u64>, Vec<u8>), ConvertError> {
        self.inner.slice(index, selection)
    }

    fn verifies(&self, index: usize) -> bool {
        self.stored.keeps(index) || self.inner.verifies(index)
    }
}
