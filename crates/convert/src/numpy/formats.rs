//! npy and npz as formats of tensor files.

use super::{npy, npz};
use crate::contract::{AnySource, Recognition, SourceOpener, TensorFormat, Writable};
use crate::model::TensorFile;
use crate::{ConvertError, report};
use fw_bintensors::ReadOptions;
use fw_bintensors::validate::{DataChecks, ValidateOptions};
use fw_report::{Finding, Report, Tree};
use fw_source::FileSource;
use std::path::Path;

pub(crate) struct Npy;

impl TensorFormat for Npy {
    fn name(&self) -> &'static str {
        "npy"
    }

    fn about(&self) -> &'static str {
        "NumPy, one array"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["npy"]
    }

    fn recognition(&self) -> Recognition {
        Recognition::Mark(|head| head.starts_with(b"\x93NUMPY"))
    }

    fn open(&self, path: &Path, _options: &ReadOptions) -> Result<Box<dyn TensorFile>, ConvertError> {
        Ok(Box::new(npy::open(local(path)?, path)?))
    }

    fn source_opener(&self) -> Option<SourceOpener> {
        Some(|source, name, _options| Ok(Box::new(npy::open(source, Path::new(name))?)))
    }

    fn dump(&self, source: AnySource, name: &str) -> Result<Tree, ConvertError> {
        let file_len = source.len()?;
        let file = npy::open(source, Path::new(name))?;
        let header = &file.header;
        let len = file.entries().first().and_then(|entry| entry.byte_len().ok()).unwrap_or(0);
        let end = header.len.saturating_add(len).min(file_len);
        let before = if header.len > u64::from(u16::MAX) { 12 } else { 10 };
        let mut root = Tree::new(self.name(), 0..file_len)
            .with(Tree::new("magic and version", 0..8))
            .with(Tree::new("header length", 8..before))
            .with(Tree::new("header", before..header.len).value(format!("{} {:?}", header.dtype, header.shape)))
            .with(Tree::new("data", header.len..end).value(format!("{len} bytes, {} endian", header.order)));
        if end < file_len {
            root.push(Tree::new("trailing bytes", end..file_len));
        }
        Ok(root)
    }

    fn validate(&self, source: AnySource, name: &str, options: &ValidateOptions) -> Result<Report, ConvertError> {
        let len = source.len()?;
        let opened = npy::open(source, Path::new(name));
        let end = opened.as_ref().ok().and_then(|file| {
            let len = fw_tensor::byte_len(file.header.dtype, &file.header.shape).ok()?;
            file.header.len.checked_add(len)
        });
        let opened = opened.map(|file| -> Box<dyn TensorFile> { Box::new(file) });
        let mut report = report::opened_report(opened, options.data == DataChecks::Full)?;
        if let Some(end) = end.filter(|end| *end < len) {
            report.push(Finding::warning("trailing_bytes", "bytes after the array").at(end..len).level("structure"));
        }
        Ok(report)
    }

    fn writable(&self) -> Result<&'static dyn Writable, ConvertError> {
        Ok(&Npy)
    }
}

pub(crate) struct Npz;

impl TensorFormat for Npz {
    fn name(&self) -> &'static str {
        "npz"
    }

    fn about(&self) -> &'static str {
        "NumPy, many arrays"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["npz"]
    }

    fn recognition(&self) -> Recognition {
        Recognition::Zip(|name| name.is_none_or(|name| name.ends_with(".npy")))
    }

    fn open(&self, path: &Path, _options: &ReadOptions) -> Result<Box<dyn TensorFile>, ConvertError> {
        Ok(Box::new(npz::open(local(path)?.into())?))
    }

    fn source_opener(&self) -> Option<SourceOpener> {
        Some(|source, _name, _options| Ok(Box::new(npz::open(source.into())?)))
    }

    fn dump(&self, source: AnySource, _name: &str) -> Result<Tree, ConvertError> {
        let file_len = source.len()?;
        let file = npz::open(source.into())?;
        let mut root = Tree::new(self.name(), 0..file_len);
        let mut members: Vec<_> = file.entries().iter().zip(file.members()).collect();
        members.sort_by_key(|(_, member)| member.data.start);
        let mut reached = 0u64;
        for (entry, member) in members {
            if reached < member.data.start {
                root.push(Tree::new("zip header", reached..member.data.start));
            }
            let end = member.data.end;
            let how = if member.deflated { "deflated" } else { "stored" };
            let what = format!("{} {:?}, {how}", entry.dtype, entry.shape);
            root.push(Tree::new(entry.name.clone(), member.data).value(what));
            reached = end;
        }
        if reached < file_len {
            root.push(Tree::new("zip directory", reached..file_len));
        }
        Ok(root)
    }

    /// A zip has checksums, which only reading compares.
    fn validate(&self, source: AnySource, _name: &str, options: &ValidateOptions) -> Result<Report, ConvertError> {
        let opened = npz::open(source.into()).map(|file| -> Box<dyn TensorFile> { Box::new(file) });
        report::opened_report(opened, options.data == DataChecks::Full)
    }

    fn writable(&self) -> Result<&'static dyn Writable, ConvertError> {
        Ok(&Npz)
    }
}

/// A file on this machine as a source.
fn local(path: &Path) -> Result<AnySource, ConvertError> {
    Ok(Box::new(FileSource::open(path)?))
}
