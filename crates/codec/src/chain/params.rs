//! What a descriptor says, typed. Fields are named like the keys.

/// The three stages of a pipeline, in the order of encoding.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stages {
    /// Values to bytes.
    pub encoding: Encoding,
    /// Bytes rearranged.
    pub filter: Filter,
    /// Bytes made fewer.
    pub compression: Compression,
}

/// Values to bytes.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Encoding {
    /// The bytes of the values.
    #[default]
    None,
    /// Doubles as integers of a fixed number of bits.
    SimplePacking(SimplePacking),
}

impl Encoding {
    /// The name in descriptors.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::SimplePacking(_) => "simple_packing",
        }
    }
}

/// Parameters of `simple_packing`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimplePacking {
    /// Bits per value, 0 to 64.
    pub sp_bits_per_value: u64,
    /// Decimal scale factor; 0 unless given.
    pub sp_decimal_scale_factor: i32,
    /// Reference value; goes together with the binary scale factor. Decoding needs both.
    pub sp_reference_value: Option<f64>,
    /// Binary scale factor; goes together with the reference value.
    pub sp_binary_scale_factor: Option<i32>,
}

impl SimplePacking {
    /// `bits` per value, everything else derived from the data.
    pub const fn bits(bits: u64) -> Self {
        Self {
            sp_bits_per_value: bits,
            sp_decimal_scale_factor: 0,
            sp_reference_value: None,
            sp_binary_scale_factor: None,
        }
    }
}

/// Bytes rearranged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Filter {
    /// Not at all.
    #[default]
    None,
    /// Bytes of equal significance side by side.
    Shuffle {
        /// Bytes per element; divides the bytes that enter the filter.
        shuffle_element_size: u64,
    },
}

impl Filter {
    /// The name in descriptors.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Shuffle { .. } => "shuffle",
        }
    }
}

/// Bytes made fewer.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// CCSDS 121 entropy coding.
    Szip(SzipSettings),
    /// Zstandard.
    Zstd {
        /// Level; 3 unless given.
        zstd_level: Option<i32>,
    },
    /// LZ4.
    Lz4,
    /// Blosc2 frames.
    Blosc2 {
        /// The codec inside; `lz4` unless given.
        blosc2_codec: Option<Blosc2Codec>,
        /// Level 0 to 9; 5 unless given.
        blosc2_clevel: Option<i32>,
    },
    /// Lossy coding of doubles at a fixed rate, precision or accuracy.
    Zfp(ZfpSettings),
    /// Lossy coding of doubles within an error bound.
    Sz3 {
        /// What the bound means.
        sz3_error_bound_mode: Sz3Mode,
        /// The bound.
        sz3_error_bound: f64,
    },
    /// Run lengths of bit masks.
    Rle,
    /// Roaring bitmaps of bit masks.
    Roaring,
}

impl Compression {
    /// The name in descriptors.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Szip(_) => "szip",
            Self::Zstd { .. } => "zstd",
            Self::Lz4 => "lz4",
            Self::Blosc2 { .. } => "blosc2",
            Self::Zfp(_) => "zfp",
            Self::Sz3 { .. } => "sz3",
            Self::Rle => "rle",
            Self::Roaring => "roaring",
        }
    }
}

/// Parameters of `szip`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SzipSettings {
    /// Reference sample interval, in blocks.
    pub szip_rsi: u64,
    /// Samples per block.
    pub szip_block_size: u64,
    /// Option bits, as stored.
    pub szip_flags: u64,
    /// Bit position of each interval; written by encoding, needed only to decode in parts or on threads.
    pub szip_block_offsets: Option<Vec<u64>>,
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
        [Self::BloscLz, Self::Lz4, Self::Lz4Hc, Self::Zlib, Self::Zstd].into_iter().find(|codec| codec.name() == name)
    }
}

/// Parameters of `zfp`, one per mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ZfpSettings {
    /// `fixed_rate`
    FixedRate {
        /// Bits per value.
        zfp_rate: f64,
    },
    /// `fixed_precision`
    FixedPrecision {
        /// Bit planes.
        zfp_precision: u32,
    },
    /// `fixed_accuracy`
    FixedAccuracy {
        /// Largest absolute error.
        zfp_tolerance: f64,
    },
}

impl ZfpSettings {
    /// The name of the mode in descriptors.
    pub const fn zfp_mode(&self) -> &'static str {
        match self {
            Self::FixedRate { .. } => "fixed_rate",
            Self::FixedPrecision { .. } => "fixed_precision",
            Self::FixedAccuracy { .. } => "fixed_accuracy",
        }
    }
}

/// What an error bound of `sz3` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sz3Mode {
    /// Absolute error.
    Abs,
    /// Error relative to the range of the values.
    Rel,
    /// Peak signal-to-noise ratio in decibels.
    Psnr,
}

impl Sz3Mode {
    /// The name in descriptors.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Abs => "abs",
            Self::Rel => "rel",
            Self::Psnr => "psnr",
        }
    }

    /// The mode of this exact name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Abs, Self::Rel, Self::Psnr].into_iter().find(|mode| mode.name() == name)
    }
}
