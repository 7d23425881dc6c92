//! Recordings of byte streams: what arrived, in which pieces, and when.
//!
//! A recording is a Tensogram file, or a directory of them, that grows while data arrives. Every piece that a link delivered
//! keeps its bytes and its host time; nothing is interpreted. Only whole messages are appended, so that a recorder that is
//! killed loses at most what it had not written yet. `docs/spec/recording.md` describes the container.
//!
//! ```
//! use fw_recording::{Capture, Recorder, RecorderOptions};
//!
//! let folder = std::env::temp_dir().join(format!("fw-recording-{}", std::process::id()));
//! let mut recorder = Recorder::create(&folder, RecorderOptions::new("tcp:robot:7000"))?;
//! recorder.push(1_700_000_000_000_000_000, 0, b"first")?;
//! recorder.push(1_700_000_000_000_250_000, 0, b"second")?;
//! assert_eq!(recorder.finish()?.bytes, 11);
//!
//! let mut capture = Capture::open(&folder)?; // a plain file of bytes would do, too: it has no times
//! let mut read = Vec::new();
//! while let Some(chunk) = capture.next_chunk()? {
//!     read.push((chunk.time, chunk.bytes.to_vec()));
//! }
//! assert_eq!(read[1], (Some(1_700_000_000_000_250_000), b"second".to_vec()));
//! std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

// Rooms in the order data flows: each uses only those before it.
mod error; // what went wrong, in which file, at which byte
mod time; // host times and their text
mod describe; // headers and blocks as metadata
mod write; // pieces to files
mod read; // files to pieces
mod capture; // recordings and plain captures alike

pub use capture::{Capture, CaptureChunk};
pub use error::RecordingError;
pub use read::{Chunk, Damage, Reader, Recording, is_recording};
pub use time::{now, utc};
pub use write::{Recorded, Recorder, RecorderOptions};
