//! struct-frame captures as rows: frames with their values, filtered, counted and written as tables.
//!
//! A [`CaptureInput`] gives bytes in chunks, with the host's time where a recording has it. [`each_row`] reads its frames one
//! by one in bounded memory and hands those that a [`FrameFilter`] selects to its caller. On that stand the [statistics of
//! fields](FieldStats) and [tables](frames_to_tables) such as [CSV](Csv).
//!
//! ```
//! use fw_convert::{CaptureInput, CaptureOptions, FrameFilter, each_row};
//! use fw_dynamic::{Codec, FrameCodec};
//! use fw_query::Where;
//! use fw_structframe::{Header, Profile};
//!
//! let text = "package demo; message Gps { option msgid = 7; uint8 fix = 1; double height = 2; }";
//! let schema = fw_schema::check_text("demo.sf", text).into_result().unwrap();
//! let codec = Codec::new(&schema);
//! let frames = FrameCodec::new(&codec, Profile::Standard.framing());
//! let mut bytes = Vec::new();
//! for fix in 0..5 {
//!     let gps = serde_json::json!({"fix": fix, "height": 10.5});
//!     frames.write_json(schema.by_id(7).unwrap(), Header::default(), &gps, &mut bytes)?;
//! }
//! let filter = FrameFilter::new(&schema, Where::parse("Gps.fix>=3")?)?;
//! let mut found = Vec::new();
//! let totals = each_row(CaptureInput::from_bytes("demo", bytes), &schema, &CaptureOptions::new().with_filter(filter), &mut |row| {
//!     found.push(row.at);
//!     Ok(())
//! })?;
//! assert_eq!((totals.frames, totals.selected, found.len()), (5, 2, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod input; // chunks of bytes, with times where there are some
mod clock; // a field that holds the time
mod filter; // which frames, by their fields
mod losses; // what is no good frame
mod rows; // frames with their values, one by one
mod fields; // statistics of every field
mod tables; // a file of rows for each message type
mod csv; // comma-separated values

pub use clock::Clock;
pub use csv::Csv;
pub use fields::{FieldKind, FieldStats, FieldSummary, MessageFields};
pub use filter::{FrameFilter, FrameKeys};
pub use input::{Arrival, CaptureInput, Chunks, Signal};
pub use losses::Losses;
pub use rows::{CaptureOptions, FrameRow, RowReader, RowTotals, each_row};
pub use tables::{TableFormat, TableLayout, TableWriter, TablesConverted, frames_to_tables, table_files};
