//! What a text map keeps to check tensors by, and whether it is true.

use super::algorithm::Algorithm;
use super::tensor::TensorHasher;
use super::{DIGEST_KEY_PREFIX, HASH_KEY_PREFIX, MANIFEST_KEY, Manifest, ManifestEntry, SIGNATURE_KEY};
use crate::error::BinTensorError;
use fw_tensor::DType;
use std::collections::{BTreeMap, HashMap};

/// The tensor that an entry of a text map keeps a digest of, by its key.
pub fn digest_subject(key: &str) -> Option<&str> {
    key.strip_prefix(DIGEST_KEY_PREFIX).or_else(|| key.strip_prefix(HASH_KEY_PREFIX))
}

/// The digests that a text map keeps of the tensors beside it: of each by its place, and of all together.
///
/// The same keys mean the same in BinTensors files, in the `__metadata__` of safetensors files and in the `metadata` of an index
/// of shards.
///
/// ```
/// use fw_bintensors::{Algorithm, StoredDigests, tensor_digest};
/// use fw_tensor::DType;
///
/// let digest = tensor_digest(Algorithm::Sha256, "w", DType::UInt8, &[3], &[1, 2, 3]);
/// let stored = StoredDigests::new(["w"], [("bt.digest/w", digest.as_str())]);
/// let mut check = stored.check(0, "w", DType::UInt8, &[3])?.expect("a digest is kept");
/// check.update(&[1, 2, 4]);
/// assert_eq!(check.finish().unwrap_err().class(), "ChecksumMismatch");
/// # Ok::<(), fw_bintensors::BinTensorError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredDigests {
    tensors: BTreeMap<usize, Kept>,
    manifest: Option<String>,
    signature: Option<String>,
    strays: Vec<String>,
}

/// What is kept of one tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Kept {
    /// Of its data alone (`bt.hash/…`).
    data: Option<String>,
    /// Of all that it is (`bt.digest/…`).
    tensor: Option<String>,
}

