//! Which format is this?

use crate::ConvertError;
use fw_source::{FileSource, ReadAt};
use serde::Serialize;
use std::fmt;
use std::path::Path;

/// A format of tensor files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Format {
    /// `.tgm`
    Tensogram,
    /// `.bt`
    BinTensors,
    /// `.safetensors`
    SafeTensors,
    /// `.npy`
    Npy,
    /// `.npz`
    Npz,
    /// `.index.json`: a checkpoint in several files.
    ShardIndex,
}

impl Format {
    /// Lower-case name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tensogram => "tensogram",
            Self::BinTensors => "bintensors",
            Self::SafeTensors => "safetensors",
            Self::Npy => "npy",
            Self::Npz => "npz",
            Self::ShardIndex => "shard index",
        }
    }

    /// The usual end of a file name, without the dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Tensogram => "tgm",
            Self::BinTensors => "bt",
            Self::SafeTensors => "safetensors",
            Self::Npy => "npy",
            Self::Npz => "npz",
            Self::ShardIndex => "index.json",
        }
    }

    /// The format a file name asks for.
    pub fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let ends = |end: &str| name.ends_with(end);
        match () {
            () if ends(".index.json") => Some(Self::ShardIndex),
            () if ends(".tgm") || ends(".tensogram") => Some(Self::Tensogram),
            () if ends(".bt") || ends(".bintensors") => Some(Self::BinTensors),
            () if ends(".safetensors") => Some(Self::SafeTensors),
            () if ends(".npy") => Some(Self::Npy),
            () if ends(".npz") => Some(Self::Npz),
            () => None,
        }
    }

    /// The format that the first bytes of a file show; BinTensors has no mark of its own and is never recognised so.
    pub fn of_bytes(head: &[u8]) -> Option<Self> {
        if head.starts_with(fw_tensogram::wire::MAGIC) {
            return Some(Self::Tensogram);
        }
        if head.starts_with(b"\x93NUMPY") {
            return Some(Self::Npy);
        }
        if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
            return Some(Self::Npz);
        }
        // A safetensors header is JSON after an eight-byte length.
        if head.get(8) == Some(&b'{') {
            return Some(Self::SafeTensors);
        }
        None
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Tensogram => "Tensogram",
            Self::BinTensors => "BinTensors",
            other => other.name(),
        })
    }
}

/// Recognises a file by its bytes where they tell, else by its name.
///
/// # Errors
/// When it cannot be read, or neither bytes nor name tell.
pub fn detect(path: impl AsRef<Path>) -> Result<Format, ConvertError> {
    let path = path.as_ref();
    let source = FileSource::open(path)?;
    let mut head = [0u8; 16];
    let len = source.len()?.min(16) as usize;
    let head = head.get_mut(..len).unwrap_or(&mut []);
    source.read_exact_at(0, head)?;
    let named = Format::of_name(path);
    if named == Some(Format::ShardIndex) {
        return Ok(Format::ShardIndex);
    }
    if let Some(format) = Format::of_bytes(head) {
        return Ok(format);
    }
    // BinTensors has no mark of its own: it is what reads as BinTensors from end to end of its header.
    // The lenient profile: a file that only it takes is BinTensors too, and the reader then says what is wrong with it.
    let lenient = fw_bintensors::ReadOptions::new().with_profile(fw_bintensors::Profile::Compat);
    if fw_bintensors::Reader::new(source, &lenient).is_ok() {
        return Ok(Format::BinTensors);
    }
    // Nothing tells: take the name's word, so that the reader of that format says what is wrong.
    if let Some(format) = named {
        return Ok(format);
    }
    let message = format!("{}: no known format: not Tensogram, npy, npz, safetensors or BinTensors", path.display());
    Err(ConvertError::unsupported("unknown_format", message))
}
