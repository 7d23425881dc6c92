//! How to convert, and what came of it.

use crate::sign::SigningKey;
use crate::{Format, Loss};
use fw_bintensors::{Algorithm, HeaderAlignment, Manifest, Profile, ReadOptions};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// How to convert.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct ConvertOptions {
    /// The input's format, where it is known; by default it is detected.
    pub from: Option<Format>,
    /// The target's format; by default what the output's name asks for.
    pub format: Option<Format>,
    /// Split the output into files of at most so many bytes of data, with an index beside them.
    pub max_shard_size: Option<u64>,
    /// Where the data of a BinTensors or safetensors file begins.
    pub align: HeaderAlignment,
    /// Keep digests of tensors, and of all of them together, in a BinTensors or safetensors file.
    pub tensor_digests: Option<Algorithm>,
    /// What to do with the digests that the input keeps of its tensors.
    pub stored: StoredUse,
    /// The digest that the manifest of the output must have: `sha256:<hex>`.
    pub expect: Option<String>,
    /// Sign the manifest of the output.
    pub sign_with: Option<SigningKey>,
    /// What to do with types the target does not have.
    pub missing: Missing,
    /// How strictly a BinTensors input is read.
    pub profile: Profile,
    /// What to do with an output that is there already.
    pub existing: Existing,
    /// What a Tensogram output does with bits of floats that its masks do not give back.
    pub nan_bits: NanBits,
    /// What becomes of the messages of a Tensogram file that is written as another one.
    pub messages: MessageBounds,
    /// What becomes of the codecs of its objects.
    pub codecs: Codecs,
    /// Whether to wait until the disk holds the directory entries of what was written, too.
    pub durability: fw_tensogram::Durability,
    /// Called after every piece of data.
    pub progress: Option<Arc<ProgressFn>>,
}

/// Watches a conversion, from whatever thread it runs on.
pub type ProgressFn = dyn Fn(Progress<'_>) + Send + Sync;

impl ConvertOptions {
    /// The output's name decides; nothing is lost without being refused or listed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Splits the output.
    #[must_use]
    pub const fn with_max_shard_size(mut self, bytes: u64) -> Self {
        self.max_shard_size = Some(bytes);
        self
    }

    /// Chooses what to do with types the target does not have.
    #[must_use]
    pub const fn with_missing(mut self, missing: Missing) -> Self {
        self.missing = missing;
        self
    }

    /// Chooses how strictly a BinTensors input is read.
    #[must_use]
    pub const fn with_profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// Chooses what to do with an output that is there already.
    #[must_use]
    pub const fn with_existing(mut self, existing: Existing) -> Self {
        self.existing = existing;
        self
    }

    /// Chooses what a Tensogram output does with bits of floats that its masks do not give back.
    #[must_use]
    pub const fn with_nan_bits(mut self, nan_bits: NanBits) -> Self {
        self.nan_bits = nan_bits;
        self
    }

    /// Chooses what becomes of the messages of a Tensogram file that is written as another one.
    #[must_use]
    pub const fn with_messages(mut self, messages: MessageBounds) -> Self {
        self.messages = messages;
        self
    }

    /// Chooses what becomes of the codecs of its objects.
    #[must_use]
    pub const fn with_codecs(mut self, codecs: Codecs) -> Self {
        self.codecs = codecs;
        self
    }

    /// Chooses what to do with the digests that the input keeps of its tensors.
    #[must_use]
    pub const fn with_stored(mut self, stored: StoredUse) -> Self {
        self.stored = stored;
        self
    }

    /// Chooses what to wait for.
    #[must_use]
    pub const fn with_durability(mut self, durability: fw_tensogram::Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Watches progress.
    #[must_use]
    pub fn with_progress(mut self, progress: impl Fn(Progress<'_>) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }
}

impl fmt::Debug for ConvertOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConvertOptions")
            .field("from", &self.from)
            .field("format", &self.format)
            .field("max_shard_size", &self.max_shard_size)
            .field("missing", &self.missing)
            .finish_non_exhaustive()
    }
}

/// What to do with a tensor whose type the target does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Missing {
    /// Stop with an error that names it.
    #[default]
    Refuse,
    /// Keep its bits as unsigned integers, and list the lost type.
    Raw,
    /// Leave it out, and list it.
    Skip,
}

/// What to do with an output that is there already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Existing {
    /// Put the new file in its place once that is complete.
    #[default]
    Replace,
    /// Stop before anything is written.
    Refuse,
}

/// What to do with the digests that an input keeps of its tensors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoredUse {
    /// Compare them with the data, and stop before anything is written where they differ.
    #[default]
    Verify,
    /// Carry them as they are: a tensor that differs from its digest still does so in the output.
    Ignore,
}

/// What was done about digests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DigestsDone {
    /// Tensors of the input whose data was compared with a digest.
    pub checked: usize,
    /// Tensors of the input whose digest was not looked at, because that was asked for.
    pub ignored: usize,
    /// The digest of the manifest of the output, where it has one.
    pub manifest: Option<String>,
    /// Bytes that were read to compare or make digests, before the conversion.
    pub(crate) bytes: u64,
}

impl DigestsDone {
    /// So many tensors were compared, and these are all.
    pub(crate) fn of(checked: usize, manifest: &Manifest) -> Self {
        Self { checked, manifest: Some(manifest.digest()), ..Self::default() }
    }
}

/// What a Tensogram output does with bits of floats that masks do not give back: the payload of a NaN, the finite half of a
/// half-finite complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NanBits {
    /// They go, and are listed: the message passes every validation.
    #[default]
    Drop,
    /// They are stored as they are: every reader returns them, and full validation objects to them.
    Keep,
}

/// What becomes of the messages of a Tensogram file that is written as another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MessageBounds {
    /// Each message is one again, under the same names.
    #[default]
    Keep,
    /// All tensors are in one message, and their names begin with the number of the message they were in.
    Join,
}

/// What becomes of the codecs of objects in a Tensogram file that is written as another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Codecs {
    /// Payloads are copied as they are.
    #[default]
    Keep,
    /// Elements are stored as they decode.
    Drop,
}

/// How far a conversion has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// The tensor being written; empty while data is copied as a whole.
    pub tensor: &'a str,
    /// Bytes of data written.
    pub bytes_done: u64,
    /// Bytes of data in all.
    pub bytes_total: u64,
}

/// A finished conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Converted {
    /// The files written, the index of a split output last.
    pub files: Vec<PathBuf>,
    /// Files of an earlier output under the same name that are no part of this one, and were removed.
    pub removed: Vec<PathBuf>,
    /// Tensors written.
    pub tensors: usize,
    /// Bytes of data written.
    pub bytes: u64,
    /// What the target could not keep.
    pub losses: Vec<Loss>,
    /// What is there in another form: worth telling, and nothing is lost by it.
    pub notes: Vec<Loss>,
    /// How the data travelled.
    pub transport: Transport,
    /// What was done about digests.
    pub digests: DigestsDone,
}

/// How data travelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transport {
    /// Through this process, some tensors at least.
    Streamed,
    /// As bytes behind a new header, by the system's own file copy where it has one.
    Copied,
}

impl ConvertOptions {
    pub(crate) fn read(&self) -> ReadOptions {
        ReadOptions::new().with_profile(self.profile)
    }
}
