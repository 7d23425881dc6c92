//! Tensogram v3: self-describing messages of N tensors, encoded, decoded, streamed, scanned and validated.
//!
//! ```
//! use fw_tensogram::{MessageBuilder, MessageView, scan};
//!
//! // Write: any element type, any shape; metadata for the message and for each tensor.
//! let field = vec![273.15f32; 12];
//! let message = MessageBuilder::new().extra("run", "00Z").tensor(&[3, 4], &field)?.base("param", "2t").encode()?;
//!
//! // Read: nothing is copied, opening costs as much as the index.
//! let view = MessageView::open(&message)?;
//! let object = view.object(0)?;
//! assert_eq!(object.descriptor().shape, [3, 4]);
//! assert_eq!(object.values::<f32>(), Some(&field[..]));
//!
//! // A file is messages one after the other.
//! assert_eq!(scan(&[message.clone(), message].concat()).len(), 2);
//! # Ok::<(), fw_tensogram::TensogramError>(())
//! ```
//!
//! A message in memory is read through [`MessageView`] (borrowed) or [`Message`] (owned), messages in files through
//! [`TensogramFile`], `AsyncTensogramFile` and `RemoteFile`, which have the same methods; [`decode`] and its siblings
//! return copies under the names users of the format know. Reads take [`DecodeOptions`]: those that describe (metadata,
//! descriptors) have a short name with the defaults and one that ends in `_with`.
#![forbid(unsafe_code)]

// Rooms in the order data flows: each uses only those before it.
mod error; // what went wrong
pub mod wire; // 1 bytes -> records
pub mod describe; // 2 records -> descriptions
pub mod frame; // 3 records -> frames
mod options; // 4 how to read, how to write
mod pipeline; // 5 descriptions -> codecs
pub mod access; // 6 exact reads, whatever fetches the bytes
mod message; // 7 the types that callers hold
mod write; // 8 entry points: writing
mod read; // 9 entry points: reading
mod edit; // messages changed without decoding them
mod validate; // every fault, for people
mod recover; // what can be saved
mod inspect; // every byte named

pub use access::{
    DecodedMessage, DecodedObject, DecodedRanges, MaskedMessage, MaskedObject, MessageDescription, MessageIndex,
};
pub use describe::{
    DataObjectDescriptor, GlobalMetadata, HashList, Index, MaskDescriptor, MaskKind, MasksMetadata, MetadataCursor,
    MetadataMap, Provenance, Value, canonicalize, compute_common, compute_hash, verify_canonical_cbor,
};
pub use edit::{DigestFrames, MessagePlan, OpenObject, Piece, RecodedFrame, StoredMessage, StoredObject};
pub use error::{ErrorKind, Fault, Place, Result, TensogramError};
pub use frame::scan::{ScanDirection, ScanOptions, scan, scan_with};
#[cfg(feature = "remote")]
pub use fw_source::remote::is_remote_url;
/// The element types and byte orders of descriptors, shared with the other formats.
pub use fw_tensor::{ByteOrder, DType};
pub use inspect::{MessagePart, PartKind, inspect, message_parts};
pub use message::{Message, MessageBytes, MessageView, Object, ObjectView};
pub use options::{AggregateHash, DecodeOptions, EncodeOptions, MaskMethod};
pub use pipeline::SliceCost;
pub use read::{
    AppendOptions, Appender, Durability, FileMessage, Messages, Objects, StreamDecoder, StreamEvent, StreamReader,
    TailPolicy, TensogramFile, data_object_inline_hashes, decode, decode_descriptors, decode_descriptors_with,
    decode_metadata, decode_metadata_with, decode_object, decode_object_from_frame, decode_range,
    decode_range_from_frame, decode_with_masks, messages, objects, open_objects, scan_file, scan_source,
};
#[cfg(feature = "async")]
pub use read::{AsyncTensogramFile, decode_stream};
#[cfg(feature = "remote")]
pub use read::{RemoteFile, open_source};
pub use recover::{
    MessageState, RecoverOptions, RecoveredMessage, Recovery, Unverified, recover, recover_file, recover_source,
    recover_to_file,
};
pub use validate::{
    FileReport, MessageReport, ReadSurvey, Survey, SurveyedObject, ValidateMode, ValidateOptions, survey,
    survey_source, survey_source_with, survey_with, validate_buffer, validate_file, validate_message, validate_source,
};
#[cfg(feature = "async")]
pub use write::AsyncStreamingEncoder;
pub use write::{Lengths, MessageBuilder, ObjectInput, StreamingEncoder, encode, encode_pre_encoded};

// What pipelines are stated with.
pub use fw_codec::chain::{
    Blosc2Codec, Blosc2Settings, OpenPipe, Pipe, SimplePacking, Sz3Mode, Sz3Settings, SzipSettings, ZfpSettings,
    ZstdSettings,
};
