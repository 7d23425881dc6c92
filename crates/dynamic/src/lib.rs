//! struct-frame payloads without generated code: a schema loaded at run time is enough.
//!
//! Two things know bytes here. [`Codec::expand`](Codec) turns what was received, trimmed, short or long, into the fixed layout
//! of its message, in which everything stands at a constant offset; its counterpart trims again. Everything else reads and
//! writes fixed layouts: values ([`Codec::decode`], [`Codec::encode`]), their JSON form, and [`columns`].
//!
//! ```
//! use fw_dynamic::{Codec, Layout};
//!
//! let schema = fw_schema::check_text("demo.sf", "package demo; message Ping { option msgid = 7; uint16 seq = 1; bool ack = 2; }")
//!     .into_result()
//!     .unwrap();
//! let codec = Codec::new(&schema);
//! let ping = schema.by_id(7).unwrap();
//! let value = codec.decode(ping, Layout::Wire, &[0x34, 0x12, 1]).unwrap();
//! assert_eq!(serde_json::to_string(&value).unwrap(), r#"{"seq":4660,"ack":true}"#);
//! let json = serde_json::json!({"seq": 4660, "ack": true});
//! let value = codec.value_from_json(ping, &json).unwrap();
//! assert_eq!(codec.encode(ping, Layout::Wire, &value).unwrap(), [0x34, 0x12, 1]);
//! ```
//!
//! Around payloads stand frames: a [`FrameCodec`] joins this crate with the readers and the writer of `fw-structframe`.
#![forbid(unsafe_code)]

// Rooms in the order data flows: each uses only those before it.
mod error; // what went wrong, on which path, at which byte
mod value; // self-describing values
mod image; // wire layout <-> fixed layout
mod codec; // fixed layout <-> values
mod json; // values <-> JSON
pub mod columns; // many payloads to typed columns, and back
mod frames; // frames <-> values, columns; which framing bytes have
mod line; // frames <-> lines of JSON
mod text; // frames to lines, straight from the payload

#[cfg(feature = "testing")]
pub mod testing; // random values

pub use codec::{Codec, Strictness};
pub use error::Error;
pub use frames::{Detection, FrameCodec, detect, message_infos};
pub use fw_structframe::Layout;
pub use json::EnumStyle;
pub use line::{FrameLine, shown_name};
pub use text::LineWriter;
pub use value::{UnionValue, Value};
