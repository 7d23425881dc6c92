//! struct-frame captures as Tensogram files of columns, and back to the same bytes.
//!
//! One message, one object per column. Its `base` entry has a `name` for people (`Pose.position.x`) and `fw.column` for
//! programs: the message's `id`, the `path` within it and its `role`. Paths that begin with `@` are no fields: `@arrival`
//! (place of each frame among all), `@time` (of recordings: when it arrived), `@sequence`, `@system` and `@component` (where the framing has them), and
//! `@irregular.…`, the bytes of payloads that a careful encoder would have spelt otherwise. Frames of unknown ids and
//! unreadable payloads are kept as `@stray.…`. The message's own metadata has `fw.capture`: the framing, and the text of the
//! schema with everything it imports, so that the file explains itself and needs nothing to become frames again.

mod grow; // columns that grow, in memory or beside it
mod pack; // many byte strings in two columns
mod read; // columns to frames
mod spool; // columns of any source
mod write; // frames to columns

pub use read::{columns_to_frames, holds_capture, is_capture};
pub use spool::ColumnSpool;
pub use write::{capture_to_columns, frames_to_columns};

use crate::{ConvertError, Loss};
use fw_recording::RecordingError;
use fw_structframe::Framing;
use std::path::PathBuf;

/// A finished conversion of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaptureConverted {
    /// The file written.
    pub file: PathBuf,
    /// The framing of the capture.
    pub framing: Framing,
    /// Good frames in the capture.
    pub frames: u64,
    /// Columns in the Tensogram file.
    pub columns: usize,
    /// Bytes of frames.
    pub bytes: u64,
    /// What could not be kept: bytes of a capture that are no good frame.
    pub losses: Vec<Loss>,
}

/// The key in the message's own metadata.
const CAPTURE: &str = "fw.capture";

/// The key in an object's base entry.
const COLUMN: &str = "fw.column";

/// When the frames of a message, and the strays, arrived at the host: nanoseconds since 1970. Only recordings have it, and frames
/// do not carry it.
const TIME: &str = "@time";
const STRAY_TIME: &str = "@stray.time";

/// What we write where nothing newer is needed.
const FIRST_VERSION: i128 = 1;

/// Has the key `variable`: a reader that does not know it would write other payloads. The newest we read.
const VERSION_WITH_VARIABLE: i128 = 2;

/// Which messages are variable, when that is not what the schema's text says.
const VARIABLE: &str = "variable";

/// The value of [`VARIABLE`]: every message, as with `--no-packed`.
const VARIABLE_ALL: &str = "all";

/// Include directories of the schema, where it has any: without them a reader does not find what they hold, and says so.
const INCLUDE: &str = "include";

impl From<RecordingError> for ConvertError {
    fn from(error: RecordingError) -> Self {
        match error {
            RecordingError::Io { path, error } => Self::File { path, error: Box::new(Self::Io(error)) },
            RecordingError::Message { path, error } => Self::File { path, error: Box::new(error.into()) },
            error => Self::format(error.code(), error.to_string(), None),
        }
    }
}

impl From<fw_dynamic::Error> for ConvertError {
    fn from(error: fw_dynamic::Error) -> Self {
        Self::format(error.code, error.to_string(), None)
    }
}
