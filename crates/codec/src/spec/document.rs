//! The table of codecs as a document.

use super::{CodecInfo, Compression, Encoding, Filter};
use std::fmt::Write as _;

/// The table of codecs in Markdown, as `docs/codec-parameters.md` holds it.
pub fn markdown() -> String {
    let mut text = String::from(HEAD);
    for (stage, codecs) in
        [("encoding", Encoding::CODECS), ("filter", Filter::CODECS), ("compression", Compression::CODECS)]
    {
        for codec in codecs {
            section(&mut text, stage, codec);
        }
    }
    text
}

fn section(text: &mut String, stage: &str, codec: &CodecInfo) {
    let CodecInfo { name, feature, summary, keys, dtypes, rules, ranges } = codec;
    let mut line = |words: std::fmt::Arguments<'_>| {
        // Writing to memory does not fail.
        let _ = text.write_fmt(words);
    };
    line(format_args!("\n## {stage}: `{name}`\n\n{summary}\n\n"));
    line(format_args!("- Element types: {dtypes}. {rules}\n- Ranges: {ranges}\n- Cargo feature: `{feature}`\n"));
    if keys.is_empty() {
        line(format_args!("- Parameters: none\n"));
        return;
    }
    line(format_args!("\n| key | type | given | meaning |\n|---|---|---|---|\n"));
    for key in *keys {
        line(format_args!("| `{}` | {} | {} | {} |\n", key.name, key.kind, key.need, key.meaning));
    }
}

const HEAD: &str = "\
# Codec parameters

Every codec of the three stages of a pipeline, with its parameters. In a descriptor a stage is named by the fields
`encoding`, `filter` and `compression` (`none` leaves it out), and parameters are further keys of the descriptor. In Rust,
`Pipe` states a pipeline with types and derives what follows from the tensor.

This page is generated from the `spec.rs` of each codec: `FW_UPDATE=1 cargo test -p fw-codec --test table` rewrites it.
";
