//! Room 2, frames to descriptions: metadata, descriptors, index and hash lists, all in canonical CBOR.

pub mod cbor; // values, reading, canonical writing
mod descriptor; // what one object is
mod hashes; // digests of the objects
mod index; // positions of the objects
mod lookup; // dotted paths into metadata
mod macros; // nested metadata, written down as it looks
mod masks; // where masks stand behind a payload
mod metadata; // what the message says about itself and its objects
mod provenance; // who wrote it and when
#[cfg(feature = "serde")]
mod serial; // descriptions as serde sees them

pub use cbor::{Value, canonicalize, verify_canonical_cbor};
pub use descriptor::DataObjectDescriptor;
pub use hashes::{HashList, compute_hash};
pub use index::Index;
pub use lookup::{MetadataCursor, compute_common};
pub use masks::{MaskDescriptor, MaskKind, MasksMetadata};
pub use metadata::{GlobalMetadata, MetadataMap, RESERVED};
pub use provenance::Provenance;

pub(crate) use hashes::digest_text;
pub(crate) use metadata::{check_client_entry, check_map};

use fw_tensor::DType;

/// Whether the format has this element type (TG-A).
pub const fn is_tensogram_dtype(dtype: DType) -> bool {
    match dtype {
        DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64 => true,
        DType::Complex64 | DType::Complex128 => true,
        DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => true,
        DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => true,
        DType::Bitmask => true,
        DType::Bool => false,
        DType::Float8E4M3 | DType::Float8E5M2 | DType::Float8E4M3Fnuz | DType::Float8E5M2Fnuz => false,
        DType::Float8E8M0 | DType::Float6E2M3 | DType::Float6E3M2 | DType::Float4 => false,
    }
}
