//! What commands that write a file, or compare two, may be told.

use super::{Common, Profile, Threads};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use framewright::convert::Format;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "Intact messages are copied unchanged. From a damaged message fw saves every object whose digest matches, \
                  and the remaining metadata.\nExit codes: 0 nothing was lost, 3 something was lost, 1 nothing could be \
                  recovered (no output is written), 2 usage.\n\nExample:\n  fw recover damaged.tgm -o good.tgm; fw validate good.tgm"
)]
pub(crate) struct Recover {
    /// The damaged file or a URL, or - for standard input; it is not changed
    pub(crate) file: PathBuf,
    /// The file to write
    #[arg(long, short, value_name = "FILE", value_parser = super::output::file())]
    pub(crate) output: PathBuf,
    /// Overwrite the output if it exists
    #[arg(long, short)]
    pub(crate) force: bool,
    /// Also keep objects without a digest, which may be damaged
    #[arg(long)]
    pub(crate) unverified: bool,
    /// Wait until the output and its directory entry are on disk
    #[arg(long)]
    pub(crate) sync: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
#[command(after_help = "What the output format cannot hold is an error, or is listed on standard error with exit \
                        code 3; docs/conversions.md has the table. Tensogram to Tensogram is a copy: messages, names and codecs \
                        stay as they are.\n\nExamples:\n  fw convert model.safetensors model.bt\n  \
                        fw convert fields.npz fields.tgm\n  fw convert big.bt big.safetensors --max-shard-size 5GB\n  \
                        fw convert flight.bin flight.tgm --schema robot.sf --profile standard\n  \
                        fw convert flight.tgm flight.bin\n  \
                        fw convert flight.bin flight.mcap -s robot.sf --time stamp_us:us\n  \
                        fw convert flight.bin gps.parquet -s robot.sf -m Gps -w 'Gps.fix>=3'\n  \
                        fw convert flight.mcap flight.tgm")]
pub(crate) struct Convert {
    #[arg(help = input_help())]
    pub(crate) input: PathBuf,
    /// The file to write; its extension sets the format unless --to is given
    #[arg(value_parser = super::output::file())]
    pub(crate) output: PathBuf,
    /// The format to write
    #[arg(long, value_name = "FORMAT", value_parser = target())]
    pub(crate) to: Option<Target>,
    /// Align the data of a BinTensors or safetensors file to N bytes (a power of two, 8 to 1048576)
    #[arg(long, value_name = "N")]
    pub(crate) align: Option<u64>,
    /// Split the output into files of at most SIZE of data, such as 5GB or 500MiB
    ///
    /// BinTensors and safetensors only. An index is written as well. A tensor is never split, so one that is larger makes a
    /// larger file.
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_shard_size: Option<String>,
    /// What to do with a tensor that cannot be read or whose type the output lacks
    #[arg(long, value_enum, default_value_t = OnMissing::Refuse)]
    pub(crate) missing: OnMissing,
    /// Keep a digest of every tensor, and of all together, in a BinTensors or safetensors file
    #[arg(long, value_enum, value_name = "ALGORITHM")]
    pub(crate) digests: Option<Digest>,
    /// Require that the manifest of the tensors written has this digest (see fw digest)
    #[arg(long, value_name = "SHA256", value_parser = super::trust::manifest)]
    pub(crate) expect: Option<String>,
    #[command(flatten)]
    pub(crate) trust: super::Trust,
    /// The schema of a struct-frame capture, which becomes Tensogram, MCAP, Parquet, Arrow or CSV [default: the one in the
    /// recording]
    #[arg(long, short, value_name = "SCHEMA")]
    pub(crate) schema: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) packing: super::Packing,
    #[command(flatten)]
    pub(crate) profile: Profile,
    /// Convert only this message of a capture, by name or id; may be repeated
    #[arg(long, short, value_name = "NAME")]
    pub(crate) message: Vec<String>,
    #[command(flatten)]
    pub(crate) select: super::FrameSelect,
    /// Take the times of a capture from this field, in UNIT: s (default), ms, us or ns
    #[arg(long, value_name = "FIELD[:UNIT]")]
    pub(crate) time: Option<String>,
    /// Write the enums of a capture as numbers instead of names (Parquet, Arrow, CSV)
    #[arg(long)]
    pub(crate) enum_numbers: bool,
    /// Also print statistics of every field of a capture, which is read once more for that
    #[arg(long)]
    pub(crate) fields: bool,
    /// How strictly a BinTensors input is read [default: default]
    #[arg(long, value_enum, value_name = "RULES")]
    pub(crate) rules: Option<Rules>,
    /// Keep the payload bits of NaN values in a Tensogram file
    #[arg(long)]
    pub(crate) keep_nan_bits: bool,
    /// Join all messages into one (Tensogram to Tensogram)
    ///
    /// Names then begin with the number of the message.
    #[arg(long)]
    pub(crate) join_messages: bool,
    /// Store decoded elements, without codecs (Tensogram to Tensogram)
    #[arg(long)]
    pub(crate) drop_codecs: bool,
    /// Overwrite existing files
    #[arg(long, short)]
    pub(crate) force: bool,
    /// Wait until the output and its directory entry are on disk
    #[arg(long)]
    pub(crate) sync: bool,
    #[command(flatten)]
    pub(crate) threads: Threads,
    #[command(flatten)]
    pub(crate) common: Common,
}

