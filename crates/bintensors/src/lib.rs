//! BinTensors: the weights file whose header is its own index.
//!
//! Reading borrows: opening a file of a hundred thousand tensors is one pass over its header and four bytes of heap per
//! tensor, and a tensor is a slice of the buffer or map. Writing is deterministic and byte for byte what the reference
//! writer makes. The rules are numbered in `docs/spec/bintensors.md`; comments and tests point there as BT-n.m.
//!
//! ```
//! use fw_bintensors::{BinTensors, Dtype, TensorView, serialize};
//! use fw_tensor::AxisSlice;
//!
//! let values: Vec<u8> = [0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0].iter().flat_map(|v| v.to_le_bytes()).collect();
//! let bytes = serialize([("attn.0", TensorView::new(Dtype::F32, [1, 2, 3], &values)?)], &None)?;
//!
//! let file = BinTensors::deserialize(&bytes)?;
//! let tensor = file.tensor("attn.0")?;
//! assert_eq!(tensor.to_vec::<f32>()?[4], 4.0);
//! let column = tensor.slice((AxisSlice::Ellipsis, -1))?;
//! assert_eq!((column.shape(), column.chunks().count()), (&[1, 2][..], 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

// Rooms in the order data flows; each uses only those before it.
mod dtype; // element types and their numbers
mod error; // what can go wrong, by class
mod wire; // 1 bytes -> numbers and text
mod describe; // 2 numbers and text -> descriptions of tensors
mod digest; // digests of tensors, and of all together
mod read; // 3 descriptions -> tensors
mod write; // tensors -> bytes
pub mod validate; // every fault of a file, for people
mod inspect; // a file -> a tree of named byte ranges

pub use describe::{
    Carried, DTYPE_KEY_PREFIX, HeaderLimits, Metadata, OwnedMetadata, Profile, ReadOptions, SHAPE_KEY_PREFIX, Shape,
    TensorInfo, UserMetadata, budget_exceeded_at, carry, logical, readable_by_reference,
};
pub use digest::{
    Algorithm, DIGEST_KEY_PREFIX, HASH_KEY_PREFIX, MANIFEST_KEY, Manifest, ManifestEntry, SIGNATURE_KEY, StoredDigests,
    TensorCheck, TensorHasher, digest_subject, tensor_digest, verify,
};
pub use dtype::{Dtype, UnknownDtype};
pub use error::{BinTensorError, DecodeError, DecodeKind, ErrorKind};
pub use inspect::inspect;
pub use read::{BinTensors, Reader, Sliced, TensorView};
pub use wire::MAX_HEADER_LEN;
pub use write::{
    DigestBuffer, HeaderAlignment, Plan, PlannedTensor, PlannedWriter, Prepared, Progress, TensorWriter, View,
    WriteOptions, Written, serialize, serialize_to_file, serialize_to_file_with, serialize_to_writer, serialize_with,
    serialize_with_checksum,
};
