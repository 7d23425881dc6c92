//! An index of several files as a format: its files are opened by what they are, so it stands beside the table.

use super::open_with;
use crate::contract::{AnySource, Recognition, TensorFormat, Writable};
use crate::model::TensorFile;
use crate::{ConvertError, shards};
use fw_bintensors::ReadOptions;
use fw_bintensors::validate::ValidateOptions;
use fw_report::{Report, Tree};
use std::path::Path;

pub(crate) struct ShardIndex;

impl TensorFormat for ShardIndex {
    fn name(&self) -> &'static str {
        "shard index"
    }

    fn about(&self) -> &'static str {
        "A checkpoint in several files"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["index.json"]
    }

    /// JSON of any kind may lie anywhere: only the name tells that this is an index. A directory may hold one.
    fn recognition(&self) -> Recognition {
        Recognition::Name
    }

    fn open(&self, path: &Path, options: &ReadOptions) -> Result<Box<dyn TensorFile>, ConvertError> {
        shards::open_beside(path, |path| open_with(path, options))
    }

    /// Its shards may be BinTensors files.
    fn has_rules(&self) -> bool {
        true
    }

    fn keeps_digests(&self) -> bool {
        true
    }

    fn dump(&self, source: AnySource, _name: &str) -> Result<Tree, ConvertError> {
        Ok(Tree::new(self.name(), 0..source.len()?).value("JSON"))
    }

    /// Without its files there is only the index itself.
    fn validate(&self, source: AnySource, name: &str, options: &ValidateOptions) -> Result<Report, ConvertError> {
        let missing =
            |_: &str| Err(ConvertError::unsupported("by_path_only", "the files beside the index are not at hand"));
        Ok(shards::validate_index(&shards::index_text(&*source, name)?, name, options, &missing))
    }

    /// Every shard is checked by the rules of its own format, and named by its findings.
    fn validate_path(&self, path: &Path, options: &ValidateOptions) -> Result<Report, ConvertError> {
        shards::validate(path, options)
    }

    /// It is written beside other files.
    fn is_read_only(&self) -> bool {
        true
    }

    fn writable(&self) -> Result<&'static dyn Writable, ConvertError> {
        let message =
            "an index is written beside split files: name the output .bt or .safetensors and give a shard size";
        Err(ConvertError::unsupported("not_writable", message))
    }
}
