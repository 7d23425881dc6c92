//! Stages by type, completed from the tensor they are for.

use super::{
    Blosc2Codec, Blosc2Settings, Compression, Encoding, Filter, Lz4Settings, RleSettings, RoaringSettings,
    ShuffleSettings, SimplePacking, Stages, Sz3Mode, Sz3Settings, SzipSettings, ZfpSettings, ZstdSettings,
};
use crate::CodecError;
use crate::spec::refused;
use fw_tensor::{ByteOrder, DType};

/// How a tensor is coded, without what follows from the tensor: the element size of a shuffle and how the samples of szip
/// lie in memory are filled in by [`Pipe::stages`]; what simple packing derives from the values, when they are encoded.
///
/// A pipe is at most one encoding ([`Pipe::pack`]), one filter ([`Pipe::shuffle`]) and one compressor, in this order.
///
/// ```
/// use fw_codec::chain::{Blosc2Codec, Pipe, Sz3Mode, ZstdSettings};
/// # use fw_codec::chain::Pipeline;
/// # use fw_tensor::{ByteOrder, DType};
/// # let check = |pipe: Pipe, dtype| {
/// #     let stages = pipe.stages(dtype, ByteOrder::NATIVE).unwrap();
/// #     Pipeline::new(stages, dtype, 1000, ByteOrder::NATIVE).unwrap();
/// # };
///
/// let packed = Pipe::pack(16).szip(); // doubles as 16-bit integers, entropy-coded
/// let planes = Pipe::shuffle().zstd(3); // bytes of equal significance side by side, then Zstandard
/// let accurate = Pipe::zfp_accuracy(0.01); // doubles, off by at most a hundredth
/// let bounded = Pipe::sz3(Sz3Mode::Rel, 1e-4); // doubles, off by at most a part of their range
/// let blocks = Pipe::blosc2(Blosc2Codec::Lz4, 5); // blocks that decode one by one
/// let settings = Pipe::compress(ZstdSettings::default()); // any settings of a codec
/// # check(packed, DType::Float64);
/// # check(planes, DType::Float32);
/// # check(accurate, DType::Float64);
/// # check(bounded, DType::Float64);
/// # check(blocks, DType::Int16);
/// # check(settings, DType::UInt8);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pipe {
    open: OpenPipe,
    compression: Compressor,
}

/// A [`Pipe`] that still takes a compressor. Without one it is complete too.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenPipe {
    encoding: Encoding,
    shuffle: Shuffle,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Shuffle {
    #[default]
    None,
    /// By the width of what the encoding yields.
    ByElement,
    /// By this many bytes.
    By(u64),
}

#[derive(Clone, Debug, PartialEq)]
enum Compressor {
    Given(Compression),
    /// szip with the flags that fit the samples.
    FittingSzip,
}

impl Default for Compressor {
    fn default() -> Self {
        Self::Given(Compression::None)
    }
}

impl Pipe {
    /// The bytes of the values as they are.
    pub fn raw() -> Self {
        Self::default()
    }

    /// Doubles as integers of this many bits, 0 to 64; the scale is derived from the values.
    pub fn pack(bits: u64) -> OpenPipe {
        Self::encode(SimplePacking::bits(bits))
    }

    /// An encoding with these settings.
    pub fn encode(encoding: impl Into<Encoding>) -> OpenPipe {
        OpenPipe { encoding: encoding.into(), shuffle: Shuffle::None }
    }

    /// Bytes of equal significance side by side.
    pub fn shuffle() -> OpenPipe {
        OpenPipe::default().shuffle()
    }

    /// A compressor with these settings, without an encoding or a filter before it.
    pub fn compress(compression: impl Into<Compression>) -> Self {
        OpenPipe::default().compress(compression)
    }

    /// CCSDS 121 entropy coding of samples of up to 32 bits.
    pub fn szip() -> Self {
        OpenPipe::default().szip()
    }

    /// Zstandard at a level; 3 is usual.
    pub fn zstd(level: i32) -> Self {
        OpenPipe::default().zstd(level)
    }

