//! What a codec manifest may say.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value as Json};

use super::input::Input;
use crate::tensogram::model::Options;

/// The manifest.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    #[serde(default, rename = "title")]
    _title: IgnoredAny,
    #[serde(default, rename = "producer")]
    _producer: IgnoredAny,
    #[serde(default, rename = "semantics")]
    _semantics: IgnoredAny,
    #[serde(default, rename = "input_generators")]
    _input_generators: IgnoredAny,
    /// Version of the messages.
    pub wire_version: Option<u16>,
    /// Objects in every file.
    pub objects_per_file: Option<usize>,
    /// Files, valid and corrupt.
    #[serde(default)]
    pub cases: Vec<Json>,
    /// Inputs that an encoder must accept or refuse.
    #[serde(default)]
    pub encode_cases: Vec<Json>,
}

/// A file that must decode.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Valid {
    #[serde(rename = "id")]
    _id: IgnoredAny,
    #[serde(rename = "kind")]
    _kind: IgnoredAny,
    #[serde(rename = "family")]
    _family: IgnoredAny,
    #[serde(default, rename = "note")]
    _note: IgnoredAny,
    /// The file beside the manifest.
    pub file: String,
    /// Element type.
    pub dtype: String,
    /// Dimensions.
    pub shape: Vec<u64>,
    /// Byte order of input and payload.
    pub byte_order: String,
    /// How the input is made.
    pub input: Input,
    /// Digest of the input.
    pub raw_input_sha256: String,
    /// Bytes of input.
    pub raw_input_len: usize,
    /// The input, when it is short.
    pub raw_input_hex: Option<String>,
    /// Descriptor fields that the encoder was given.
    pub descriptor_given: Map<String, Json>,
    /// Options that the encoder was given.
    pub encode_options: Options,
    /// The descriptor as stored.
    pub descriptor_stored: Map<String, Json>,
    /// The encoded payload.
    pub payload: Payload,
    /// What it decodes to.
    pub decoded: DecodedData,
    /// Whether decoding gives the input back.
    pub lossless: bool,
    /// Range reads.
    pub decode_range: Vec<RangeCase>,
    /// Mask blobs.
    #[serde(default)]
    pub masks: BTreeMap<String, Mask>,
}

/// An encoded payload.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payload {
    /// Its bytes.
    pub len: usize,
    /// Its digest.
    pub sha256: String,
    /// The bytes, when they are few.
    pub hex: Option<String>,
    /// Whether an encoder has to emit the same bytes.
    pub reproducible_by_encoder: Reproducible,
}

/// Whether an encoder has to emit the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reproducible {
    /// It has to.
    Required,
    /// It may.
    Optional,
    /// They depend on the build of the compressor.
    No,
}

/// Decoded data.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecodedData {
    /// Bytes.
    pub len: usize,
    /// Digest, little-endian.
    pub sha256_little: String,
    /// Whether lossy codecs too must give exactly these bytes.
    pub exact: bool,
    /// The bytes, when they are few.
    pub hex_little: Option<String>,
    /// Digest in the descriptor's byte order.
    pub sha256_wire_order: Option<String>,
    /// Digest without NaN and infinities put back.
    pub sha256_little_without_restore: Option<String>,
    /// The bound that lossy codecs must keep.
    pub tolerance_abs: Option<f64>,
    #[serde(default, rename = "max_abs_error_observed")]
    _max_abs_error_observed: IgnoredAny,
}

/// A range read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RangeCase {
    /// (first element, count) pairs.
    pub ranges: Vec<(u64, u64)>,
    /// `data`, `unsupported` or `error`.
    pub expect: String,
    /// Digest of each part.
    pub sha256_little: Option<Vec<String>>,
    /// Bytes of each part.
    pub len: Option<Vec<usize>>,
    /// Each part, when short.
    pub hex_little: Option<Vec<String>>,
    #[serde(default, rename = "reference")]
    _reference: IgnoredAny,
    #[serde(default, rename = "reference_error_class")]
    _reference_error_class: IgnoredAny,
    #[serde(default, rename = "note")]
    _note: IgnoredAny,
}

/// A mask blob.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mask {
    /// How it is compressed.
    pub method: String,
    /// Where it begins in the payload region.
    pub offset: u64,
    /// Its bytes.
    pub length: u64,
    /// Its digest.
    pub sha256: String,
}

/// A file that is damaged.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corrupt {
    #[serde(rename = "id")]
    _id: IgnoredAny,
    #[serde(rename = "kind")]
    _kind: IgnoredAny,
    #[serde(rename = "family")]
    _family: IgnoredAny,
    #[serde(default, rename = "note")]
    _note: IgnoredAny,
    #[serde(default, rename = "reference_observed")]
    _reference_observed: IgnoredAny,
    /// The file beside the manifest.
    pub file: String,
    /// What a full decode may do.
    pub full_decode: String,
    /// What reading elements 5 to 25 may do.
    pub decode_range_5_20: String,
    /// What a decode with hashes verified must do.
    pub verify_hash: Option<String>,
    /// Bytes that the descriptor implies; a hostile shape may imply more than 64 bits hold.
    pub declared_decoded_len: f64,
    /// Digest of the undamaged data.
    pub original_sha256_little: Option<String>,
    /// Time and memory.
    pub limits: Limits,
}

/// Time and memory that a decode may take.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Seconds.
    pub max_seconds: u64,
    /// Bytes beyond what the result needs.
    pub max_extra_memory_bytes: usize,
}

/// An input that an encoder must accept or refuse.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncodeCase {
    #[serde(rename = "id")]
    _id: IgnoredAny,
    #[serde(default, rename = "reference")]
    _reference: IgnoredAny,
    #[serde(default, rename = "note")]
    _note: IgnoredAny,
    /// Element type.
    pub dtype: String,
    /// How the input is made.
    pub input: Input,
    /// Descriptor fields.
    pub descriptor: Map<String, Json>,
    /// Encode options.
    pub encode_options: Options,
    /// `error`, `accept (clamped)` or `error or accept, never panic`.
    pub required: String,
}
