//! What the user may say.

mod about; // doctor, completions, man
mod change; // set, copy, merge, split, reshuffle, recode
mod files; // recover, convert, diff, tour
mod frames; // decode, encode, schema, gen
mod habits; // what every command may be told
mod links; // record, play
mod look; // info, ls, get, dump, validate, stats, plot, cat
mod output; // where results may go
mod select; // which messages and objects
mod sign; // digest, sign, verify
mod trust; // whether digests are compared
mod weights; // rename, subset, replace, cast

pub(crate) use about::{Completions, Doctor, Man};
pub(crate) use change::{Copy, Merge, Place, Recode, Reshuffle, Set, Split, Strategy};
pub(crate) use files::{CaptureTarget, Convert, Diff, Digest, OnMissing, Recover, Rules, Target, Tour};
pub(crate) use frames::{
    Bridge, Decode, Encode, FrameSelect, Gen, Packing, Profile, Schema, SchemaCheck, SchemaDiff, SchemaFmt,
    SchemaLayout,
};
pub(crate) use habits::{Colour, Look, Threads};
pub(crate) use links::{Play, Record, Speed};
use links::{duration, speed};
pub(crate) use look::{
    Cat, Common, Dump, Get, Info, Ls, Mode, Plot, PlotFormat, PlotKind, PlotScale, PlotTheme, Stats, Store, Validate,
    Widened,
};
pub(crate) use select::Select;
pub(crate) use sign::{Digest as DigestOf, Sign, Verify};
pub(crate) use trust::Trust;
pub(crate) use weights::{Cast, Changed, Rename, Replace, Subset, Tensors};

use crate::exit::Voice;
use clap::{Parser, Subcommand};

/// One tool for Tensogram, BinTensors and struct-frame data, and for other tensor files.
///
/// Formats are detected by content. Every command that reads a file accepts --json; docs/json.md describes the output.
#[derive(Debug, Parser)]
#[command(
    name = "fw",
    version,
    about,
    max_term_width = 100,
    after_help = AFTER_HELP
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) look: Look,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what files are and what they contain; a struct-frame capture with --schema
    Info(Info),
    /// List the contents of files, one line per tensor
    Ls(Ls),
    /// Print the values of keys, for scripts
    Get(Get),
    /// Print metadata and descriptors, or the annotated bytes with --hex
    Dump(Dump),
    /// Check files and report every fault with its bytes; exit 1 when something is wrong
    Validate(Validate),
    /// Print the digest of all tensors of a checkpoint, and compare the digests that it keeps
    Digest(DigestOf),
    /// Sign the tensors of a checkpoint with an Ed25519 key
    Sign(Sign),
    /// Verify the tensors of a checkpoint: signature, expected digest, digests in the file
    Verify(Verify),
    /// Compute minimum, maximum, mean, standard deviation and more of tensors
    Stats(Stats),
    /// Draw a tensor as a heat map, line or histogram: in the terminal, or as PNG or SVG
    Plot(Plot),
    /// Write the elements of one tensor to standard output
    Cat(Cat),
    /// Recover the intact part of a damaged Tensogram file
    Recover(Recover),
    /// Convert a tensor file to another format and list what was lost
    Convert(Convert),
    /// Set and delete keys; payloads stay as they are
    Set(Set),
    /// Copy selected messages, objects or tensors into files named by their keys
    Copy(Copy),
    /// Merge the objects of many files into one message, or the tensors into one file
    Merge(Merge),
    /// Write each object to a separate file
    Split(Split),
    /// Move index and digests of messages before their objects
    Reshuffle(Reshuffle),
    /// Re-encode objects, and show the effect on size and values
    Recode(Recode),
    /// Rename tensors of a checkpoint by patterns
    Rename(Rename),
    /// Write some tensors of a checkpoint, chosen by patterns and layers
    Subset(Subset),
    /// Replace one tensor of a checkpoint with one from another file
    Replace(Replace),
    /// Cast tensors of a checkpoint to f16, bf16, f32 or f8_e4m3, and show the error
    Cast(Cast),
    /// Compare two tensor files, in any formats
    Diff(Diff),
    /// Print the frames of a struct-frame capture or stream as JSON lines
    Decode(Decode),
    /// Write struct-frame frames from lines of JSON
    Encode(Encode),
    /// Record what a link delivers, with the time of every piece
    Record(Record),
    /// Send a recording over a link, at the pace it arrived at
    Play(Play),
    /// Serve live struct-frame data to Foxglove over a WebSocket
    Bridge(Bridge),
    /// Check, format, explain and compare struct-frame schemas
    #[command(subcommand)]
    Schema(Schema),
    /// Generate code, a dissector or documents from a struct-frame schema
    Gen(Gen),
    /// Write sample files, pictures and a page to ./fw-tour and show what fw can do
    Tour(Tour),
    /// Check this build: versions, codecs, processor features, and a self-test per codec
    Doctor(Doctor),
    /// Print the completion script of a shell
    Completions(Completions),
    /// Print the manual page of fw or of a command, or write all pages into a directory
    Man(Man),
}

