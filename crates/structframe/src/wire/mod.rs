//! Which bytes stand around a payload.

mod framing; // header kinds, payload kinds, profiles
mod header; // the bytes between start and payload
mod info; // what readers look up by id

pub use framing::{Framing, HeaderKind, Layout, PayloadKind, Profile, UnknownFraming, UnknownProfile};
pub use header::Header;
pub(crate) use header::{Fields, Seeds, checksum, fresh_checksum, long_checksum, read_fields, write_head};
pub use info::{Lookup, MessageInfo};
