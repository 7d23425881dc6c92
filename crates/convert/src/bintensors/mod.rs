//! BinTensors as a format of tensor files.

mod read; // an open file
mod write; // a new file

use crate::contract::{AnySource, Recognition, SourceOpener, TensorFormat, Writable};
use crate::model::TensorFile;
use crate::{ConvertError, report};
use fw_bintensors::validate::ValidateOptions;
use fw_bintensors::{Profile, ReadOptions, Reader};
use fw_report::{Report, Tree};
use fw_source::{FileSource, ReadAt};
use std::path::Path;

pub(crate) struct BinTensors;

impl TensorFormat for BinTensors {
    fn name(&self) -> &'static str {
        "bintensors"
    }

    fn title(&self) -> &'static str {
        "BinTensors"
    }

    fn about(&self) -> &'static str {
        "BinTensors"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["bt", "bintensors"]
    }

    /// It has no mark of its own: it is what reads as BinTensors from end to end of its header. The lenient profile: a file that
    /// only it takes is BinTensors too, and the reader then says what is wrong with it.
    fn recognition(&self) -> Recognition {
        Recognition::Header(|source| Reader::new(source, &ReadOptions::new().with_profile(Profile::Compat)).is_ok())
    }

    fn open(&self, path: &Path, options: &ReadOptions) -> Result<Box<dyn TensorFile>, ConvertError> {
        Ok(Box::new(read::open(FileSource::open(path)?, options)?))
    }

    fn source_opener(&self) -> Option<SourceOpener> {
        Some(|source, _name, options| Ok(Box::new(read::open(source, options)?)))
    }

    fn has_rules(&self) -> bool {
        true
    }

    fn keeps_digests(&self) -> bool {
        true
    }

    fn readable_by_reference(&self, source: &dyn ReadAt) -> Result<Option<bool>, ConvertError> {
        Ok(Some(fw_bintensors::readable_by_reference(&report::sized_head(source)?)))
    }

    fn dump(&self, source: AnySource, _name: &str) -> Result<Tree, ConvertError> {
        Ok(fw_bintensors::inspect(&report::sized_head(&*source)?, source.len()?))
    }

    fn validate(&self, source: AnySource, _name: &str, options: &ValidateOptions) -> Result<Report, ConvertError> {
        Ok(fw_bintensors::validate::validate(&*source, options)?)
    }

    fn writable(&self) -> Result<&'static dyn Writable, ConvertError> {
        Ok(&BinTensors)
    }
}
