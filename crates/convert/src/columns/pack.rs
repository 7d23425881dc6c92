//! Many byte strings in two columns: their lengths, and all their bytes one after the other.

use crate::ConvertError;

/// Lengths (u32, little endian) and bytes.
pub(super) fn pack<'a>(strings: impl Iterator<Item = &'a [u8]>) -> (Vec<u8>, Vec<u8>) {
    let (mut lens, mut bytes) = (Vec::new(), Vec::new());
    for string in strings {
        // Payloads have at most 65535 bytes.
        lens.extend_from_slice(&(string.len() as u32).to_le_bytes());
        bytes.extend_from_slice(string);
    }
    (lens, bytes)
}

/// The strings again.
///
/// # Errors
/// When the lengths do not add up to the bytes there are.
pub(super) fn unpack<'a>(what: &str, lens: &[u8], bytes: &'a [u8]) -> Result<Vec<&'a [u8]>, ConvertError> {
    let mut rest = bytes;
    let mut strings = Vec::with_capacity(lens.len() / 4);
    for len in lens.as_chunks::<4>().0 {
        let len = u32::from_le_bytes(*len) as usize;
        let (string, behind) = rest.split_at_checked(len).ok_or_else(|| {
            let message = format!("{what}: need {len} bytes, have {}", rest.len());
            ConvertError::format("column_length", message, (bytes.len() - rest.len()) as u64)
        })?;
        strings.push(string);
        rest = behind;
    }
    if !rest.is_empty() {
        let message = format!("{what}: {} unexpected bytes after the data", rest.len());
        return Err(ConvertError::format("column_length", message, None));
    }
    Ok(strings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let strings: [&[u8]; 4] = [b"ab", b"", b"c", b"def"];
        let (lens, bytes) = pack(strings.into_iter());
        assert_eq!(unpack("x", &lens, &bytes).unwrap(), strings);
        assert_eq!(unpack("x", &lens, &bytes[1..]).unwrap_err().to_string(), "x: need 3 bytes, have 2 at byte 3 (0x3)");
        assert_eq!(unpack("x", &lens[4..], &bytes).unwrap_err().code(), "column_length");
    }
}
