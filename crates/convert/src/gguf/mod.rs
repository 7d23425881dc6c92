//! GGUF, which is read: a header of typed metadata and tensor descriptions, then the tensors' data, aligned.

mod blocks; // quantised blocks to floats
mod cursor; // the checked way through a header
mod header; // bytes to a checked header
mod read; // an open file
mod types; // its element types
mod value; // values of the metadata as text

use crate::contract::{AnySource, Recognition, SourceOpener, TensorFormat, Writable};
use crate::model::TensorFile;
use crate::{ConvertError, Format, report};
use fw_bintensors::ReadOptions;
use fw_bintensors::validate::{DataChecks, ValidateOptions};
use fw_report::{Finding, Report, Tree};
use fw_source::{FileSource, ReadAt};
use header::Header;
use std::path::Path;

pub(crate) struct Gguf;

impl TensorFormat for Gguf {
    fn name(&self) -> &'static str {
        "gguf"
    }

    fn title(&self) -> &'static str {
        "GGUF"
    }

    fn about(&self) -> &'static str {
        "GGUF, read only"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["gguf"]
    }

    fn recognition(&self) -> Recognition {
        Recognition::Mark(|head| head.starts_with(header::MAGIC))
    }

    fn open(&self, path: &Path, _options: &ReadOptions) -> Result<Box<dyn TensorFile>, ConvertError> {
        Ok(Box::new(read::open(FileSource::open(path)?)?))
    }

    fn source_opener(&self) -> Option<SourceOpener> {
        Some(|source, _name, _options| Ok(Box::new(read::open(source)?)))
    }

    fn dump(&self, source: AnySource, _name: &str) -> Result<Tree, ConvertError> {
        let file_len = source.len()?;
        let root = Tree::new(self.name(), 0..file_len);
        match header::read(&source) {
            Ok(header) => Ok(tree(root, &header, file_len)),
            Err(ConvertError::Io(error)) => Err(error.into()),
            Err(error) => Ok(root.with(Tree::new("unreadable", 0..file_len).value(error.to_string()))),
        }
    }

    /// Beside faults, bytes that belong to nothing: other readers expect tensors side by side.
    fn validate(&self, source: AnySource, _name: &str, options: &ValidateOptions) -> Result<Report, ConvertError> {
        let file_len = source.len()?;
        let opened = read::open(source);
        let unused = opened.as_ref().map_or_else(|_| Vec::new(), |file| unused(&file.header, file_len));
        let opened = opened.map(|file| -> Box<dyn TensorFile> { Box::new(file) });
        let mut report = report::opened_report(opened, options.data == DataChecks::Full)?;
        for (start, end) in unused {
            let message = format!("{} bytes are not part of any tensor", end.saturating_sub(start));
            report.push(Finding::warning("unused_bytes", message).at(start..end).level("structure"));
        }
        Ok(report)
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn writable(&self) -> Result<&'static dyn Writable, ConvertError> {
        Err(Format::read_only("GGUF files"))
    }
}

/// What lies between tensors, or after them, beyond the padding that alignment asks for.
fn unused(header: &Header, file_len: u64) -> Vec<(u64, u64)> {
    let mut spans: Vec<_> = header.tensors.iter().map(|tensor| tensor.span).collect();
    spans.sort_by_key(|span| (span.start, span.end));
    let mut reached = header.data_start;
    let mut gaps = Vec::new();
    for (start, end) in spans.iter().map(|span| (span.start, span.end)).chain([(file_len, file_len)]) {
        if reached < start {
            gaps.push((reached, start));
        }
        reached = reached.max(end).next_multiple_of(header.alignment);
    }
    gaps
}

fn tree(mut root: Tree, header: &Header, file_len: u64) -> Tree {
    root.push(Tree::new("magic", 0..4).value("GGUF"));
    root.push(Tree::new("version", 4..8).value(format!("{}, {} endian", header.version, header.order)));
    root.push(Tree::new("tensor count", 8..16).value(header.tensors.len().to_string()));
    root.push(Tree::new("metadata count", 16..24).value(header.places.len().to_string()));
    let span = |first: Option<u64>, last: Option<u64>| first.zip(last).map_or(0..0, |(start, end)| start..end);
    let (first, last) = (header.places.first(), header.places.last());
    let mut metadata = Tree::new("metadata", span(first.map(|(_, at)| at.start), last.map(|(_, at)| at.end)));
    for (key, at) in &header.places {
        let text = header.metadata.get(key).map_or("", String::as_str);
        metadata.push(Tree::new(key.clone(), *at).value(report::shortened(text)));
    }
    let (first, last) = (header.tensors.first(), header.tensors.last());
    let mut infos = Tree::new("tensor infos", span(first.map(|one| one.info.start), last.map(|one| one.info.end)));
    let mut data = Tree::new("data", header.data_start.min(file_len)..file_len);
    for tensor in &header.tensors {
        let what = format!("{} {:?}", tensor.kind.name, tensor.shape);
        infos.push(Tree::new(tensor.name.clone(), tensor.info).value(what.clone()));
        data.push(Tree::new(tensor.name.clone(), tensor.span).value(what));
    }
    if !header.places.is_empty() {
        root.push(metadata);
    }
    if !header.tensors.is_empty() {
        root.push(infos);
    }
    if header.end < header.data_start.min(file_len) {
        root.push(Tree::new("padding", header.end..header.data_start.min(file_len)));
    }
    root.with(data)
}
