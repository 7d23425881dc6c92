//! The parameters of a stream, checked once, and what follows from them.

use super::NAME;
use super::samples::Container;
use crate::CodecError;
use std::fmt;
use std::ops::BitOr;

/// Blocks per segment: a run of zero blocks never crosses a multiple of this, counted from the start of its interval.
pub(super) const SEGMENT_BLOCKS: usize = 64;

/// Largest reference sample interval, in blocks.
const MAX_RSI: u32 = 4096;

/// Largest block under [`SzipFlags::NOT_ENFORCE`]; a last block is coded in full, so this bounds what one sample costs.
const MAX_BLOCK: u32 = 1 << 16;

/// How a stream is coded; the decoder needs the very same values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SzipParams {
    /// Reference sample interval (RSI), in blocks: 1..=4096.
    pub rsi: u32,
    /// Samples per block: 8, 16, 32 or 64; any even number up to 65536 with [`SzipFlags::NOT_ENFORCE`].
    pub block_size: u32,
    /// Options, as they take effect (see [`SzipFlags`]).
    pub flags: SzipFlags,
    /// Bits of one sample: 1..=32. Samples lie in 1, 2, 3 or 4 bytes, the least that hold them.
    pub bits_per_sample: u32,
}

/// The option bits of a stream. Bits without a name are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SzipFlags(pub u32);

impl SzipFlags {
    /// Samples are signed (two's complement); they must then fill their bytes.
    pub const SIGNED: Self = Self(1);
    /// 17 to 24 bit samples lie in three bytes. Always so here, whether the flag is given or not.
    pub const THREE_BYTE: Self = Self(2);
    /// Samples are stored most significant byte first.
    pub const MSB: Self = Self(4);
    /// Code differences to the preceding sample instead of the samples.
    pub const PREPROCESS: Self = Self(8);
    /// A shorter set of code options, for up to 4 bits per sample only.
    pub const RESTRICTED: Self = Self(16);
    /// Pad every interval to a byte. Refused: writers ignore it and readers do not, so nothing can be read back.
    pub const PAD_RSI: Self = Self(32);
    /// Allow any even block size.
    pub const NOT_ENFORCE: Self = Self(64);

    /// True when every bit of `other` is set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for SzipFlags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Display for SzipFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// What the inner loops need to know; wrong values cannot exist in here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Bits per sample, 1..=32.
    pub(super) bits: u32,
    /// Largest sample, `2^bits - 1`.
    pub(super) max: u32,
    /// Bits of the option id in front of each coded set.
    pub(super) id_len: u32,
    /// Number of split options; their ids are `1..=split_count`, and the next id means raw.
    pub(super) split_count: u32,
    /// Samples per block.
    pub(super) block: usize,
    /// Blocks per interval.
    pub(super) rsi_blocks: usize,
    /// Samples per interval.
    pub(super) rsi_samples: usize,
    /// How a sample lies in bytes.
    pub(super) container: Container,
    /// Differences to the preceding sample are coded, and each interval starts with a reference sample.
    pub(super) preprocess: bool,
    /// Turns a two's complement sample into its rank and back; zero when unsigned, where both are the same.
    pub(super) sign: u32,
    /// Sums of a block's residuals fit 32 bits.
    pub(super) narrow: bool,
}

