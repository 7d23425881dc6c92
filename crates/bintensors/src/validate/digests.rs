//! Stored digests against the data (BT-10.3), and bytes that a type does not allow.

use crate::{Algorithm, BinTensorError, Dtype, HASH_KEY_PREFIX, OwnedMetadata, TensorInfo};
use fw_report::{Finding, Report, Severity};
use fw_source::{ReadAt, stream};
use std::collections::BTreeMap;

/// Compares every digest that the user metadata keeps with the data. Returns how many were compared.
///
/// # Errors
/// `ChecksumMismatch` naming the first tensor whose data differs, `TensorNotFound` for a digest without a tensor,
/// `EncodeError` for one that is not spelt as BT-10.3 says, or when the source fails.
pub fn verify_tensors(source: &(impl ReadAt + ?Sized), metadata: &OwnedMetadata) -> Result<usize, BinTensorError> {
    let mut compared = 0usize;
    for (key, stored) in metadata.metadata().into_iter().flat_map(|user| user.iter()) {
        let Some(name) = key.strip_prefix(HASH_KEY_PREFIX) else { continue };
        let info = metadata.info(name).ok_or_else(|| BinTensorError::TensorNotFound(name.to_owned()))?;
        compare(source, metadata, &info, stored)?;
        compared = compared.saturating_add(1);
    }
    Ok(compared)
}

/// The same as findings, all of them.
pub(super) fn check(
    source: &(impl ReadAt + ?Sized),
    metadata: &OwnedMetadata,
    report: &mut Report,
) -> Result<(), BinTensorError> {
    let user: BTreeMap<String, String> = metadata.metadata().map(|user| user.to_map()).unwrap_or_default();
    for (index, info) in metadata.infos().enumerate() {
        let finding = |finding: Finding| {
            let path = format!("tensors[{:?}]", info.name);
            finding.at(metadata.span(&info)).on(path).object(index as u64).level("data")
        };
        if let Some(stored) = user.get(&format!("{HASH_KEY_PREFIX}{}", info.name)) {
            match compare(source, metadata, &info, stored) {
                Err(BinTensorError::IoError(error)) => return Err(error.into()),
                Err(error) => report.push(finding(Finding::error(error.code(), error.detail()))),
                Ok(()) => {}
            }
        }
        if info.dtype == Dtype::BOOL
            && let Some(byte) = odd_bool(source, metadata, &info)?
        {
            let message = format!("a BOOL byte is 0x{byte:02x}, neither 0 nor 1");
            report.push(finding(Finding::new(Severity::Note, "odd_bool", message)));
        }
    }
    for key in user.keys() {
        if let Some(name) = key.strip_prefix(HASH_KEY_PREFIX)
            && metadata.info(name).is_none()
        {
            let message = format!("a digest is kept for {name:?}, but there is no such tensor");
            report.push(Finding::warning("digest_without_tensor", message).on(format!("metadata[{key:?}]")));
        }
    }
    Ok(())
}

fn compare(
    source: &(impl ReadAt + ?Sized),
    metadata: &OwnedMetadata,
    info: &TensorInfo<'_>,
    stored: &str,
) -> Result<(), BinTensorError> {
    let (name, _) = stored
        .split_once(':')
        .ok_or_else(|| BinTensorError::EncodeError(format!("digest {stored:?} is not in the form algorithm:hex")))?;
    let algorithm: Algorithm = name.parse()?;
    let span = metadata.span(info);
    let found = algorithm.spell(&algorithm.digest_range(source, span.start, span.end)?);
    if found.eq_ignore_ascii_case(stored) {
        return Ok(());
    }
    let (name, expected) = (Some(info.name.to_owned()), stored.to_owned());
    Err(BinTensorError::ChecksumMismatch { name, expected, found })
}

fn odd_bool(
    source: &(impl ReadAt + ?Sized),
    metadata: &OwnedMetadata,
    info: &TensorInfo<'_>,
) -> Result<Option<u8>, BinTensorError> {
    let mut odd = None;
    let read = stream(source, metadata.span(info), |piece| {
        odd = piece.iter().copied().find(|byte| *byte > 1);
        // One is enough: the rest need not be read.
        if odd.is_some() { Err(Stop::Found) } else { Ok(()) }
    });
    match read {
        Ok(()) | Err(Stop::Found) => Ok(odd),
        Err(Stop::Failed(error)) => Err(error.into()),
    }
}

/// Why a tensor was not read to its end.
enum Stop {
    Found,
    Failed(std::io::Error),
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(error)
    }
}
