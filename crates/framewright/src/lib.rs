//! Framewright: binary data that explains and proves itself. One library for Tensogram messages, BinTensors weights and
//! struct-frame captures; this crate is the one to depend on.
//!
//! ```
//! use framewright::tensogram::{MessageBuilder, MessageView};
//! use framewright::Format;
//!
//! let message = MessageBuilder::new().tensor(&[2, 2], &[1.0f32, 2.0, 3.0, 4.0])?.base("param", "2t").encode()?;
//! assert_eq!(Format::of_bytes(&message), Some(Format::Tensogram));
//! let view = MessageView::open(&message)?;
//! assert_eq!(view.object(0)?.values::<f32>(), Some(&[1.0, 2.0, 3.0, 4.0][..]));
//! # Ok::<(), framewright::tensogram::TensogramError>(())
//! ```
#![forbid(unsafe_code)]

pub mod doctor; // is this build sound on this machine?

/// Which format is this? By content first; [`detect`] opens the file and parses a whole BinTensors header if need be.
pub use fw_convert::{Format, detect};

pub use fw_bintensors as bintensors;
/// Spans, limits, parse errors and checksums, which every format uses.
pub use fw_bytes as primitives;
pub use fw_codec as codec;
pub use fw_codegen as codegen;
pub use fw_convert as convert;
pub use fw_draw as draw;
pub use fw_dynamic as dynamic;
pub use fw_edit as edit;
/// Live links, by address.
#[cfg(feature = "link")]
pub use fw_link as link;
pub use fw_look as look;
pub use fw_query as query;
pub use fw_recording as recording;
pub use fw_report as report;
pub use fw_schema as schema;
pub use fw_source as source;
pub use fw_stats as stats;
pub use fw_structframe as structframe;
#[cfg(feature = "telemetry")]
pub use fw_telemetry as telemetry;
pub use fw_tensogram as tensogram;
pub use fw_tensor as tensor;

/// The examples of the project's README compile and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// So do those of the page for users of the reference crates.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/migrating.md")]
struct Migrating;
