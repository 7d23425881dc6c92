//! A file being written: what goes in, where it goes, and how far it has come.

use super::{Planned, Target};
use crate::model::{Located, TensorFile};
use crate::{ConvertError, ConvertOptions, Existing, Progress};
use fw_source::{AssembledFile, AtomicFile};
use std::collections::BTreeMap;
use std::io::BufWriter;
use std::path::Path;

/// One conversion: its ends, its plan, and the bytes that are done.
pub(crate) struct Work<'a> {
    pub(crate) source: &'a dyn TensorFile,
    pub(crate) target: &'a Target,
    pub(crate) input: &'a Path,
    pub(crate) options: &'a ConvertOptions,
    pub(crate) meter: Meter<'a>,
    /// Whether the system copied every tensor so far.
    pub(crate) is_copied: bool,
}

/// Counts bytes for the caller.
pub(crate) struct Meter<'a> {
    options: &'a ConvertOptions,
    done: u64,
    total: u64,
}

impl<'a> Meter<'a> {
    pub(crate) const fn new(options: &'a ConvertOptions, total: u64) -> Self {
        Self { options, done: 0, total }
    }

    /// For work that comes after other work, of which `done` bytes were told.
    pub(crate) const fn after(options: &'a ConvertOptions, done: u64, total: u64) -> Self {
        Self { options, done, total: done.saturating_add(total) }
    }

    pub(crate) fn advance(&mut self, tensor: &str, bytes: u64) {
        self.done = self.done.saturating_add(bytes);
        if let Some(progress) = &self.options.progress {
            progress(Progress { tensor, bytes_done: self.done, bytes_total: self.total });
        }
    }
}

/// A file to write: which tensors, and where to.
pub(crate) struct Output<'r, 'a> {
    pub(crate) work: &'r mut Work<'a>,
    pub(crate) group: Option<&'r [usize]>,
    pub(crate) path: &'r Path,
}

impl<'a> Output<'_, 'a> {
    /// Where it goes.
    pub(crate) const fn path(&self) -> &Path {
        self.path
    }

    /// What was asked for.
    pub(crate) const fn options(&self) -> &'a ConvertOptions {
        self.work.options
    }

    /// What is read.
    pub(crate) fn source(&self) -> &'a dyn TensorFile {
        self.work.source
    }

    /// The tensors of this file, in the order of the plan.
    pub(crate) fn tensors(&self) -> Vec<&'a Planned> {
        self.work.target.group(self.group)
    }

    /// The metadata of this file.
    pub(crate) fn metadata(&self) -> Option<BTreeMap<String, String>> {
        self.work.target.metadata_of(self.group)
    }

    /// Hands the data of a tensor to `put`, piece by piece, and proves that it is all there.
    ///
    /// # Errors
    /// When the input fails or is too short; those of `put`.
    pub(crate) fn stream(
        &mut self,
        tensor: &Planned,
        mut put: impl FnMut(&[u8]) -> Result<(), ConvertError>,
    ) -> Result<(), ConvertError> {
        self.work.is_copied &= tensor.len == 0;
        let mut done = 0u64;
        let (input, path, meter) = (self.work.input, self.path, &mut self.work.meter);
        let read = self.work.source.stream(tensor.index, &mut |piece| {
            put(piece).map_err(|error| error.in_file(path))?;
            done = done.saturating_add(piece.len() as u64);
            meter.advance(&tensor.name, piece.len() as u64);
            Ok(())
        });
        read.map_err(|error| error.in_file(input))?;
        if done != tensor.len {
            let message = format!("tensor {:?}: need {} bytes of data, have {done}", tensor.name, tensor.len);
            return Err(ConvertError::format("truncated", message, None).in_file(input));
        }
        Ok(())
    }

    /// Writes a head and, one after the other, the tensors in this order. Data that lies as it is in files is copied by the system,
    /// neighbours together.
    ///
    /// # Errors
    /// When reading or writing fails, or a tensor is shorter than it should be.
    pub(crate) fn put_behind(&mut self, head: &[u8], order: &[usize]) -> Result<(), ConvertError> {
        let tensors = self.tensors();
        let mut out = AssembledFile::create(self.path)?;
        out.put(head)?;
        let mut run: Option<Located<'_>> = None;
        for tensor in order.iter().filter_map(|place| tensors.get(*place)) {
            let located = self.source().located(tensor.index).filter(|found| found.span.len() == tensor.len);
            match (&mut run, located) {
                (Some(run), Some(next)) if std::ptr::eq(run.file, next.file) && run.span.end == next.span.start => {
                    run.span.end = next.span.end;
                    continue;
                }
                _ => self.put_run(&mut out, run.take())?,
            }
            match located {
                Some(found) => run = Some(found),
                None => self.stream(tensor, |piece| Ok(out.put(piece)?))?,
            }
        }
        self.put_run(&mut out, run)?;
        Ok(out.commit()?)
    }

    fn put_run(&mut self, out: &mut AssembledFile, run: Option<Located<'_>>) -> Result<(), ConvertError> {
        let Some(Located { file, span }) = run else { return Ok(()) };
        let meter = &mut self.work.meter;
        out.copy(file, span, &mut |bytes| meter.advance("", bytes)).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                ConvertError::format("truncated", error.to_string(), span.start).in_file(self.work.input)
            }
            _ => ConvertError::Io(error).in_file(self.path),
        })
    }

    /// A buffered file at its path, which appears when it is [committed](commit).
    ///
    /// # Errors
    /// When it cannot be created.
    pub(crate) fn create(&self) -> Result<BufWriter<AtomicFile>, ConvertError> {
        Ok(BufWriter::with_capacity(BUFFER, AtomicFile::create(self.path)?))
    }
}

/// Puts a complete file in its place.
///
/// # Errors
/// When writing fails.
pub(crate) fn commit(out: BufWriter<AtomicFile>) -> Result<(), ConvertError> {
    out.into_inner().map_err(|error| ConvertError::Io(error.into_error()))?.commit()?;
    Ok(())
}

/// Only regular files are replaced, and only when that is wanted.
pub(crate) fn check_output(path: &Path, existing: Existing) -> Result<(), ConvertError> {
    let refused = |code, why: &str| Err(ConvertError::unsupported(code, why).in_file(path));
    match std::fs::metadata(path) {
        Ok(there) if !there.is_file() => refused("not_a_file", "not a regular file"),
        Ok(_) if existing == Existing::Refuse => refused("output_exists", "already exists"),
        _ => Ok(()),
    }
}

/// Bytes that are written at a time.
const BUFFER: usize = 1 << 20;
