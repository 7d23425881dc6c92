//! The outer layer of a stream: magic, version, one packed part, and the configuration behind it.
//!
//! ```text
//! u32 magic | u32 version | u64 P | P bytes: u64 unpacked length, zstd frame | configuration
//! ```

use super::{NAME, fault};
use crate::CodecError;
use fw_bytes::{Cursor, Detail};

/// How the values of a stream are predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    /// From the one or two values before; the selector says which, once per block of this many values.
    Lorenzo {
        /// Values per selector.
        block_size: u32,
    },
    /// From coarse to fine, between values already known.
    Interpolation,
    /// Not at all: the doubles themselves.
    Lossless,
}

/// A stream taken apart, with everything checked that can be checked without unpacking.
#[derive(Debug)]
pub(super) struct Stream<'a> {
    pub(super) algorithm: Algorithm,
    pub(super) unpacked_len: u64,
    pub(super) frame: &'a [u8],
    /// Where `frame` begins in the payload.
    pub(super) frame_at: u64,
}

impl<'a> Stream<'a> {
    /// Takes apart a stream that must hold `element_count` doubles.
    pub(super) fn parse(payload: &'a [u8], element_count: u64) -> Result<Self, CodecError> {
        let mut cursor = Cursor::new(payload);
        cursor.expect(&MAGIC.to_le_bytes(), "bad_magic", "stream magic").map_err(fault::outer)?;
        let version = cursor.u32_le("data version").map_err(fault::outer)?;
        if version != VERSION {
            let (expected, found) = (Detail::Hex(VERSION.into()), Detail::Hex(version.into()));
            return Err(fault::wrong("bad_version", "data version", expected, found, 4));
        }
        let packed_len = cursor.u64_le("length of the packed part").map_err(fault::outer)?;
        let at = cursor.position();
        let packed = cursor.take_u64(packed_len, "packed part").map_err(fault::outer)?;
        let algorithm = parse_config(&mut cursor, element_count)?;
        cursor.finish("end of the stream").map_err(fault::outer)?;

        let mut packed = Cursor::at(packed, at);
        let unpacked_len = packed.u64_le("unpacked length").map_err(fault::outer)?;
        Ok(Self { algorithm, unpacked_len, frame: packed.rest(), frame_at: packed.position() })
    }
}

/// Appends a stream around `frame`, a zstd frame of `unpacked_len` bytes.
pub(super) fn write(
    algorithm: Algorithm,
    element_count: u64,
    error_bound: f64,
    unpacked_len: u64,
    frame: &[u8],
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(&MAGIC.to_le_bytes());
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&(8 + frame.len() as u64).to_le_bytes());
    out.extend_from_slice(&unpacked_len.to_le_bytes());
    out.extend_from_slice(frame);

    let start = out.len();
    let width = u64::BITS - element_count.leading_zeros();
    let (code, flags, block_size) = match algorithm {
        Algorithm::Lorenzo { block_size } => (ALGORITHM_LORENZO, FLAGS_LORENZO, block_size),
        Algorithm::Interpolation => (ALGORITHM_INTERPOLATION, FLAGS_DEFAULT, DEFAULT_BLOCK_SIZE),
        Algorithm::Lossless => (ALGORITHM_LOSSLESS, FLAGS_DEFAULT, DEFAULT_BLOCK_SIZE),
    };
    out.extend_from_slice(&[0, 1, width as u8]);
    out.extend_from_slice(&element_count.to_le_bytes()[..width.div_ceil(8) as usize]);
    out.extend_from_slice(&element_count.to_le_bytes());
    out.extend_from_slice(&[code, MODE_ABS]);
    out.extend_from_slice(&error_bound.to_le_bytes());
    out.extend_from_slice(&[flags, TYPE_DOUBLE]);
    out.extend_from_slice(&QUANTIZATION_BINS.to_le_bytes());
    out.extend_from_slice(&block_size.to_le_bytes());
    out.push(1);
    out[start] = (out.len() - start) as u8;
}

/// Bytes around the zstd frame: 24 in front, at most 41 of configuration behind.
pub(super) const OVERHEAD: usize = 24 + 41;

/// Values per Lorenzo selector as the reference writes it.
pub(super) const DEFAULT_BLOCK_SIZE: u32 = 128;

fn parse_config(cursor: &mut Cursor<'_>, element_count: u64) -> Result<Algorithm, CodecError> {
    let at = cursor.position();
    let size = cursor.u8("configuration size").map_err(fault::outer)?;
    let mut config = cursor.sub(usize::from(size.saturating_sub(1)), "configuration").map_err(fault::outer)?;
    read_config(&mut config, element_count, at)
}

