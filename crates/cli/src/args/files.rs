//! What commands that write a file, or compare two, may be told.

use super::{Profile, Store};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use framewright::convert::Format;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "Intact messages are copied as they are. From damaged ones every object whose digest matches is saved, with \
                  what is left of the metadata.\nExit codes: 0 nothing was lost, 3 something was, 1 nothing could be \
                  saved, 2 usage.\n\nExample:\n  fw recover damaged.tgm -o good.tgm && fw validate good.tgm"
)]
pub(crate) struct Recover {
    /// The damaged file, which is only read, or a URL; - reads standard input to its end first
    pub(crate) file: PathBuf,
    /// The file to write: whole, or not at all
    #[arg(long, short, value_name = "FILE", value_parser = super::output::file())]
    pub(crate) output: PathBuf,
    /// Replace the output if it is there already
    #[arg(long)]
    pub(crate) force: bool,
    /// Also keep frames that carry no digest, which nothing vouches for
    #[arg(long)]
    pub(crate) unverified: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: Store,
}

#[derive(Debug, Args)]
#[command(after_help = "What a format cannot hold is refused, or listed on standard error with exit code 3; \
                        docs/conversions.md has the table. A file that is there already is replaced only with \
                        --force.\n\nExamples:\n  fw convert model.safetensors model.bt\n  \
                        fw convert fields.npz fields.tgm\n  fw convert big.bt big.safetensors --max-shard-size 5GB\n  \
                        fw convert flight.bin flight.tgm --schema robot.sf --profile standard\n  \
                        fw convert flight.tgm flight.bin")]
pub(crate) struct Convert {
    #[arg(help = input_help())]
    pub(crate) input: PathBuf,
    /// The file to write; its name says which format, unless --to does
    #[arg(value_parser = super::output::file())]
    pub(crate) output: PathBuf,
    /// The format to write
    #[arg(long, value_name = "FORMAT", value_parser = target())]
    pub(crate) to: Option<Target>,
    /// Begin the data of a BinTensors file at a multiple of N bytes: a power of two from 8 to 1048576
    #[arg(long, value_name = "N")]
    pub(crate) align: Option<u64>,
    /// Split the output (BinTensors, safetensors) into files of at most SIZE of data, such as 5GB or 500MiB, with an index; a
    /// tensor is not split, and a larger one makes a larger file
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_shard_size: Option<String>,
    /// What to do with a tensor whose type the output format does not have
    #[arg(long, value_enum, default_value_t = OnMissing::Refuse)]
    pub(crate) missing: OnMissing,
    /// Keep a digest of every tensor in a BinTensors file
    #[arg(long, value_enum, value_name = "ALGORITHM")]
    pub(crate) digests: Option<Digest>,
    /// The schema of a struct-frame capture: every field becomes a column in a Tensogram file
    #[arg(long, short, value_name = "SCHEMA")]
    pub(crate) schema: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) packing: super::Packing,
    #[command(flatten)]
    pub(crate) profile: Profile,
    /// How strictly a BinTensors input is read [default: default]
    #[arg(long, value_enum, value_name = "RULES")]
    pub(crate) rules: Option<Rules>,
    /// Store floats in a Tensogram file as they are where its masks would not give back every bit of a NaN
    #[arg(long)]
    pub(crate) keep_nan_bits: bool,
    /// Replace files that are there already
    #[arg(long, short)]
    pub(crate) force: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: Store,
}

/// What a conversion writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A tensor file.
    File(Format),
    /// The struct-frame capture that a Tensogram file of columns was made from.
    Frames,
}

/// The formats that are written, by their names, and the frames of a capture.
fn target() -> impl TypedValueParser<Value = Target> {
    let writable = || Format::ALL.iter().copied().filter(|format| format.is_writable());
    let formats = writable().map(|format| PossibleValue::new(format.name()).help(format.about()));
    let frames = "The struct-frame capture that a Tensogram file of columns was made from";
    let values = formats.chain([PossibleValue::new(FRAMES).help(frames)]);
    PossibleValuesParser::new(values.collect::<Vec<_>>()).try_map(move |name| match &*name {
        FRAMES => Ok(Target::Frames),
        name => writable().find(|format| format.name() == name).map(Target::File).ok_or("not a format"),
    })
}

const FRAMES: &str = "frames";

/// What `fw convert` reads.
fn input_help() -> String {
    let formats: Vec<String> =
        Format::ALL.iter().filter(|format| **format != Format::ShardIndex).map(ToString::to_string).collect();
    format!(
        "The file to read: {}, an .index.json of shards, or with --schema a struct-frame capture; or a URL, or - for \
         standard input",
        formats.join(", ")
    )
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rules {
    /// All that the reference readers take (BinTensors)
    Compat,
    /// What every reader reads alike: no bytes hidden in the padding, no key twice
    Default,
    /// Only what a canonical writer writes
    Canonical,
}

impl From<Rules> for framewright::bintensors::Profile {
    fn from(rules: Rules) -> Self {
        match rules {
            Rules::Compat => Self::Compat,
            Rules::Default => Self::Default,
            Rules::Canonical => Self::Canonical,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum OnMissing {
    /// Stop, and name it
    Refuse,
    /// Keep its bits as unsigned integers
    Raw,
    /// Leave it out; arrays that hold no numbers too
    Skip,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Digest {
    /// What the BinTensors package computes
    Sha1,
    /// Sound against tampering
    Sha256,
    /// The newer standard
    Sha3_256,
}

#[derive(Debug, Args)]
#[command(after_help = "Tensors are paired by name; two files of one tensor each are compared whatever it is \
                        called.\nExit codes: 0 equal, 1 different, 2 usage or a file that cannot be read.\nElements are close \
                        when |a - b| <= atol + rtol * |b|; NaN equals NaN.")]
pub(crate) struct Diff {
    /// The first file, or a URL; - reads standard input to its end first
    pub(crate) left: PathBuf,
    /// The second file, in the same ways
    pub(crate) right: PathBuf,
    /// Elements may differ by this fraction of the second file's element
    #[arg(long, value_name = "X", default_value_t = 0.0, allow_negative_numbers = true)]
    pub(crate) rtol: f64,
    /// Elements may differ by this much
    #[arg(long, value_name = "X", default_value_t = 0.0, allow_negative_numbers = true)]
    pub(crate) atol: f64,
    /// Compare values only: element types need not agree
    #[arg(long)]
    pub(crate) values: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: Store,
}

#[derive(Debug, Args)]
#[command(after_help = "What an earlier tour wrote is replaced, unless it was changed since.")]
pub(crate) struct Tour {
    /// Replace files in ./fw-tour that no tour wrote, or that were changed since
    #[arg(long)]
    pub(crate) force: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