    /// LZ4.
    pub fn lz4() -> Self {
        OpenPipe::default().lz4()
    }

    /// Blosc2 with a codec inside, at a level from 0 to 9; `lz4` and 5 are usual.
    pub fn blosc2(codec: Blosc2Codec, level: i32) -> Self {
        OpenPipe::default().blosc2(codec, level)
    }

    /// Doubles at this many bits per value (zfp).
    pub fn zfp_rate(bits: f64) -> Self {
        Self::compress(ZfpSettings::FixedRate { zfp_rate: bits })
    }

    /// Doubles with this many bit planes per block (zfp).
    pub fn zfp_precision(planes: u32) -> Self {
        Self::compress(ZfpSettings::FixedPrecision { zfp_precision: planes })
    }

    /// Doubles with at most this absolute error (zfp).
    pub fn zfp_accuracy(tolerance: f64) -> Self {
        Self::compress(ZfpSettings::FixedAccuracy { zfp_tolerance: tolerance })
    }

    /// Doubles within an error bound (sz3).
    pub fn sz3(mode: Sz3Mode, bound: f64) -> Self {
        Self::compress(Sz3Settings { sz3_error_bound_mode: mode, sz3_error_bound: bound })
    }

    /// Run lengths of a bit mask.
    pub fn rle() -> Self {
        Self::compress(RleSettings)
    }

    /// A bit mask as a Roaring bitmap.
    pub fn roaring() -> Self {
        Self::compress(RoaringSettings)
    }

    /// The stages for a tensor of this type and byte order.
    ///
    /// Whether they go together, and fit the tensor, is checked by [`super::Pipeline::new`].
    ///
    /// # Errors
    /// `unsupported_combination` for a shuffle of packed values that are not whole bytes; [`OpenPipe::shuffle_by`] states a
    /// size.
    pub fn stages(&self, dtype: DType, byte_order: ByteOrder) -> Result<Stages, CodecError> {
        let OpenPipe { encoding, shuffle } = &self.open;
        let filter = match shuffle {
            Shuffle::None => Filter::None,
            Shuffle::By(size) => ShuffleSettings { shuffle_element_size: *size }.into(),
            Shuffle::ByElement => ShuffleSettings { shuffle_element_size: element_size(encoding, dtype)? }.into(),
        };
        let compression = match &self.compression {
            Compressor::Given(compression) => compression.clone(),
            Compressor::FittingSzip => match (encoding, &filter) {
                (Encoding::None, Filter::None) => SzipSettings::for_samples(dtype, byte_order).into(),
                // Packed values are unsigned, and the planes of a shuffle are bytes.
                (Encoding::SimplePacking(_), _) | (Encoding::None, Filter::Shuffle(_)) => {
                    SzipSettings::default().into()
                }
            },
        };
        Ok(Stages { encoding: encoding.clone(), filter, compression })
    }
}

impl OpenPipe {
    /// Then bytes of equal significance side by side; elements are as wide as the tensor's, or as its packed values.
    #[must_use]
    pub fn shuffle(self) -> Self {
        Self { shuffle: Shuffle::ByElement, ..self }
    }

    /// The same with elements of this many bytes.
    #[must_use]
    pub fn shuffle_by(self, element_size: u64) -> Self {
        Self { shuffle: Shuffle::By(element_size), ..self }
    }

    /// Then a compressor with these settings.
    pub fn compress(self, compression: impl Into<Compression>) -> Pipe {
        Pipe { open: self, compression: Compressor::Given(compression.into()) }
    }

    /// Then CCSDS 121 entropy coding of samples of up to 32 bits.
    pub fn szip(self) -> Pipe {
        Pipe { open: self, compression: Compressor::FittingSzip }
    }

    /// Then Zstandard at a level; 3 is usual.
    pub fn zstd(self, level: i32) -> Pipe {
        self.compress(ZstdSettings { zstd_level: Some(level) })
    }

