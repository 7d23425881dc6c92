//! Where results may go: files of this machine.

use clap::builder::{PathBufValueParser, TypedValueParser};
use std::path::{Path, PathBuf};

/// A file or folder to write.
pub(super) fn file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|word| match word == Path::new("-") {
        true => Err("the output must be a file, not standard output; use ./- for a file of that name".to_owned()),
        false => local(word),
    })
}

/// A file to write, or - for standard output.
pub(super) fn file_or_pipe() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(local)
}

/// The path that a word stands for: a `file://` URL is one, too, and what is in a store cannot be written.
fn local(word: PathBuf) -> Result<PathBuf, String> {
    // A folder may be called `s3:`; then it is meant.
    let is_path = |path: &Path| path.parent().is_some_and(Path::exists);
    let Some((scheme, rest)) = word.to_str().and_then(|text| text.split_once("://")).filter(|_| !is_path(&word)) else {
        return Ok(word);
    };
    if !scheme.eq_ignore_ascii_case("file") {
        return Err("the output must be a local file; write it here, then copy it".to_owned());
    }
    #[cfg(feature = "remote")]
    let path = framewright::source::remote::file_path(&format!("file://{rest}"));
    #[cfg(not(feature = "remote"))]
    let path = rest.starts_with('/').then(|| PathBuf::from(rest));
    path.ok_or_else(|| "a local file URL has three slashes: file:///tmp/x.tgm".to_owned())
}
