//! What is no good frame. A long list helps nobody: the first ones are named, the others counted.

use crate::{Feature, Loss};
use fw_structframe::Event;
use std::collections::BTreeMap;

/// What a capture holds that its conversion does not.
#[derive(Debug, Default)]
pub struct Losses {
    listed: Vec<Loss>,
    more: u64,
    more_len: u64,
    /// Frames left out, by the reason.
    left_out: BTreeMap<String, u64>,
}

impl Losses {
    /// Takes an event that is not a good frame; a good one changes nothing.
    pub fn add(&mut self, event: &Event<'_>) {
        let (what, span) = match event {
            Event::Frame(_) => return,
            Event::BadChecksum(bad) => ("a frame with a bad checksum", bad.span),
            Event::Skipped(span) => ("no frame", *span),
            Event::Truncated(span) => ("an incomplete frame", *span),
        };
        if self.listed.len() < LISTED {
            self.note(format!("{} bytes at byte {} (0x{:x}): {what}", span.len(), span.start, span.start));
        } else {
            self.more = self.more.saturating_add(1);
            self.more_len = self.more_len.saturating_add(span.len());
        }
    }

    /// Lists something that is no frame.
    pub fn note(&mut self, what: String) {
        self.listed.push(Loss::new(Feature::Bytes, None, what));
    }

    /// Counts a good frame, or a part of one, that the target cannot hold.
    pub fn leave_out(&mut self, reason: &str) {
        match self.left_out.get_mut(reason) {
            Some(count) => *count = count.saturating_add(1),
            None => {
                self.left_out.insert(reason.to_owned(), 1);
            }
        }
    }

    /// One entry for each of the first, and one for all others.
    pub fn finish(mut self) -> Vec<Loss> {
        if self.more > 0 {
            let what = format!("{} bytes in {} other places", self.more_len, self.more);
            self.listed.push(Loss::new(Feature::Bytes, None, what));
        }
        let left_out = self.left_out.into_iter().map(|(reason, count)| {
            let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
            Loss::new(Feature::Bytes, None, format!("{reason} ({times})"))
        });
        self.listed.extend(left_out);
        self.listed
    }
}

const LISTED: usize = 100;
