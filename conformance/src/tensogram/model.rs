//! What a manifest may say. Fields that only inform are named here too: an unknown one is a deviation.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value as Json};

/// The manifest.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    #[serde(default, rename = "title")]
    _title: IgnoredAny,
    #[serde(default, rename = "reference")]
    _reference: IgnoredAny,
    #[serde(default, rename = "set")]
    _set: IgnoredAny,
    #[serde(default, rename = "notes")]
    _notes: IgnoredAny,
    /// How many vectors there are.
    pub count: Option<usize>,
    /// Messages and files with what they must yield.
    #[serde(default)]
    pub vectors: Vec<Json>,
    /// Inputs that an encoder must accept or refuse.
    #[serde(default)]
    pub encode_cases: Vec<Json>,
    /// Calls for one object or some ranges.
    #[serde(default)]
    pub access_cases: Vec<Json>,
}

/// How far an outcome may differ from the recorded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// The recorded outcome, values or error class.
    Must,
    /// The recorded outcome, or an error of a class that the note names.
    StricterOk,
    /// Any error.
    MustError,
    /// Any clean outcome.
    Free,
}

/// What kind of vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Written by the reference.
    Valid,
    /// Readable, but written by nobody we know.
    Foreign,
    /// Several messages, junk and damage in one file.
    Multi,
    /// Broken.
    Malformed,
}

/// One file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vector {
    /// Its name.
    pub id: String,
    /// The file beside the manifest.
    pub file: String,
    /// Bytes in the file.
    pub size: usize,
    /// Digest of the file.
    pub sha256: String,
    /// What kind of vector.
    pub group: Group,
    #[serde(rename = "origin")]
    _origin: IgnoredAny,
    #[serde(rename = "how")]
    _how: IgnoredAny,
    /// How far outcomes may differ.
    pub policy: Policy,
    /// What else is acceptable, in words.
    #[serde(default)]
    pub note: String,
    /// What it was encoded from.
    pub encode_input: Option<EncodeInput>,
    /// (offset, length) of every message.
    pub scan: Vec<(u64, u64)>,
    /// Lengths of the messages that a scan of the file finds.
    pub file_message_lengths: Vec<u64>,
    /// What the whole file yields.
    pub expect: Option<Expect>,
    /// What each scanned message yields.
    pub messages: Option<Vec<Map<String, Json>>>,
    /// Bytes that belong to no message.
    pub validate_file_issues: Option<Vec<FileIssue>>,
    /// The preamble's fields.
    pub preamble: Option<Preamble>,
    /// The postamble's fields.
    pub postamble: Option<Postamble>,
    /// Every frame.
    pub frames: Option<Vec<Frame>>,
}

/// What the entry points yield.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Everything.
    pub decode: Outcome,
    /// Everything, hashes verified.
    pub decode_verify_hash: Outcome,
    /// Metadata alone.
    pub decode_metadata: Outcome,
    /// Metadata and descriptors.
    pub decode_descriptors: Outcome,
    /// Reports by mode.
    pub validate: BTreeMap<String, Validation>,
}

/// Success with values, or an error.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// Whether the reference succeeded.
    pub ok: bool,
    /// Class of its error.
    pub error: Option<String>,
    /// The object that the error is about.
    pub object_index: Option<u64>,
    /// Metadata of the message.
    pub metadata: Option<Metadata>,
    /// Objects of the message.
    pub objects: Option<Vec<Object>>,
    /// Number of descriptors.
    pub count: Option<usize>,
    /// Digest of one decoded object.
    pub decoded_le_sha256: Option<String>,
    /// Bytes of each requested range.
    pub parts_hex: Option<Vec<String>>,
}

/// Global metadata. Of the provenance only the keys are fixed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// One entry per object.
    pub base: Json,
    /// Message-level data of the client.
    #[serde(rename = "_extra_")]
    pub extra: Json,
    /// Keys of the message-level provenance.
    #[serde(rename = "_reserved_keys")]
    pub reserved_keys: Vec<String>,
}

/// One object.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// Kind of object.
    pub r#type: String,
    /// Number of dimensions as written.
    pub ndim: Json,
    /// Dimensions.
    pub shape: Json,
    /// Strides.
    pub strides: Json,
    /// Element type.
    pub dtype: String,
    /// Byte order of the payload.
    pub byte_order: String,
    /// Name of the encoding.
    pub encoding: String,
    /// Name of the filter.
    pub filter: String,
    /// Name of the compression.
    pub compression: String,
    /// Codec parameters and unknown keys.
    pub params: Json,
    /// Decoded bytes.
    pub decoded_nbytes: usize,
    /// Digest of the decoded bytes, little-endian.
    pub decoded_le_sha256: String,
    /// The decoded bytes, little-endian, when they are few.
    pub decoded_le_hex: Option<String>,
    /// Digest of the decoded bytes in the byte order of the descriptor.
    pub wire_order_sha256: String,
    /// The elements, when they are few.
    pub values: Option<Vec<Json>>,
}

/// A validation report.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Validation {
    /// Whether there was no error.
    pub ok: bool,
    /// Whether every object's hash was checked and right.
    pub hash_verified: bool,
    /// Objects found.
    pub object_count: u64,
    /// What was found.
    pub issues: Vec<Issue>,
}

