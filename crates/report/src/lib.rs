//! What we say about bytes: findings with stable codes and spans, trees that name every byte range, and with the feature
//! `serde` (on by default) one JSON form for both, the same in every tool.
//!
//! ```
//! use fw_report::{Finding, Report};
//!
//! let mut report = Report::new();
//! report.push(Finding::error("hash_mismatch", "stored 00, computed 2d").at(16..24).on("message[0].object[1]"));
//! assert!(!report.is_ok());
//! assert_eq!(report.findings()[0].to_string(), "error[hash_mismatch] message[0].object[1]: stored 00, computed 2d (bytes 16..24)");
//! ```
#![forbid(unsafe_code)]

// Rooms in the order data flows: each uses only those before it.
mod text; // names from files, safe to show
mod finding; // one fault or remark
mod report; // all findings, with a verdict
mod tree; // bytes named range by range
#[cfg(feature = "serde")]
mod json; // the JSON form of all of these

pub use finding::{Finding, Severity};
pub use report::Report;
pub use text::{visible, visible_json, visible_lines};
pub use tree::Tree;
