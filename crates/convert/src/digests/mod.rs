//! Digests of tensors, whatever the file that keeps them: compared with the data, computed, summed up in a manifest.
//!
//! BinTensors files keep them in the user metadata, safetensors files in `__metadata__`, an index of shards in its `metadata`, all
//! under the same keys (BT-10).

mod checked; // a file whose tensors are compared when they are read
mod pass; // one reading of many tensors, on all processors
mod seal; // what a new file keeps

pub use checked::Checked;
pub(crate) use pass::{Job, Pass};
pub(crate) use seal::Seal;

use crate::model::{Entry, TensorFile};
use crate::{ConvertError, Progress};
use fw_bintensors::{Algorithm, BinTensorError, MANIFEST_KEY, Manifest, SIGNATURE_KEY, StoredDigests, digest_subject};
use fw_tensor::DType;

/// What a file keeps to check its tensors by.
///
/// ```
/// use fw_convert::{ConvertOptions, Format, MemoryTensors, open, stored_digests, verify_digests, write_tensors};
/// use fw_bintensors::Algorithm;
/// use fw_tensor::DType;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("m.safetensors");
/// let mut tensors = MemoryTensors::new();
/// tensors.push("w", DType::UInt8, &[3], vec![1, 2, 3])?;
/// let mut options = ConvertOptions::new();
/// (options.format, options.tensor_digests) = (Some(Format::SafeTensors), Some(Algorithm::Sha256));
/// write_tensors(&tensors, "memory", &path, &options)?;
/// let file = open(&path)?;
/// assert_eq!(stored_digests(&*file).count(), 1);
/// assert_eq!(verify_digests(&*file, &|_| {})?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn stored_digests(file: &dyn TensorFile) -> StoredDigests {
    let entries = file.metadata().into_iter().flatten().chain(file.index_digests());
    StoredDigests::new(names(file), entries.map(|(key, value)| (key.as_str(), value.as_str())))
}

/// The same without what only an index keeps.
pub(crate) fn own_digests(file: &dyn TensorFile) -> StoredDigests {
    let entries = file.metadata().into_iter().flatten();
    StoredDigests::new(names(file), entries.map(|(key, value)| (key.as_str(), value.as_str())))
}

fn names(file: &dyn TensorFile) -> impl Iterator<Item = &str> {
    file.entries().iter().map(|entry| entry.name.as_str())
}

/// Compares every digest that a file keeps with the data, on all processors, and the digest of its manifest with those of its
/// tensors. Returns how many tensors were compared; `progress` hears how far the reading is.
///
/// # Errors
/// `checksum_mismatch` naming the first tensor whose data differs, `manifest_mismatch`; when the file fails or is wrong.
pub fn verify_digests(file: &dyn TensorFile, progress: &(dyn Fn(Progress<'_>) + Sync)) -> Result<usize, ConvertError> {
    let stored = stored_digests(file);
    stored.check_manifest(described(file))?;
    let jobs = stored.places().map(|place| Job { place, wanted: None }).collect();
    Pass { file, stored: Some(&stored) }.run(jobs, progress)?;
    Ok(stored.count())
}

/// The manifest of a file, from its data. The digests that the file keeps are compared on the way.
///
/// Its digests of tensors are of the algorithm of those that the file keeps, where that is one, else SHA-256: where a file keeps a
/// manifest, this is the same one.
///
/// # Errors
/// As [`verify_digests`].
pub fn manifest(file: &dyn TensorFile, progress: &(dyn Fn(Progress<'_>) + Sync)) -> Result<Manifest, ConvertError> {
    let stored = stored_digests(file);
    stored.check_manifest(described(file))?;
    let algorithm = digest_algorithm(&stored).unwrap_or(Algorithm::Sha256);
    let entries = file.entries();
    let job = |(place, entry)| Job { place, wanted: Some((algorithm, Described::of(entry))) };
    let made = Pass { file, stored: Some(&stored) }.run(entries.iter().enumerate().map(job).collect(), progress)?;
    let entry = |(entry, digest): (&Entry, Option<String>)| fw_bintensors::ManifestEntry {
        name: entry.name.clone(),
        dtype: entry.dtype,
        shape: entry.shape.clone(),
        digest: digest.unwrap_or_default(),
    };
    Ok(Manifest::new(entries.iter().zip(made).map(entry))?)
}

/// The manifest that the digests kept in a file make, without reading any data; `None` when not every tensor has one.
pub fn stored_manifest(file: &dyn TensorFile) -> Option<Manifest> {
    stored_digests(file).manifest_of(described(file)).ok()
}

/// Compares the digest of the manifest that a file keeps with the digests that it keeps of its tensors, without reading data: before a
/// file is changed, for example.
///
/// # Errors
/// `manifest_mismatch`.
pub fn check_manifest(file: &dyn TensorFile) -> Result<(), ConvertError> {
    Ok(stored_digests(file).check_manifest(described(file))?)
}

/// Refuses a manifest with another digest than `expected`.
///
/// # Errors
/// `manifest_mismatch`; `invalid_digest` for a text that is not of the form `sha256:<64 hexadecimal digits>`.
pub fn expect_manifest(manifest: &Manifest, expected: &str) -> Result<(), ConvertError> {
    check_spelling(expected)?;
    let found = manifest.digest();
    if found.eq_ignore_ascii_case(expected) {
        return Ok(());
    }
    let why = "these are not the tensors that were expected".to_owned();
    Err(BinTensorError::ManifestMismatch { expected: expected.to_owned(), found: Some(found), why }.into())
}

/// Refuses a text that cannot be the digest of a manifest.
///
/// # Errors
/// `invalid_digest`.
pub fn check_spelling(expected: &str) -> Result<(), ConvertError> {
    let digits = expected.strip_prefix("sha256:").unwrap_or_default();
    if digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Ok(());
    }
    let message = format!("{expected:?} is not a digest of a manifest: expected sha256: and 64 hexadecimal digits");
    Err(ConvertError::unsupported("invalid_digest", message))
}

/// The tensors of a file as a manifest takes them.
pub(crate) fn described(file: &dyn TensorFile) -> impl Iterator<Item = (&str, DType, &[u64])> {
    file.entries().iter().map(|entry| (entry.name.as_str(), entry.dtype, entry.shape.as_slice()))
}

/// The algorithm of the digests that a file keeps of its tensors, where they all have the same one.
pub fn digest_algorithm(stored: &StoredDigests) -> Option<Algorithm> {
    let mut names = stored.places().filter_map(|place| stored.of_tensor(place)?.split_once(':')).map(|(name, _)| name);
    let first = names.next()?;
    if names.all(|name| name == first) { first.parse().ok() } else { None }
}

/// Element type and shape, as users see them.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    pub(crate) name: String,
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<u64>,
}

impl Described {
    pub(crate) fn of(entry: &Entry) -> Self {
        Self { name: entry.name.clone(), dtype: entry.dtype, shape: entry.shape.clone() }
    }
}

/// True for keys of a text map that are about digests: they are checked and written anew, not carried as they are.
///
/// ```
/// assert!(fw_convert::is_digest_key("bt.digest/layer.0") && fw_convert::is_digest_key("bt.manifest"));
/// assert!(!fw_convert::is_digest_key("author"));
/// ```
pub fn is_digest_key(key: &str) -> bool {
    digest_subject(key).is_some() || is_seal_key(key)
}

/// True for keys of a text map that are about all tensors of one file together: its manifest, and the signature of that.
pub fn is_seal_key(key: &str) -> bool {
    key == MANIFEST_KEY || key == SIGNATURE_KEY
}
