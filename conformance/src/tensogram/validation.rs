//! Validation reports.

use super::model::{FileIssue, Validation, Vector};
use super::vector::Context;
use crate::discover::Manifest;
use crate::row::Row;

/// One report.
pub fn check(_context: &Context<'_>, _mode: &str, _recorded: &Validation, _bytes: &[u8], _at: &str, _row: &mut Row) {}

/// The report about a file.
pub fn check_file(_manifest: &Manifest, _vector: &Vector, _issues: &[FileIssue], _row: &mut Row) {}
