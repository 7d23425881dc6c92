//! Room 9, entry points for reading.

mod decode; // a message in memory
pub(crate) mod file; // messages in files
mod iter; // messages and objects one after the other
#[cfg(feature = "async")]
mod nonblocking; // the same, awaited
#[cfg(feature = "remote")]
mod remote; // files in object stores
mod stream; // objects as they arrive
#[cfg(feature = "remote")]
mod waiting; // methods that wait for awaited ones

pub use decode::{
    decode, decode_descriptors, decode_descriptors_with, decode_metadata, decode_metadata_with, decode_object,
    decode_object_from_frame, decode_range, decode_range_from_frame, decode_with_masks, open_objects,
};
pub use file::{AppendOptions, Appender, Durability, TailPolicy, TensogramFile, scan_file, scan_source};
pub use iter::{FileMessage, Messages, Objects, data_object_inline_hashes, messages, objects};
#[cfg(feature = "async")]
pub use nonblocking::{AsyncTensogramFile, decode_stream};
#[cfg(feature = "remote")]
pub use remote::{RemoteFile, open_source};
pub use stream::{StreamDecoder, StreamEvent, StreamReader};

#[cfg(feature = "remote")]
pub(crate) use waiting::{argument, waiting};
