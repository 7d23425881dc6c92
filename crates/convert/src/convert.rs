//! Any format to any other: one tensor in memory at a time, files written whole or not at all, and an honest list of
//! what was lost.

mod plan; // what each tensor becomes
mod write; // plans to files

use crate::model::{TensorFile, open_with};
use crate::{ConvertError, Feature, Format, Loss, shards};
use fw_bintensors::{Algorithm, HeaderAlignment, Profile, ReadOptions};
use plan::Target;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How to convert.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct ConvertOptions {
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
        let message = format!("{}: the name does not tell which format to write", output.display());
        ConvertError::unsupported("unknown_format", message)
    })?;
    if let (Ok(from), Ok(to)) = (input.canonicalize(), output.canonicalize())
        && from == to
    {
        let message = format!("{}: a file is not converted onto itself; name another output", output.display());
        return Err(ConvertError::unsupported("same_file", message));
    }
    check_options(format, options)?;
    let source = open_with(input, &options.read()).map_err(|error| error.in_file(input))?;
    let target = Target::plan(&*source, format, output, options).map_err(|error| error.in_file(input))?;
    let mut done = Converted {
        files: Vec::new(),
        tensors: target.tensors.len(),
        bytes: 0,
        losses: Vec::new(),
        notes: Vec::new(),
        transport: Transport::Streamed,
    };
    let mut found = source.remarks();
    if matches!(format, Format::Npy | Format::Npz | Format::Tensogram) {
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
        let what = format!("a tensor is not split; larger than {max} bytes, it makes a larger file");
        let larger = target.tensors.iter().filter(|tensor| tensor.len > max);
        found.extend(larger.map(|tensor| Loss::new(Feature::ShardSize, Some(tensor.name.clone()), what.clone())));
    }
    let mut meter = write::Meter::new(options, done.bytes, input);
    if let [_] = &groups[..] {
        check_output(output, options.existing)?;
        if write::copy_whole(&*source, &target, output, options, &mut meter)? {
            done.transport = Transport::Copied;
        } else {
            found.extend(write::write(&*source, &target, None, output, options, &mut meter)?);
        }
        done.files.push(output.to_owned());
    } else {
        write_shards(&*source, &target, &groups, output, options, &mut meter, &mut done)?;
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
fn check_options(format: Format, options: &ConvertOptions) -> Result<(), ConvertError> {
    let refused = |what: &str| {
        let message = format!("{what} is for BinTensors files; the output is {format}");
        Err(ConvertError::unsupported("option_not_applicable", message))
    };
    match format {
        Format::BinTensors => Ok(()),
        _ if options.align != HeaderAlignment::default() => refused("alignment"),
        _ if options.tensor_digests.is_some() => refused("keeping digests"),
        Format::SafeTensors | Format::ShardIndex => Ok(()),
        _ if options.max_shard_size.is_some() => {
            let message = format!("{format} files are not split; choose BinTensors or safetensors");
            Err(ConvertError::unsupported("unsplittable_format", message))
        }
        _ => Ok(()),
    }
}

/// Only regular files are replaced, and only when that is wanted.
fn check_output(path: &Path, existing: Existing) -> Result<(), ConvertError> {
    let refused = |code, why: &str| Err(ConvertError::unsupported(code, why).in_file(path));
    match std::fs::metadata(path) {
        Ok(there) if !there.is_file() => refused("not_a_file", "not a regular file"),
        Ok(_) if existing == Existing::Refuse => refused("output_exists", "it is there already"),
        _ => Ok(()),
    }
}

fn write_shards(
    source: &dyn TensorFile,
    target: &Target,
    groups: &[Vec<usize>],
    output: &Path,
    options: &ConvertOptions,
    meter: &mut write::Meter<'_>,
    done: &mut Converted,
) -> Result<(), ConvertError> {
    let extension = target.format.extension();
    let path_of = |number| shards::shard_path(output, extension, number, groups.len());
    let index_path = shards::index_path(output, extension);
    for path in (0..groups.len()).map(path_of).chain([index_path.clone()]) {
        check_output(&path, options.existing)?;
    }
    let mut index = shards::Index::default();
    index.metadata.insert("total_size".to_owned(), done.bytes.into());
    let mut weight_map = BTreeMap::new();
    for (number, group) in groups.iter().enumerate() {
        let path = path_of(number);
        write::write(source, target, Some(group), &path, options, meter)?;
        let file = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        for tensor in group.iter().filter_map(|place| target.tensors.get(*place)) {
            weight_map.insert(tensor.name.clone(), file.clone());
        }
        done.files.push(path);
    }
    index.weight_map = weight_map;
    let mut json = serde_json::to_vec_pretty(&index).map_err(std::io::Error::from)?;
    json.push(b'\n');
    write::write_file(&index_path, &json).map_err(|error| error.in_file(&index_path))?;
    done.files.push(index_path);
    Ok(())
}
