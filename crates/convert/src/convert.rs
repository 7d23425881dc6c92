//! Any format to any other: one tensor in memory at a time, files written whole or not at all, and an honest list of
//! what was lost.

mod plan; // what each tensor becomes
mod run; // plans to files

pub(crate) use plan::{Planned, Target};
pub(crate) use run::{Meter, Output, commit};

use crate::formats::{MetadataPlace, Takes};
use crate::model::TensorFile;
use crate::{ConvertError, Feature, Format, Loss, detect, shards};
use fw_bintensors::{Algorithm, HeaderAlignment, Profile, ReadOptions};
use run::Run;
use std::fmt;
use std::path::{Path, PathBuf};
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
    /// Where the data of a BinTensors file begins.
    pub align: HeaderAlignment,
    /// Keep digests of tensors in a BinTensors file.
    pub tensor_digests: Option<Algorithm>,
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
}

/// How data travelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transport {
    /// Tensor by tensor.
    Streamed,
    /// As one block behind a new header, by the system's own file copy where it has one.
    Copied,
}

/// Converts a file.
///
/// # Errors
/// When the input is wrong, the output's format cannot be told or cannot hold a tensor, or reading or writing fails.
/// No output is left behind then, except shards already complete.
pub fn convert(
    input: impl AsRef<Path>,
    output: impl AsRef<Path>,
    options: &ConvertOptions,
) -> Result<Converted, ConvertError> {
    let (input, output) = (input.as_ref(), output.as_ref());
    let format = options.format.or_else(|| Format::of_name(output)).ok_or_else(|| {
        let message = format!("{}: the output format is not clear from the name", output.display());
        ConvertError::unsupported("unknown_format", message)
    })?;
    if let (Ok(from), Ok(to)) = (input.canonicalize(), output.canonicalize())
        && from == to
    {
        let message = format!("{}: input and output are the same file; name another output", output.display());
        return Err(ConvertError::unsupported("same_file", message));
    }
    let target = Target::new(format)?;
    check_options(format, target.writable.takes(), options)?;
    let in_input = |error: ConvertError| error.in_file(input);
    let from = options.from.map_or_else(|| detect(input), Ok).map_err(in_input)?;
    check_copy(from, format, options)?;
    // Messages that are joined without their codecs are written tensor by tensor.
    let by_tensor = options.messages == MessageBounds::Join && options.codecs == Codecs::Drop;
    let done = match from == Format::Tensogram && format == from && !by_tensor {
        true => crate::tensogram::copy(input, output, options)?,
        false => converted(input, output, (from, target), options)?,
    };
    if options.durability == fw_tensogram::Durability::Synced {
        for file in &done.files {
            fw_source::sync_directory_of(file)?;
        }
    }
    Ok(done)
}

/// Tensor by tensor.
fn converted(
    input: &Path,
    output: &Path,
    (from, target): (Format, Target),
    options: &ConvertOptions,
) -> Result<Converted, ConvertError> {
    let in_input = |error: ConvertError| error.in_file(input);
    let source = from.open(input, &options.read()).map_err(in_input)?;
    written(&*source, input, output, target, options)
}

/// Writes tensors that are open, from one file or from several; `input` names them in errors.
///
/// The output may be the file that is read: it is replaced when the new one is complete.
///
/// # Errors
/// As [`convert`].
pub fn write_tensors(
    source: &dyn TensorFile,
    input: impl AsRef<Path>,
    output: impl AsRef<Path>,
    options: &ConvertOptions,
) -> Result<Converted, ConvertError> {
    let target = Target::new(options.format.unwrap_or_else(|| source.format()))?;
    check_options(target.format, target.writable.takes(), options)?;
    written(source, input.as_ref(), output.as_ref(), target, options)
}

