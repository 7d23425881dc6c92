//! What becomes of the digests of a checkpoint that is changed: those of its files are compared with their data before anything is written,
//! tensors that change get new ones where they had some.

use super::draft::{DigestsKept, Draft, WeightsOptions};
use super::narrow::CastError;
use crate::error::{EditError, Result};
use crate::tensors::Picked;
use fw_bintensors::{Algorithm, DIGEST_KEY_PREFIX, HASH_KEY_PREFIX, StoredDigests, TensorHasher};
use fw_bytes::parallel::in_order;
use fw_convert::{ConvertError, Entry, StoredUse, TensorFile, digest_algorithm, stored_digests};
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

/// What was found out.
#[derive(Default)]
pub(super) struct Kept {
    /// Entries of the text map of the output.
    pub(super) keys: BTreeMap<String, String>,
    pub(super) report: DigestsKept,
    /// What casts did, by the places of tensors.
    pub(super) casts: HashMap<usize, CastError>,
    /// Bytes that were read.
    pub(super) bytes: u64,
}

/// A tensor to read.
struct Job {
    index: usize,
    /// Whether to compare it with its digest.
    check: bool,
    /// The algorithm of the digest to make of what it becomes.
    wanted: Option<Algorithm>,
}

/// What came of it.
struct Done {
    index: usize,
    digest: Option<String>,
    cast: Option<CastError>,
}

/// The algorithm for a new digest of a tensor, when it had one.
pub(super) fn algorithm_of(picked: &Picked, index: usize) -> Option<Algorithm> {
    let (file, place) = picked.origin(index)?;
    let stored = stored_digests(&**picked.files().get(file)?);
    stored.keeps(place).then(|| digest_algorithm(&stored).unwrap_or(Algorithm::Sha256))
}

/// Reads what has to be compared, hashed or measured, on all processors, and settles the digests of the output.
///
/// # Errors
/// `checksum_mismatch`; when a file fails or is wrong.
pub(super) fn settle(draft: &Draft<'_>, options: &WeightsOptions) -> Result<Kept> {
    let picked = draft.picked();
    let stored: Vec<StoredDigests> = picked.files().iter().map(|file| stored_digests(&**file)).collect();
    let own = stored.first().and_then(digest_algorithm).unwrap_or(Algorithm::Sha256);
    let is_ignored = options.stored == StoredUse::Ignore;
    let (mut kept, mut jobs) = (Kept::default(), Vec::new());
    for (index, new) in picked.entries().iter().enumerate() {
        let (Some((file, place)), Some(old)) = (picked.origin(index), picked.source(index)) else { continue };
        let Some(stored) = stored.get(file) else { continue };
        let (replaced, is_kept) = (draft.replaced(index), stored.keeps(place));
        let same_data = replaced.is_none() && draft.caster(index).is_none();
        let is_same = same_data && old.name == new.name && old.shape == new.shape;
        // What is of the data alone stays with the data.
        if let Some(digest) = stored.of_data(place).filter(|_| same_data) {
            kept.keys.insert(format!("{HASH_KEY_PREFIX}{}", new.name), digest.to_owned());
        }
        if let Some(digest) = stored.of_tensor(place).filter(|_| is_same) {
            kept.keys.insert(format!("{DIGEST_KEY_PREFIX}{}", new.name), digest.to_owned());
        }
        let mut wanted = match replaced {
            Some(algorithm) => algorithm,
            None if same_data => stored.of_tensor(place).filter(|_| !is_same).map(|_| own),
            None => is_kept.then_some(own),
        };
        // A new digest of what was not compared might be one of corrupt data.
        if is_ignored && wanted.take().is_some() {
            kept.report.dropped.push(new.name.clone());
        }
        match is_kept {
            true if is_ignored => kept.report.ignored += 1,
            true => kept.report.checked += 1,
            false => {}
        }
        let check = is_kept && !is_ignored;
        if check || wanted.is_some() || draft.caster(index).is_some() {
            kept.bytes = kept.bytes.saturating_add(old.byte_len()?);
            jobs.push(Job { index, check, wanted });
        }
    }
    for Done { index, digest, cast } in read(draft, &stored, jobs, &kept, options)? {
        if let (Some(digest), Some(entry)) = (digest, picked.entries().get(index)) {
            kept.keys.insert(format!("{DIGEST_KEY_PREFIX}{}", entry.name), digest);
            kept.report.made += 1;
        }
        kept.casts.extend(cast.map(|error| (index, error)));
    }
    Ok(kept)
}

fn read(
    draft: &Draft<'_>,
    stored: &[StoredDigests],
    jobs: Vec<Job>,
    kept: &Kept,
    options: &WeightsOptions,
) -> Result<Vec<Done>> {
    // Threads cost more than small files; a wrong number in the environment is for commands to complain about.
    let threads = if kept.bytes < SMALL { 1 } else { fw_codec::parallel::resolve(0).unwrap_or(0) };
    let total = kept.bytes.saturating_add(draft.picked().data_len());
    let done = AtomicU64::new(0);
    let tell = |bytes: u64| {
        let so_far = done.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        options.watch.tell(so_far, total);
    };
    let (mut found, mut failed) = (Vec::with_capacity(jobs.len()), Ok(()));
    let work = |job: Job| one(draft, stored, &job, &tell);
    in_order(jobs.into_iter(), threads, work, |verdict| match verdict {
        Ok(done) => {
            found.push(done);
            ControlFlow::Continue(())
        }
        Err(error) => {
            failed = Err(error);
            ControlFlow::Break(())
        }
    });
    failed.map(|()| found)
}

/// Reads one tensor, whatever has to be done with it.
fn one(draft: &Draft<'_>, stored: &[StoredDigests], job: &Job, tell: &(dyn Fn(u64) + Sync)) -> Result<Done> {
    let picked = draft.picked();
    let missing = || EditError::from(ConvertError::NotFound(format!("#{}", job.index)));
    let new: &Entry = picked.entries().get(job.index).ok_or_else(missing)?;
    let old = picked.source(job.index).ok_or_else(missing)?;
    let (file, place) = picked.origin(job.index).ok_or_else(missing)?;
    let in_file = |error: ConvertError| EditError::from(error).in_file(draft.path(file));
    let mut check = match stored.get(file).filter(|_| job.check) {
        Some(stored) => stored.check(place, &old.name, old.dtype, &old.shape).map_err(|error| in_file(error.into()))?,
        None => None,
    };
    let mut hasher = job.wanted.map(|algorithm| TensorHasher::new(algorithm, &new.name, new.dtype, &new.shape));
    let mut caster = draft.caster(job.index);
    let mut hash = |piece: &[u8]| {
        if let Some(hasher) = &mut hasher {
            hasher.update(piece);
        }
        Ok(())
    };
    let mut take = |piece: &[u8]| {
        if let Some(check) = &mut check {
            check.update(piece);
        }
        tell(piece.len() as u64);
        match &mut caster {
            Some(caster) => caster.push(piece, &mut hash),
            None => hash(piece),
        }
    };
    picked.stream(job.index, &mut take).map_err(in_file)?;
    if let Some(check) = check {
        check.finish().map_err(|error| in_file(error.into()))?;
    }
    Ok(Done { index: job.index, digest: hasher.map(TensorHasher::finish), cast: caster.map(|caster| caster.error()) })
}

/// Bytes of data that one thread reads about as fast as several.
const SMALL: u64 = 1 << 20;
