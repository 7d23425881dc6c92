//! What the vector tests need: messages taken apart just far enough, inputs generated, descriptors mapped.

pub(crate) mod descriptor;
pub(crate) mod frame;
pub(crate) mod generate;

use serde_json::Value;
use std::path::PathBuf;

/// The folder of the codec vectors.
pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors/tensogram-codecs")
}

/// The manifest of the codec vectors.
pub(crate) fn manifest() -> Value {
    let text = std::fs::read(folder().join("manifest.json")).expect("the vectors are part of the project");
    serde_json::from_slice(&text).expect("the manifest is JSON")
}

/// Lower-case hexadecimal SHA-256.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
