//! What commands that change checkpoints may be told.

use super::{Common, Place, Select, Threads, Trust};
use clap::Args;
use clap::builder::PossibleValuesParser;
use framewright::edit::{CastType, Layers, RenameRule};
use std::path::PathBuf;

/// Where a changed checkpoint goes, and what is said about its digests.
#[derive(Debug, Args)]
pub(crate) struct Changed {
    /// The file to write; - is standard output
    #[arg(value_name = "OUTPUT", value_parser = super::output::file_or_pipe(), conflicts_with = "in_place")]
    positional: Option<PathBuf>,
    /// The file to write, as OUTPUT
    #[arg(
        long = "output",
        short = 'o',
        value_name = "FILE",
        value_parser = super::output::file_or_pipe(),
        conflicts_with_all = ["in_place", "positional"]
    )]
    named: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: Place,
    /// Align the data of the output to N bytes (a power of two, 8 to 1048576) [default: as in the input]
    #[arg(long, value_name = "N")]
    pub(crate) align: Option<u64>,
    #[command(flatten)]
    pub(crate) trust: Trust,
    #[command(flatten)]
    pub(crate) threads: Threads,
    #[command(flatten)]
    pub(crate) common: Common,
}

impl Changed {
    /// The file to write, in whichever way it was named.
    pub(crate) fn output(&self) -> Option<&PathBuf> {
        self.positional.as_ref().or(self.named.as_ref())
    }
}

/// Which tensors.
#[derive(Debug, Args)]
pub(crate) struct Tensors {
    /// Take only tensors whose names match this pattern, such as 'model.layers.*'; may be repeated (one must match)
    #[arg(long, short, value_name = "PATTERN")]
    pub(crate) tensor: Vec<String>,
    /// Leave out tensors whose names match this pattern; may be repeated
    #[arg(long, short = 'x', value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,
    /// Leave out tensors of other layers, such as 0-11 or 0-3,8; the layer is the first number in a name
    #[arg(long, value_name = "LIST", value_parser = layers)]
    pub(crate) layers: Option<Layers>,
    #[command(flatten)]
    pub(crate) select: Select,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Patterns match whole names: * is any text, ? one character, [..] one of these. In a new name each * stands for what \
                  the * at its place in the pattern matched, {1} for that of the first. The first rule that matches a name is used. \
                  Data is copied as it is. Digests in the file are compared first, and made anew for tensors with another name; a \
                  signature is dropped, because it is of the old names.\n\nExamples:\n  \
                  fw rename model.safetensors -i --from 'model.layers.*' --to 'blk.*'\n  \
                  fw rename old.bt new.bt --map 'ln.gamma=norm.weight' --map '*.gamma=*.weight'\n  \
                  fw rename a.bt b.bt --from '*.q.*' --to 'q.{2}.{1}'"
)]
pub(crate) struct Rename {
    /// The BinTensors or safetensors file, index of shards, or URL; - reads standard input
    pub(crate) file: PathBuf,
    /// A pattern for old names; may be repeated, each with its --to
    #[arg(long, value_name = "PATTERN", required_unless_present = "map", requires = "to")]
    pub(crate) from: Vec<String>,
    /// The new names for the --from at its place
    #[arg(long, value_name = "NAME", requires = "from")]
    pub(crate) to: Vec<String>,
    /// Rename: PATTERN=NAME; may be repeated
    #[arg(long, value_name = "OLD=NEW", value_parser = rule)]
    pub(crate) map: Vec<RenameRule>,
    #[command(flatten)]
    pub(crate) changed: Changed,
}

#[derive(Debug, Args)]
#[command(
    after_help = "All conditions must hold. Tensors outside of layers (embeddings, the last norm) are kept with --layers. Digests stay \
                  with their tensors, and the manifest of all is made anew; a signature is dropped.\n\nExamples:\n  \
                  fw subset model.safetensors -o first.safetensors --layers 0-11\n  \
                  fw subset model.bt -o attention.bt -t '*.attn.*' -x '*.bias'\n  \
                  fw subset model.safetensors.index.json -o head.safetensors -t 'lm_head.*'\n  \
                  fw subset model.bt -o small.bt -w dtype=float16"
)]
pub(crate) struct Subset {
    /// The BinTensors or safetensors file, index of shards, or URL; - reads standard input
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) tensors: Tensors,
    #[command(flatten)]
    pub(crate) changed: Changed,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The new tensor may be in a file of any format that fw reads. Without a name it is the tensor of the same name, or the \
                  only one of its file.\n\nExamples:\n  \
                  fw replace model.bt out.bt -t lm_head.weight --from tuned.safetensors\n  \
                  fw replace model.bt -i -t head.bias --from bias.npy --reshape\n  \
                  fw replace model.bt -i -t head.bias --from other.safetensors:classifier.bias"
)]
pub(crate) struct Replace {
    /// The BinTensors or safetensors file, index of shards, or URL; - reads standard input
    pub(crate) file: PathBuf,
    /// The tensor to replace
    #[arg(long, short, value_name = "NAME")]
    pub(crate) tensor: String,
    /// The file of the new tensor, and its name there
    #[arg(long, value_name = "FILE[:NAME]")]
    pub(crate) from: PathBuf,
    /// Give the new tensor the shape of the old one, which must have as many elements of the same type
    #[arg(long, conflicts_with = "adopt")]
    pub(crate) reshape: bool,
    /// Take the new tensor with its own type and shape
    #[arg(long)]
    pub(crate) adopt: bool,
    #[command(flatten)]
    pub(crate) changed: Changed,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Every element is rounded once, to the nearest value, ties to even. Tensors that are not floats stay as they are, and \
                  so do those that are not selected. Errors are those of the elements that are finite before and after.\nExit codes: \
                  0 done, 3 elements were beyond the range of the new type and are infinite now, or NaN in f8_e4m3.\n\nExamples:\n  \
                  fw cast model.safetensors -o half.safetensors --as bf16\n  \
                  fw cast model.bt -o small.bt --as f8_e4m3 -t '*.mlp.*.weight' --saturate\n  \
                  fw cast model.bt -o mixed.bt --as f16 -x '*norm*' -w 'ndim>=2'"
)]
pub(crate) struct Cast {
    /// The BinTensors or safetensors file, index of shards, or URL; - reads standard input
    pub(crate) file: PathBuf,
    /// The new element type
    #[arg(long = "as", value_name = "TYPE", value_parser = PossibleValuesParser::new(CastType::ALL.map(CastType::name)))]
    pub(crate) to: String,
    /// Give elements beyond the range of the new type its greatest value
    #[arg(long)]
    pub(crate) saturate: bool,
    #[command(flatten)]
    pub(crate) tensors: Tensors,
    #[command(flatten)]
    pub(crate) changed: Changed,
}

impl Cast {
    /// The new element type.
    pub(crate) fn to(&self) -> CastType {
        // The parser takes nothing but these names.
        CastType::ALL.into_iter().find(|one| one.name() == self.to).unwrap_or(CastType::F32)
    }
}

fn layers(text: &str) -> Result<Layers, String> {
    text.parse().map_err(|error: framewright::edit::EditError| error.to_string())
}

fn rule(text: &str) -> Result<RenameRule, String> {
    RenameRule::parse(text).map_err(|error| error.to_string())
}
