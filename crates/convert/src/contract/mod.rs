//! What every format answers about itself, and what it is given to write.

mod output; // a file being written
mod target; // a planned output
mod writable; // how a format is written

pub(crate) use output::{Meter, Output, Work, check_output, commit};
pub(crate) use target::{Planned, Target};
pub(crate) use writable::{Carried, MetadataPlace, Storage, Takes, Writable};

use crate::ConvertError;
use crate::model::TensorFile;
use fw_bintensors::ReadOptions;
use fw_bintensors::validate::ValidateOptions;
use fw_report::{Report, Tree};
use fw_source::{FileSource, ReadAt};
use std::path::Path;

/// A format of tensor files: implemented once, in the format's room, and listed once, in the table of formats.
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

    /// Names the byte ranges of a file; only its header is read.
    ///
    /// # Errors
    /// When it cannot be read; where nothing of a wrong file can be shown, also when it is wrong.
    fn dump(&self, source: AnySource, name: &str) -> Result<Tree, ConvertError>;

    /// Reports every fault of a file; its data is read where that was asked for.
    ///
    /// # Errors
    /// Only when it cannot be read.
    fn validate(&self, source: AnySource, name: &str, options: &ValidateOptions) -> Result<Report, ConvertError>;

    /// The same for a path, which may be a directory where the format is one of several files.
    ///
    /// # Errors
    /// Only when it cannot be read.
    fn validate_path(&self, path: &Path, options: &ValidateOptions) -> Result<Report, ConvertError> {
        self.validate(Box::new(FileSource::open(path)?), &path.to_string_lossy(), options)
    }

    /// True when files of it may keep digests of their tensors.
    fn keeps_digests(&self) -> bool {
        false
    }

    /// True when files of it are read, and never written.
    fn is_read_only(&self) -> bool {
        false
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
    /// By the name of an entry of a zip archive, the first one that tells; an archive without entries has no name.
    Zip(fn(Option<&str>) -> bool),
    /// By a header that reads from end to end, where first bytes tell nothing.
    Header(fn(&dyn ReadAt) -> bool),
    /// By name only, which then goes before all content.
    Name,
}
