//! Messages with metadata, index and digests at their start, so that readers find everything there.

use crate::error::Result;
use crate::messages::{Changed, Messages};
use crate::target::{Input, Target, only_tensogram};
use fw_source::Watch;
use serde::Serialize;

/// How messages are put in order.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ReshuffleOptions {
    /// Is told how much is written.
    pub watch: Watch,
}

impl ReshuffleOptions {
    /// Watches progress.
    #[must_use]
    pub fn with_watch(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
    }
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ReshuffleReport {
    /// Messages in the file.
    pub messages: usize,
    /// Those that were written anew; the others had everything at their start.
    pub changed_messages: usize,
    /// Bytes written.
    pub bytes: u64,
}

/// Moves metadata, index and digests of every message before its objects. Object frames are copied as they are.
///
/// # Errors
/// Files of other formats, messages that cannot be read, outputs that may not be written.
pub fn reshuffle(input: &Input<'_>, target: Target<'_>, options: &ReshuffleOptions) -> Result<ReshuffleReport> {
    only_tensogram(input, "reshuffle")?;
    target.checked(input)?;
    let file = Messages::open(input)?;
    let (mut messages, mut changed) = (0, Vec::new());
    for record in file.records() {
        let record = record?;
        messages += 1;
        let stored = file.stored(&record)?;
        if !stored.is_header_indexed() {
            let plan = stored.plan()?;
            changed.push(Changed { span: record.span(), plan, elsewhere: Vec::new() });
        }
    }
    let bytes = file.rewrite(input, target, &changed, &options.watch)?;
    Ok(ReshuffleReport { messages, changed_messages: changed.len(), bytes })
}
