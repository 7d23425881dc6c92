//! What every format answers about itself.

use crate::convert::{Output, Planned, Target};
use crate::loss::Item;
use crate::model::{Entry, TensorFile};
use crate::{ConvertError, ConvertOptions, Loss, show};
use fw_bintensors::ReadOptions;
use fw_bintensors::validate::{DataChecks, ValidateOptions};
use fw_report::{Report, Tree};
use fw_source::ReadAt;
use fw_tensor::DType;
use std::path::Path;

/// A format of tensor files: implemented once, in the format's folder, and listed once, in the table of formats.
pub(crate) trait TensorFormat: Sync {
    /// Stable lower-case name.
    fn name(&self) -> &'static str;

    /// The name as people write it.
    fn title(&self) -> &'static str {
        self.name()
    }

    /// One line about it, for lists.
    fn about(&self) -> &'static str;

    /// How its file names end, without the dot; the usual one first.
    fn extensions(&self) -> &'static [&'static str];

    /// How a file of it is recognised.
    fn recognition(&self) -> Recognition;

    /// Opens a file: its tensors are known then, and none of their data was read.
    ///
    /// # Errors
    /// When it cannot be read, or is wrong.
    fn open(&self, path: &Path, options: &ReadOptions) -> Result<Box<dyn TensorFile>, ConvertError>;

    /// Opens a file behind any source, where the format can do with parts of it.
    fn source_opener(&self) -> Option<SourceOpener> {
        None
    }

    /// True when files of it are read by the rules of a profile.
    fn has_rules(&self) -> bool {
        false
    }

    /// Whether the reference's own readers open the file, where that is a question.
    ///
    /// # Errors
    /// When the source cannot be read.
    fn readable_by_reference(&self, _source: &dyn ReadAt) -> Result<Option<bool>, ConvertError> {
        Ok(None)
    }

    /// Names the byte ranges of a file.
    ///
    /// # Errors
    /// When it cannot be read; where nothing of a wrong file can be shown, also when it is wrong.
    fn dump(&self, path: &Path, file_len: u64) -> Result<Tree, ConvertError>;

    /// Reports every fault of a file. By default it is opened, and its data read where that was asked for.
    ///
    /// # Errors
    /// Only when it cannot be read.
    fn validate(&self, path: &Path, options: &ValidateOptions) -> Result<Report, ConvertError> {
        show::opened_report(self.open(path, &ReadOptions::default()), options.data == DataChecks::Full)
    }

    /// How it is written.
    ///
    /// # Errors
    /// Why it is not, where it is not.
    fn writable(&self) -> Result<&'static dyn Writable, ConvertError>;
}

/// Opens a file behind a source; the name is for formats that call their tensor after the file.
pub(crate) type SourceOpener = fn(AnySource, &str, &ReadOptions) -> Result<Box<dyn TensorFile>, ConvertError>;

/// Bytes from anywhere.
pub(crate) type AnySource = Box<dyn ReadAt + Send + Sync>;

/// How files of a format are recognised.
pub(crate) enum Recognition {
    /// By first bytes that no other format has.
    Mark(fn(&[u8]) -> bool),
    /// By first bytes that another format may have by chance: all marks are asked before.
    Likely(fn(&[u8]) -> bool),
    /// By a header that reads from end to end, where first bytes tell nothing.
    Header(fn(&dyn ReadAt) -> bool),
    /// By name only, which then goes before all content.
    Name,
}

/// A format that conversions write.
pub(crate) trait Writable: Sync {
    /// How the format holds a tensor.
    ///
    /// # Errors
    /// When a size does not fit in 64 bits.
    fn storage(&self, entry: &Entry) -> Result<Storage, ConvertError>;

    /// Where the file's own metadata goes.
    fn metadata_place(&self) -> MetadataPlace;

    /// What becomes of something, in the words of the table of the documentation.
    fn outcome(&self, item: Item) -> &'static str;

    /// The order in which it stores tensors, as places in `tensors`; `None` when it keeps the order they have.
    ///
    /// # Errors
    /// When a tensor cannot be stored.
    fn order(&self, _tensors: &[&Planned]) -> Result<Option<Vec<usize>>, ConvertError> {
        Ok(None)
    }

    /// Rules of the format beyond types and metadata.
    ///
    /// # Errors
    /// When it cannot hold these tensors together.
    fn check(&self, _target: &Target, _output: &Path) -> Result<Vec<Loss>, ConvertError> {
        Ok(Vec::new())
    }

    /// The options of a conversion that mean something here.
    fn takes(&self) -> Takes {
        Takes::default()
    }

    /// What stands before the data, where all of that is one block of tensors without gaps.
    ///
    /// # Errors
    /// When a tensor cannot be stored.
    fn head(&self, _target: &Target, _options: &ConvertOptions) -> Result<Option<Head>, ConvertError> {
        Ok(None)
    }

    /// Writes a file, and says what could not be kept that was not known before.
    ///
    /// # Errors
    /// When reading or writing fails. No output is left behind then.
    fn write(&self, output: &mut Output<'_, '_>) -> Result<Vec<Loss>, ConvertError>;
}

/// How a format holds a tensor.
pub(crate) enum Storage {
    /// As it is.
    Native,
    /// As bytes, with metadata that readers of ours undo.
    Carried(Carried),
    /// Not at all.
    Missing,
}

/// A tensor as bytes.
pub(crate) struct Carried {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<u64>,
    /// What the bytes stand for, where the format keeps that with the tensor.
    pub(crate) logical: Option<(DType, Vec<u64>)>,
    /// What they stand for, where the format keeps that in its text map.
    pub(crate) metadata: Vec<(String, String)>,
}

/// Where a format keeps metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetadataPlace {
    /// In a map from text to text: other values become JSON text.
    TextMap,
    /// In a map from text to values of any kind.
    Values,
    /// Nowhere.
    Nowhere,
}

/// Options that only some formats have a use for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Takes {
    /// Where the data begins.
    pub(crate) alignment: bool,
    /// Digests of tensors.
    pub(crate) digests: bool,
    /// Several files with an index.
    pub(crate) shards: bool,
}

/// What stands before one block of data.
pub(crate) struct Head {
    pub(crate) bytes: Vec<u8>,
    /// Places of the tensors in the plan, in file order.
    pub(crate) order: Vec<usize>,
    pub(crate) data_len: u64,
}
