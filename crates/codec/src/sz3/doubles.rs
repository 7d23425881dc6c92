//! Bytes as doubles and back, without a copy where alignment and byte order allow.

use super::NAME;
use crate::CodecError;
use fw_tensor::ByteOrder;
use std::borrow::Cow;
use zerocopy::FromBytes as _;

/// The doubles in `bytes`, which are in `order`.
///
/// # Errors
/// When the length is no multiple of eight.
pub(super) fn read(bytes: &[u8], order: ByteOrder) -> Result<Cow<'_, [f64]>, CodecError> {
    check_len(bytes.len())?;
    if order == ByteOrder::NATIVE
        && let Ok(values) = <[f64]>::ref_from_bytes(bytes)
    {
        return Ok(Cow::Borrowed(values));
    }
    let (chunks, _) = bytes.as_chunks::<8>();
    Ok(Cow::Owned(match order {
        ByteOrder::Little => chunks.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect(),
        ByteOrder::Big => chunks.iter().map(|bytes| f64::from_be_bytes(*bytes)).collect(),
    }))
}

/// Lets `fill` write doubles over the whole of `out`, and leaves them there in `order`.
pub(super) fn write(
    out: &mut [u8],
    order: ByteOrder,
    fill: impl FnOnce(&mut [f64]) -> Result<(), CodecError>,
) -> Result<(), CodecError> {
    check_len(out.len())?;
    if let Ok(values) = <[f64]>::mut_from_bytes(out) {
        fill(values)?;
    } else {
        let mut values = Vec::new();
        let count = out.len() / 8;
        values.try_reserve_exact(count).map_err(|_| {
            CodecError::limit(NAME, "out_of_memory", format!("no memory for {count} values before they are copied"))
        })?;
        values.resize(count, 0.0);
        fill(&mut values)?;
        let (chunks, _) = out.as_chunks_mut::<8>();
        chunks.iter_mut().zip(values).for_each(|(chunk, value)| *chunk = f64::to_ne_bytes(value));
    }
    if order != ByteOrder::NATIVE {
        swap(out);
    }
    Ok(())
}

/// Turns every eight bytes around.
pub(super) fn swap(bytes: &mut [u8]) {
    let (chunks, _) = bytes.as_chunks_mut::<8>();
    chunks.iter_mut().for_each(|chunk| chunk.reverse());
}

/// Refuses lengths that are not whole doubles.
pub(super) fn check_len(len: usize) -> Result<(), CodecError> {
    if len.is_multiple_of(8) {
        return Ok(());
    }
    let message = format!("{len} bytes are not whole doubles; this codec takes float64 only");
    Err(CodecError::misuse(NAME, "not_doubles", message))
}
