//! Typed pipelines, completed from the tensor they encode.

use super::{
    Blosc2Codec, Blosc2Settings, Compression, Encoding, Filter, Lz4Settings, RleSettings, RoaringSettings,
    ShuffleSettings, SimplePacking, Stages, Sz3Mode, Sz3Settings, SzipSettings, ZfpSettings, ZstdSettings,
};
use crate::CodecError;
use crate::spec::refused;
use fw_tensor::{ByteOrder, DType};

/// A pipeline that says how to encode a tensor, without parameters that can be derived from the tensor.
///
/// [`Pipe::stages`] fills in the element size of a shuffle and the sample layout of szip; simple packing derives its scale from
/// the values while it encodes them. A pipe has at most one encoding ([`Pipe::pack`]), one filter ([`Pipe::shuffle`]) and one
/// compressor, in this order.
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
/// let planes = Pipe::shuffle().zstd(3); // bytes grouped by significance, then Zstandard
/// let accurate = Pipe::zfp_accuracy(0.01); // doubles with an absolute error of at most 0.01
/// let bounded = Pipe::sz3(Sz3Mode::Rel, 1e-4); // doubles with an error of at most 1e-4 of their range
/// let blocks = Pipe::blosc2(Blosc2Codec::Lz4, 5); // blocks that can be decoded one by one
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

/// A [`Pipe`] to which a compressor can still be added; it is complete without one, too.
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
    /// Stores the bytes of the values as they are.
    pub fn raw() -> Self {
        Self::default()
    }

    /// Packs doubles into integers of `bits` bits, 0 to 64; the scale is derived from the values.
    pub fn pack(bits: u64) -> OpenPipe {
        Self::encode(SimplePacking::bits(bits))
    }

    /// Encodes with the given settings.
    pub fn encode(encoding: impl Into<Encoding>) -> OpenPipe {
        OpenPipe { encoding: encoding.into(), shuffle: Shuffle::None }
    }

    /// Groups bytes by significance: the first bytes of all elements, then the second ones, and so on.
    pub fn shuffle() -> OpenPipe {
        OpenPipe::default().shuffle()
    }

    /// Compresses with the given settings, without an encoding or a filter.
    pub fn compress(compression: impl Into<Compression>) -> Self {
        OpenPipe::default().compress(compression)
    }

    /// Compresses samples of up to 32 bits with szip (CCSDS 121); flags that fit the element type are filled in.
    pub fn szip() -> Self {
        OpenPipe::default().szip()
    }

    /// Compresses with Zstandard at `level`, from negative (fast) to 22 (small); 3 is usual.
    pub fn zstd(level: i32) -> Self {
        OpenPipe::default().zstd(level)
    }

    /// Compresses with LZ4.
    pub fn lz4() -> Self {
        OpenPipe::default().lz4()
    }

    /// Compresses with Blosc2, which uses `codec` for its blocks, at `level` 0 (stored) to 9 (small); `lz4` and 5 are usual.
    pub fn blosc2(codec: Blosc2Codec, level: i32) -> Self {
        OpenPipe::default().blosc2(codec, level)
    }

    /// Compresses doubles with zfp at a fixed rate of `bits` bits per value, above 0 and at most 256. Lossy.
    pub fn zfp_rate(bits: f64) -> Self {
        Self::compress(ZfpSettings::FixedRate { zfp_rate: bits })
    }

    /// Compresses doubles with zfp and keeps `planes` bit planes per block; 0 and anything above 64 mean all 64. Lossy.
    pub fn zfp_precision(planes: u32) -> Self {
        Self::compress(ZfpSettings::FixedPrecision { zfp_precision: planes })
    }

    /// Compresses doubles with zfp so that the absolute error is at most `tolerance`, which is positive and finite.
    pub fn zfp_accuracy(tolerance: f64) -> Self {
        Self::compress(ZfpSettings::FixedAccuracy { zfp_tolerance: tolerance })
    }

    /// Compresses doubles with sz3 within an error bound; `mode` says what `bound` means.
    pub fn sz3(mode: Sz3Mode, bound: f64) -> Self {
        Self::compress(Sz3Settings { sz3_error_bound_mode: mode, sz3_error_bound: bound })
    }

    /// Compresses a bit mask as run lengths.
    pub fn rle() -> Self {
        Self::compress(RleSettings)
    }

    /// Compresses a bit mask as a Roaring bitmap.
    pub fn roaring() -> Self {
        Self::compress(RoaringSettings)
    }

    /// Returns the stages for a tensor of this type and byte order.
    ///
    /// [`super::Pipeline::new`] checks that they can be combined and fit the tensor.
    ///
    /// # Errors
    /// `unsupported_combination` if packed values to be shuffled are not whole bytes; use [`OpenPipe::shuffle_by`] then.
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
    /// Then groups bytes by significance; the element size is that of the tensor, or of its packed values.
    #[must_use]
    pub fn shuffle(self) -> Self {
        Self { shuffle: Shuffle::ByElement, ..self }
    }

    /// Then groups bytes by significance, with elements of `element_size` bytes.
    #[must_use]
    pub fn shuffle_by(self, element_size: u64) -> Self {
        Self { shuffle: Shuffle::By(element_size), ..self }
    }

    /// Then compresses with the given settings.
    pub fn compress(self, compression: impl Into<Compression>) -> Pipe {
        Pipe { open: self, compression: Compressor::Given(compression.into()) }
    }

    /// Then compresses samples of up to 32 bits with szip; see [`Pipe::szip`].
    pub fn szip(self) -> Pipe {
        Pipe { open: self, compression: Compressor::FittingSzip }
    }

    /// Then compresses with Zstandard; see [`Pipe::zstd`].
    pub fn zstd(self, level: i32) -> Pipe {
        self.compress(ZstdSettings { zstd_level: Some(level) })
    }

    /// Then compresses with LZ4.
    pub fn lz4(self) -> Pipe {
        self.compress(Lz4Settings)
    }

    /// Then compresses with Blosc2; see [`Pipe::blosc2`].
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
    /// Takes the stages exactly as given.
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
