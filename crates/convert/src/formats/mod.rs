//! From a format to its room: detection, opening, and what every format answers.

mod foreign; // files that are something else
mod detect; // which format is this?
mod index; // an index of several files as a format
mod open; // files opened by what they are

pub use detect::detect;
pub use open::{open, open_source, open_with};

use crate::contract::{MetadataPlace, TensorFormat};
use crate::format::every_format;
use crate::model::TensorFile;
use crate::{ConvertError, Format, bintensors, gguf, numpy, safetensors, tensogram, torch};
use fw_bintensors::ReadOptions;
use fw_bintensors::validate::ValidateOptions;
use fw_report::{Report, Tree};
use fw_source::{FileSource, ReadAt};
use std::fmt;
use std::path::Path;

macro_rules! contracts {
    ($($(#[$doc:meta])* $member:ident => $contract:path;)+) => {
        impl Format {
            /// What the format's room says about it.
            pub(crate) fn contract(self) -> &'static dyn TensorFormat {
                match self {
                    $(Self::$member => &$contract,)+
                }
            }
        }
    };
}

every_format!(contracts);

impl Format {
    /// Lower-case name.
    pub fn name(self) -> &'static str {
        self.contract().name()
    }

    /// One line about it, for lists.
    pub fn about(self) -> &'static str {
        self.contract().about()
    }

    /// The usual end of a file name, without the dot.
    pub fn extension(self) -> &'static str {
        self.contract().extensions().first().copied().unwrap_or_default()
    }

    /// The format a file name asks for.
    pub fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let ends = |end: &&str| name.strip_suffix(*end).is_some_and(|rest| rest.ends_with('.'));
        Self::ALL.iter().copied().find(|format| format.contract().extensions().iter().any(&ends))
    }

    /// The format that the first bytes of a file show; a format without a mark of its own is never recognised so.
    pub fn of_bytes(head: &[u8]) -> Option<Self> {
        detect::by_mark(head)
    }

    /// Recognises a file by its bytes where they tell, else by its name.
    ///
    /// # Errors
    /// When the source cannot be read, or is something that no format fits and that can be named: a git-lfs pointer, a web page,
    /// a pickle.
    pub fn of_source(source: &dyn ReadAt, name: &Path) -> Result<Option<Self>, ConvertError> {
        detect::of_source(source, name)
    }

    /// The error for a file that no format fits.
    pub fn unknown(path: &Path) -> ConvertError {
        detect::unknown(path)
    }

    /// True when [`crate::convert`] writes it.
    pub fn is_writable(self) -> bool {
        self.contract().writable().is_ok()
    }

    /// The error for writing files that are only read.
    pub(crate) fn read_only(files: &str) -> ConvertError {
        let others = Self::listed(|format| !format.contract().is_read_only(), "or");
        ConvertError::unsupported("not_writable", format!("{files} can be read but not written; choose {others}"))
    }

    /// True when it is written, and has a place for metadata of the file.
    pub fn holds_metadata(self) -> bool {
        self.contract().writable().is_ok_and(|writable| writable.metadata_place() != MetadataPlace::Nowhere)
    }

    /// True when [`open_source`](crate::open_source) opens it, reading only the parts of a file that are asked for.
    pub fn opens_sources(self) -> bool {
        self.contract().source_opener().is_some()
    }

    /// True when files of it are read by the rules of a [`fw_bintensors::Profile`].
    pub fn has_rules(self) -> bool {
        self.contract().has_rules()
    }

    /// True when files of it may keep digests of their tensors (BT-10).
    pub fn keeps_digests(self) -> bool {
        self.contract().keeps_digests()
    }

    /// Opens a file that is known to be of this format.
    ///
    /// # Errors
    /// When it cannot be read, or is wrong.
    pub fn open(self, path: impl AsRef<Path>, options: &ReadOptions) -> Result<Box<dyn TensorFile>, ConvertError> {
        self.contract().open(path.as_ref(), options)
    }

    /// Opens a file behind any source that is known to be of this format; only its header is read. An npy file calls its array
    /// after `name`, a path or URL.
    ///
    /// # Errors
    /// When the source cannot be read, the file is wrong, or the format is opened by path only.
    pub fn open_source(
        self,
        source: impl ReadAt + Send + Sync + 'static,
        name: &str,
        options: &ReadOptions,
    ) -> Result<Box<dyn TensorFile>, ConvertError> {
        let by_path = || ConvertError::unsupported("by_path_only", format!("{self} files can only be opened by path"));
        self.contract().source_opener().ok_or_else(by_path)?(Box::new(source), name, options)
    }

    /// Names the byte ranges of a file of this format, as far as it can be read.
    ///
    /// # Errors
    /// When it cannot be read; for formats without a shown remainder also when it is wrong.
    pub fn dump(self, path: impl AsRef<Path>) -> Result<Tree, ConvertError> {
        let path = path.as_ref();
        match path.is_dir() {
            // There is no file whose bytes could be named.
            true => Ok(Tree::new(self.name(), 0..0)),
            false => self.dump_source(FileSource::open(path)?, &path.to_string_lossy()),
        }
    }

    /// The same for a file behind any source: only its header is read.
    ///
    /// # Errors
    /// As [`Format::dump`].
    pub fn dump_source(self, source: impl ReadAt + Send + Sync + 'static, name: &str) -> Result<Tree, ConvertError> {
        self.contract().dump(Box::new(source), name)
    }

    /// Reports every fault of a file of this format.
    ///
    /// # Errors
    /// Only when it cannot be read.
    pub fn validate(self, path: impl AsRef<Path>, options: &ValidateOptions) -> Result<Report, ConvertError> {
        self.contract().validate_path(path.as_ref(), options)
    }

    /// The same for a file behind any source, a store for example; without [`DataChecks::Full`](fw_bintensors::validate::DataChecks)
    /// only its header is read. An index of several files is checked by [`validate_index`](crate::validate_index).
    ///
    /// # Errors
    /// As [`Format::validate`].
    pub fn validate_source(
        self,
        source: impl ReadAt + Send + Sync + 'static,
        name: &str,
        options: &ValidateOptions,
    ) -> Result<Report, ConvertError> {
        self.contract().validate(Box::new(source), name, options)
    }

    /// The formats that a condition holds for, as a sentence lists them: `a, b or c`.
    pub fn listed(holds: impl Fn(Self) -> bool, word: &str) -> String {
        let titles: Vec<&str> =
            Self::ALL.iter().filter(|format| holds(**format)).map(|format| format.contract().title()).collect();
        match &titles[..] {
            [] => String::new(),
            [one] => (*one).to_owned(),
            [others @ .., last] => format!("{} {word} {last}", others.join(", ")),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.contract().title())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_endings_are_unique_and_lead_back() {
        for format in Format::ALL {
            let alike = |other: &&Format| other.name() == format.name() || other.to_string() == format.to_string();
            assert_eq!(Format::ALL.iter().filter(alike).count(), 1, "{format}");
            for end in format.contract().extensions() {
                assert_eq!(Format::of_name(Path::new(&format!("a.b.{end}"))), Some(*format), "{end}");
                assert_eq!(Format::of_name(Path::new(&format!("A.{}", end.to_uppercase()))), Some(*format), "{end}");
                assert_eq!(Format::of_name(Path::new(end)), None, "{end} needs a dot before it");
            }
        }
    }

    /// Documents that list the formats list all of them.
    #[test]
    fn the_documentation_lists_every_format() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
        let text = |name: &str| std::fs::read_to_string(format!("{root}{name}")).unwrap();
        let (readme, page) = (text("README.md"), text("docs/conversions.md"));
        let row = readme.lines().find(|line| line.contains("`fw-convert`")).unwrap();
        for format in Format::ALL.iter().filter(|format| **format != Format::ShardIndex) {
            assert!(row.contains(&format.to_string()), "README.md, the row of conversions: {format}");
            assert!(page.contains(&format!("`.{}`", format.extension())), "docs/conversions.md: {format}");
        }
    }
}
