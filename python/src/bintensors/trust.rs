//! The manifest of a checkpoint: its digest, its signature, and keys.

use super::errors::{Doing, any_fault};
use super::weights::FilePath;
use crate::files::tensor_file;
use crate::interrupt::{Progress, reported};
use framewright::bintensors::Manifest;
use framewright::convert::{self, ConvertError, ConvertOptions, Existing, PublicKey, SigningKey, expect_manifest};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// The digest of the manifest of a checkpoint, `sha256:…`: it covers names, types, shapes and values of all tensors, and is the same for one
/// file and for many, and for BinTensors and safetensors files with the same tensors. `expect` refuses any other.
///
/// `source` is whatever `fwright.open` takes. All tensors are read, and compared with the digests in the file, if it has some. `progress` hears
/// `(done, total)` in bytes.
#[pyfunction]
#[pyo3(signature = (source, *, expect=None, storage_options=None, progress=None))]
pub(crate) fn digest(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    expect: Option<&str>,
    storage_options: Option<&Bound<'_, PyDict>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let found = manifest_of(py, source, storage_options, progress)?;
    if let Some(expected) = expect {
        expect_manifest(&found, expected).map_err(|error| any_fault(py, Doing::Verifying, error))?;
    }
    Ok(found.digest())
}

/// The manifest itself: a line per tensor with digest, type, shape and name, sorted by name, after a line for the version. Its SHA-256 is
/// what `digest` returns.
#[pyfunction]
#[pyo3(signature = (source, *, storage_options=None, progress=None))]
pub(crate) fn manifest(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    storage_options: Option<&Bound<'_, PyDict>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    Ok(manifest_of(py, source, storage_options, progress)?.text())
}

fn manifest_of(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    storage_options: Option<&Bound<'_, PyDict>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Manifest> {
    let wrong = |error| any_fault(py, Doing::Verifying, error);
    let file = tensor_file(py, source, storage_options)?.map_err(wrong)?;
    let found = reported(py, progress, |progress| {
        let watch = Progress::watch(progress);
        convert::manifest(&*file, &|done| watch.tell(done.bytes_done, done.bytes_total))
    })?;
    found.map_err(wrong)
}

/// Make a signing key in a new file, which only its owner may read, and its public key in a new file of that name and `.pub`; returns the
/// path of the second. The files are those of OpenSSL.
#[pyfunction]
pub(crate) fn generate_key(py: Python<'_>, filename: FilePath) -> PyResult<std::path::PathBuf> {
    let made = SigningKey::generate().and_then(|key| key.write_new(&filename.0));
    made.map_err(|error| any_fault(py, Doing::Verifying, error))
}

/// Sign a BinTensors or safetensors file, or an index of shards, and return the digest of its manifest.
///
/// Digests in the file are compared with the data first; then digests of all tensors, the digest of the manifest and its signature become part
/// of the metadata. The new file takes the place of the old one, or is written to `output`, which must not exist unless `force` is true. Of an
/// index only the index is written. `key` is the path of a signing key, or its PEM text as bytes.
#[pyfunction]
#[pyo3(signature = (filename, key, output=None, *, force=false, progress=None))]
pub(crate) fn sign(
    py: Python<'_>,
    filename: FilePath,
    key: Key,
    output: Option<FilePath>,
    force: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let wrong = |error| any_fault(py, Doing::Verifying, error);
    let key = key.signing().map_err(wrong)?;
    let done = reported(py, progress, |progress| {
        let existing = if force { Existing::Replace } else { Existing::Refuse };
        let mut options = ConvertOptions::new().with_existing(existing);
        if let Some(progress) = progress {
            options = options.with_progress(move |done| progress.tell(done.bytes_done, done.bytes_total));
        }
        let output = output.as_ref().map_or(&filename.0, |output| &output.0);
        convert::sign(&filename.0, output, &key, &options)
    })?;
    Ok(done.map_err(wrong)?.digests.manifest.unwrap_or_default())
}

/// A key: the path of its file, or its PEM text.
pub(crate) enum Key {
    File(FilePath),
    Pem(String),
}

impl Key {
    fn signing(&self) -> Result<SigningKey, ConvertError> {
        match self {
            Self::File(path) => SigningKey::read(&path.0),
            Self::Pem(text) => SigningKey::from_pem(text),
        }
    }

    /// The key to verify with.
    ///
    /// # Errors
    /// When it cannot be read; `invalid_key`.
    pub(super) fn public(&self) -> Result<PublicKey, ConvertError> {
        match self {
            Self::File(path) => PublicKey::read(&path.0),
            Self::Pem(text) => PublicKey::from_pem(text),
        }
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Key {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match object.cast::<PyBytes>() {
            // What is not text is not a key either, and is refused as such.
            Ok(text) => Ok(Self::Pem(String::from_utf8_lossy(text.as_bytes()).into_owned())),
            Err(_) => object.extract().map(Self::File),
        }
    }
}
