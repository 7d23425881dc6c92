//! safetensors: an eight-byte length, a JSON header, the tensors' bytes.

mod dtype; // its element types
mod header; // JSON to entries, checked
mod layout; // entries to a header, in the reference's order
mod read; // an open file
mod write; // a new file

use crate::contract::{AnySource, Recognition, SourceOpener, TensorFormat, Writable};
use crate::model::TensorFile;
use crate::report::SIZE_LEN;
use crate::{ConvertError, report};
use fw_bintensors::ReadOptions;
use fw_bintensors::validate::{DataChecks, ValidateOptions};
use fw_report::{Finding, Report, Tree};
use fw_source::FileSource;
use std::path::Path;

pub use dtype::safetensors_name;

pub(crate) struct SafeTensors;

impl TensorFormat for SafeTensors {
    fn name(&self) -> &'static str {
        "safetensors"
    }

    fn about(&self) -> &'static str {
        "safetensors"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["safetensors"]
    }

    /// The header is JSON after an eight-byte length.
    fn recognition(&self) -> Recognition {
        Recognition::Likely(|head| head.get(8) == Some(&b'{'))
    }

    fn open(&self, path: &Path, _options: &ReadOptions) -> Result<Box<dyn TensorFile>, ConvertError> {
        Ok(Box::new(read::open(FileSource::open(path)?)?))
    }

    fn source_opener(&self) -> Option<SourceOpener> {
        Some(|source, _name, _options| Ok(Box::new(read::open(source)?)))
    }

    fn keeps_digests(&self) -> bool {
        true
    }

    fn dump(&self, source: AnySource, _name: &str) -> Result<Tree, ConvertError> {
        let (bytes, file_len) = (report::sized_head(&*source)?, source.len()?);
        let mut root = Tree::new(self.name(), 0..file_len);
        let header = match header::parse(&bytes, file_len) {
            Ok(header) => header,
            Err(error) => return Ok(root.with(Tree::new("unreadable", 0..file_len).value(error.to_string()))),
        };
        let body = header.data_start.saturating_sub(header.padding);
        root.push(Tree::new("header size", 0..SIZE_LEN).value(header.data_start.saturating_sub(SIZE_LEN).to_string()));
        let count = report::tensor_count(header.entries.len());
        root.push(Tree::new("header", SIZE_LEN..body).value(format!("JSON, {count}")));
        if body < header.data_start {
            root.push(Tree::new("padding", body..header.data_start).value("spaces"));
        }
        Ok(root.with(report::data_tree(header.data_start..file_len, &header.entries)))
    }

    /// Beside faults, keys of the metadata that appear twice: every reader takes the last value.
    fn validate(&self, source: AnySource, _name: &str, options: &ValidateOptions) -> Result<Report, ConvertError> {
        let opened = read::open(source);
        let repeated = opened.as_ref().map_or_else(|_| Vec::new(), |file| file.repeated().to_vec());
        let opened = opened.map(|file| -> Box<dyn TensorFile> { Box::new(file) });
        let mut report = report::opened_report(opened, options.data == DataChecks::Full)?;
        for key in repeated {
            let message = format!("metadata key {key:?} appears more than once; the last value counts");
            report.push(Finding::warning("duplicate_metadata_key", message).level("structure"));
        }
        Ok(report)
    }

    fn writable(&self) -> Result<&'static dyn Writable, ConvertError> {
        Ok(&SafeTensors)
    }
}