/// One finding.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Issue {
    /// Stable code.
    pub code: String,
    /// Level that produced it.
    pub level: String,
    /// `error` or `warning`.
    pub severity: String,
    /// The object it is about.
    pub object_index: Option<u64>,
    #[serde(default, rename = "byte_offset")]
    _byte_offset: IgnoredAny,
}

/// Bytes that belong to no message.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileIssue {
    /// Where they begin.
    pub byte_offset: u64,
    /// How many.
    pub length: u64,
}

/// The preamble's fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preamble {
    /// Format version.
    pub version: u16,
    /// Message flags.
    pub flags: u16,
    /// Reserved word.
    pub reserved: u32,
    /// Length, or 0.
    pub total_length: Json,
}

/// The postamble's fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Postamble {
    /// Where the footer begins.
    pub first_footer_offset: Json,
    /// Length, or 0.
    pub total_length: Json,
}

/// One frame.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// Where it begins.
    pub offset: u64,
    /// Its type.
    pub r#type: u16,
    /// Its version field.
    pub version: u16,
    /// Its flags.
    pub flags: u16,
    /// Its length.
    pub length: u64,
}

/// What a vector was encoded from.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncodeInput {
    /// `encode`, `encode_pre_encoded` or `streaming`.
    pub api: String,
    /// Per-object metadata.
    pub base: Json,
    /// The same as canonical CBOR.
    pub base_cbor: String,
    /// Message-level metadata.
    #[serde(rename = "_extra_")]
    pub extra: Json,
    /// The same as canonical CBOR.
    pub extra_cbor: String,
    /// Objects in order.
    pub objects: Vec<InputObject>,
    /// Encode options.
    pub options: Options,
    /// Values to reproduce.
    pub provenance: Provenance,
    #[serde(default, rename = "volatile_ranges")]
    _volatile_ranges: IgnoredAny,
}

/// An input that an encoder must accept or refuse.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncodeCase {
    #[serde(rename = "id")]
    _id: IgnoredAny,
    /// `encode` or `encode_pre_encoded`.
    pub api: String,
    /// Global metadata by key.
    pub metadata: Map<String, Json>,
    /// Objects in order.
    pub objects: Vec<InputObject>,
    /// Encode options.
    pub options: Options,
    /// What the reference did.
    pub reference: Reference,
    /// What to do instead, in words.
    #[serde(default)]
    pub note: String,
}

/// What the reference did with an encode case.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Whether it accepted.
    pub ok: bool,
    /// Class of its error.
    pub error: Option<String>,
    #[serde(default, rename = "reference_layer")]
    _reference_layer: IgnoredAny,
}

/// An object to encode.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputObject {
    /// Descriptor fields; absent ones are derived.
    pub descriptor: Map<String, Json>,
    /// The data.
    pub data_hex: Option<String>,
    /// The data as a rule over positions.
    pub data_pattern: Option<String>,
    /// The data in words.
    pub data: Option<String>,
    /// Bytes of data.
    pub data_len: Option<usize>,
    /// Digest of the data.
    pub data_sha256: Option<String>,
}

/// Encode options.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Hash algorithm; `null` or `"none"` for none.
    #[serde(default = "xxh3")]
    pub hash: Option<String>,
    /// Where the hash list goes.
    pub aggregate_hash: Option<String>,
    /// Mask NaN instead of refusing it.
    #[serde(default)]
    pub allow_nan: bool,
    /// Mask infinities instead of refusing them.
    #[serde(default)]
    pub allow_inf: bool,
    /// Mask method for NaN.
    pub nan_mask_method: Option<String>,
    /// Mask method for +Inf.
    pub pos_inf_mask_method: Option<String>,
    /// Mask method for -Inf.
    pub neg_inf_mask_method: Option<String>,
    /// Masks up to this size are stored plainly.
    pub small_mask_threshold_bytes: Option<usize>,
    /// Fill in the lengths of a streamed message.
    #[serde(default)]
    pub backfill: bool,
    /// Threads to encode with.
    pub threads: Option<u32>,
}

/// Provenance to reproduce.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Who wrote it.
    pub encoder: Encoder,
    /// When.
    pub time: String,
    /// Which message.
    pub uuid: String,
}

/// Name and version of an encoder.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encoder {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A call for one object or some ranges.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessCase {
    /// `decode_object` or `decode_range`.
    pub call: String,
    /// The file beside the manifest.
    pub file: String,
    /// Which object.
    pub object_index: usize,
    /// (first element, count) pairs.
    #[serde(default)]
    pub ranges: Vec<(Json, Json)>,
    /// Decode options.
    pub options: AccessOptions,
    /// What it yields.
    pub expect: Outcome,
}

/// Decode options.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessOptions {
    /// Output in host byte order.
    pub native_byte_order: Option<bool>,
    /// Write NaN and infinities back.
    pub restore_non_finite: Option<bool>,
    /// Verify the object's hash.
    pub verify_hash: Option<bool>,
}

fn xxh3() -> Option<String> {
    Some("xxh3".to_owned())
}
