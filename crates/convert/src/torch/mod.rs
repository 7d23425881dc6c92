//! PyTorch checkpoints, which are read: a zip archive of a pickle and the bytes of storages. No code of the pickle is run.

mod flatten; // a tree of containers as named tensors and metadata
mod gather; // views of storages as rows
mod pickle; // the pickle to values
mod read; // an open file

use crate::archive::{AnySource, Archive};
use crate::contract::{Recognition, SourceOpener, TensorFormat, Writable};
use crate::model::TensorFile;
use crate::{ConvertError, Format, contract, report};
use fw_bintensors::ReadOptions;
use fw_bintensors::validate::{DataChecks, ValidateOptions};
use fw_report::{Finding, Report, Tree};
use fw_source::FileSource;
use std::path::Path;
use std::sync::Arc;

pub(crate) struct Torch;

impl TensorFormat for Torch {
    fn name(&self) -> &'static str {
        "torch"
    }

    fn title(&self) -> &'static str {
        "PyTorch"
    }

    fn about(&self) -> &'static str {
        "PyTorch checkpoint, read only"
    }

    /// Also `.bin`, which is the name of too much to be a hint.
    fn extensions(&self) -> &'static [&'static str] {
        &["pt", "pth", "ckpt"]
    }

    fn recognition(&self) -> Recognition {
        Recognition::Zip(|name| {
            name.is_some_and(|name| name.strip_suffix(read::PICKLE).is_some_and(|folder| folder.ends_with('/')))
        })
    }

    fn open(&self, path: &Path, _options: &ReadOptions) -> Result<Box<dyn TensorFile>, ConvertError> {
        Ok(Box::new(read::open(local(path)?)?))
    }

    fn source_opener(&self) -> Option<SourceOpener> {
        Some(|source, _name, _options| Ok(Box::new(read::open(source.into())?)))
    }

    fn dump(&self, source: contract::AnySource, _name: &str) -> Result<Tree, ConvertError> {
        let file_len = source.len()?;
        let archive = Archive::open(source.into())?;
        let mut root = Tree::new(self.name(), 0..file_len);
        let mut members: Vec<_> = archive.members().iter().collect();
        members.sort_by_key(|member| member.data.start);
        let mut reached = 0;
        for member in members {
            root.push(Tree::new("zip header", reached..member.data.start));
            root.push(Tree::new(member.name.clone(), member.data).value(format!("{} bytes", member.len)));
            reached = member.data.end;
        }
        root.push(Tree::new("zip directory", reached..file_len));
        Ok(root)
    }

    /// A zip has checksums, which only reading compares. PyTorch itself does not, and can be told to write none.
    fn validate(
        &self,
        source: contract::AnySource,
        _name: &str,
        options: &ValidateOptions,
    ) -> Result<Report, ConvertError> {
        let opened = read::open(source.into());
        let mut wrong = Vec::new();
        if let Ok(file) = &opened
            && options.data == DataChecks::Full
        {
            for (place, member) in file.archive.members().iter().enumerate() {
                match file.archive.verify(place) {
                    Err(error) if error.code() == "checksum_mismatch" => wrong.push((member.name.clone(), member.data)),
                    other => other?,
                }
            }
        }
        let opened = opened.map(|file| -> Box<dyn TensorFile> { Box::new(file) });
        let mut report = report::opened_report(opened, options.data == DataChecks::Full)?;
        for (name, span) in wrong {
            let message = format!("{name:?}: the data does not have the CRC-32 of its zip entry");
            report.push(Finding::warning("checksum_mismatch", message).at(span).level("data"));
        }
        Ok(report)
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn writable(&self) -> Result<&'static dyn Writable, ConvertError> {
        Err(Format::read_only("PyTorch checkpoints"))
    }
}

/// A file on this machine as a source.
fn local(path: &Path) -> Result<AnySource, ConvertError> {
    Ok(Arc::new(FileSource::open(path)?))
}
