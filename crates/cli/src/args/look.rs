//! What commands that look at one file may be told.

use clap::{Args, ValueEnum};
use framewright::convert::CatFormat;
use framewright::tensor::Selection;
use std::path::PathBuf;

/// How files in stores are reached; nothing where stores are not part of the build.
#[derive(Debug, Args)]
pub(crate) struct Store {
    /// A setting of the store that a URL names, such as endpoint=http://localhost:9000, skip_signature=true or
    /// root_certificate=ca.pem; may be repeated. Credentials come from the environment (AWS_..., GOOGLE_..., AZURE_...)
    /// otherwise
    #[cfg(feature = "remote")]
    #[arg(long, value_name = "KEY=VALUE", help_heading = "For URLs")]
    pub(crate) store_option: Vec<String>,
    /// Read a whole file from a store, where parts of it will not do
    #[cfg(feature = "remote")]
    #[arg(long, help_heading = "For URLs")]
    pub(crate) allow_full_read: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A Tensogram stream on standard input is listed as it arrives, in bounded memory; any other format is \
                        read to its end first.\n\nExamples:\n  fw ls forecast.tgm\n  \
                        curl -s https://example.org/run.tgm | fw ls -"
)]
pub(crate) struct Ls {
    /// The file, or a URL; - is standard input
    pub(crate) file: PathBuf,
    /// Print JSON; of a stream an object per tensor, as it arrives
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: Store,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  fw info forecast.tgm\n  fw info flight.bin --schema robot.sf\n  \
                        fw info flight.bin --schema robot.sf --profile network --time stamp_us:us")]
pub(crate) struct Info {
    /// The file, or a URL; - reads standard input to its end first
    pub(crate) file: PathBuf,
    /// The schema of a struct-frame capture: shows its messages and fields
    #[arg(long, short, value_name = "SCHEMA")]
    pub(crate) schema: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) packing: super::Packing,
    #[command(flatten)]
    pub(crate) profile: super::Profile,
    /// Rates by this field of the messages that have it, in seconds or in UNIT: s, ms, us or ns
    #[arg(long, value_name = "FIELD[:UNIT]", requires = "schema")]
    pub(crate) time: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: Store,
}

#[derive(Debug, Args)]
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
    #[command(flatten)]
    pub(crate) store: Store,
}

#[derive(Debug, Args)]
pub(crate) struct Validate {
    /// The file, or a URL; - reads standard input to its end first
    pub(crate) file: PathBuf,
    /// How far to look
    #[arg(long, value_enum, default_value_t = Mode::Default)]
    pub(crate) mode: Mode,
    /// How strictly a BinTensors header, or the CBOR of a Tensogram file, is judged [default: default]
    #[arg(long, value_enum, value_name = "RULES")]
    pub(crate) rules: Option<super::Rules>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: Store,
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

#[derive(Debug, Args)]
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
    #[command(flatten)]
    pub(crate) store: Store,
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