impl Convert {
    /// An option that only captures take, where one was given.
    pub(crate) fn capture_option(&self) -> Option<&'static str> {
        let given = [
            ("--where", !self.select.is_empty()),
            ("--no-packed", self.packing.no_packed),
            ("--include", !self.packing.include.is_empty()),
            ("--profile", self.profile.profile.is_some()),
            ("--message", !self.message.is_empty()),
            ("--time", self.time.is_some()),
            ("--enum-numbers", self.enum_numbers),
            ("--fields", self.fields),
        ];
        given.into_iter().find_map(|(option, given)| given.then_some(option))
    }
}

/// What a conversion writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A tensor file.
    File(Format),
    /// The struct-frame capture that a Tensogram file of columns was made from.
    Frames,
    /// What only captures become.
    Capture(CaptureTarget),
}

/// What a capture becomes besides columns in Tensogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaptureTarget {
    Mcap,
    Parquet,
    Arrow,
    Csv,
}

impl CaptureTarget {
    pub(crate) const ALL: [Self; 4] = [Self::Mcap, Self::Parquet, Self::Arrow, Self::Csv];

    /// What `--to` calls it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Mcap => "mcap",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Csv => "csv",
        }
    }

    /// What people call it.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Mcap => "MCAP",
            Self::Parquet => "Parquet",
            Self::Arrow => "Arrow",
            Self::Csv => "CSV",
        }
    }

    const fn about(self) -> &'static str {
        match self {
            Self::Mcap => "A capture as MCAP with protobuf messages, for Foxglove and PlotJuggler",
            Self::Parquet => "A capture as Parquet tables, one per message type",
            Self::Arrow => "A capture as Arrow files (Feather), one per message type",
            Self::Csv => "A capture as comma-separated values, one file per message type",
        }
    }

    /// By the extension of a file.
    pub(crate) fn of_name(path: &std::path::Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "mcap" => Some(Self::Mcap),
            "parquet" => Some(Self::Parquet),
            "arrow" | "feather" => Some(Self::Arrow),
            "csv" => Some(Self::Csv),
            _ => None,
        }
    }
}

/// The formats that are written, by their names, and the frames of a capture.
fn target() -> impl TypedValueParser<Value = Target> {
    let writable = || Format::ALL.iter().copied().filter(|format| format.is_writable());
    let formats = writable().map(|format| PossibleValue::new(format.name()).help(format.about()));
    let frames = "The struct-frame capture that a Tensogram file of columns was made from";
    let tables = CaptureTarget::ALL.map(|target| PossibleValue::new(target.name()).help(target.about()));
    let values = formats.chain([PossibleValue::new(FRAMES).help(frames)]).chain(tables);
    PossibleValuesParser::new(values.collect::<Vec<_>>()).try_map(move |name| match &*name {
        FRAMES => Ok(Target::Frames),
        name => {
            let table = CaptureTarget::ALL.into_iter().find(|target| target.name() == name).map(Target::Capture);
            let file = || writable().find(|format| format.name() == name).map(Target::File);
            table.or_else(file).ok_or("not a format")
        }
    })
}