impl Command {
    /// Its name, as JSON has it.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Info(_) => "info",
            Self::Ls(_) => "ls",
            Self::Get(_) => "get",
            Self::Dump(_) => "dump",
            Self::Validate(_) => "validate",
            Self::Digest(_) => "digest",
            Self::Sign(_) => "sign",
            Self::Verify(_) => "verify",
            Self::Stats(_) => "stats",
            Self::Plot(_) => "plot",
            Self::Cat(_) => "cat",
            Self::Recover(_) => "recover",
            Self::Convert(_) => "convert",
            Self::Set(_) => "set",
            Self::Copy(_) => "copy",
            Self::Merge(_) => "merge",
            Self::Split(_) => "split",
            Self::Reshuffle(_) => "reshuffle",
            Self::Recode(_) => "recode",
            Self::Rename(_) => "rename",
            Self::Subset(_) => "subset",
            Self::Replace(_) => "replace",
            Self::Cast(_) => "cast",
            Self::Diff(_) => "diff",
            Self::Decode(_) => "decode",
            Self::Encode(_) => "encode",
            Self::Record(_) => "record",
            Self::Play(_) => "play",
            Self::Bridge(_) => "bridge",
            Self::Schema(_) => "schema",
            Self::Gen(_) => "gen",
            Self::Tour(_) => "tour",
            Self::Doctor(_) => "doctor",
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
        }
    }

    /// How it tells failures.
    pub(crate) const fn voice(&self) -> Voice {
        let json = match self {
            Self::Info(args) => args.common.json,
            Self::Ls(args) => args.json,
            Self::Get(args) => args.json,
            Self::Dump(args) => args.common.json,
            Self::Validate(args) => args.common.json,
            Self::Digest(args) => args.common.json,
            Self::Sign(args) => args.json,
            Self::Verify(args) => args.common.json,
            Self::Stats(args) => args.common.json,
            Self::Plot(args) => args.json,
            Self::Recover(args) => args.common.json,
            Self::Convert(args) => args.common.json,
            Self::Set(args) => args.common.json,
            Self::Copy(args) => args.common.json,
            Self::Merge(args) => args.common.json,
            Self::Split(args) => args.common.json,
            Self::Reshuffle(args) => args.common.json,
            Self::Recode(args) => args.common.json,
            Self::Rename(args) => args.changed.common.json,
            Self::Subset(args) => args.changed.common.json,
            Self::Replace(args) => args.changed.common.json,
            Self::Cast(args) => args.changed.common.json,
            Self::Diff(args) => args.common.json,
            Self::Decode(args) => args.json,
            Self::Encode(args) => args.json,
            Self::Record(args) => args.json,
            Self::Play(args) => args.json,
            Self::Bridge(args) => args.json,
            Self::Gen(args) => args.json,
            Self::Schema(Schema::Check(args)) => args.json,
            Self::Schema(Schema::Fmt(args)) => args.json,
            Self::Schema(Schema::Layout(args)) => args.json,
            Self::Schema(Schema::Diff(args)) => args.json,
            Self::Tour(args) => args.json,
            Self::Doctor(args) => args.json,
            Self::Completions(args) => args.json,
            Self::Man(args) => args.json,
            Self::Cat(args) => args.json,
        };
        if json { Voice::Json } else { Voice::Words }
    }
}

// Lines of at most 80 columns: help that is already formatted is not wrapped again.
const AFTER_HELP: &str = "\
Exit codes of every command:
  0  fine, valid, equal
  1  failed, invalid, different
  2  usage: wrong arguments, or a file that does not exist or cannot be opened;
     with fw diff any failure, because 1 means different
  3  done, but something was lost; the losses are listed

Environment:
  FW_THREADS  threads of commands that have --threads (else TENSOGRAM_THREADS,
              else one per processor)
  NO_COLOR    no colour, unless --color always
  COLUMNS     width of tables, instead of that of the terminal
  TMPDIR      where standard input, pipes and whole remote files are kept
              while a command reads them
  AWS_…, GOOGLE_…, AZURE_…
              credentials and endpoints of object stores
  HF_ENDPOINT, HF_TOKEN
              the hub of hf:// URLs, and the token sent to it
  SSL_CERT_FILE
              certificates of private authorities, in PEM form

Start with: fw tour";
