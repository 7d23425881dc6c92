//! The digests of all tensors as one text (BT-10.5): whoever knows the text's digest notices tensors that were removed, added,
//! renamed, reshaped or changed.

use super::algorithm::Algorithm;
use super::{DIGEST_KEY_PREFIX, MANIFEST_KEY};
use crate::describe::type_name;
use crate::error::BinTensorError;
use fw_tensor::DType;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// One tensor of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestEntry {
    /// Name.
    pub name: String,
    /// Element type, as users see it.
    pub dtype: DType,
    /// Dimensions, as users see them.
    pub shape: Vec<u64>,
    /// What [`tensor_digest`](super::tensor_digest) says of it.
    pub digest: String,
}

/// The tensors of a file, or of all files of a checkpoint, each with its digest; sorted by name.
///
/// ```
/// use fw_bintensors::{Algorithm, Manifest, ManifestEntry, tensor_digest};
/// use fw_tensor::DType;
///
/// let digest = tensor_digest(Algorithm::Sha256, "w", DType::UInt8, &[3], &[1, 2, 3]);
/// let entry = ManifestEntry { name: "w".to_owned(), dtype: DType::UInt8, shape: vec![3], digest };
/// let manifest = Manifest::new([entry])?;
/// assert!(manifest.text().starts_with("bt.manifest 1\nsha256:"));
/// assert!(manifest.text().ends_with(" U8 [3] w\n"));
/// assert!(manifest.digest().starts_with("sha256:"));
/// # Ok::<(), fw_bintensors::BinTensorError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    entries: Vec<ManifestEntry>,
}

impl Manifest {
    /// A manifest of tensors in any order.
    ///
    /// # Errors
    /// `ValidationMismatch` for a name given twice.
    pub fn new(entries: impl IntoIterator<Item = ManifestEntry>) -> Result<Self, BinTensorError> {
        let mut entries: Vec<ManifestEntry> = entries.into_iter().collect();
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let twice = entries.windows(2).find(|pair| matches!(pair, [a, b] if a.name == b.name));
        match twice.and_then(|pair| pair.first()) {
            Some(entry) => Err(BinTensorError::ValidationMismatch { name: entry.name.clone() }),
            None => Ok(Self { entries }),
        }
    }

    /// The tensors, by ascending bytes of their names.
    pub fn entries(&self) -> &[ManifestEntry] {
        &self.entries
    }

    /// The canonical text (BT-10.5): a line for the version, then one per tensor: digest, type, shape, name.
    pub fn text(&self) -> String {
        let mut text = String::from("bt.manifest 1\n");
        for entry in &self.entries {
            let dims: Vec<String> = entry.shape.iter().map(u64::to_string).collect();
            let (digest, dims) = (entry.digest.to_ascii_lowercase(), dims.join(","));
            // Writing to a string does not fail.
            let _ = writeln!(text, "{digest} {} [{dims}] {}", type_name(entry.dtype), escaped(&entry.name));
        }
        text
    }

    /// The SHA-256 of the text, as `sha256:<hex>`: what `bt.manifest` keeps, `fw digest` prints and a signature signs.
    pub fn digest(&self) -> String {
        Algorithm::Sha256.spell(&Algorithm::Sha256.digest(self.text().as_bytes()))
    }

    /// The entries of a text map that keep this manifest: `bt.digest/<name>` for each tensor, and `bt.manifest`.
    pub fn to_metadata(&self) -> BTreeMap<String, String> {
        let digest = |entry: &ManifestEntry| (format!("{DIGEST_KEY_PREFIX}{}", entry.name), entry.digest.clone());
        let mut map: BTreeMap<String, String> = self.entries.iter().map(digest).collect();
        map.insert(MANIFEST_KEY.to_owned(), self.digest());
        map
    }
}

/// A name on one line: control characters, the space, `%` and DEL as `%` and two upper-case hexadecimal digits.
fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '\0'..=' ' | '%' | '\x7f' => {
                // Writing to a string does not fail.
                let _ = write!(text, "%{:02X}", letter as u32);
            }
            letter => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, shape: &[u64]) -> ManifestEntry {
        ManifestEntry {
            name: name.to_owned(),
            dtype: DType::Float16,
            shape: shape.to_vec(),
            digest: "sha1:AB".to_owned(),
        }
    }

    /// BT-10.5, byte for byte.
    #[test]
    fn the_text_is_sorted_and_unambiguous() {
        let manifest = Manifest::new([entry("b", &[]), entry("a\n sha1:00 é%", &[2, 300]), entry("", &[0])]).unwrap();
        assert_eq!(
            manifest.text(),
            "bt.manifest 1\nsha1:ab F16 [0] \nsha1:ab F16 [2,300] a%0A%20sha1:00%20é%25\nsha1:ab F16 [] b\n"
        );
        assert_eq!(Manifest::default().text(), "bt.manifest 1\n");
        assert_eq!(Manifest::new([entry("a", &[]), entry("a", &[1])]).unwrap_err().class(), "ValidationMismatch");
        let again = Manifest::new([entry("", &[0]), entry("a\n sha1:00 é%", &[2, 300]), entry("b", &[])]).unwrap();
        assert_eq!(again.digest(), manifest.digest());
        assert_eq!(manifest.to_metadata().len(), 4);
    }
}
