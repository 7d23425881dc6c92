//! What the commands about digests and signatures may be told.

use super::{Common, Threads, trust};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "The manifest is the sorted list of all tensors: digest, type, shape, name. Its digest covers the whole checkpoint, in \
                  one file or in many: it differs when a tensor is changed, renamed, reshaped, added or removed, and not when the \
                  checkpoint is split, joined or converted between BinTensors and safetensors. Digests in the file are compared on \
                  the way.\n\nExamples:\n  fw digest model.safetensors\n  \
                  fw digest model.safetensors --expect $PINNED\n  \
                  fw digest model/ --manifest > model.manifest"
)]
pub(crate) struct Digest {
    /// Files, directories of shards, indexes (.index.json) or URLs; - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Fail unless the manifest has this digest
    #[arg(long, value_name = "SHA256", value_parser = trust::manifest)]
    pub(crate) expect: Option<String>,
    /// Print the manifest itself: a line per tensor
    #[arg(long)]
    pub(crate) manifest: bool,
    #[command(flatten)]
    pub(crate) threads: Threads,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
#[command(
    after_help = "fw reads all tensors, compares the digests that the file has, writes digests of all tensors, the digest of their \
                  manifest and its signature (Ed25519) into the metadata, and puts the new file in the place of the old one. Of an index \
                  only the index is written. Values and other metadata stay as they are.\nKey files are PEM, as OpenSSL writes them: \
                  openssl genpkey -algorithm ed25519 -out release.key. A signing key that other users may read is refused.\n\n\
                  Examples:\n  fw sign --new-key release.key\n  fw sign model.safetensors --key release.key\n  \
                  fw verify model.safetensors --key release.key.pub"
)]
pub(crate) struct Sign {
    /// The BinTensors or safetensors file, index of shards, or directory with one
    #[arg(required_unless_present = "new_key", conflicts_with = "new_key")]
    pub(crate) file: Option<PathBuf>,
    /// The signing key
    #[arg(long, value_name = "KEY", required_unless_present = "new_key", conflicts_with = "new_key")]
    pub(crate) key: Option<PathBuf>,
    /// Make a new signing key in this file, and its public key in a file of that name and .pub
    #[arg(long, value_name = "KEY", value_parser = super::output::file())]
    pub(crate) new_key: Option<PathBuf>,
    /// Write the signed file here instead of in place
    #[arg(long, short, value_name = "FILE", value_parser = super::output::file(), conflicts_with = "new_key")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the output if it exists
    #[arg(long, short, requires = "output")]
    pub(crate) force: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) threads: Threads,
}

#[derive(Debug, Args)]
#[command(
    group = clap::ArgGroup::new("asked").required(true).multiple(true).args(["key", "expect"]),
    after_help = "fw reads all tensors and compares every digest in the file, the digest of the manifest, the expected one, and the \
                  signature by the public key. A file without a signature fails with --key.\nExit codes: 0 verified, 1 not, 2 usage.\n\n\
                  Examples:\n  fw verify model.safetensors --key release.key.pub\n  \
                  fw verify model/ --expect $PINNED"
)]
pub(crate) struct Verify {
    /// The file, index of shards, directory with one, or URL; - is standard input
    pub(crate) file: PathBuf,
    /// The public key that must have signed the file
    #[arg(long, value_name = "PUB")]
    pub(crate) key: Option<PathBuf>,
    /// The digest that the manifest must have
    #[arg(long, value_name = "SHA256", value_parser = trust::manifest)]
    pub(crate) expect: Option<String>,
    #[command(flatten)]
    pub(crate) threads: Threads,
    #[command(flatten)]
    pub(crate) common: Common,
}