    /// Then LZ4.
    pub fn lz4(self) -> Pipe {
        self.compress(Lz4Settings)
    }

    /// Then Blosc2 with a codec inside, at a level from 0 to 9; `lz4` and 5 are usual.
    pub fn blosc2(self, codec: Blosc2Codec, level: i32) -> Pipe {
        self.compress(Blosc2Settings { blosc2_codec: Some(codec), blosc2_clevel: Some(level) })
    }
}

impl From<OpenPipe> for Pipe {
    fn from(open: OpenPipe) -> Self {
        open.compress(Compression::None)
    }
}

impl From<Stages> for Pipe {
    /// Exactly these stages.
    fn from(stages: Stages) -> Self {
        let shuffle = match stages.filter {
            Filter::None => Shuffle::None,
            Filter::Shuffle(shuffle) => Shuffle::By(shuffle.shuffle_element_size),
        };
        OpenPipe { encoding: stages.encoding, shuffle }.compress(stages.compression)
    }
}

/// Bytes of each element that an encoding yields.
fn element_size(encoding: &Encoding, dtype: DType) -> Result<u64, CodecError> {
    match encoding {
        // The bytes of a bit mask.
        Encoding::None => Ok(dtype.byte_width().unwrap_or(1) as u64),
        Encoding::SimplePacking(packing) => match packing.sp_bits_per_value {
            bits if bits > 0 && bits.is_multiple_of(8) => Ok(bits / 8),
            bits => Err(refused(format!(
                "shuffle takes elements of whole bytes, packed values have {bits} bits; state a size with shuffle_by"
            ))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_from_the_tensor_is_filled_in() {
        let stages = |pipe: Pipe, dtype| pipe.stages(dtype, ByteOrder::Little).unwrap();
        let size = |pipe: OpenPipe, dtype| match stages(pipe.into(), dtype).filter {
            Filter::Shuffle(shuffle) => shuffle.shuffle_element_size,
            Filter::None => 0,
        };
        assert_eq!(size(Pipe::shuffle(), DType::Float32), 4);
        assert_eq!(size(Pipe::shuffle(), DType::Complex128), 16);
        assert_eq!(size(Pipe::shuffle(), DType::Bitmask), 1);
        assert_eq!(size(Pipe::pack(24).shuffle(), DType::Float64), 3);
        assert_eq!(size(Pipe::pack(12).shuffle_by(3), DType::Float64), 3);
        assert_eq!(size(Pipe::pack(12), DType::Float64), 0);
        let error = Pipe::from(Pipe::pack(12).shuffle()).stages(DType::Float64, ByteOrder::Little).unwrap_err();
        assert_eq!(error.code, "unsupported_combination");
        let flags = |pipe: Pipe, dtype, order| match pipe.stages(dtype, order).unwrap().compression {
            Compression::Szip(szip) => szip.szip_flags,
            other => panic!("{other:?}"),
        };
        assert_eq!(flags(Pipe::szip(), DType::UInt16, ByteOrder::Little), 8);
        assert_eq!(flags(Pipe::szip(), DType::Int16, ByteOrder::Little), 8 | 1);
        assert_eq!(flags(Pipe::szip(), DType::Float32, ByteOrder::Big), 8 | 4);
        assert_eq!(flags(Pipe::szip(), DType::Int8, ByteOrder::Big), 8 | 1);
        assert_eq!(flags(Pipe::pack(16).szip(), DType::Float64, ByteOrder::Big), 8);
        assert_eq!(flags(Pipe::shuffle().szip(), DType::Int64, ByteOrder::Big), 8);
        assert_eq!(stages(Pipe::raw(), DType::Int8), Stages::default());
        let given = stages(Pipe::pack(12).shuffle_by(3).zstd(7), DType::Float64);
        assert_eq!(stages(given.clone().into(), DType::Float64), given);
        assert_eq!(stages(Pipe::compress(SzipSettings::default()), DType::Int16), {
            Stages { compression: SzipSettings::default().into(), ..Stages::default() }
        });
    }
}
