//! What every codec states about itself: its name, its parameters, what it combines with, and how it is built.
//!
//! Each codec's folder has a file `spec.rs` with these statements, compiled whether or not the codec is part of the
//! build. The table ([`Encoding`], [`Filter`] and [`Compression`]) lists them;
//! the chain, the formats that store parameters, the validator and the documents read the table.
//!
//! ```
//! use fw_codec::spec::Compression;
//!
//! let szip = Compression::CODECS.iter().find(|codec| codec.name == "szip").unwrap();
//! let names: Vec<&str> = szip.keys.iter().map(|key| key.name).collect();
//! assert_eq!(names, ["szip_rsi", "szip_block_size", "szip_flags", "szip_block_offsets"]);
//! ```
//!
#![doc = include_str!("../../../../docs/codec-parameters.md")]

mod document; // the table as a document
mod input; // what enters a compressor
mod params; // parameters by key and type
pub(crate) mod table; // every codec, one row each

pub use document::markdown;
pub use params::{Param, ParamError, ParamProblem, ParamSource};
pub use table::*;

pub(crate) use input::{CHAIN, CompressorInput, refused};
pub(crate) use params::Params;

use crate::{Codec, CodecError};
use fw_tensor::{ByteOrder, DType};
use std::fmt;

/// What a codec states about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodecInfo {
    /// The name in descriptors and errors.
    pub name: &'static str,
    /// The cargo feature that builds it.
    pub feature: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Its parameters.
    pub keys: &'static [Key],
    /// Which element types it takes.
    pub dtypes: Dtypes,
    /// What it combines with beyond that.
    pub rules: &'static str,
    /// Which ranges it can decode without decoding everything.
    pub ranges: &'static str,
}

impl CodecInfo {
    /// Whether this build has it.
    pub fn is_built(&self) -> bool {
        match self.feature {
            "packing" => cfg!(feature = "packing"),
            "shuffle" => cfg!(feature = "shuffle"),
            "zstd" => cfg!(feature = "zstd"),
            "lz4" => cfg!(feature = "lz4"),
            "rle" => cfg!(feature = "rle"),
            "roaring" => cfg!(feature = "roaring"),
            "blosc2" => cfg!(feature = "blosc2"),
            "szip" => cfg!(feature = "szip"),
            "zfp" => cfg!(feature = "zfp"),
            "sz3" => cfg!(feature = "sz3"),
            other => unreachable!("the feature {other} of a codec has no line here"),
        }
    }

    /// The error for a codec that this build does not have.
    pub fn missing(&self) -> CodecError {
        CodecError::unsupported(
            self.name,
            "codec_not_built",
            format!("not part of this build; enable the cargo feature `{}` of fw-codec", self.feature),
        )
    }
}

/// One parameter of a codec: a key of the descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Key {
    /// The key.
    pub name: &'static str,
    /// The type of its value.
    pub kind: KeyKind,
    /// Whether it must be given.
    pub need: Need,
    /// What it means, and which values it takes.
    pub meaning: &'static str,
}

impl Key {
    pub(crate) const fn new(name: &'static str, kind: KeyKind, need: Need, meaning: &'static str) -> Self {
        Self { name, kind, need, meaning }
    }
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyKind {
    /// An integer, 0 or greater.
    Unsigned,
    /// An integer.
    Integer,
    /// A float, or an integer of at most 2^53.
    Float,
    /// One of these names.
    Name(&'static [&'static str]),
    /// An array of integers, each 0 or greater.
    UnsignedList,
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned => f.write_str("unsigned integer"),
            Self::Integer => f.write_str("integer"),
            Self::Float => f.write_str("float"),
            Self::Name(names) => write!(f, "text: `{}`", names.join("`, `")),
            Self::UnsignedList => f.write_str("array of unsigned integers"),
        }
    }
}

