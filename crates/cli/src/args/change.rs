//! What commands that change files may be told.

use super::{Common, Select, Threads, Trust};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Where a changed file goes: over the old one, or over what is at its place.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Place {
    /// Change the file itself
    #[arg(short, long)]
    pub(crate) in_place: bool,
    /// Overwrite the output if it exists
    #[arg(long, short)]
    pub(crate) force: bool,
}

/// What becomes of names that hold keys.
#[derive(Clone, Debug, Args)]
pub(crate) struct Naming {
    /// Create directories that do not exist
    #[arg(long)]
    pub(crate) parents: bool,
    /// Use this text in names for keys that are missing
    #[arg(long, value_name = "TEXT")]
    pub(crate) missing: Option<String>,
    /// Overwrite files that exist
    #[arg(long, short)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "key=VALUE keeps the type that the key has; a new key gets the type of its value. key:=JSON states the \
                  value. Keys belong to the selected objects; extra.KEY belongs to the message, objects[N].KEY to one \
                  object, objects.N.KEY to the parameters in its descriptor. Payloads are not decoded, and messages that \
                  are not selected stay as they are.\n\nExamples:\n  fw set forecast.tgm -i -s mars.step=12\n  \
                  fw set in.tgm out.tgm -w mars.param=2t -s units=K -d mars.class\n  \
                  fw set in.tgm out.tgm -s 'area:=[60,-10,40,5]'\n  fw set in.tgm out.tgm --file edits.json\n\nedits.json:\n  \
                  [{\"where\": \"mars.param=2t\",\n    \"set\": {\"mars.step\": 12}, \"delete\": [\"mars.class\"]}]"
)]
pub(crate) struct Set {
    /// The file to read, or a URL; - reads standard input
    pub(crate) file: PathBuf,
    /// The file to write; - is standard output
    #[arg(value_parser = super::output::file_or_pipe(), conflicts_with = "in_place")]
    pub(crate) output: Option<PathBuf>,
    /// Set a key: KEY=VALUE or KEY:=JSON; may be repeated
    #[arg(short, long, value_name = "KEY=VALUE", required_unless_present_any = ["delete", "edits"])]
    pub(crate) set: Vec<String>,
    /// Delete a key; may be repeated
    #[arg(short, long, value_name = "KEY")]
    pub(crate) delete: Vec<String>,
    /// Read edits from a JSON file, after those of the command line
    #[arg(long = "file", value_name = "EDITS")]
    pub(crate) edits: Option<PathBuf>,
    /// Change every object of a message in which one is selected
    #[arg(long)]
    pub(crate) messages: bool,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) trust: Trust,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
#[command(
    after_help = "[KEY] in the output name stands for the value of a key: objects with the same name go into the same file. \
                  [index] is a running number, [KEY:03] pads with zeros, [[ is a literal bracket. Values cannot lead out \
                  of the directory before the first key.\n\nExamples:\n  \
                  fw copy forecast.tgm 2t.tgm -w mars.param=2t\n  \
                  fw copy forecast.tgm 'out/[mars.param]-[mars.step].tgm' --parents\n  \
                  fw copy model.safetensors head.safetensors -w 'name=head.*'"
)]
pub(crate) struct Copy {
    /// The file to read, or a URL; - reads standard input
    pub(crate) file: PathBuf,
    /// The file to write, with [KEY] for values of keys; - is standard output
    #[arg(value_name = "OUTPUT", value_parser = super::output::file_or_pipe())]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) select: Select,
    /// Copy only the selected objects, not the whole messages that hold them
    #[arg(long)]
    pub(crate) objects: bool,
    /// Add to files that exist
    #[arg(long, conflicts_with = "force")]
    pub(crate) append: bool,
    #[command(flatten)]
    pub(crate) naming: Naming,
    #[command(flatten)]
    pub(crate) trust: Trust,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
#[command(
    after_help = "All objects of all messages go into one message, in order, as they are stored. --strategy chooses between \
                  different values of a key of the messages; by default the first value is kept. Tensors of other formats go \
                  into one file; tensors with the same name need --strategy.\n\nExamples:\n  \
                  fw merge step0.tgm step6.tgm -o run.tgm\n  fw merge part-*.safetensors -o model.safetensors"
)]
pub(crate) struct Merge {
    /// Files, directories (every tensor file in them), patterns or URLs, all of one format; - is standard input
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The file to write; - is standard output
    #[arg(long, short, value_name = "FILE", value_parser = super::output::file_or_pipe())]
    pub(crate) output: PathBuf,
    /// Which of several values of a key stays [default: first]
    #[arg(long, short, value_enum)]
    pub(crate) strategy: Option<Strategy>,
    #[command(flatten)]
    pub(crate) select: Select,
    /// Overwrite the output if it exists
    #[arg(long, short)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) trust: Trust,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Strategy {
    /// That of the first file that has it
    First,
    /// That of the last file that has it
    Last,
    /// None: stop, and name the key
    Error,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Names are templates as in fw copy. A name without keys gets a running number before its ending.\n\n\
                  Examples:\n  fw split forecast.tgm -o field.tgm          # field_0000.tgm, ...\n  \
                  fw split forecast.tgm -o 'out/[mars.param]-[index].tgm' --parents"
)]
pub(crate) struct Split {
    /// The file to read, or a URL; - reads standard input
    pub(crate) file: PathBuf,
    /// The files to write, one per object, with [KEY] for values of keys and [index] for a running number
    #[arg(long, short, value_name = "NAME", value_parser = super::output::file())]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) naming: Naming,
    #[command(flatten)]
    pub(crate) trust: Trust,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Messages that were streamed have their index after their objects; readers then need the end of a \
                        message before they find anything. Objects are moved as they are stored, without a decode.\n\n\
                        Example:\n  fw reshuffle streamed.tgm -o indexed.tgm"
)]
pub(crate) struct Reshuffle {
    /// The Tensogram file to read, or a URL; - reads standard input
    pub(crate) file: PathBuf,
    /// The file to write; - is standard output
    #[arg(
        long,
        short,
        value_name = "FILE",
        value_parser = super::output::file_or_pipe(),
        conflicts_with = "in_place"
    )]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The options state the whole pipeline: what is not named is not used. Errors are those of the decoded values \
                  against what they were before.\n\nExamples:\n  \
                  fw recode in.tgm out.tgm --pack 16 --compress szip\n  \
                  fw recode in.tgm --dry-run --accuracy 0.01 --compress szip\n  \
                  fw recode in.tgm out.tgm --shuffle --zstd 3\n  \
                  fw recode in.tgm out.tgm --zfp accuracy=0.01 -w dtype=float64"
)]
pub(crate) struct Recode {
    /// The Tensogram file to read, or a URL; - reads standard input
    pub(crate) file: PathBuf,
    /// The file to write; - is standard output
    #[arg(
        value_parser = super::output::file_or_pipe(),
        conflicts_with = "in_place"
    )]
    pub(crate) output: Option<PathBuf>,
    /// Pack doubles into integers of N bits
    #[arg(long, value_name = "N", conflicts_with_all = ["accuracy", "zfp", "sz3"])]
    pub(crate) pack: Option<u64>,
    /// Pack doubles into the fewest bits that keep every value within X
    #[arg(long, value_name = "X", conflicts_with_all = ["zfp", "sz3"])]
    pub(crate) accuracy: Option<f64>,
    /// Put bytes of equal significance side by side
    #[arg(long, conflicts_with_all = ["zfp", "sz3"])]
    pub(crate) shuffle: bool,
    /// Compress: szip, zstd, lz4 or blosc2, with settings as in zstd:3 or blosc2:lz4:5
    #[arg(long, value_name = "CODEC", conflicts_with_all = ["zstd", "zfp", "sz3"])]
    pub(crate) compress: Option<String>,
    /// Compress with Zstandard at this level
    #[arg(long, value_name = "LEVEL", allow_negative_numbers = true, conflicts_with_all = ["zfp", "sz3"])]
    pub(crate) zstd: Option<i32>,
    /// Compress with zfp: rate=BITS, precision=PLANES or accuracy=X
    #[arg(long, value_name = "SETTING", conflicts_with = "sz3")]
    pub(crate) zfp: Option<String>,
    /// Compress with sz3: abs=X, rel=X or psnr=X
    #[arg(long, value_name = "SETTING")]
    pub(crate) sz3: Option<String>,
    /// Store values as they are
    #[arg(long, conflicts_with_all = ["pack", "accuracy", "shuffle", "compress", "zstd", "zfp", "sz3"])]
    pub(crate) raw: bool,
    /// Keep objects that the codecs do not support as they are
    #[arg(long)]
    pub(crate) keep_unsupported: bool,
    /// Print sizes and errors, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) threads: Threads,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) common: Common,
}