impl StoredDigests {
    /// What the entries of a text map keep of tensors with these names.
    pub fn new<'a>(
        names: impl IntoIterator<Item = &'a str>,
        entries: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut entries =
            entries.into_iter().filter(|(key, _)| digest_subject(key).is_some() || is_of_all(key)).peekable();
        let mut stored = Self::default();
        if entries.peek().is_none() {
            return stored;
        }
        let places: HashMap<&str, usize> = names.into_iter().enumerate().map(|(place, name)| (name, place)).collect();
        for (key, value) in entries {
            match (key, digest_subject(key).map(|name| places.get(name))) {
                (_, Some(Some(place))) => {
                    let kept = stored.tensors.entry(*place).or_default();
                    let slot = if key.starts_with(HASH_KEY_PREFIX) { &mut kept.data } else { &mut kept.tensor };
                    *slot = Some(value.to_owned());
                }
                (_, Some(None)) => stored.strays.push(key.to_owned()),
                (MANIFEST_KEY, None) => stored.manifest = Some(value.to_owned()),
                (_, None) => stored.signature = Some(value.to_owned()),
            }
        }
        stored
    }

    /// True when nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty() && self.manifest.is_none() && self.signature.is_none() && self.strays.is_empty()
    }

    /// Tensors that a digest is kept of.
    pub fn count(&self) -> usize {
        self.tensors.len()
    }

    /// The places of tensors that a digest is kept of.
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.tensors.keys().copied()
    }

    /// True when a digest is kept of the tensor at this place.
    pub fn keeps(&self, place: usize) -> bool {
        self.tensors.contains_key(&place)
    }

    /// The digest of all that a tensor is, where one is kept.
    pub fn of_tensor(&self, place: usize) -> Option<&str> {
        self.tensors.get(&place)?.tensor.as_deref()
    }

    /// The digest of a tensor's data alone, where one is kept.
    pub fn of_data(&self, place: usize) -> Option<&str> {
        self.tensors.get(&place)?.data.as_deref()
    }

    /// Keys about tensors that are not there.
    pub fn strays(&self) -> &[String] {
        &self.strays
    }

    /// The digest of the manifest, where one is kept.
    pub fn manifest(&self) -> Option<&str> {
        self.manifest.as_deref()
    }

    /// The signature, where one is kept.
    pub fn signature(&self) -> Option<&str> {
        self.signature.as_deref()
    }

    /// A check of the tensor at `place`, which the caller describes; `None` when no digest is kept of it.
    ///
    /// # Errors
    /// `EncodeError` for a digest that is not spelt as BT-10.3 says.
    pub fn check(
        &self,
        place: usize,
        name: &str,
        dtype: DType,
        shape: &[u64],
    ) -> Result<Option<TensorCheck>, BinTensorError> {
        let Some(kept) = self.tensors.get(&place) else { return Ok(None) };
        let mut running = Vec::new();
        if let Some(text) = &kept.data {
            running.push((text.clone(), TensorHasher::of_data(Algorithm::of_spelt(text)?)));
        }
        if let Some(text) = &kept.tensor {
            running.push((text.clone(), TensorHasher::new(Algorithm::of_spelt(text)?, name, dtype, shape)));
        }
        Ok(Some(TensorCheck { name: name.to_owned(), running }))
    }

    /// The manifest that the kept digests make with these tensors, whose data is not looked at.
    ///
    /// # Errors
    /// `ManifestMismatch` naming a tensor that no digest is kept of.
    pub fn manifest_of<'a>(
        &self,
        tensors: impl IntoIterator<Item = (&'a str, DType, &'a [u64])>,
    ) -> Result<Manifest, BinTensorError> {
        let entry = |(place, (name, dtype, shape)): (usize, (&str, DType, &[u64]))| {
            let digest = self.of_tensor(place).ok_or_else(|| BinTensorError::ManifestMismatch {
                expected: self.manifest.clone().unwrap_or_default(),
                found: None,
                why: format!("no digest is kept of tensor {name:?}"),
            })?;
            Ok(ManifestEntry { name: name.to_owned(), dtype, shape: shape.to_vec(), digest: digest.to_owned() })
        };
        Manifest::new(tensors.into_iter().enumerate().map(entry).collect::<Result<Vec<_>, BinTensorError>>()?)
    }

    /// Compares the kept digest of the manifest, if there is one, with the one that the kept digests of tensors make. No data is
    /// read: this notices tensors that were removed, added, renamed, reshaped or given another type.
    ///
    /// # Errors
    /// `ManifestMismatch`.
    pub fn check_manifest<'a>(
        &self,
        tensors: impl IntoIterator<Item = (&'a str, DType, &'a [u64])>,
    ) -> Result<(), BinTensorError> {
        let Some(expected) = &self.manifest else { return Ok(()) };
        let found = self.manifest_of(tensors)?.digest();
        if found.eq_ignore_ascii_case(expected) {
            return Ok(());
        }
        let why = match self.strays.first().and_then(|key| digest_subject(key)) {
            Some(name) => format!("a digest is kept of {name:?}, which is not there"),
            None => "a tensor was removed, added, renamed, reshaped or given another type or digest".to_owned(),
        };
        Err(BinTensorError::ManifestMismatch { expected: expected.clone(), found: Some(found), why })
    }
}

/// The key is about all tensors together.
fn is_of_all(key: &str) -> bool {
    key == MANIFEST_KEY || key == SIGNATURE_KEY
}

/// A running comparison of one tensor with what is kept of it.
#[derive(Debug)]
pub struct TensorCheck {
    name: String,
    running: Vec<(String, TensorHasher)>,
}

impl TensorCheck {
    /// Takes a piece of the data: little endian, row-major.
    pub fn update(&mut self, data: &[u8]) {
        self.running.iter_mut().for_each(|(_, hasher)| hasher.update(data));
    }