/// Whether a parameter must be given. Complete: a format that stores parameters handles each case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Always.
    Required,
    /// When another parameter has this value.
    RequiredWith(&'static str),
    /// No; this value is used instead, and is not written down.
    Default(&'static str),
    /// No; encoding derives it from the data and writes it down. A value that is given is used as it is.
    Derived,
    /// Never; encoding writes it down.
    Written,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Required => f.write_str("required"),
            Self::RequiredWith(when) => write!(f, "required with `{when}`"),
            Self::Default(value) => write!(f, "default {value}"),
            Self::Derived => f.write_str("derived from the data unless given"),
            Self::Written => f.write_str("written by encoding"),
        }
    }
}

/// Which values of an object an encoding derives its parameters from. Complete: these values must be finite, and callers
/// that set other values aside have to know which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DerivesFrom {
    /// None: nothing is derived.
    Nothing,
    /// The first one.
    FirstValue,
    /// All of them.
    AllValues,
}

/// Which element types a codec takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dtypes {
    /// All of them.
    Any,
    /// These.
    Only(&'static [DType]),
    /// All but these.
    Except(&'static [DType]),
}

impl Dtypes {
    /// True when elements of `dtype` are taken.
    pub fn contains(&self, dtype: DType) -> bool {
        match self {
            Self::Any => true,
            Self::Only(dtypes) => dtypes.contains(&dtype),
            Self::Except(dtypes) => !dtypes.contains(&dtype),
        }
    }
}

impl fmt::Display for Dtypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |dtypes: &[DType]| dtypes.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", ");
        match self {
            Self::Any => f.write_str("any"),
            Self::Only(dtypes) => f.write_str(&list(dtypes)),
            Self::Except(dtypes) => write!(f, "any but {}", list(dtypes)),
        }
    }
}

/// The settings of a codec: stated in its folder, listed in the table, stored as parameters of a descriptor.
pub(crate) trait CodecSpec: Sized {
    /// What the codec states about itself.
    const INFO: CodecInfo;

    /// The settings that `params` state.
    fn read(params: &Params<'_>) -> Result<Self, ParamError>;

    /// States the settings as parameters.
    fn write(&self, put: &mut dyn FnMut(&'static Key, Param<'_>));
}

/// A codec of the last stage. Building it is an error that names the cargo feature when the build lacks it.
pub(crate) trait CompressorSpec {
    /// Refuses input that the codec cannot encode so that it can be read back (TG-C3).
    fn check(&self, input: &CompressorInput<'_>) -> Result<(), CodecError> {
        let _ = input;
        Ok(())
    }

    /// Checks parameters that encoding wrote, against a payload of `payload_len` bytes that was encoded elsewhere.
    fn check_written(&self, payload_len: u64) -> Result<(), ParamError> {
        let _ = payload_len;
        Ok(())
    }

    /// True when decoding yields values in the byte order asked for, so that nothing has to be swapped afterwards.
    fn orders_values(&self) -> bool {
        false
    }

    /// The codec for encoding.
    fn encoder(&self, input: &CompressorInput<'_>) -> Result<Box<dyn Codec>, CodecError>;

    /// The codec for decoding to values in `order`, which matters only to codecs that order values.
    fn decoder(&self, input: &CompressorInput<'_>, order: ByteOrder) -> Result<Box<dyn Codec>, CodecError> {
        let _ = order;
        self.encoder(input)
    }

    /// Appends the encoded form of `bytes` to `out`. Returns the settings as the descriptor must state them, when
    /// encoding added to them.
    fn encode(
        &self,
        input: &CompressorInput<'_>,
        bytes: &[u8],
        threads: usize,
        out: &mut Vec<u8>,
    ) -> Result<Option<Compression>, CodecError> {
        self.encoder(input)?.encode(bytes, threads, out)?;
        Ok(None)
    }
}

/// `$built` when the cargo feature is part of the build, else the error of the codec with these settings that names the
/// feature. `$used` lists what only `$built` mentions.
macro_rules! if_built {
    ($feature:literal, $settings:ty, ($($used:expr),*), $built:expr) => {{
        #[cfg(feature = $feature)]
        {
            $built
        }
        #[cfg(not(feature = $feature))]
        {
            let _ = ($(&$used,)*);
            Err(<$settings as $crate::spec::CodecSpec>::INFO.missing())
        }
    }};
}

pub(crate) use if_built;
