//! How a format is written.

use super::{Output, Planned, Target};
use crate::loss::Item;
use crate::model::Entry;
use crate::{ConvertError, Loss};
use fw_tensor::DType;
use std::path::Path;

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
