//! Entry points for reading.

pub mod access; // exact reads, whoever fetches the bytes
mod decode; // a message in memory
pub(crate) mod file; // messages in files
mod options; // how
mod stream; // objects as they arrive

pub use decode::{
    DecodedObject, MaskedObject, decode, decode_descriptors, decode_metadata, decode_metadata_with, decode_object,
    decode_object_from_frame, decode_range, decode_range_from_frame, decode_with_masks,
};
pub use file::{AppendOptions, Appender, Durability, TailPolicy, TensogramFile, scan_file, scan_source};
pub use options::DecodeOptions;
pub use stream::{StreamDecoder, StreamEvent, StreamReader};
