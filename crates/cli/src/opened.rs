//! Files that commands look into, as catalogs: paths, URLs and standard input alike.

use crate::args::{Store, Trust};
use crate::exit::Usage;
use crate::input::Input;
use anyhow::Result;
use framewright::convert::{self, Format, Info};
use framewright::look::{Catalog, LookError};
use framewright::report::{Finding, Tree};
use framewright::source::FileSource;
#[cfg(feature = "remote")]
use framewright::source::remote::StoreSource;
use std::path::Path;

/// An open file.
pub(crate) struct Opened {
    pub(crate) catalog: Catalog,
    /// The local file, or the copy of what came from elsewhere; it must outlive the catalog.
    input: Option<Input>,
    #[cfg(feature = "remote")]
    source: Option<StoreSource>,
}

impl Opened {
    /// Opens what `word` stands for. A file in a store is read in parts where its format allows.
    ///
    /// # Errors
    /// When it cannot be read, or a store would be read whole without leave.
    pub(crate) fn open(word: &Path, store: &Store, command: &str) -> Result<Self> {
        Self::trusted(word, store, command, (&Trust::default(), false))
    }

    /// The same with digests as `trust` says; that they are not compared is told, unless JSON has a key for it.
    ///
    /// # Errors
    /// As [`Opened::open`].
    pub(crate) fn trusted(word: &Path, store: &Store, command: &str, trust: (&Trust, bool)) -> Result<Self> {
        #[cfg(feature = "remote")]
        if let Some(url) = crate::remote::url(word) {
            return match crate::remote::catalog(url, store, command, trust)? {
                crate::remote::InStore::Parts(catalog, source) => {
                    Ok(Self { catalog, input: None, source: Some(source) })
                }
                crate::remote::InStore::Copied(input) => Self::of_trusted(input, trust),
            };
        }
        Self::of_trusted(Input::of(word, store, command)?, trust)
    }

    /// Opens a local file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn of(input: Input) -> Result<Self> {
        Self::of_trusted(input, (&Trust::default(), false))
    }

    fn of_trusted(input: Input, trust: (&Trust, bool)) -> Result<Self> {
        match Self::local(&input, trust) {
            Ok(catalog) => Ok(Self {
                catalog,
                input: Some(input),
                #[cfg(feature = "remote")]
                source: None,
            }),
            Err(error) => Err(input.retold(error)),
        }
    }

    fn local(input: &Input, (trust, json): (&Trust, bool)) -> Result<Catalog> {
        if input.looked_format()? == Format::Tensogram {
            return Catalog::of_messages(input.tensogram()?, input.name()).map_err(look_failure);
        }
        let file = input.tensors(trust, json)?;
        Ok(Catalog::of_tensors(file, input.file_len()?, input.name()))
    }

    /// The summary of a file of a format without messages.
    ///
    /// # Errors
    /// When it cannot be read, or a size does not fit in 64 bits.
    pub(crate) fn info(&self) -> Result<Option<Info>> {
        let Some(file) = self.catalog.tensor_file() else { return Ok(None) };
        #[cfg(feature = "remote")]
        if let Some(source) = &self.source {
            return Ok(Some(convert::info_of(file, source)?));
        }
        match &self.input {
            Some(input) if input.path().is_dir() => Ok(Some(convert::info(input.path())?)),
            Some(input) => match convert::info_of(file, &FileSource::open(input.path())?) {
                Ok(info) => Ok(Some(info)),
                Err(error) => input.named(error),
            },
            None => Ok(None),
        }
    }

    /// The byte ranges of a file of a format without messages.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn ranges(&self) -> Result<Tree> {
        #[cfg(feature = "remote")]
        if let Some(source) = &self.source {
            return Ok(self.catalog.format().dump_source(source.clone(), source.url())?);
        }
        match &self.input {
            Some(input) => self.catalog.format().dump(input.path()).or_else(|error| input.named(error)),
            None => Ok(Tree::new(self.catalog.format().name(), 0..0)),
        }
    }

    /// What there is to say about the file, beside what is said about its messages.
    pub(crate) fn beside(&self) -> Option<Finding> {
        match self.catalog.format() {
            Format::Tensogram => beside(self.catalog.file_len(), self.catalog.spans()),
            _ => None,
        }
    }

    /// An error about it under the name that people know.
    pub(crate) fn retold(&self, error: anyhow::Error) -> anyhow::Error {
        match &self.input {
            Some(input) => input.retold(error),
            None => error,
        }
    }
}

/// What there is to say about a file of `len` bytes with messages at `spans`, beside what is said about those.
fn beside(len: u64, spans: &[framewright::primitives::Span]) -> Option<Finding> {
    let outside = len.saturating_sub(spans.iter().map(|span| span.len()).sum());
    match (len, outside) {
        (0, _) => Some(Finding::warning("empty_file", "the file is empty: it holds no message")),
        (_, 0) => None,
        _ => {
            let text = format!("{outside} bytes are not part of any message; fw validate shows where they are");
            Some(Finding::warning("bytes_outside_messages", text))
        }
    }
}

/// A request that does not fit what a file holds is usage; a fault of a file keeps its code.
pub(crate) fn look_failure(error: LookError) -> anyhow::Error {
    match error {
        LookError::File(error) if error.code() == "invalid_slice" => Usage(error.to_string()).into(),
        LookError::File(error) => error.into(),
        other => Usage(other.to_string()).into(),
    }
}
