//! Looking into tensor files of every format: catalogs of records for selections, statistics and pictures. The command line, the
//! bindings and the explorer share this crate.
//!
//! [`Catalog`] opens a file, local or in a store, and hands out its messages as [`FileRecord`]s, which the grammar of `fw-query`
//! selects from. See there for an example.
#![forbid(unsafe_code)]

mod error; // what can go wrong

mod catalog; // the records of a file
mod data; // the elements of tensors

pub use catalog::{Catalog, FileRecord, ObjectInfo, Records};
pub use data::{Part, Pieces, shown};
pub use error::{LookError, Result};
