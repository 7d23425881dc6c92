//! Hex and SHA-256, as manifests write them.

use sha2::{Digest, Sha256};

/// The lower-case SHA-256 of `bytes`.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of a hex text.
///
/// # Errors
/// An odd number of digits, or a character that is none.
pub fn unhex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u8> = text
        .chars()
        .map(|digit| digit.to_digit(16).map(|value| value as u8).ok_or_else(|| format!("`{digit}` is no hex digit")))
        .collect::<Result<_, _>>()?;
    if !digits.len().is_multiple_of(2) {
        return Err("an odd number of hex digits".to_owned());
    }
    Ok(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// The start of a hex text, for messages.
pub fn short(bytes: &[u8]) -> String {
    let shown = hex(bytes.get(..24).unwrap_or(bytes));
    if bytes.len() > 24 { format!("{shown}… ({} bytes)", bytes.len()) } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_there_and_back() {
        assert_eq!(unhex("00ff7a"), Ok(vec![0, 255, 122]));
        assert_eq!(hex(&[0, 255, 122]), "00ff7a");
        assert!(unhex("0").is_err());
        assert!(unhex("0g").is_err());
    }

    #[test]
    fn the_digest_of_nothing_is_the_published_one() {
        assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
