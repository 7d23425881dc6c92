//! Entry points for reading.

pub mod access; // exact reads, whoever fetches the bytes
mod decode; // a message in memory
pub(crate) mod file; // messages in files
#[cfg(feature = "async")]
mod nonblocking; // the same, awaited
mod options; // how
#[cfg(feature = "remote")]
mod remote; // files in object stores
mod stream; // objects as they arrive

pub use decode::{
    DecodedObject, MaskedObject, decode, decode_descriptors, decode_metadata, decode_metadata_with, decode_object,
    decode_object_from_frame, decode_range, decode_range_from_frame, decode_with_masks,
};
pub use file::{AppendOptions, Appender, Durability, TailPolicy, TensogramFile, scan_file, scan_source};
#[cfg(feature = "async")]
pub use nonblocking::{AsyncTensogramFile, decode_stream};
pub use options::DecodeOptions;
#[cfg(feature = "remote")]
pub use remote::{RemoteFile, open_source};
pub use stream::{StreamDecoder, StreamEvent, StreamReader};
