//! Every fault of a file, for people: goes on after the first one, and can check what reading does not.

mod digests; // stored digests against the data
mod header; // every rule of the header

use crate::wire::SIZE_LEN;
use crate::{BinTensorError, MAX_HEADER_LEN, OwnedMetadata, Profile, ReadOptions};
use fw_report::{Finding, Report};
use fw_source::{Buffers, ReadAt, drive};

pub use digests::verify_tensors;

/// What [`Report::tallies`] calls the number of tensors, where data was checked.
pub const TENSORS: &str = "tensor_count";
/// What [`Report::tallies`] calls the number of tensors whose data was compared with a digest.
pub const DIGESTS_CHECKED: &str = "digests_checked";

/// What to check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValidateOptions {
    /// What counts as a fault; what only a stricter profile refuses becomes a note.
    pub profile: Profile,
    /// Whether to read the data.
    pub data: DataChecks,
}

/// Whether to read the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataChecks {
    /// Only the header is read.
    #[default]
    Skip,
    /// Digests in the user metadata are compared with the data, and `BOOL` bytes are looked at.
    Full,
}

impl ValidateOptions {
    /// The header, by the rules of `profile`.
    pub const fn new(profile: Profile) -> Self {
        Self { profile, data: DataChecks::Skip }
    }

    /// Reads the data too.
    #[must_use]
    pub const fn with_data(mut self) -> Self {
        self.data = DataChecks::Full;
        self
    }
}

/// Checks a file and reports everything found. The report is fine exactly when reading with the same profile succeeds
/// and, if the data was checked, every stored digest agrees.
///
/// # Errors
/// Only when the source fails.
pub fn validate(source: &(impl ReadAt + Sync + ?Sized), options: &ValidateOptions) -> Result<Report, BinTensorError> {
    let mut report = Report::new();
    let len = source.len()?;
    let read_options = ReadOptions::new().with_profile(options.profile);
    let verdict = drive(source, &mut Buffers::new(), |have| OwnedMetadata::step(have, len, &read_options));
    if let Err(BinTensorError::IoError(error)) = verdict {
        return Err(error.into());
    }
    if let Some(header) = read_header(source, len)? {
        header::check(&header, len, options.profile, &mut report);
    }
    match verdict {
        Ok(metadata) if options.data == DataChecks::Full => digests::check(source, &metadata, &mut report)?,
        Ok(_) => {}
        // The walk above names every fault it knows; the reader's own verdict is never lost.
        Err(error) => {
            if !report.findings().iter().any(|finding| finding.code == error.code()) {
                report.push(finding_of(&error));
            }
        }
    }
    Ok(report)
}

fn finding_of(error: &BinTensorError) -> Finding {
    let finding = Finding::error(error.code(), error.detail()).level("structure");
    match error.position() {
        Some(at) => finding.at(at..at),
        None => finding,
    }
}

/// The header's bytes, when the size field can be right.
fn read_header(source: &(impl ReadAt + ?Sized), len: u64) -> Result<Option<Vec<u8>>, BinTensorError> {
    let mut size = [0u8; SIZE_LEN];
    if len < SIZE_LEN as u64 {
        return Ok(None);
    }
    source.read_exact_at(0, &mut size)?;
    let header_len = u64::from_le_bytes(size);
    if header_len > MAX_HEADER_LEN || header_len.saturating_add(SIZE_LEN as u64) > len {
        return Ok(None);
    }
    // At most the cap, and the source has proved to be that long.
    let mut header = vec![0; header_len as usize];
    source.read_exact_at(SIZE_LEN as u64, &mut header)?;
    Ok(Some(header))
}
