//! Digests of files and of their tensors.

use super::errors::{Class, Doing, any_fault, fault, invalid};
use super::open::opened;
use super::trust::Key;
use super::weights::Weights;
use super::write::PathOrBytes;
use crate::buffer::Held;
use crate::files::tensor_file;
use crate::interrupt::{Progress, reported};
use framewright::bintensors::validate::verify_tensors;
use framewright::bintensors::{Algorithm, BinTensorError, digest_subject, verify as verify_source};
use framewright::convert::{expect_manifest, manifest, verify_digests, verify_signature};
use framewright::source::{FileSource, ReadAt, Watched};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Compares a file, given by its path or as bytes, with digests, and returns how many were compared.
///
/// With `digest` (bytes, or hexadecimal text) that is the digest of the whole file, as `save_with_checksum` returns it. Without it,
/// the digests of tensors are compared that `save_file(…, digest=…)` left in the file. `BintensorError` says which does not match.
/// `progress` hears `(done, total)` in bytes.
///
/// With `key` (the path of a public key, or its PEM text as bytes) the file must have a signature by it, as `sign` makes them; `expect` is
/// the digest of the manifest that its tensors must have, as `digest` returns it. Every tensor is read then, and the number of tensors is
/// returned; `source` is whatever `fwright.open` takes.
#[pyfunction]
#[pyo3(signature = (source, digest=None, algorithm="sha1", *, key=None, expect=None, progress=None))]
pub(crate) fn verify(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    digest: Option<&Bound<'_, PyAny>>,
    algorithm: &str,
    key: Option<Key>,
    expect: Option<&str>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<usize> {
    if key.is_some() || expect.is_some() {
        if digest.is_some_and(|digest| !digest.is_none()) {
            return Err(invalid(py, "digest is of the whole file: leave it out with key or expect".to_owned()));
        }
        return verify_all(py, source, key.as_ref(), expect, progress);
    }
    let source: PathOrBytes = source.extract()?;
    let Some(digest) = digest.filter(|digest| !digest.is_none()) else {
        let weights = match source {
            PathOrBytes::Path(path) => opened(py, &path.0)?,
            PathOrBytes::Bytes(bytes) => {
                Weights::of_bytes(bytes).map_err(|error| any_fault(py, Doing::Deserializing, error))?
            }
        };
        return verify_stored(py, &weights, progress);
    };
    let digest = bytes_of(digest)?;
    let algorithm: Algorithm = algorithm.parse().map_err(|error: BinTensorError| invalid(py, error.detail()))?;
    let compare = |source: &(dyn ReadAt + Sync)| {
        reported(py, progress, |progress| {
            verify_source(&Watched::new(source, 1, Progress::watch(progress))?, &digest, algorithm)
        })
    };
    let compared = match source {
        PathOrBytes::Path(path) => compare(&FileSource::open(&path.0)?)?,
        PathOrBytes::Bytes(bytes) => compare(&Held(bytes))?,
    };
    compared.map(|()| 1).map_err(|error| fault(py, Doing::Verifying, error))
}

/// Whether all tensors together are those that were signed, or expected.
fn verify_all(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    key: Option<&Key>,
    expect: Option<&str>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<usize> {
    let wrong = |error| any_fault(py, Doing::Verifying, error);
    let key = key.map(Key::public).transpose().map_err(wrong)?;
    let file = tensor_file(py, source, None)?.map_err(wrong)?;
    let found = reported(py, progress, |progress| {
        let watch = Progress::watch(progress);
        let tell = |done: framewright::convert::Progress<'_>| watch.tell(done.bytes_done, done.bytes_total);
        let found = match &key {
            Some(key) => verify_signature(&*file, key, &tell)?,
            None => manifest(&*file, &tell)?,
        };
        expect.map_or(Ok(()), |expected| expect_manifest(&found, expected)).map(|()| found)
    })?;
    found.map(|found| found.entries().len()).map_err(wrong)
}

/// Compares the digests that a file has of its tensors.
///
/// # Errors
/// `BintensorError` when one does not match, or when there are none.
pub(super) fn verify_stored(py: Python<'_>, weights: &Weights, progress: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
    let none = || {
        let words = "the file has no digests of its tensors: save it with digest=\"sha256\"";
        Class::Fault.error(py, words, "missing_digest", None)
    };
    let Some((metadata, source)) = weights.as_bin() else {
        let file = weights.as_any().ok_or_else(none)?;
        let compared = reported(py, progress, |progress| {
            let watch = Progress::watch(progress);
            verify_digests(file, &|done| watch.tell(done.bytes_done, done.bytes_total))
        })?;
        return match compared {
            Ok(0) => Err(none()),
            Ok(compared) => Ok(compared),
            Err(error) => Err(any_fault(py, Doing::Verifying, error)),
        };
    };
    let compared = reported(py, progress, |progress| {
        let digested = |key: &str| Some(metadata.span(&metadata.info(digest_subject(key)?)?).len());
        let total = metadata.metadata().into_iter().flat_map(|user| user.iter()).filter_map(|(key, _)| digested(key));
        verify_tensors(&Watched::of(source, total.sum(), Progress::watch(progress)), metadata)
    })?;
    match compared {
        Ok(0) => Err(none()),
        Ok(compared) => Ok(compared),
        Err(error) => Err(fault(py, Doing::Verifying, error)),
    }
}

/// Bytes, or hexadecimal text.
fn bytes_of(digest: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let Ok(text) = digest.extract::<String>() else { return digest.extract() };
    let wrong = || PyValueError::new_err(format!("digest {text:?} is not hexadecimal"));
    let digits: Option<Vec<u8>> = text.chars().map(|digit| Some(digit.to_digit(16)? as u8)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2)).ok_or_else(wrong)?;
    Ok(digits.chunks_exact(2).map(|pair| (pair[0] << 4) | pair[1]).collect())
}