impl Layout {
    /// # Errors
    /// When a parameter is outside its range.
    pub(super) fn new(params: &SzipParams) -> Result<Self, CodecError> {
        let SzipParams { rsi, block_size, flags, bits_per_sample: bits } = *params;
        let refuse = |code, message: String| Err(CodecError::parameter(NAME, code, message));
        if !(1..=32).contains(&bits) {
            return refuse("bits_per_sample", format!("bits per sample must be 1..=32, found {bits}"));
        }
        if !(1..=MAX_RSI).contains(&rsi) {
            return refuse("rsi", format!("rsi must be 1..={MAX_RSI}, found {rsi}"));
        }
        let free = flags.contains(SzipFlags::NOT_ENFORCE);
        if free && !(block_size.is_multiple_of(2) && (2..=MAX_BLOCK).contains(&block_size)) {
            return refuse("block_size", format!("block size must be even and 2..={MAX_BLOCK}, found {block_size}"));
        }
        if !free && !matches!(block_size, 8 | 16 | 32 | 64) {
            return refuse("block_size", format!("block size must be 8, 16, 32 or 64, found {block_size}"));
        }
        if flags.contains(SzipFlags::PAD_RSI) {
            return refuse("pad_rsi", format!("flag 32 (padded intervals) cannot be read back, found flags {flags}"));
        }
        let restricted = flags.contains(SzipFlags::RESTRICTED);
        if restricted && bits > 4 {
            return refuse("restricted", format!("flag 16 (restricted) needs at most 4 bits per sample, found {bits}"));
        }
        let signed = flags.contains(SzipFlags::SIGNED);
        if signed && !bits.is_multiple_of(8) {
            return refuse("signed_width", format!("signed samples must have 8, 16, 24 or 32 bits, found {bits}"));
        }
        let id_len = match (bits, restricted) {
            (..=2, true) => 1,
            (_, true) => 2,
            (..=8, _) => 3,
            (..=16, _) => 4,
            _ => 5,
        };
        let preprocess = flags.contains(SzipFlags::PREPROCESS);
        let block = block_size as usize;
        Ok(Self {
            bits,
            max: u32::MAX >> (32 - bits),
            id_len,
            split_count: (1 << id_len) - 2,
            block,
            rsi_blocks: rsi as usize,
            rsi_samples: rsi as usize * block,
            container: Container::new(bits, flags.contains(SzipFlags::MSB)),
            preprocess,
            sign: if signed && preprocess { 1 << (bits - 1) } else { 0 },
            narrow: bits + block_size.ilog2() < 32,
        })
    }

    /// Bits of the longest coded set: raw, with its reference sample.
    pub(super) const fn longest_set(&self) -> u64 {
        self.id_len as u64 + (self.block as u64 + 1) * self.bits as u64
    }

    /// How many intervals hold `samples` samples.
    pub(super) const fn rsi_count(&self, samples: u64) -> u64 {
        samples.div_ceil(self.rsi_samples as u64)
    }

    /// The samples in `bytes` bytes, or `None` when that is not a whole number.
    pub(super) const fn sample_count(&self, bytes: u64) -> Option<u64> {
        let width = self.container.width() as u64;
        if bytes.is_multiple_of(width) { Some(bytes / width) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(rsi: u32, block_size: u32, flags: u32, bits_per_sample: u32) -> SzipParams {
        SzipParams { rsi, block_size, flags: SzipFlags(flags), bits_per_sample }
    }

    #[test]
    fn parameters_outside_their_range_are_refused_by_name() {
        for (given, code) in [
            (params(0, 16, 8, 16), "rsi"),
            (params(4097, 16, 8, 16), "rsi"),
            (params(128, 0, 8, 16), "block_size"),
            (params(128, 12, 8, 16), "block_size"),
            (params(128, 13, 72, 16), "block_size"),
            (params(128, 0, 72, 16), "block_size"),
            (params(128, 65538, 72, 16), "block_size"),
            (params(128, 16, 8, 0), "bits_per_sample"),
            (params(128, 16, 8, 33), "bits_per_sample"),
            (params(128, 16, 8, 64), "bits_per_sample"),
            (params(128, 16, 24, 16), "restricted"),
            (params(128, 16, 24, 5), "restricted"),
            (params(128, 16, 40, 16), "pad_rsi"),
            (params(128, 16, 9, 12), "signed_width"),
        ] {
            let error = Layout::new(&given).unwrap_err();
            assert_eq!((error.code, error.kind), (code, crate::CodecErrorKind::Parameter), "{given:?}");
        }
    }

    #[test]
    fn everything_else_is_accepted() {
        for given in [
            params(1, 8, 0, 1),
            params(4096, 64, 8 | 1, 32),
            params(128, 12, 72, 16),
            params(128, 65536, 72, 16),
            params(2, 2, 64, 3),
            params(128, 16, 24, 4),
            params(128, 16, 8 | 0xffff_ff00, 24),
        ] {
            assert!(Layout::new(&given).is_ok(), "{given:?}");
        }
    }
}
