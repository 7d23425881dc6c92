//! Digests: of bytes, of tensors, and of all tensors together (BT-10).

mod algorithm; // digests by name
mod tensor; // what a digest of a tensor covers
mod manifest; // the digests of all tensors, as one text
mod stored; // what a text map keeps, and whether it is true

pub(crate) use algorithm::Hasher;
pub use algorithm::{Algorithm, verify};
pub use manifest::{Manifest, ManifestEntry};
pub use stored::{StoredDigests, TensorCheck, digest_subject};
pub use tensor::{TensorHasher, tensor_digest};

/// User metadata key before the tensor's name: the digest of its data, as `sha256:<hex>` (BT-10.3).
pub const HASH_KEY_PREFIX: &str = "bt.hash/";
/// User metadata key before the tensor's name: the digest of its name, element type, shape and data (BT-10.4).
pub const DIGEST_KEY_PREFIX: &str = "bt.digest/";
/// User metadata key of the manifest's digest, which covers all tensors (BT-10.6).
pub const MANIFEST_KEY: &str = "bt.manifest";
/// User metadata key of a signature of the manifest's digest (BT-10.8).
pub const SIGNATURE_KEY: &str = "bt.signature";
