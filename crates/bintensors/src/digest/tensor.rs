//! What the digest of a tensor covers (BT-10.4): its name, element type, shape and data, so that none can be exchanged.

use super::algorithm::{Algorithm, Hasher};
use crate::describe::type_name;
use fw_tensor::DType;

/// A running digest of one tensor: described first, then its data in pieces of any size.
///
/// ```
/// use fw_bintensors::{Algorithm, TensorHasher, tensor_digest};
/// use fw_tensor::DType;
///
/// let mut hasher = TensorHasher::new(Algorithm::Sha256, "bias", DType::Float32, &[2]);
/// hasher.update(&[0, 0, 128, 63]);
/// hasher.update(&[0, 0, 0, 64]);
/// let digest = hasher.finish();
/// assert_eq!(digest, tensor_digest(Algorithm::Sha256, "bias", DType::Float32, &[2], &[0, 0, 128, 63, 0, 0, 0, 64]));
/// assert_ne!(digest, tensor_digest(Algorithm::Sha256, "bias", DType::Int32, &[2], &[0, 0, 128, 63, 0, 0, 0, 64]));
/// ```
#[derive(Debug)]
pub struct TensorHasher {
    algorithm: Algorithm,
    hasher: Hasher,
}

impl TensorHasher {
    /// Begins with a description: the element type and shape that the data has for its users, also where the file carries it as
    /// bytes (BT-9).
    pub fn new(algorithm: Algorithm, name: &str, dtype: DType, shape: &[u64]) -> Self {
        let mut hasher = algorithm.hasher();
        hasher.update(&described(name, dtype, shape));
        Self { algorithm, hasher }
    }

    /// Begins a digest of data alone, as `bt.hash/…` keeps it (BT-10.3).
    pub(super) fn of_data(algorithm: Algorithm) -> Self {
        Self { algorithm, hasher: algorithm.hasher() }
    }

    /// Takes a piece of the data: little endian, row-major.
    pub fn update(&mut self, data: &[u8]) {
        self.hasher.update(data);
    }

    /// The digest as text: `sha256:<hex>`.
    pub fn finish(self) -> String {
        self.algorithm.spell(&self.hasher.finish())
    }
}

/// The digest of a tensor whose data is at hand, as `bt.digest/<name>` keeps it.
pub fn tensor_digest(algorithm: Algorithm, name: &str, dtype: DType, shape: &[u64], data: &[u8]) -> String {
    let mut hasher = TensorHasher::new(algorithm, name, dtype, shape);
    hasher.update(data);
    hasher.finish()
}

/// What is hashed before the data. Every text is preceded by its length, so no two descriptions have the same bytes.
fn described(name: &str, dtype: DType, shape: &[u64]) -> Vec<u8> {
    let mut bytes = b"bt.digest\0".to_vec();
    for text in [name, type_name(dtype)] {
        bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
    }
    bytes.extend_from_slice(&(shape.len() as u64).to_le_bytes());
    bytes.extend(shape.iter().flat_map(|dim| dim.to_le_bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BT-10.4: the bytes that are hashed, written out.
    #[test]
    fn the_description_byte_for_byte() {
        let expected = b"bt.digest\0\x02\0\0\0\0\0\0\0ab\x04\0\0\0\0\0\0\0BF16\x02\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x2c\x01\0\0\0\0\0\0";
        assert_eq!(described("ab", DType::BFloat16, &[2, 300]), expected);
        assert_eq!(
            described("", DType::UInt8, &[]),
            b"bt.digest\0\0\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0U8\0\0\0\0\0\0\0\0"
        );
        let data = [1u8, 2, 3, 4];
        let whole = [&described("w", DType::UInt8, &[4])[..], &data].concat();
        assert_eq!(
            tensor_digest(Algorithm::Sha256, "w", DType::UInt8, &[4], &data),
            Algorithm::Sha256.spell(&Algorithm::Sha256.digest(&whole))
        );
    }

    /// BT-10.4: name, type, shape and data all count.
    #[test]
    fn nothing_can_be_exchanged() {
        let base = tensor_digest(Algorithm::Sha256, "w", DType::BFloat16, &[2, 3], &[0; 12]);
        for other in [
            tensor_digest(Algorithm::Sha256, "v", DType::BFloat16, &[2, 3], &[0; 12]),
            tensor_digest(Algorithm::Sha256, "w", DType::Float16, &[2, 3], &[0; 12]),
            tensor_digest(Algorithm::Sha256, "w", DType::BFloat16, &[3, 2], &[0; 12]),
            tensor_digest(Algorithm::Sha256, "w", DType::BFloat16, &[6], &[0; 12]),
            tensor_digest(Algorithm::Sha256, "w", DType::BFloat16, &[2, 3], &[1; 12]),
        ] {
            assert_ne!(base, other);
        }
    }
}
