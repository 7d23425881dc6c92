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
//! The borrowed views ([`MessageView`], [`ObjectView`]) are the preferred way in; [`decode`] and its siblings return
//! owned copies under the names users of the format know. The modules are rooms in the order data flows.
#![forbid(unsafe_code)]

pub mod describe; // 3 frames -> descriptions
mod error; // what went wrong
pub mod frame; // 2 records -> frames
mod inspect; // every byte named
mod message; // 5 codecs -> tensors
mod pipeline; // 4 descriptions -> codecs
mod read; // entry points: reading
mod recover; // what can be saved
mod validate; // every fault, for people
pub mod wire; // 1 bytes -> records
mod write; // entry points: writing

pub use describe::{
    DataObjectDescriptor, GlobalMetadata, HashList, Index, MaskDescriptor, MaskKind, MasksMetadata, MetadataMap,
    Provenance, Value, canonicalize, verify_canonical_cbor,
};
pub use error::{ErrorKind, Fault, Place, Result, TensogramError};
pub use frame::scan::{ScanDirection, ScanOptions, scan, scan_with};
pub use inspect::inspect;
pub use message::{MessageView, ObjectView};
pub use pipeline::SliceCost;
pub use read::access;
pub use read::{
    AppendOptions, Appender, DecodeOptions, DecodedObject, Durability, MaskedObject, StreamDecoder, StreamEvent,
    StreamReader, TailPolicy, TensogramFile, decode, decode_descriptors, decode_metadata, decode_metadata_with,
    decode_object, decode_object_from_frame, decode_range, decode_range_from_frame, decode_with_masks, scan_file,
    scan_source,
};
#[cfg(feature = "async")]
pub use read::{AsyncTensogramFile, decode_stream};
#[cfg(feature = "remote")]
pub use read::{RemoteFile, open_source};
pub use recover::{
    MessageState, RecoverOptions, RecoveredMessage, Recovery, Unverified, recover, recover_file, recover_source,
};
pub use validate::{
    FileReport, MessageReport, Survey, SurveyedObject, ValidateMode, ValidateOptions, survey, survey_source,
    validate_file, validate_message, validate_source,
};
#[cfg(feature = "async")]
pub use write::AsyncStreamingEncoder;
pub use write::{
    AggregateHash, EncodeOptions, Lengths, MaskMethod, MessageBuilder, StreamingEncoder, encode, encode_pre_encoded,
};