const FRAMES: &str = "frames";

/// What `fw convert` reads.
fn input_help() -> String {
    let formats: Vec<String> =
        Format::ALL.iter().filter(|format| **format != Format::ShardIndex).map(ToString::to_string).collect();
    format!(
        "The file to read: {}, an .index.json of shards, MCAP, or with --schema a struct-frame capture; or a URL, or - \
         for standard input",
        formats.join(", ")
    )
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rules {
    /// Everything the reference readers accept (BinTensors)
    Compat,
    /// What all readers agree on: no data in padding, no duplicate keys
    Default,
    /// Only canonical files
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
    /// Stop with an error
    Refuse,
    /// Keep its bits as unsigned integers
    Raw,
    /// Leave it out and go on
    Skip,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Digest {
    /// For files of old readers: finds accidents, not deliberate changes
    Sha1,
    /// Finds deliberate changes too, as long as the digest of the manifest is known from elsewhere or signed
    Sha256,
    /// The newer SHA-3
    Sha3_256,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Files of two directories or patterns are paired by their names below them, with any ending; a file is \
                  paired with the file of its name in a directory.\nTensors are paired by name; if each file has one tensor, \
                  these two are a pair. Metadata is compared where both formats can hold it.\nElements are close when |a - b| <= atol + rtol * |b|; NaN equals \
                  NaN. RMSE and bias (second minus first) are those of the finite elements.\nExit codes: 0 equal, 1 \
                  different, 2 usage or a file that cannot be read.\n\nExamples:\n  fw diff run1.tgm run2.tgm\n  \
                  fw diff run1.tgm run2.tgm --by mars.param,mars.step\n  fw diff run1/ run2/\n  fw diff 'run1/*.tgm' 'run2/*.tgm'\n  fw diff model.safetensors model.bt --rtol 1e-6"
)]
pub(crate) struct Diff {
    /// Two files or URLs (- is standard input), two directories, two patterns, or files and a directory
    #[arg(required = true, num_args = 2.., value_names = ["FIRST", "SECOND"])]
    pub(crate) files: Vec<PathBuf>,
    /// Elements may differ by this fraction of the second file's element
    #[arg(long, value_name = "X", default_value_t = 0.0, allow_negative_numbers = true)]
    pub(crate) rtol: f64,
    /// Elements may differ by this much
    #[arg(long, value_name = "X", default_value_t = 0.0, allow_negative_numbers = true)]
    pub(crate) atol: f64,
    /// Compare values only: element types need not agree
    #[arg(long)]
    pub(crate) values: bool,
    /// Pair tensors by the values of these metadata keys instead of by name
    #[arg(long, value_name = "KEY,...", value_delimiter = ',', value_parser = key)]
    pub(crate) by: Vec<framewright::query::Path>,
    /// Compare tensors only, not metadata
    #[arg(long)]
    pub(crate) ignore_metadata: bool,
    #[command(flatten)]
    pub(crate) trust: super::Trust,
    #[command(flatten)]
    pub(crate) threads: Threads,
    #[command(flatten)]
    pub(crate) common: Common,
}

fn key(text: &str) -> Result<framewright::query::Path, String> {
    text.parse().map_err(|error: framewright::query::QueryError| error.to_string())
}

#[derive(Debug, Args)]
#[command(after_help = "Files of an earlier tour are overwritten unless they were changed.")]
pub(crate) struct Tour {
    /// Also overwrite files in ./fw-tour that were changed or not made by fw tour
    #[arg(long)]
    pub(crate) force: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
