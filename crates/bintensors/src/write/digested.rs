//! Digests of tensors for the header of a file that is being written (BT-10.4, BT-10.6).

use super::WriteOptions;
use crate::describe::{TensorInfo, logical};
use crate::digest::{MANIFEST_KEY, Manifest, ManifestEntry, SIGNATURE_KEY};
use crate::error::BinTensorError;
use crate::{Dtype, Shape};
use fw_tensor::DType;

/// What users see a stored tensor as: the metadata to be written says what it carries (BT-9).
pub(super) fn subject(options: &WriteOptions, name: &str, dtype: Dtype, shape: &[u64]) -> (DType, Vec<u64>) {
    let len = fw_tensor::byte_len(dtype.common(), shape).unwrap_or(u64::MAX);
    let info = TensorInfo { name, dtype, shape: Shape::from(shape), data_offsets: (0, len) };
    let user = options.metadata.as_ref();
    logical(&info, |key| user.and_then(|user| user.get(key)).map(String::as_str))
}

/// The options with the digests of these tensors in the metadata. A signature there was of other digests.
pub(super) fn with_digests(
    mut options: WriteOptions,
    entries: Vec<ManifestEntry>,
) -> Result<WriteOptions, BinTensorError> {
    let manifest = Manifest::new(entries)?;
    let user = options.metadata.get_or_insert_default();
    user.remove(MANIFEST_KEY);
    user.remove(SIGNATURE_KEY);
    user.extend(manifest.to_metadata());
    Ok(options)
}