fn read_config(config: &mut Cursor<'_>, element_count: u64, start: u64) -> Result<Algorithm, CodecError> {
    let rank = config.u8("number of dimensions").map_err(fault::outer)?;
    if rank != 1 {
        let message = format!("streams of {rank} dimensions are not part of the format, expected 1");
        return Err(CodecError::unsupported(NAME, "unsupported_rank", message).at(start + 1));
    }
    let at = config.position();
    let width = config.u8("width of the dimension").map_err(fault::outer)?;
    if width > 64 {
        let found = Detail::Number(width.into());
        return Err(fault::wrong("bad_dimension", "width of the dimension", Detail::AtMost(64), found, at));
    }
    let mut dimension = [0; 8];
    let bytes = config.take(usize::from(width.div_ceil(8)), "dimension").map_err(fault::outer)?;
    dimension.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    // The bits above `width` in the last byte are padding.
    let dimension = u64::from_le_bytes(dimension) & u64::MAX.checked_shr(64 - u32::from(width)).unwrap_or(0);
    let at = config.position();
    let count = config.u64_le("number of values").map_err(fault::outer)?;
    for found in [dimension, count] {
        if found != element_count {
            let (expected, found) = (Detail::Number(element_count), Detail::Number(found));
            return Err(fault::wrong("element_count_mismatch", "number of values", expected, found, at));
        }
    }
    let at = config.position();
    let code = config.u8("algorithm").map_err(fault::outer)?;
    // Mode and bound record how the encoder was set; the quantiser carries its own bound.
    config.take(1 + 8, "mode and bound").map_err(fault::outer)?;
    let flags_at = config.position();
    let flags = config.u8("predictor flags").map_err(fault::outer)?;
    let type_at = config.position();
    let data_type = config.u8("data type").map_err(fault::outer)?;
    if data_type != TYPE_DOUBLE {
        let (expected, found) = (Detail::Number(TYPE_DOUBLE.into()), Detail::Number(data_type.into()));
        return Err(fault::wrong("bad_data_type", "data type", expected, found, type_at));
    }
    config.take(4, "quantisation bins").map_err(fault::outer)?;
    let block_at = config.position();
    let block_size = config.u32_le("block size").map_err(fault::outer)?;
    config.take(1, "end of the configuration").map_err(fault::outer)?;
    match code {
        // Other sets of predictors store other selectors and sections; the reference writes only this one.
        ALGORITHM_LORENZO if flags & FLAGS_MASK != FLAGS_LORENZO => {
            let message = format!("predictor flags 0x{flags:02x} with Lorenzo, expected 0x{FLAGS_LORENZO:02x}");
            Err(CodecError::unsupported(NAME, "unsupported_predictors", message).at(flags_at))
        }
        ALGORITHM_LORENZO if block_size == 0 || block_size > i32::MAX as u32 => {
            let found = Detail::Number(block_size.into());
            Err(fault::wrong("bad_block_size", "block size", Detail::AtLeast(1), found, block_at))
        }
        ALGORITHM_LORENZO => Ok(Algorithm::Lorenzo { block_size }),
        ALGORITHM_INTERPOLATION => Ok(Algorithm::Interpolation),
        ALGORITHM_LOSSLESS => Ok(Algorithm::Lossless),
        other => {
            let message = format!("algorithm {other} is not one of 0 (Lorenzo), 2 (interpolation), 4 (lossless)");
            Err(CodecError::unsupported(NAME, "unsupported_algorithm", message).at(at))
        }
    }
}

const MAGIC: u32 = 0xF342_F310;
const VERSION: u32 = 0x0303_0200;
const ALGORITHM_LORENZO: u8 = 0;
const ALGORITHM_INTERPOLATION: u8 = 2;
const ALGORITHM_LOSSLESS: u8 = 4;
const MODE_ABS: u8 = 0;
/// One bit each for the first-order, second-order and regression predictor, which only Lorenzo streams look at.
const FLAGS_MASK: u8 = 0xE0;
const FLAGS_DEFAULT: u8 = 0xE0;
const FLAGS_LORENZO: u8 = 0xC0;
const TYPE_DOUBLE: u8 = 1;
const QUANTIZATION_BINS: i32 = 65536;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_specification_is_written_byte_for_byte() {
        let mut out = Vec::new();
        write(Algorithm::Lossless, 2, 0.1, 16, &[0xAA; 8], &mut out);
        assert_eq!(&out[..8], [0x10, 0xF3, 0x42, 0xF3, 0x00, 0x02, 0x03, 0x03]);
        let config = "21010202020000000000000004009a9999999999b93fe001000001008000000001";
        let hex: String = out[32..].iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, config);
    }

    #[test]
    fn what_is_written_is_read_back() {
        for count in [1, 2, 255, 256, 65_536, u64::from(u32::MAX), u64::MAX] {
            for algorithm in
                [Algorithm::Lossless, Algorithm::Interpolation, Algorithm::Lorenzo { block_size: DEFAULT_BLOCK_SIZE }]
            {
                let mut out = Vec::new();
                write(algorithm, count, 0.5, 77, b"frame", &mut out);
                let stream = Stream::parse(&out, count).unwrap();
                assert_eq!(
                    (stream.algorithm, stream.unpacked_len, stream.frame, stream.frame_at),
                    (algorithm, 77, &b"frame"[..], 24)
                );
                assert!(out.len() <= OVERHEAD + 5);
            }
        }
    }

    #[test]
    fn every_cut_and_a_longer_stream_are_errors() {
        let mut out = Vec::new();
        write(Algorithm::Interpolation, 300, 0.5, 77, b"frame", &mut out);
        for len in 0..out.len() {
            Stream::parse(&out[..len], 300).unwrap_err();
        }
        assert_eq!(Stream::parse(&out, 301).unwrap_err().code, "element_count_mismatch");
        out.push(0);
        assert_eq!(Stream::parse(&out, 300).unwrap_err().code, "trailing_bytes");
    }
}
