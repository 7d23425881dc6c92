//! CBOR as Tensogram uses it: any well-formed item is read, only the canonical form is written (TG-5).

mod canonical; // is this the canonical form?
#[cfg(feature = "serde")]
mod json; // values as JSON and back
mod plain; // the usual form, without a tree of values
mod read; // bytes to values
mod value; // the value model
mod write; // values to canonical bytes

pub use canonical::{canonicalize, verify_canonical_cbor};
pub use read::{item_len, read_value, truncated};
pub use value::Value;
pub use write::{encode, encode_text_map, write_array_head, write_map_head, write_text, write_unsigned, write_value};

pub(crate) use plain::Plain;
