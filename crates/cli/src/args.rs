//! What the user may say.

use crate::exit::Voice;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use framewright::convert::CatFormat;
use framewright::tensor::Selection;
#[cfg(feature = "remote")]
use std::path::Path;
use std::path::PathBuf;

/// One tool for Tensogram, BinTensors and struct-frame data; safetensors, npy and npz too.
///
/// Files are told apart by their content. Every command that looks at a file takes --json, whose shape docs/json.md
/// describes.
#[derive(Debug, Parser)]
#[command(
    name = "fw",
    version,
    about,
    after_help = "Exit codes, of every command:\n  0  fine, valid, equal\n  1  failed, invalid, different\n  2  usage: wrong \
                  arguments, or a file that is not there or cannot be opened\n  3  done, and something was lost, which is \
                  listed\n\nStart with: fw tour"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[cfg(feature = "remote")]
    #[command(flatten)]
    pub(crate) store: Store,
}

/// How files in stores are reached: info, ls, dump, cat and validate take http(s), s3, gs and az URLs.
#[cfg(feature = "remote")]
#[derive(Debug, ClapArgs)]
pub(crate) struct Store {
    /// A setting of the store that a URL names, such as endpoint=http://localhost:9000, skip_signature=true or
    /// root_certificate=ca.pem; may be repeated. Credentials come from the environment (AWS_..., GOOGLE_..., AZURE_...)
    /// otherwise
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub(crate) store_option: Vec<String>,
    /// Let a command read a whole file from a store, where it cannot do with a part
    #[arg(long, global = true)]
    pub(crate) allow_full_read: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Say what a file is and what it holds; a struct-frame capture with --schema
    Info(Info),
    /// List what a file holds, one line per tensor
    #[command(
        after_help = "FILE may be a URL; with - a Tensogram stream on standard input is listed as it arrives, in bounded \
                      memory.\n\nExamples:\n  fw ls forecast.tgm\n  curl -s https://example.org/run.tgm | fw ls -"
    )]
    Ls(Look),
    /// Print metadata and descriptors, or the annotated bytes with --hex
    Dump(Dump),
    /// Check a file and report every fault with its bytes; exit 1 when something is wrong
    Validate(Validate),
    /// Write the elements of one tensor to standard output
    Cat(Cat),
    /// Save what is intact of a damaged Tensogram file, and list what was lost
    Recover(Recover),
    /// Write a tensor file in another format, and list what was lost
    Convert(Convert),
    /// Compare two tensor files of any formats, tensor by tensor
    Diff(Diff),
    /// Print the frames of a struct-frame capture or live stream, a line of JSON each
    Decode(Decode),
    /// Write lines of JSON as struct-frame frames
    Encode(Encode),
    /// Check, format, explain and compare struct-frame schemas
    #[command(subcommand)]
    Schema(Schema),
    /// Generate source code, a dissector or documents from a struct-frame schema
    Gen(Gen),
    /// Make sample files in ./fw-tour and show what fw can do with them
    Tour,
}

