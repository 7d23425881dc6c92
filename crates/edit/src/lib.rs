//! Changing tensor files: keys are set, messages and objects copied, merged, split and put in order, objects coded anew, tensors of
//! checkpoints renamed, chosen, replaced and cast. The command line and the bindings share this crate.
//!
//! What needs no decode is not decoded: object frames of Tensogram messages and data of other files move as they are, in bounded
//! memory, with their digests and masks. Every output is written whole or not at all, also when it replaces its own input.
//!
//! ```
//! use fw_edit::{Change, Edit, Input, SetOptions, Target, set};
//! use fw_query::Where;
//! use fw_tensogram::{MessageBuilder, TensogramFile};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("fields.tgm");
//! let field = |step: i64| MessageBuilder::new().tensor(&[2], &[1.0f32, 2.0])?.base("step", step).encode();
//! std::fs::write(&path, [field(0)?, field(6)?].concat())?;
//!
//! let input = Input { path: &path, format: fw_convert::Format::Tensogram, name: "fields.tgm" };
//! let change = Change::new(Where::parse("step=6")?, Edit::parse("step=12")?);
//! let done = set(&input, Target::InPlace, &[change], &SetOptions::default())?;
//! assert_eq!(done.changed_messages, 1);
//! let steps = |number: usize| TensogramFile::open(&path)?.decode_metadata(number).map(|found| found.get("step").as_i64());
//! assert_eq!((steps(0)?, steps(1)?), (Some(0), Some(12)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod error; // what can go wrong
mod target; // what is read, and what may be written
mod meter; // how much is written
mod output; // a file under construction
mod messages; // a Tensogram file, some of whose messages change
mod tensors; // tensors of other formats, picked from files

mod name; // file names from keys
mod copy; // selected messages and objects into files
mod merge; // many files into one message, or one file
mod recode; // objects through other codecs
mod reshuffle; // everything found at the start of a message
mod set; // keys
mod split; // one file per object
mod weights; // tensors of checkpoints

pub use copy::{CopyOptions, CopyReport, Unit, WrittenFile, copy, copy_to_stream};
pub use error::{EditError, Result};
pub use merge::{Dropped, MergeOptions, MergeReport, Strategy, merge};
pub use name::Names;
pub use recode::{Coding, RecodeOptions, RecodeReport, RecodedObject, recode};
pub use reshuffle::{ReshuffleOptions, ReshuffleReport, reshuffle};
pub use set::{Change, Edit, SetOptions, SetReport, set};
pub use split::{SplitOptions, SplitReport, split};
pub use target::{Existing, Input, Target, check_output};
pub use weights::{
    CastError, CastOptions, CastReport, CastTensor, CastType, Choice, DigestsKept, Layers, Misfit, RenameReport,
    RenameRule, Renamed, ReplaceOptions, ReplaceReport, Replaced, SubsetReport, WeightsOptions, cast, rename, replace,
    subset,
};