    /// Compares.
    ///
    /// # Errors
    /// `ChecksumMismatch`.
    pub fn finish(self) -> Result<(), BinTensorError> {
        for (expected, hasher) in self.running {
            let found = hasher.finish();
            if !found.eq_ignore_ascii_case(&expected) {
                return Err(BinTensorError::ChecksumMismatch { name: Some(self.name), expected, found });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tensor_digest;
    use super::*;

    const TENSORS: [(&str, DType, &[u64]); 2] = [("a", DType::UInt8, &[2]), ("b", DType::BFloat16, &[1, 2])];

    fn kept() -> BTreeMap<String, String> {
        let entry = |(name, dtype, shape): (&str, DType, &[u64])| {
            let data = vec![7; fw_tensor::byte_len(dtype, shape).unwrap() as usize];
            let digest = tensor_digest(Algorithm::Sha256, name, dtype, shape, &data);
            ManifestEntry { name: name.to_owned(), dtype, shape: shape.to_vec(), digest }
        };
        Manifest::new(TENSORS.map(entry)).unwrap().to_metadata()
    }

    fn stored(names: &[&str], map: &BTreeMap<String, String>) -> StoredDigests {
        StoredDigests::new(names.iter().copied(), map.iter().map(|(key, value)| (&**key, &**value)))
    }

    /// BT-10.6: what a manifest notices without any data.
    #[test]
    fn tensors_that_come_go_or_change_are_noticed() {
        let map = kept();
        let whole = stored(&["a", "b"], &map);
        assert_eq!(whole.count(), 2);
        whole.check_manifest(TENSORS).unwrap();
        let refused = |names: &[&str], map: &BTreeMap<String, String>, tensors: &[(&str, DType, &[u64])]| {
            stored(names, map).check_manifest(tensors.iter().copied()).unwrap_err().to_string()
        };
        assert!(refused(&["a"], &map, &TENSORS[..1]).contains("\"b\", which is not there"));
        let added = [TENSORS[0], TENSORS[1], ("c", DType::UInt8, &[1])];
        assert!(refused(&["a", "b", "c"], &map, &added).contains("no digest is kept of tensor \"c\""));
        let reshaped = [TENSORS[0], ("b", DType::BFloat16, &[2, 1][..])];
        assert!(refused(&["a", "b"], &map, &reshaped).contains("reshaped"));
        let retyped = [TENSORS[0], ("b", DType::Float16, &[1, 2][..])];
        assert!(refused(&["a", "b"], &map, &retyped).contains("reshaped"));
        let mut stripped = map.clone();
        stripped.remove("bt.digest/a");
        assert!(refused(&["a", "b"], &stripped, &TENSORS).contains("no digest is kept of tensor \"a\""));
        let mut swapped = map.clone();
        swapped.insert("bt.digest/a".to_owned(), map["bt.digest/b"].clone());
        assert!(refused(&["a", "b"], &swapped, &TENSORS).contains("digest"));
    }

    #[test]
    fn a_tensor_is_checked_by_all_that_is_kept_of_it() {
        let mut map = kept();
        map.insert("bt.hash/a".to_owned(), Algorithm::Sha1.spell(&Algorithm::Sha1.digest(&[7, 7])).to_uppercase());
        // Algorithms are spelt in lower case; digits in either.
        assert_eq!(stored(&["a"], &map).check(0, "a", DType::UInt8, &[2]).unwrap_err().class(), "EncodeError");
        let digest = Algorithm::Sha1.spell(&Algorithm::Sha1.digest(&[7, 7]));
        map.insert("bt.hash/a".to_owned(), format!("sha1:{}", digest[5..].to_uppercase()));
        let stored = stored(&["a", "b"], &map);
        let verdict = |dtype, shape: &[u64], data: &[u8]| {
            let mut check = stored.check(0, "a", dtype, shape).unwrap().unwrap();
            data.iter().for_each(|byte| check.update(&[*byte]));
            check.finish().is_ok()
        };
        assert!(verdict(DType::UInt8, &[2], &[7, 7]));
        assert!(!verdict(DType::UInt8, &[2], &[7, 8]));
        assert!(!verdict(DType::Int8, &[2], &[7, 7]));
        assert!(!verdict(DType::UInt8, &[1, 2], &[7, 7]));
        assert!(stored.check(2, "c", DType::UInt8, &[2]).unwrap().is_none());
    }

    #[test]
    fn wrong_spellings_are_named() {
        for text in ["", "sha256", "sha256:", "sha256:00", "md5:00", &format!("sha256:{}", "g".repeat(64))] {
            let map = BTreeMap::from([("bt.digest/a".to_owned(), text.to_owned())]);
            let error = stored(&["a"], &map).check(0, "a", DType::UInt8, &[2]).unwrap_err();
            assert_eq!(error.class(), "EncodeError", "{text}");
        }
    }
}
