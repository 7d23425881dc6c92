//! Objects in a store, read range by range and written part by part (feature `remote`).
//!
//! `http(s)`, `hf`, `s3`, `gs`, `az`, `file` and `memory` URLs; see [`StoreOptions`] for credentials, retries and limits.
//!
//! - [`StoreSource::open`] is one request: the first bytes, the size and the version of the object. Every later request
//!   names that version, so an object that is replaced while it is read is an error and never a mixture.
//! - What was fetched is kept in a small [cache](StoreOptions::cache_len); [`StoreSource::traffic`] counts what was not.
//! - [`StoreWriter`] uploads parts while the next one is filled; what is not finished is not there.

mod cache; // what was fetched lately
mod error; // what went wrong, with the URL, the status and the number of tries
mod fetch; // one range: tries, and the version it must be of
mod hub; // files of the Hugging Face Hub
mod guarded; // requests that follow redirects, and headers for one server
mod location; // which store a URL names
mod measure; // what requests cost
mod options; // how
mod pace; // transfers that come to a crawl
mod redirect; // where a server may send us
mod source; // an object, read
mod watch; // what goes over the wire, counted
mod whole; // all of an object at once, for servers without ranges
mod writer; // an object, written

pub use error::{RemoteError, RemoteErrorKind};
pub use location::{file_path, is_remote_url, is_url, sibling_url};
pub use options::{FullRead, Progress, ProgressFn, StoreOptions};
pub use source::{StoreSource, open_source};
pub use watch::Traffic;
pub use writer::{AsyncStoreWriter, StoreWriter, Stored};
