//! struct-frame captures for the tools people use: MCAP for Foxglove and PlotJuggler, Parquet and Arrow for data frames, and
//! Foxglove live over a WebSocket.
//!
//! ```
//! use fw_convert::{CaptureInput, CaptureOptions};
//! use fw_dynamic::{Codec, FrameCodec};
//! use fw_structframe::{Header, Profile};
//! use fw_telemetry::{capture_to_mcap, mcap_to_columns};
//!
//! let text = "package demo; message Ping { option msgid = 7; uint16 seq = 1; bool ack = 2; }";
//! let schema = fw_schema::check_text("demo.sf", text).into_result().unwrap();
//! let codec = Codec::new(&schema);
//! let frames = FrameCodec::new(&codec, Profile::Standard.framing());
//! let mut bytes = Vec::new();
//! let ping = serde_json::json!({"seq": 4660, "ack": true});
//! frames.write_json(schema.by_id(7).unwrap(), Header::default(), &ping, &mut bytes)?;
//!
//! let folder = tempfile::tempdir()?;
//! let (mcap, columns) = (folder.path().join("flight.mcap"), folder.path().join("flight.tgm"));
//! let done = capture_to_mcap(CaptureInput::from_bytes("demo", bytes), &mcap, &schema, &CaptureOptions::new())?;
//! assert_eq!((done.selected, done.channels), (1, 1));
//! let back = mcap_to_columns(&mcap, &columns)?;
//! assert_eq!(back.messages, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

// Rooms in the order data flows: each uses only those before it.
mod error; // what can go wrong
mod proto; // a schema as protobuf descriptors, values as protobuf messages
mod mcap; // MCAP files, there and back
mod table; // Parquet and Arrow tables
mod foxglove; // live data over a WebSocket

pub use error::TelemetryError;
pub use foxglove::Bridge;
pub use mcap::{McapConverted, McapRead, capture_to_mcap, is_mcap, mcap_to_columns};
pub use proto::{Kept, Protobuf};
pub use table::{ArrowFile, Parquet};
