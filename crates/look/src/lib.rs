//! Looking into tensor files of every format: catalogs of records for selections, statistics and pictures. The command line, the
//! bindings and the explorer share this crate.
//!
//! [`Catalog`] opens a file, local or in a store, and hands out its messages as [`FileRecord`]s, which the grammar of `fw-query`
//! selects from; [`Catalog::statistics`] summarises an object, [`Picture`] draws it. See there for examples.
#![forbid(unsafe_code)]

mod error; // what can go wrong

mod catalog; // the records of a file
mod keys; // did you mean
mod data; // the elements of tensors
mod stats; // statistics of tensors
mod picture; // pictures of tensors

pub use catalog::{Catalog, FileRecord, ObjectInfo, Records};
pub use data::{Part, Pieces, shown};
pub use error::{LookError, Result};
pub use fw_bytes::parallel::{in_order, thread_count};
pub use keys::{KeyCheck, UnknownKey};
pub use picture::{Picture, PictureKind, PictureOptions, Style};
pub use stats::{StatsOptions, TensorStats};
