//! What `szip` states about itself.

use crate::spec::{
    CodecInfo, CodecSpec, Compression, CompressorInput, CompressorSpec, Dtypes, Key, KeyKind, Need, Param, ParamError,
    Params, if_built, refused,
};
use crate::{Codec, CodecError};
use fw_tensor::{ByteOrder, DType};

/// Settings of `szip`. The fields are named like the keys of descriptors.
#[derive(Clone, Debug, PartialEq, Eq)]
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

impl Default for SzipSettings {
    /// Intervals of 128 blocks of 16 samples, differences coded: what suits most data.
    fn default() -> Self {
        Self { szip_rsi: 128, szip_block_size: 16, szip_flags: PREPROCESS, szip_block_offsets: None }
    }
}

impl SzipSettings {
    /// The default settings, with the flags that say how samples of this type and byte order lie in memory when neither an
    /// encoding nor a filter has changed them.
    pub(crate) fn for_samples(dtype: DType, order: ByteOrder) -> Self {
        let signed = matches!(dtype, DType::Int8 | DType::Int16 | DType::Int32);
        let msb = order == ByteOrder::Big && dtype.byte_width().is_some_and(|width| width > 1);
        let flags = PREPROCESS | if signed { SIGNED } else { 0 } | if msb { MSB } else { 0 };
        Self { szip_flags: flags, ..Self::default() }
    }

    /// Bits of a sample.
    fn sample_bits(input: &CompressorInput<'_>) -> Result<u32, CodecError> {
        match (input.packed_bits(), input.shuffled()) {
            (Some(bits @ (8 | 16 | 24 | 32)), _) => Ok(bits as u32),
            // Other widths are not whole bytes, and szip would see samples where there are none.
            (Some(bits), _) => Err(refused(format!("szip takes packed values of 8, 16, 24 or 32 bits, not {bits}"))),
            (None, Some(_)) => Ok(8),
            (None, None) => match (input.dtype.bits(), input.dtype) {
                (bits @ (8 | 16 | 32), dtype) if dtype != DType::Bitmask => Ok(bits as u32),
                (bits, dtype) => {
                    Err(refused(format!("szip takes samples of up to 32 bits, {dtype} has {bits} (shuffle helps)")))
                }
            },
        }
    }

    /// The codec without offsets, with the flags as they take effect.
    #[cfg(feature = "szip")]
    fn codec(&self, input: &CompressorInput<'_>) -> Result<crate::szip::Szip, CodecError> {
        use crate::szip::{Szip, SzipFlags, SzipParams};
        let number = |value: u64, key: &Key| {
            u32::try_from(value).map_err(|_| {
                let message = format!("{} is {value}, expected 32 bits at most", key.name);
                CodecError::parameter(Self::INFO.name, "out_of_range", message)
            })
        };
        let mut flags = SzipFlags(number(self.szip_flags, &FLAGS)?);
        if input.packed_bits().is_some() {
            // Packed values have their most significant byte first, whatever the descriptor says.
            flags = flags | SzipFlags::MSB;
        }
        Szip::new(SzipParams {
            rsi: number(self.szip_rsi, &RSI)?,
            block_size: number(self.szip_block_size, &BLOCK_SIZE)?,
            flags,
            bits_per_sample: Self::sample_bits(input)?,
        })
    }
}

impl CodecSpec for SzipSettings {
    const INFO: CodecInfo = CodecInfo {
        name: "szip",
        feature: "szip",
        summary: "Codes integer samples by CCSDS 121.0-B, as libaec does.",
        keys: &[RSI, BLOCK_SIZE, FLAGS, OFFSETS],
        dtypes: Dtypes::Except(&[DType::Bitmask]),
        rules: "Samples have at most 32 bits: wider elements need shuffle, or simple_packing to 8, 16, 24 or 32 bits.",
        ranges: "The intervals a range touches, by `szip_block_offsets`; without them everything before it is passed over.",
    };

