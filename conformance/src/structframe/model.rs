//! What the manifests of frames may say.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value as Json;

/// `struct-frame-vectors/1`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vectors {
    #[serde(rename = "format")]
    _format: IgnoredAny,
    #[serde(default, rename = "note")]
    _note: IgnoredAny,
    /// Name of the group.
    pub group: String,
    /// The schema beside the manifest.
    pub schema: String,
    /// Package of the messages.
    pub package: String,
    /// What the layout engine must decide about each message.
    pub messages: BTreeMap<String, Facts>,
    /// Values with their frames.
    pub cases: Vec<Json>,
}

/// What the layout engine must decide about a message.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// Id as written.
    pub msgid: Option<u32>,
    /// Id of the package.
    pub pkgid: Option<u32>,
    /// Both in one.
    pub effective_id: Option<u32>,
    /// Largest payload.
    pub max_size: u64,
    /// Payload before extensions.
    pub base_size: u64,
    /// Smallest payload.
    pub min_size: u64,
    #[serde(default, rename = "min_size_reference")]
    _min_size_reference: IgnoredAny,
    /// First seed of the checksum.
    pub magic1: u8,
    /// Second seed of the checksum.
    pub magic2: u8,
    /// Whether payloads are trimmed.
    pub variable: bool,
    /// Whether it is an envelope.
    pub envelope: bool,
}

/// One value with its frames.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    #[serde(rename = "id")]
    _id: IgnoredAny,
    /// Name of the message.
    pub message: String,
    /// Its fields.
    pub values: Json,
    /// Payload of framings with a length, when it is short.
    pub payload_wire: Option<String>,
    /// Payload of framings without, when it is short and another.
    pub payload_fixed: Option<String>,
    /// Sequence number.
    #[serde(default)]
    pub seq: u8,
    /// System id.
    #[serde(default)]
    pub sys_id: u8,
    /// Component id.
    #[serde(default)]
    pub comp_id: u8,
    /// Its frames.
    pub frames: Vec<Frame>,
    #[serde(default, rename = "agreeing_oracles")]
    _agreeing_oracles: IgnoredAny,
    #[serde(default, rename = "disagreeing_oracles")]
    _disagreeing_oracles: IgnoredAny,
}

/// One frame.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// Name of the profile, or `header-payload`.
    pub profile: String,
    /// Header of a generic framing.
    pub header: Option<String>,
    /// Payload type of a generic framing.
    pub payload_type: Option<String>,
    /// The file beside the manifest.
    pub file: String,
    /// The first 16 digits of its digest.
    pub sha256: String,
    /// `wire` or `fixed`.
    pub layout: String,
    /// The bytes, when they are few.
    pub hex: Option<String>,
    /// What a reader finds.
    pub expect: FrameExpect,
}

/// What a reader finds in a frame.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameExpect {
    /// Whether it is good.
    pub valid: bool,
    /// Id of the message.
    pub msg_id: Option<u32>,
    /// Bytes of payload.
    pub msg_len: Option<u64>,
    /// Bytes of the frame.
    pub frame_size: Option<u64>,
    /// Sequence number.
    pub sequence: Option<u8>,
    /// System id.
    pub system_id: Option<u8>,
    /// Component id.
    pub component_id: Option<u8>,
    /// Package id.
    pub package_id: Option<u8>,
}
