//! Checked parameters, and what follows from them: codec numbers and block sizes.

use super::NAME;
use crate::CodecError;
use std::str::FromStr;

/// How a frame is written. Reading needs none of this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blosc2Params {
    /// The codec of the streams (`blosc2_codec`, default `lz4`).
    pub codec: InnerCodec,
    /// 0 (store) to 9 (smallest) (`blosc2_clevel`, default 5).
    pub level: i64,
    /// Bytes per element, 1 to 255: the unit of the shuffle.
    pub typesize: usize,
    /// What is done to a block before it is compressed.
    pub filter: Filter,
}

impl Default for Blosc2Params {
    fn default() -> Self {
        Self { codec: InnerCodec::Lz4, level: 5, typesize: 1, filter: Filter::Shuffle }
    }
}

impl Blosc2Params {
    /// Refuses what the format cannot say.
    pub(super) fn check(&self) -> Result<(), CodecError> {
        if !(0..=9).contains(&self.level) {
            let message = format!("blosc2_clevel is {}, expected 0 to 9", self.level);
            return Err(CodecError::parameter(NAME, "blosc2_clevel_invalid", message));
        }
        if !(1..=255).contains(&self.typesize) {
            let message = format!("type size is {}, expected 1 to 255", self.typesize);
            return Err(CodecError::parameter(NAME, "blosc2_typesize_invalid", message));
        }
        Ok(())
    }

    /// The block size for a chunk of `chunk_len` bytes, and whether its full blocks are split into streams.
    ///
    /// The sizes are those the reference picks, so that the ratios agree. A split block has the budget per stream, a
    /// whole one in total; both are multiples of the type size and at most the chunk.
    pub(super) fn blocks(&self, chunk_len: usize) -> (usize, bool) {
        let may_split = self.typesize <= MAX_STREAMS
            && match self.codec {
                InnerCodec::BloscLz | InnerCodec::Lz4 => true,
                InnerCodec::Lz4Hc | InnerCodec::Zlib => false,
                InnerCodec::Zstd => self.level <= 5,
            }
            && self.filter != Filter::BitShuffle;
        let budget = if may_split {
            let stream = match self.level {
                0..=3 => 32 << 10,
                4..=6 => 64 << 10,
                7 => 128 << 10,
                8 => 256 << 10,
                _ => 512 << 10,
            };
            (stream * self.typesize).min(4 << 20)
        } else {
            match self.level {
                0 | 1 => 32 << 10,
                2 => 64 << 10,
                3 => 128 << 10,
                4 | 5 => 256 << 10,
                6..=8 => 512 << 10,
                _ => 1 << 20,
            }
        };
        let size = budget.min(chunk_len);
        // A chunk shorter than one element is one block of its own length.
        let size = if size > self.typesize { size - size % self.typesize } else { size };
        (size, may_split && size.is_multiple_of(self.typesize) && size / self.typesize >= MIN_STREAM_LEN)
    }
}

/// The codec of the streams inside the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InnerCodec {
    /// `blosclz`
    BloscLz,
    /// `lz4`
    Lz4,
    /// `lz4hc`: slower to write, read by the same code as `lz4`.
    Lz4Hc,
    /// `zlib`
    Zlib,
    /// `zstd`
    Zstd,
}

impl InnerCodec {
    /// Every codec, in the order of their numbers.
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

    /// Its number as an encoder.
    pub(super) const fn code(self) -> u8 {
        match self {
            Self::BloscLz => 0,
            Self::Lz4 => 1,
            Self::Lz4Hc => 2,
            Self::Zlib => 4,
            Self::Zstd => 5,
        }
    }

    /// The format of its streams.
    pub(super) const fn format(self) -> StreamFormat {
        match self {
            Self::BloscLz => StreamFormat::BloscLz,
            Self::Lz4 | Self::Lz4Hc => StreamFormat::Lz4,
            Self::Zlib => StreamFormat::Zlib,
            Self::Zstd => StreamFormat::Zstd,
        }
    }
}

impl FromStr for InnerCodec {
    type Err = CodecError;

    fn from_str(name: &str) -> Result<Self, CodecError> {
        Self::ALL.into_iter().find(|codec| codec.name() == name).ok_or_else(|| {
            let message = format!("blosc2_codec is {name:?}, expected blosclz, lz4, lz4hc, zlib or zstd");
            CodecError::parameter(NAME, "blosc2_codec_unknown", message)
        })
    }
}

/// What is done to a block before it is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// Nothing.
    None,
    /// Bytes of equal significance side by side.
    Shuffle,
    /// Bits of equal significance side by side (masks).
    BitShuffle,
}

impl Filter {
    /// The six filter slots of a header: byte shuffle stands last, bit shuffle first, as the reference has them.
    pub(super) const fn slots(self) -> [u8; 6] {
        match self {
            Self::None => [0; 6],
            Self::Shuffle => [0, 0, 0, 0, 0, 1],
            Self::BitShuffle => [2, 0, 0, 0, 0, 0],
        }
    }
}

/// How the bytes of a stream are to be read; several encoders share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamFormat {
    BloscLz,
    Lz4,
    Zlib,
    Zstd,
}

impl StreamFormat {
    pub(super) const fn number(self) -> u8 {
        match self {
            Self::BloscLz => 0,
            Self::Lz4 => 1,
            Self::Zlib => 3,
            Self::Zstd => 4,
        }
    }

    pub(super) const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::BloscLz,
            1 => Self::Lz4,
            3 => Self::Zlib,
            4 => Self::Zstd,
            _ => return None,
        })
    }
}

/// Wider elements are never split.
const MAX_STREAMS: usize = 16;
/// Shorter streams are never split: their headers would eat the gain.
const MIN_STREAM_LEN: usize = 32;
