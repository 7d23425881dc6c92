//! The zstd layer inside a stream.

use super::{NAME, fault, stream::Stream};
use crate::CodecError;
use fw_bytes::Detail;

/// Unpacks the part of a stream that describes `element_count` predicted values.
///
/// The claimed length is held against the most that many values can need before anything is reserved.
pub(super) fn unpack(stream: &Stream<'_>, element_count: usize) -> Result<Vec<u8>, CodecError> {
    let limit = max_unpacked_len(element_count);
    let Some(len) = usize::try_from(stream.unpacked_len).ok().filter(|len| *len <= limit) else {
        let (expected, found) = (Detail::AtMost(limit as u64), Detail::Number(stream.unpacked_len));
        return Err(fault::wrong("bad_unpacked_length", "unpacked length", expected, found, stream.frame_at - 8));
    };
    let mut unpacked = Vec::new();
    unpacked.try_reserve_exact(len).map_err(|_| {
        CodecError::limit(NAME, "out_of_memory", format!("no memory for {len} bytes of the unpacked part"))
    })?;
    check_len(stream, zstd_safe::decompress(&mut unpacked, stream.frame), len)?;
    Ok(unpacked)
}

/// Unpacks straight into `out`, which must be filled exactly.
pub(super) fn unpack_into(stream: &Stream<'_>, out: &mut [u8]) -> Result<(), CodecError> {
    if stream.unpacked_len != out.len() as u64 {
        let (expected, found) = (Detail::Number(out.len() as u64), Detail::Number(stream.unpacked_len));
        return Err(fault::wrong("bad_unpacked_length", "unpacked length", expected, found, stream.frame_at - 8));
    }
    let len = out.len();
    check_len(stream, zstd_safe::decompress(out, stream.frame), len)
}

/// Compresses `bytes` into a new zstd frame.
pub(super) fn pack(bytes: &[u8]) -> Result<Vec<u8>, CodecError> {
    let mut frame = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
    zstd_safe::compress(&mut frame, bytes, LEVEL).map_err(|code| {
        CodecError::misuse(
            NAME,
            "zstd_failed",
            format!("zstd refused to compress: {}", zstd_safe::get_error_name(code)),
        )
    })?;
    Ok(frame)
}

/// The most bytes that `element_count` predicted values can need before zstd.
///
/// Eight for an unpredictable value and two for its code (a Huffman code over 65 536 symbols takes 16 bits on average
/// at most), one more for selectors; 26 for each leaf of the tree, of which there are no more than values or symbols.
pub(super) const fn max_unpacked_len(element_count: usize) -> usize {
    let leaves = if element_count < MAX_LEAVES { element_count } else { MAX_LEAVES };
    element_count.saturating_mul(11).saturating_add(leaves * 27 + 4096)
}

fn check_len(stream: &Stream<'_>, result: zstd_safe::SafeResult, len: usize) -> Result<(), CodecError> {
    match result {
        Ok(found) if found == len => Ok(()),
        Ok(found) => {
            let (expected, found) = (Detail::Number(len as u64), Detail::Number(found as u64));
            Err(fault::wrong("bad_unpacked_length", "unpacked part", expected, found, stream.frame_at))
        }
        Err(code) => {
            let message = format!("zstd frame of {len} bytes: {}", zstd_safe::get_error_name(code));
            Err(CodecError::format(NAME, "bad_zstd_frame", message).at(stream.frame_at))
        }
    }
}

const MAX_LEAVES: usize = 1 << 17;
const LEVEL: i32 = 3;