    fn read(params: &Params<'_>) -> Result<Self, ParamError> {
        Ok(Self {
            szip_rsi: params.required(&RSI, params.integer(&RSI)?)?,
            szip_block_size: params.required(&BLOCK_SIZE, params.integer(&BLOCK_SIZE)?)?,
            szip_flags: params.required(&FLAGS, params.integer(&FLAGS)?)?,
            szip_block_offsets: params.unsigned_list(&OFFSETS)?,
        })
    }

    fn write(&self, put: &mut dyn FnMut(&'static Key, Param<'_>)) {
        put(&RSI, Param::Integer(self.szip_rsi.into()));
        put(&BLOCK_SIZE, Param::Integer(self.szip_block_size.into()));
        put(&FLAGS, Param::Integer(self.szip_flags.into()));
        if let Some(offsets) = &self.szip_block_offsets {
            put(&OFFSETS, Param::UnsignedList(offsets.clone()));
        }
    }
}

impl CompressorSpec for SzipSettings {
    fn check(&self, input: &CompressorInput<'_>) -> Result<(), CodecError> {
        Self::sample_bits(input).map(drop)
    }

    /// Bit positions begin at 0, increase, and lie inside the payload.
    fn check_written(&self, payload_len: u64) -> Result<(), ParamError> {
        let Some(offsets) = &self.szip_block_offsets else { return Ok(()) };
        if offsets.first() != Some(&0) {
            return Err(ParamError::unusable(&OFFSETS, "must start at 0"));
        }
        if !offsets.is_sorted_by(|a, b| a < b) {
            return Err(ParamError::unusable(&OFFSETS, "must be strictly increasing"));
        }
        let bits = payload_len.saturating_mul(8);
        match offsets.last() {
            Some(last) if *last > bits => {
                let problem = format!("must lie in the payload: offset {last} is beyond its {bits} bits");
                Err(ParamError::unusable(&OFFSETS, problem))
            }
            _ => Ok(()),
        }
    }

    fn encoder(&self, input: &CompressorInput<'_>) -> Result<Box<dyn Codec>, CodecError> {
        if_built!("szip", Self, (input), {
            let offsets = self.szip_block_offsets.clone().unwrap_or_default();
            Ok(Box::new(self.codec(input)?.with_offsets(offsets)))
        })
    }

    fn encode(
        &self,
        input: &CompressorInput<'_>,
        bytes: &[u8],
        threads: usize,
        out: &mut Vec<u8>,
    ) -> Result<Option<Compression>, CodecError> {
        if_built!("szip", Self, (input, bytes, threads, out), {
            let offsets = self.codec(input)?.encode_with_offsets(bytes, threads, out)?;
            Ok(Some(Compression::Szip(Self { szip_block_offsets: Some(offsets), ..self.clone() })))
        })
    }
}

const RSI: Key = Key::new(
    "szip_rsi",
    KeyKind::Unsigned,
    Need::Required,
    "Reference sample interval in blocks, 1 to 4096; normally 128.",
);
const BLOCK_SIZE: Key = Key::new(
    "szip_block_size",
    KeyKind::Unsigned,
    Need::Required,
    "Samples per block: 8, 16, 32 or 64; any even number up to 65536 with flag 64. Normally 16.",
);
const FLAGS: Key = Key::new(
    "szip_flags",
    KeyKind::Unsigned,
    Need::Required,
    "Sum of: 1 signed samples, 4 most significant byte first, 8 code differences, 64 any even block size. Normally 8.",
);
const OFFSETS: Key = Key::new(
    "szip_block_offsets",
    KeyKind::UnsignedList,
    Need::Written,
    "Bit position of each interval, from the start of the payload; needed to decode ranges and on several threads.",
);
const SIGNED: u64 = 1;
const MSB: u64 = 4;
const PREPROCESS: u64 = 8;
