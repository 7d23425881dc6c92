//! Writing numbers and text into a header: always the shortest form (BT-2.1).

use super::scan::{TAG_16, TAG_32, TAG_64};

/// Appends a count, length, dimension, offset or element type.
#[inline]
pub(crate) fn put_varint(out: &mut Vec<u8>, value: u64) {
    if value < u64::from(TAG_16) {
        out.push(value as u8);
    } else if let Ok(value) = u16::try_from(value) {
        let [a, b] = value.to_le_bytes();
        out.extend_from_slice(&[TAG_16, a, b]);
    } else if let Ok(value) = u32::try_from(value) {
        let [a, b, c, d] = value.to_le_bytes();
        out.extend_from_slice(&[TAG_32, a, b, c, d]);
    } else {
        let [a, b, c, d, e, f, g, h] = value.to_le_bytes();
        out.extend_from_slice(&[TAG_64, a, b, c, d, e, f, g, h]);
    }
}

/// Bytes that [`put_varint`] appends.
#[inline]
pub(crate) const fn varint_len(value: u64) -> u64 {
    match value {
        0..=250 => 1,
        251..=0xffff => 3,
        0x1_0000..=0xffff_ffff => 5,
        _ => 9,
    }
}

/// Appends a string: length, then its bytes.
#[inline]
pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_varint(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Bytes that [`put_text`] appends.
#[inline]
pub(crate) const fn text_len(text: &str) -> u64 {
    let len = text.len() as u64;
    varint_len(len).saturating_add(len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Scan;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn integers_round_trip_in_the_announced_length(value in any::<u64>(), shift in 0u32..64) {
            let value = value >> shift;
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value);
            prop_assert_eq!(bytes.len() as u64, varint_len(value));
            prop_assert_eq!(Scan::new(&bytes).varint(), Ok(value));
        }
    }
}
