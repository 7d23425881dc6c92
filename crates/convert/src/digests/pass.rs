//! One reading of many tensors, on all processors: their data is compared with the digests that are kept, and new ones are made.

use super::Described;
use crate::model::TensorFile;
use crate::{ConvertError, Progress};
use fw_bintensors::{Algorithm, StoredDigests, TensorHasher};
use fw_bytes::parallel::in_order;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

/// A reading of tensors of a file.
pub(crate) struct Pass<'a> {
    pub(crate) file: &'a dyn TensorFile,
    /// What to compare with; `None` to compare nothing.
    pub(crate) stored: Option<&'a StoredDigests>,
}

/// One tensor of it.
pub(crate) struct Job {
    pub(crate) place: usize,
    /// The digest to make, of the tensor under this description.
    pub(crate) wanted: Option<(Algorithm, Described)>,
}

impl Pass<'_> {
    /// Reads the tensors, and returns the digests that were wanted in the order of the jobs.
    ///
    /// # Errors
    /// The first fault, in the order of the jobs; nothing more is begun then.
    pub(crate) fn run(
        &self,
        jobs: Vec<Job>,
        progress: &(dyn Fn(Progress<'_>) + Sync),
    ) -> Result<Vec<Option<String>>, ConvertError> {
        let (mut made, mut failed) = (Vec::with_capacity(jobs.len()), Ok(()));
        self.each(jobs, progress, |_, verdict| match verdict {
            Ok(digest) => {
                made.push(digest);
                ControlFlow::Continue(())
            }
            Err(error) => {
                failed = Err(error);
                ControlFlow::Break(())
            }
        });
        failed.map(|()| made)
    }

    /// Reads all of the tensors, whatever is wrong with some.
    pub(crate) fn verdicts(
        &self,
        jobs: Vec<Job>,
        progress: &(dyn Fn(Progress<'_>) + Sync),
    ) -> Vec<(usize, Result<Option<String>, ConvertError>)> {
        let mut verdicts = Vec::with_capacity(jobs.len());
        self.each(jobs, progress, |place, verdict| {
            verdicts.push((place, verdict));
            ControlFlow::Continue(())
        });
        verdicts
    }

    fn each(
        &self,
        jobs: Vec<Job>,
        progress: &(dyn Fn(Progress<'_>) + Sync),
        mut take: impl FnMut(usize, Result<Option<String>, ConvertError>) -> ControlFlow<()>,
    ) {
        let entry = |job: &Job| self.file.entries().get(job.place);
        let lens = jobs.iter().map(|job| entry(job).and_then(|entry| entry.byte_len().ok()).unwrap_or(0));
        let total = lens.fold(0, u64::saturating_add);
        // Threads cost more than small files; a wrong number in the environment is for commands to complain about.
        let threads = if total < SMALL { 1 } else { fw_codec::parallel::resolve(0).unwrap_or(0) };
        let done = AtomicU64::new(0);
        let tell = |name: &str, bytes: u64| {
            let bytes_done = done.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
            progress(Progress { tensor: name, bytes_done, bytes_total: total });
        };
        let work = |job: Job| (job.place, self.one(&job, &tell));
        in_order(jobs.into_iter(), threads, work, |(place, verdict)| take(place, verdict));
    }

    fn one(&self, job: &Job, tell: &(dyn Fn(&str, u64) + Sync)) -> Result<Option<String>, ConvertError> {
        let entry = self.file.entries().get(job.place);
        let entry = entry.ok_or_else(|| ConvertError::NotFound(format!("#{}", job.place)))?;
        let mut check = match self.stored {
            Some(stored) => stored.check(job.place, &entry.name, entry.dtype, &entry.shape)?,
            None => None,
        };
        let hasher = |(algorithm, subject): &(Algorithm, Described)| {
            TensorHasher::new(*algorithm, &subject.name, subject.dtype, &subject.shape)
        };
        let mut hasher = job.wanted.as_ref().map(hasher);
        self.file.stream(job.place, &mut |piece| {
            if let Some(check) = &mut check {
                check.update(piece);
            }
            if let Some(hasher) = &mut hasher {
                hasher.update(piece);
            }
            tell(&entry.name, piece.len() as u64);
            Ok(())
        })?;
        if let Some(check) = check {
            check.finish()?;
        }
        Ok(hasher.map(TensorHasher::finish))
    }
}

/// Bytes of data that one thread reads about as fast as several.
const SMALL: u64 = 1 << 20;