fn written(
    source: &dyn TensorFile,
    input: &Path,
    output: &Path,
    target: Target,
    options: &ConvertOptions,
) -> Result<Converted, ConvertError> {
    let target = target.plan(source, output, options).map_err(|error| error.in_file(input))?;
    let mut done = Converted {
        files: Vec::new(),
        tensors: target.tensors.len(),
        bytes: 0,
        losses: Vec::new(),
        notes: Vec::new(),
        transport: Transport::Streamed,
    };
    let mut found = source.remarks();
    if target.writable.metadata_place() != MetadataPlace::TextMap {
        // What is lost altogether has no form, and a message has values of every kind.
        found.retain(|loss| loss.feature != Feature::MetadataForm);
    }
    found.extend(target.losses.iter().cloned());
    let sizes = target.tensors.iter().map(|tensor| tensor.len).collect::<Vec<_>>();
    done.bytes = sizes.iter().fold(0, |sum, size| u64::saturating_add(sum, *size));
    let groups = match options.max_shard_size {
        Some(max) => shards::split(&sizes, max),
        None => vec![(0..sizes.len()).collect()],
    };
    if let Some(max) = options.max_shard_size {
        let what = format!("tensors are not split: one larger than {max} bytes makes a larger file");
        let larger = target.tensors.iter().filter(|tensor| tensor.len > max);
        found.extend(larger.map(|tensor| Loss::new(Feature::ShardSize, Some(tensor.name.clone()), what.clone())));
    }
    let meter = Meter::new(options, done.bytes);
    let mut run = Run { source, target: &target, input, output, options, meter };
    if let [_] = &groups[..] {
        check_output(output, options.existing)?;
        if run.copy_whole()? {
            done.transport = Transport::Copied;
        } else {
            found.extend(run.write(None, output)?);
        }
        done.files.push(output.to_owned());
    } else {
        run.write_shards(&groups, &mut done)?;
    }
    (done.notes, done.losses) = found.into_iter().partition(|loss| loss.feature.is_note());
    Ok(done)
}

impl ConvertOptions {
    fn read(&self) -> ReadOptions {
        ReadOptions::new().with_profile(self.profile)
    }
}

/// An option that would do nothing is a mistake.
fn check_options(format: Format, takes: Takes, options: &ConvertOptions) -> Result<(), ConvertError> {
    let with = |takes: fn(Takes) -> bool| {
        Format::listed(|format| format.contract().writable().is_ok_and(|writable| takes(writable.takes())), "or")
    };
    let refused = |what: &str, which: fn(Takes) -> bool| {
        let message = format!("{what} is for {} files; the output is {format}", with(which));
        Err(ConvertError::unsupported("option_not_applicable", message))
    };
    if options.align != HeaderAlignment::default() && !takes.alignment {
        return refused("alignment", |takes| takes.alignment);
    }
    if options.tensor_digests.is_some() && !takes.digests {
        return refused("keeping digests", |takes| takes.digests);
    }
    if options.max_shard_size.is_some() && !takes.shards {
        let message = format!("{format} files cannot be split; choose {}", with(|takes| takes.shards));
        return Err(ConvertError::unsupported("unsplittable_format", message));
    }
    Ok(())
}

/// Messages and codecs are choices of a copy from Tensogram to Tensogram.
fn check_copy(from: Format, to: Format, options: &ConvertOptions) -> Result<(), ConvertError> {
    let asked = match (options.messages, options.codecs) {
        (MessageBounds::Join, _) => "joining messages",
        (_, Codecs::Drop) => "dropping codecs",
        _ => return Ok(()),
    };
    if from == Format::Tensogram && to == from {
        return Ok(());
    }
    let message = format!("{asked} applies to Tensogram files written as Tensogram; this is {from} to {to}");
    Err(ConvertError::unsupported("option_not_applicable", message))
}

/// Only regular files are replaced, and only when that is wanted.
pub(crate) fn check_output(path: &Path, existing: Existing) -> Result<(), ConvertError> {
    let refused = |code, why: &str| Err(ConvertError::unsupported(code, why).in_file(path));
    match std::fs::metadata(path) {
        Ok(there) if !there.is_file() => refused("not_a_file", "not a regular file"),
        Ok(_) if existing == Existing::Refuse => refused("output_exists", "already exists"),
        _ => Ok(()),
    }
}
