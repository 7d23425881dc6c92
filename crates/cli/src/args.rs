//! What the user may say.

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// One tool for Tensogram, BinTensors and struct-frame data.
#[derive(Debug, Parser)]
#[command(
    name = "fw",
    version,
    about,
    after_help = "Exit codes: 0 fine, 1 failed or invalid, 2 usage, 3 done with loss.\nStart with: fw tour"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Say what a file is and what it holds
    Info(Look),
    /// List every message and object, one line each
    Ls(Look),
    /// Print metadata and descriptors, or the annotated bytes with --hex
    Dump(Dump),
    /// Check a file and report every fault with its bytes; exit 1 when something is wrong
    Validate(Validate),
    /// Write the decoded elements of one object to standard output
    Cat(Cat),
    /// Make sample files in ./fw-tour and show what fw can do with them
    Tour,
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
pub(crate) struct Dump {
    /// The file
    pub(crate) file: PathBuf,
    /// Only this message (counting from 0)
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
    /// The file
    pub(crate) file: PathBuf,
    /// How far to look
    #[arg(long, value_enum, default_value_t = Mode::Default)]
    pub(crate) mode: Mode,
    /// Also warn where CBOR is not in canonical form
    #[arg(long)]
    pub(crate) canonical: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
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
pub(crate) struct Cat {
    /// The file
    pub(crate) file: PathBuf,
    /// Which message (counting from 0)
    #[arg(long, short, value_name = "M", default_value_t = 0)]
    pub(crate) message: usize,
    /// Which object of the message (counting from 0)
    #[arg(long, short, value_name = "O", default_value_t = 0)]
    pub(crate) object: usize,
    /// Write a NumPy file instead of bare little-endian elements
    #[arg(long)]
    pub(crate) npy: bool,
}
