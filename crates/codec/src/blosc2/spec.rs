//! What `blosc2` states about itself.

use crate::spec::{
    CodecInfo, CodecSpec, CompressorInput, CompressorSpec, Dtypes, Key, KeyKind, Need, Param, ParamError, Params,
    if_built, refused,
};
use crate::{Codec, CodecError};
use fw_tensor::DType;

/// Settings of `blosc2`. The fields are named like the keys of descriptors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blosc2Settings {
    /// The codec inside; `lz4` unless given.
    pub blosc2_codec: Option<Blosc2Codec>,
    /// Level 0 to 9; 5 unless given.
    pub blosc2_clevel: Option<i32>,
}

/// The codec inside Blosc2 frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Blosc2Codec {
    /// `blosclz`
    BloscLz,
    /// `lz4`
    #[default]
    Lz4,
    /// `lz4hc`
    Lz4Hc,
    /// `zlib`
    Zlib,
    /// `zstd`
    Zstd,
}

impl Blosc2Codec {
    /// Every codec.
    pub const ALL: [Self; 5] = [Self::BloscLz, Self::Lz4, Self::Lz4Hc, Self::Zlib, Self::Zstd];

    /// The name in descriptors.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BloscLz => "blosclz",
            Self::Lz4 => "lz4",
            Self::Lz4Hc => "lz4hc",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
        }
    }

    /// The codec of this exact name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|codec| codec.name() == name)
    }
}

impl CodecSpec for Blosc2Settings {
    const INFO: CodecInfo = CodecInfo {
        name: "blosc2",
        feature: "blosc2",
        summary: "A contiguous Blosc2 frame: blocks that are shuffled and compressed one by one.",
        keys: &[CODEC, LEVEL],
        dtypes: Dtypes::Except(&[DType::Bitmask]),
        rules: "Takes no empty input. It shuffles by itself, by the width of the elements or of the packed values.",
        ranges: "The blocks a range touches. The frame holds a map of them, which is read first.",
    };

    fn read(params: &Params<'_>) -> Result<Self, ParamError> {
        Ok(Self { blosc2_codec: params.name(&CODEC, Blosc2Codec::from_name)?, blosc2_clevel: params.integer(&LEVEL)? })
    }

    fn write(&self, put: &mut dyn FnMut(&'static Key, Param<'_>)) {
        if let Some(codec) = self.blosc2_codec {
            put(&CODEC, Param::Text(codec.name()));
        }
        if let Some(level) = self.blosc2_clevel {
            put(&LEVEL, Param::Integer(level.into()));
        }
    }
}

impl CompressorSpec for Blosc2Settings {
    fn check(&self, input: &CompressorInput<'_>) -> Result<(), CodecError> {
        let CompressorInput { dtype, len, .. } = *input;
        if Self::INFO.dtypes.contains(dtype) && len > 0 {
            return Ok(());
        }
        Err(refused(format!("blosc2 takes neither bitmask nor empty data ({dtype}, {len} bytes)")))
    }

    fn encoder(&self, input: &CompressorInput<'_>) -> Result<Box<dyn Codec>, CodecError> {
        if_built!("blosc2", Self, (input), {
            use crate::blosc2::{Blosc2, Blosc2Params, Filter};
            // The unit that is shuffled.
            let typesize = match (input.shuffled(), input.packed_bits()) {
                (Some(_), _) => 1,
                (None, Some(bits)) => bits.div_ceil(8) as usize,
                (None, None) => input.dtype.byte_width().unwrap_or(1),
            };
            Ok(Box::new(Blosc2::new(Blosc2Params {
                codec: self.blosc2_codec.unwrap_or_default().name().parse()?,
                level: i64::from(self.blosc2_clevel.unwrap_or(5)),
                typesize,
                filter: Filter::Shuffle,
            })?))
        })
    }
}

const CODEC: Key = Key::new(
    "blosc2_codec",
    KeyKind::Name(&["blosclz", "lz4", "lz4hc", "zlib", "zstd"]),
    Need::Default("`lz4`"),
    "The codec of the blocks.",
);
const LEVEL: Key =
    Key::new("blosc2_clevel", KeyKind::Integer, Need::Default("5"), "Level, 0 (stored) to 9 (smallest).");
