//! Parameters to codecs. A new compressor is one arm here.

use super::{Compression, Pipeline};
use crate::{Codec, CodecError};
use fw_tensor::ByteOrder;

impl Pipeline {
    /// The compressor for decoding to values in `order`, or `None` when there is none. The order matters only to codecs
    /// that know values.
    pub(super) fn decompressor(&self, order: ByteOrder) -> Result<Option<Box<dyn Codec>>, CodecError> {
        // Streams carry their own bound, and what a bad one describes is still readable.
        #[cfg(feature = "sz3")]
        if let Compression::Sz3 { .. } = self.stages.compression {
            return boxed(crate::sz3::Sz3::reader(order));
        }
        self.codec(order)
    }

    /// The compressor for encoding, or `None` when there is none.
    pub(super) fn compressor(&self) -> Result<Option<Box<dyn Codec>>, CodecError> {
        self.codec(self.byte_order)
    }

    fn codec(&self, order: ByteOrder) -> Result<Option<Box<dyn Codec>>, CodecError> {
        let _ = order;
        match &self.stages.compression {
            Compression::None => Ok(None),
            #[cfg(feature = "szip")]
            Compression::Szip(settings) => {
                let offsets = settings.szip_block_offsets.clone().unwrap_or_default();
                boxed(self.szip(settings)?.with_offsets(offsets))
            }
            #[cfg(feature = "zstd")]
            Compression::Zstd { zstd_level } => {
                use super::Filter;
                let codec = zstd_level.map_or_else(Default::default, crate::zstd::Zstd::new);
                let shuffled = matches!(self.stages.filter, Filter::Shuffle { shuffle_element_size: size } if size > 1);
                boxed(if shuffled { codec.for_planes() } else { codec })
            }
            #[cfg(feature = "lz4")]
            Compression::Lz4 => boxed(crate::lz4::Lz4),
            #[cfg(feature = "blosc2")]
            Compression::Blosc2 { blosc2_codec, blosc2_clevel } => {
                use crate::blosc2::{Blosc2, Blosc2Params, Filter};
                boxed(Blosc2::new(Blosc2Params {
                    codec: blosc2_codec.unwrap_or_default().name().parse()?,
                    level: i64::from(blosc2_clevel.unwrap_or(5)),
                    typesize: self.type_size(),
                    filter: Filter::Shuffle,
                })?)
            }
            #[cfg(feature = "zfp")]
            Compression::Zfp(settings) => {
                use super::ZfpSettings;
                use crate::zfp::{Zfp, ZfpMode};
                let mode = match *settings {
                    ZfpSettings::FixedRate { zfp_rate } => ZfpMode::FixedRate(zfp_rate),
                    ZfpSettings::FixedPrecision { zfp_precision } => ZfpMode::FixedPrecision(zfp_precision),
                    ZfpSettings::FixedAccuracy { zfp_tolerance } => ZfpMode::FixedAccuracy(zfp_tolerance),
                };
                boxed(Zfp::new(mode, order)?)
            }
            #[cfg(feature = "sz3")]
            Compression::Sz3 { sz3_error_bound_mode: mode, sz3_error_bound: bound } => {
                use super::Sz3Mode;
                use crate::sz3::{Sz3, Sz3Bound};
                let bound = match mode {
                    Sz3Mode::Abs => Sz3Bound::Abs(*bound),
                    Sz3Mode::Rel => Sz3Bound::Rel(*bound),
                    Sz3Mode::Psnr => Sz3Bound::Psnr(*bound),
                };
                boxed(Sz3::new(bound, order)?)
            }
            #[cfg(feature = "rle")]
            Compression::Rle => boxed(crate::rle::Rle),
            #[cfg(feature = "roaring")]
            Compression::Roaring => boxed(crate::roaring::Roaring),
            #[allow(unreachable_patterns, reason = "every codec may be part of the build")]
            other => Err(missing(other.name())),
        }
    }

    /// The szip codec without offsets, with the flags as they take effect.
    #[cfg(feature = "szip")]
    pub(super) fn szip(&self, settings: &super::SzipSettings) -> Result<crate::szip::Szip, CodecError> {
        use super::Encoding;
        use crate::szip::{Szip, SzipFlags, SzipParams};
        let number = |value: u64, key: &'static str| {
            u32::try_from(value).map_err(|_| {
                CodecError::parameter("szip", "out_of_range", format!("{key} is {value}, expected 32 bits at most"))
            })
        };
        let mut flags = SzipFlags(number(settings.szip_flags, "szip_flags")?);
        if matches!(self.stages.encoding, Encoding::SimplePacking(_)) {
            // Packed values have their most significant byte first, whatever the descriptor says.
            flags = flags | SzipFlags::MSB;
        }
        Szip::new(SzipParams {
            rsi: number(settings.szip_rsi, "szip_rsi")?,
            block_size: number(settings.szip_block_size, "szip_block_size")?,
            flags,
            bits_per_sample: super::rules::sample_bits(self)?,
        })
    }

    /// The unit that blosc2 shuffles.
    #[cfg(feature = "blosc2")]
    fn type_size(&self) -> usize {
        use super::{Encoding, Filter};
        match (&self.stages.filter, &self.stages.encoding) {
            (Filter::Shuffle { .. }, _) => 1,
            (Filter::None, Encoding::SimplePacking(packing)) => packing.sp_bits_per_value.div_ceil(8) as usize,
            (Filter::None, Encoding::None) => self.dtype.byte_width().unwrap_or(1),
        }
    }
}

#[allow(dead_code, reason = "a build may have no compressor at all")]
fn boxed(codec: impl Codec + 'static) -> Result<Option<Box<dyn Codec>>, CodecError> {
    Ok(Some(Box::new(codec)))
}

/// The error for a codec that this build does not have.
pub(crate) fn missing(codec: &'static str) -> CodecError {
    let feature = if codec == "simple_packing" { "packing" } else { codec };
    CodecError::unsupported(
        codec,
        "codec_not_built",
        format!("this build does not have it; enable the cargo feature `{feature}` of fw-codec"),
    )
}
