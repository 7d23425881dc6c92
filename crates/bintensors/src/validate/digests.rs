//! Stored digests against the data (BT-10), and bytes that a type does not allow.

use crate::describe::logical;
use crate::digest::{StoredDigests, digest_subject};
use crate::{BinTensorError, Dtype, OwnedMetadata, TensorInfo};
use fw_bytes::parallel::in_order;
use fw_report::{Finding, Report, Severity};
use fw_source::{ReadAt, stream};
use fw_tensor::DType;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Compares every digest that the user metadata keeps with the data, on all processors, and the digest of the manifest with
/// those of the tensors. Returns how many tensors were compared.
///
/// # Errors
/// `ChecksumMismatch` naming the first tensor whose data differs, `ManifestMismatch`, `TensorNotFound` for a digest without a
/// tensor, `EncodeError` for one that is not spelt as BT-10.3 says, or when the source fails.
pub fn verify_tensors(
    source: &(impl ReadAt + Sync + ?Sized),
    metadata: &OwnedMetadata,
) -> Result<usize, BinTensorError> {
    let kept = Kept::of(metadata);
    if let Some(name) = kept.stored.strays().first().and_then(|key| digest_subject(key)) {
        return Err(BinTensorError::TensorNotFound(name.to_owned()));
    }
    kept.stored.check_manifest(kept.described())?;
    let mut verdict = Ok(());
    kept.compare(source, metadata, |_, compared| {
        verdict = compared;
        if verdict.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    verdict.map(|()| kept.stored.count())
}

/// The same as findings, all of them.
pub(super) fn check(
    source: &(impl ReadAt + Sync + ?Sized),
    metadata: &OwnedMetadata,
    report: &mut Report,
) -> Result<(), BinTensorError> {
    let kept = Kept::of(metadata);
    let on = |finding: Finding, info: &TensorInfo<'_>, index: usize| {
        let path = format!("tensors[{:?}]", info.name);
        finding.at(metadata.span(info)).on(path).object(index as u64).level("data")
    };
    let (mut failed, mut found) = (Ok(()), BTreeMap::new());
    kept.compare(source, metadata, |place, compared| {
        match compared {
            Ok(()) => {}
            Err(BinTensorError::IoError(error)) => failed = Err(BinTensorError::IoError(error)),
            Err(error) => {
                found.insert(place, Finding::error(error.code(), error.detail()));
            }
        }
        if failed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    failed?;
    for (index, info) in metadata.infos().enumerate() {
        report.extend(found.remove(&index).map(|finding| on(finding, &info, index)));
        if info.dtype == Dtype::BOOL
            && let Some(byte) = odd_bool(source, metadata, &info)?
        {
            let message = format!("a BOOL byte is 0x{byte:02x}, neither 0 nor 1");
            report.push(on(Finding::new(Severity::Note, "odd_bool", message), &info, index));
        }
    }
    for key in kept.stored.strays() {
        let name = digest_subject(key).unwrap_or_default();
        let message = format!("a digest is kept for {name:?}, but there is no such tensor");
        report.push(Finding::warning("digest_without_tensor", message).on(format!("metadata[{key:?}]")));
    }
    if let Err(error) = kept.stored.check_manifest(kept.described()) {
        report.push(Finding::error(error.code(), error.detail()).level("data"));
    }
    report.tally(super::TENSORS, metadata.len() as u64);
    report.tally(super::DIGESTS_CHECKED, kept.stored.count() as u64);
    Ok(())
}

/// What a header keeps, beside the tensors as users see them.
struct Kept {
    stored: StoredDigests,
    tensors: Vec<(String, DType, Vec<u64>)>,
}

impl Kept {
    fn of(metadata: &OwnedMetadata) -> Self {
        let user: BTreeMap<String, String> = metadata.metadata().map(|user| user.to_map()).unwrap_or_default();
        let entries = user.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let stored = StoredDigests::new(metadata.names(), entries);
        let described = |info: TensorInfo<'_>| {
            let (dtype, shape) = logical(&info, |key| user.get(key).map(String::as_str));
            (info.name.to_owned(), dtype, shape)
        };
        let tensors = if stored.is_empty() { Vec::new() } else { metadata.infos().map(described).collect() };
        Self { stored, tensors }
    }

    fn described(&self) -> impl Iterator<Item = (&str, DType, &[u64])> {
        self.tensors.iter().map(|(name, dtype, shape)| (name.as_str(), *dtype, shape.as_slice()))
    }

    /// Compares every tensor that a digest is kept of, and hands on the verdicts in the order of the file.
    fn compare(
        &self,
        source: &(impl ReadAt + Sync + ?Sized),
        metadata: &OwnedMetadata,
        mut take: impl FnMut(usize, Result<(), BinTensorError>) -> ControlFlow<()>,
    ) {
        let work = |place: usize| {
            let compared = || {
                let Some((name, dtype, shape)) = self.tensors.get(place) else { return Ok(()) };
                let Some(mut check) = self.stored.check(place, name, *dtype, shape)? else { return Ok(()) };
                let span = metadata.info_at(place).map(|info| metadata.span(&info)).unwrap_or_default();
                stream::<std::io::Error>(source, span, |piece| {
                    check.update(piece);
                    Ok(())
                })?;
                check.finish()
            };
            (place, compared())
        };
        let places: Vec<usize> = self.stored.places().collect();
        // Threads cost more than small files.
        let threads = if metadata.data_len() < SMALL { 1 } else { 0 };
        in_order(places.into_iter(), threads, work, |(place, compared)| take(place, compared));
    }
}

/// Bytes of data that one thread checks about as fast as several.
const SMALL: u64 = 1 << 20;

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