impl Command {
    /// Its name, as JSON has it.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Info(_) => "info",
            Self::Ls(_) => "ls",
            Self::Dump(_) => "dump",
            Self::Validate(_) => "validate",
            Self::Cat(_) => "cat",
            Self::Recover(_) => "recover",
            Self::Convert(_) => "convert",
            Self::Diff(_) => "diff",
            Self::Decode(_) => "decode",
            Self::Encode(_) => "encode",
            Self::Schema(_) => "schema",
            Self::Gen(_) => "gen",
            Self::Tour => "tour",
        }
    }

    /// The file that a command looks at, which may come from elsewhere.
    pub(crate) const fn looked_at(&mut self) -> Option<&mut PathBuf> {
        match self {
            Self::Info(args) => Some(&mut args.file),
            Self::Ls(args) => Some(&mut args.file),
            Self::Dump(args) => Some(&mut args.file),
            Self::Validate(args) => Some(&mut args.file),
            Self::Cat(args) => Some(&mut args.file),
            _ => None,
        }
    }

    /// The files that any other command reads.
    #[cfg(feature = "remote")]
    pub(crate) fn read(&self) -> Vec<&Path> {
        match self {
            Self::Recover(args) => vec![&args.file],
            Self::Convert(args) => vec![&args.input],
            Self::Diff(args) => vec![&args.left, &args.right],
            Self::Decode(args) => vec![&args.file],
            Self::Encode(args) => vec![&args.file],
            _ => Vec::new(),
        }
    }

    /// How it tells failures.
    pub(crate) const fn voice(&self) -> Voice {
        let json = match self {
            Self::Info(args) => args.json,
            Self::Ls(args) | Self::Schema(Schema::Check(args)) => args.json,
            Self::Dump(args) => args.json,
            Self::Validate(args) => args.json,
            Self::Recover(args) => args.json,
            Self::Convert(args) => args.json,
            Self::Diff(args) => args.json,
            Self::Gen(args) => args.json,
            Self::Schema(Schema::Layout(args)) => args.json,
            Self::Schema(Schema::Diff(args)) => args.json,
            _ => false,
        };
        if json { Voice::Json } else { Voice::Words }
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Look {
    /// The file
    pub(crate) file: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  fw info forecast.tgm\n  fw info flight.bin --schema robot.sf\n  \
                        fw info flight.bin --schema robot.sf --profile network --time stamp_us:us")]
pub(crate) struct Info {
    /// The file, or a URL; - reads standard input to its end first
    pub(crate) file: PathBuf,
    /// The schema of a struct-frame capture
    #[arg(long, short, value_name = "SCHEMA")]
    pub(crate) schema: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) profile: Profile,
    /// Rates by this field of the messages that have it, in seconds or in UNIT: s, ms, us or ns
    #[arg(long, value_name = "FIELD[:UNIT]", requires = "schema")]
    pub(crate) time: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which framing a capture has.
#[derive(Debug, ClapArgs)]
pub(crate) struct Profile {
    /// standard, sensor, ipc, bulk, network, or any HEADER+PAYLOAD such as tiny+seq [default: found by content]
    #[arg(long, short, value_name = "PROFILE")]
    pub(crate) profile: Option<framewright::structframe::Framing>,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Each line has at (the frame's first byte), id, message, sequence, system and component where the \
                        profile has them, and values: 64-bit integers as strings, bytes as {\"hex\": \"…\"}, oneofs as \
                        {\"which\": …, \"value\": …}. Frames of unknown ids and payloads that cannot be read have payload \
                        instead of values. Damaged frames and bytes between frames go to standard error, with their \
                        place.\n\nExit codes: 0 every byte was understood, 1 failed, 2 usage, 3 some bytes were not.\n\n\
                        Examples:\n  fw decode flight.bin --schema robot.sf\n  \
                        fw decode flight.bin -s robot.sf --message Pose --table\n  \
                        cat /dev/ttyUSB0 | fw decode - -s robot.sf -p standard | jq .values"
)]
pub(crate) struct Decode {
    /// The capture; - reads standard input as it comes
    pub(crate) file: PathBuf,
    /// The schema
    #[arg(long, short, value_name = "SCHEMA")]
    pub(crate) schema: PathBuf,
    #[command(flatten)]
    pub(crate) profile: Profile,
    /// Only this message, by name or id; may be given several times
    #[arg(long, short, value_name = "NAME")]
    pub(crate) message: Vec<String>,
    /// A table per message type, at the end of the input, instead of lines
    #[arg(long)]
    pub(crate) table: bool,
    /// Refuse payloads shorter or longer than the schema says, and counts beyond their bounds
    #[arg(long)]
    pub(crate) strict: bool,
    /// Lines of JSON: what happens without --table
    #[arg(long, conflicts_with = "table")]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Each line is an object: message (or id), values (missing fields take their defaults) or payload, and \
                        where wanted sequence, system and component. What fw decode prints is such lines.\n\n\
                        Examples:\n  echo '{\"message\": \"Ping\", \"values\": {\"seq\": 1}}' | fw encode - -s robot.sf -p \
                        standard -o ping.bin\n  fw decode flight.bin -s robot.sf | fw encode - -s robot.sf -p bulk > bulk.bin"
)]
pub(crate) struct Encode {
    /// Lines of JSON; - reads standard input as it comes
    pub(crate) file: PathBuf,
    /// The schema
    #[arg(long, short, value_name = "SCHEMA")]
    pub(crate) schema: PathBuf,
    /// standard, sensor, ipc, bulk, network, or any HEADER+PAYLOAD such as tiny+seq
    #[arg(long, short, value_name = "PROFILE")]
    pub(crate) profile: framewright::structframe::Framing,
    /// Where to write the frames [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the output if it is there already
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Number frames whose line has no sequence: 0, 1, … 255, 0
    #[arg(long)]
    pub(crate) number: bool,
    /// Say on standard output what was written, as JSON
    #[arg(long, requires = "output")]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  fw dump forecast.tgm --message 0\n  fw dump model.safetensors --hex | less")]
pub(crate) struct Dump {
    /// The file, or a URL; - reads standard input to its end first
    pub(crate) file: PathBuf,
    /// Only this message of a Tensogram file (counting from 0)
    #[arg(long, short, value_name = "M")]
    pub(crate) message: Option<usize>,
    /// Name every byte: range, hex, meaning
    #[arg(long)]
    pub(crate) hex: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Validate {
    /// The file, or a URL; - reads standard input to its end first
    pub(crate) file: PathBuf,
    /// How far to look
    #[arg(long, value_enum, default_value_t = Mode::Default)]
    pub(crate) mode: Mode,
    /// How strictly a BinTensors header, or the CBOR of a Tensogram file, is judged [default: default]
    #[arg(long, value_enum, value_name = "RULES")]
    pub(crate) rules: Option<Rules>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// Structure only
    Quick,
    /// Structure and digests, nothing decoded
    Checksum,
    /// Structure, metadata, digests; compressed payloads decoded
    Default,
    /// Everything, decoded values included
    Full,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  fw cat forecast.tgm --message 1 --object 0 --npy > 2t.npy\n  \
                        fw cat model.bt --tensor layer.0.weight --text | head\n  \
                        fw cat https://host/era5.tgm -m 3 --slice '0,100:200,::4' --npy > corner.npy")]
pub(crate) struct Cat {
    /// The file, or a URL; - reads standard input to its end first
    pub(crate) file: PathBuf,
    /// Which tensor, by its name as fw ls shows it; in a Tensogram file of several messages with --message M, or as M/NAME
    #[arg(long, short, value_name = "NAME", conflicts_with = "object")]
    pub(crate) tensor: Option<String>,
    /// Which message of a Tensogram file (counting from 0) [default: 0]
    #[arg(long, short, value_name = "M")]
    pub(crate) message: Option<usize>,
    /// Which object of the message (counting from 0) [default: 0]
    #[arg(long, short, value_name = "O")]
    pub(crate) object: Option<usize>,
    /// Only a part of the tensor: for each axis INDEX, START:END or START:END:STEP as in NumPy, or ... for the axes between;
    /// where format and codec allow, only the bytes that hold it are read
    #[arg(long, short, value_name = "SLICE", value_parser = crate::selection::parse, allow_hyphen_values = true)]
    pub(crate) slice: Option<Selection>,
    /// Write a NumPy file instead of bare little-endian elements
    #[arg(long, conflicts_with = "text")]
    pub(crate) npy: bool,
    /// Write numbers, a line per row of the last axis
    #[arg(long)]
    pub(crate) text: bool,
}

impl Cat {
    /// How to write what was read.
    pub(crate) const fn form(&self) -> CatFormat {
        match (self.npy, self.text) {
            (true, _) => CatFormat::Npy,
            (_, true) => CatFormat::Text,
            _ => CatFormat::Raw,
        }
    }

    /// The part that was asked for; everything, unless one was.
    pub(crate) fn selection(&self) -> Selection {
        self.slice.clone().unwrap_or_default()
    }
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Intact messages are copied as they are. From damaged ones every object whose digest matches is saved, with \
                  what is left of the metadata.\nExit codes: 0 nothing was lost, 3 something was, 1 nothing could be \
                  saved, 2 usage.\n\nExample:\n  fw recover damaged.tgm -o good.tgm && fw validate good.tgm"
)]
pub(crate) struct Recover {
    /// The damaged file; it is only read
    pub(crate) file: PathBuf,
    /// The file to write: whole, or not at all
    #[arg(long, short, value_name = "FILE")]
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
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "What a format cannot hold is refused, or listed on standard error with exit code 3; \
                        docs/conversions.md has the table. A file that is there already is replaced only with \
                        --force.\n\nExamples:\n  fw convert model.safetensors model.bt\n  \
                        fw convert fields.npz fields.tgm\n  fw convert big.bt big.safetensors --max-shard-size 5GB\n  \
                        fw convert flight.bin flight.tgm --schema robot.sf --profile standard\n  \
                        fw convert flight.tgm flight.bin")]
pub(crate) struct Convert {
    /// The file to read: Tensogram, BinTensors, safetensors, npy, npz, an .index.json of shards, or with --schema a
    /// struct-frame capture
    pub(crate) input: PathBuf,
    /// The file to write; its name says which format, unless --to does
    pub(crate) output: PathBuf,
    /// The format to write
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: Option<Target>,
    /// Begin the data of a BinTensors file at a multiple of N bytes: a power of two from 8 to 1048576
    #[arg(long, value_name = "N")]
    pub(crate) align: Option<u64>,
    /// Split the output (BinTensors, safetensors) into files of at most SIZE, such as 5GB or 500MiB, with an index
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
    /// Say nothing but errors; the exit code still tells of losses
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) quiet: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Target {
    /// One Tensogram message, an object per tensor
    Tensogram,
    /// BinTensors
    Bintensors,
    /// safetensors
    Safetensors,
    /// NumPy, one array
    Npy,
    /// NumPy, many arrays
    Npz,
    /// The struct-frame capture that a Tensogram file of columns was made from
    Frames,
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

#[derive(Debug, ClapArgs)]
#[command(after_help = "Tensors are paired by name; two files of one tensor each are compared whatever it is \
                        called.\nExit codes: 0 equal, 1 different, 2 usage or a file that cannot be read.\nElements are close \
                        when |a - b| <= atol + rtol * |b|; NaN equals NaN.")]
pub(crate) struct Diff {
    /// The first file
    pub(crate) left: PathBuf,
    /// The second file
    pub(crate) right: PathBuf,
    /// Elements may differ by this fraction of the second file's element
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    pub(crate) rtol: f64,
    /// Elements may differ by this much
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    pub(crate) atol: f64,
    /// Compare values only: element types need not agree
    #[arg(long)]
    pub(crate) values: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Schema {
    /// Compile a schema and everything it imports; print every fault with its place and a hint
    Check(Look),
    /// Print a schema in canonical form
    Fmt(SchemaFmt),
    /// Print where every field stands in its message
    Layout(SchemaLayout),
    /// Say whether peers with the old and the new schema understand each other; exit 1 when they do not
    Diff(SchemaDiff),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SchemaFmt {
    /// The schema
    pub(crate) file: PathBuf,
    /// Rewrite the file instead of printing
    #[arg(long, short, conflicts_with = "check")]
    pub(crate) write: bool,
    /// Change nothing; exit 1 when the file is not in canonical form
    #[arg(long)]
    pub(crate) check: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SchemaLayout {
    /// The schema
    pub(crate) file: PathBuf,
    /// Print the whole checked model as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SchemaDiff {
    /// The schema that peers in the field have
    pub(crate) old: PathBuf,
    /// The schema that replaces it
    pub(crate) new: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Languages: rust, c, cpp, python, ts, js, csharp, graphql, wireshark, markdown. Files are rewritten only \
                        when they change.\n\nExamples:\n  fw gen robot.proto --lang c,python -o generated\n  \
                        fw gen robot.proto --lang rust -o src/generated --check"
)]
pub(crate) struct Gen {
    /// The schema (.proto or .sf); what it imports is generated too
    pub(crate) schema: PathBuf,
    /// What to generate, with commas between
    #[arg(long, short, value_name = "LANG", value_delimiter = ',', required = true)]
    pub(crate) lang: Vec<String>,
    /// The folder to write to; several languages get a folder each below it
    #[arg(long, short, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Write nothing; exit 1 when a file on disk is missing or differs
    #[arg(long)]
    pub(crate) check: bool,
    /// Make every message variable and leave C structs unpacked, as the original's --no_packed; this changes the wire
    #[arg(long)]
    pub(crate) no_packed: bool,
    /// Root namespace of C# code [default: StructFrame]
    #[arg(long, value_name = "NAME")]
    pub(crate) csharp_namespace: Option<String>,
    /// Rust: types for serde, behind a feature `serde` that the crate declares
    #[arg(long)]
    pub(crate) serde: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
