//! Selecting, sorting, counting and naming items by their keys. The command line, the explorer and the bindings share
//! this grammar; the crate knows no file format. A format implements [`Item`] (or [`Record`], for messages that hold
//! several objects) and gets all of it.
//!
//! ```
//! use fw_query::{Item, Path, Value, Where};
//!
//! struct Field {
//!     param: &'static str,
//!     step: i64,
//! }
//!
//! impl Item for Field {
//!     fn lookup(&self, path: &Path) -> Option<Value<'_>> {
//!         match path.as_str() {
//!             "param" => Some(Value::from(self.param)),
//!             "step" => Some(Value::from(self.step)),
//!             _ => None,
//!         }
//!     }
//! }
//!
//! let filter = Where::parse_line("param=2t/10? step<=12")?;
//! assert!(filter.matches(&Field { param: "10u", step: 6 }));
//! assert!(!filter.matches(&Field { param: "10u", step: 18 }));
//! assert!(!filter.matches(&Field { param: "msl", step: 6 }));
//!
//! let error = Where::parse_line("param=2t step~12").unwrap_err();
//! assert_eq!((error.code(), error.span()), ("missing_operator", 9..16));
//! # Ok::<(), fw_query::QueryError>(())
//! ```
//!
//! # Where clauses
//!
//! | clause | selects an item when |
//! |---|---|
//! | `key=value/other` | the key is present and equal to one of the alternatives |
//! | `key!=value/other` | the key is absent, or differs from all alternatives |
//! | `key<12`, `<=`, `>`, `>=` | the key is present and ordered so |
//! | `key=0..12`, `..12`, `5..` | the key is present and in the range; **both ends belong to it** |
//! | `key=2?/u*/[a-c]x` | the text of the value matches: `*` any text, `?` one character, `[..]` one of these, `[!..]` none of these |
//! | `key="a/b"` | the text of the value is exactly this; quotes keep `/`, `*`, `..` and blanks literal |
//!
//! Numbers compare by value and exactly: `12` equals `12.0`, and integers above 2^53 stay apart. Text equals only the
//! same text (`012` is not `12`), but text that reads as a number is ordered as one, since some tools store every
//! value as text. Several clauses must all hold.
#![forbid(unsafe_code)]

// Rooms in the order data flows.
mod error; // what is wrong in a query, where, and what to write instead
mod suggest; // did you mean
mod cursor; // reading query text character by character
mod number; // exact comparison of integers and floats
mod value; // what a key can hold
mod path; // `mars.step`, `objects[0].shape`

mod item; // what answers lookups
mod record; // a message with several objects as items

mod glob; // `*`, `?`, `[..]`
mod pattern; // patterns for names
mod select; // where clauses

mod keys; // `--keys a,b,c`
mod sort; // `--sort key:desc`
mod count; // how many items share the same values
mod template; // `[mars.param]-[mars.step].tgm`

pub use count::{Counter, Group};
pub use error::QueryError;
pub use item::Item;
pub use keys::{Keys, leaf_keys};
pub use number::Number;
pub use path::{Path, Segment};
pub use pattern::Pattern;
pub use record::{MESSAGE_FIELDS, OBJECT_FIELDS, OneObject, Record, WholeRecord};
pub use select::{Clause, Operator, Where};
pub use sort::{SortKeys, compare_values};
pub use suggest::{closest, edit_distance};
pub use template::{Template, TemplateError};
pub use value::{Array, List, Map, Mapping, Value};
