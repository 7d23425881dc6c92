//! The struct-frame schema language: a compiler front end and the one layout engine.
//!
//! [`check`] reads a schema file and everything it imports and returns either a [`Schema`], in which every offset, size,
//! id, tag and checksum seed is decided, or all that is wrong, each fault with its place, a caret, a stable code, the
//! clause of `docs/spec/struct-frame.md` it breaks and a hint.
//!
//! ```
//! let compiled = fw_schema::check_text("demo.sf", "package demo; message Ping { option msgid = 7; uint16 seq = 1; bool ack = 2; }");
//! let schema = compiled.into_result().unwrap();
//! let ping = schema.by_id(7).unwrap();
//! assert_eq!((ping.sizes.max, ping.fields[1].offset), (3, 2));
//!
//! let faulty = fw_schema::check_text("demo.sf", "package demo; message Ping { uint61 seq = 1; bool ack = 3; }");
//! let codes: Vec<_> = faulty.diagnostics.errors().map(|fault| fault.code.name()).collect();
//! assert_eq!(codes, ["unresolved_type", "field_number"]);
//! ```
#![forbid(unsafe_code)]

// Rooms in the order data flows; each uses only those before it.
pub mod source; // text and places in it
pub mod diagnose; // what is wrong, where, and what to do
mod lex; // text to tokens
pub mod ast; // the syntax tree
mod parse; // tokens to tree
pub mod layout; // drafts to bytes: the model every consumer reads
mod resolve; // tree to checked drafts, and these to the layout
mod record; // what a frame reader looks up
mod bundle; // a schema as text that travels with its data

// Tools on the same tree and model.
mod format; // canonical text
mod map; // byte maps
mod diff; // wire compatibility of two schemas

#[cfg(feature = "testing")]
pub mod testing; // random valid schemas

pub use bundle::Bundle;
pub use diagnose::{Class, Code, Diagnostic, Diagnostics};
pub use diff::{Diff, MessageDiff, Reason, Verdict, Weight, diff};
pub use format::format;
pub use layout::{Schema, Variable};
pub use map::{layout_text, layout_text_of};
pub use parse::parse_text;
pub use record::{Record, records};
pub use resolve::{Compilation, IdRoom, Options, check, check_all, check_text, check_with};
pub use source::{Disk, Loader, Memory};
