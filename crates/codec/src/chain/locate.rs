//! Runs of elements out of a payload that is fetched piece by piece.

use super::{Filter, Pipeline, RunPlan};
use crate::{CodecError, Window};
use fw_bytes::{Span, Step};
use std::ops::Range;

impl Pipeline {
    /// How to decode runs of elements out of the bytes at hand, or which spans of the payload to fetch first. Asked again
    /// with these, it goes on: a codec whose payload holds a map of its blocks reads that before it names blocks.
    /// Codecs without a map are done at once, and [`Pipeline::spans`] tells what they need.
    ///
    /// # Errors
    /// As [`Pipeline::plan_runs`]; faults of what is at hand.
    pub fn locate<R>(&self, payload: Window<'_>, runs: R) -> Result<Step<RunPlan>, CodecError>
    where
        R: IntoIterator<Item = Range<u64>> + Clone,
    {
        if payload.is_whole() {
            return self.plan_runs(Some(payload), runs).map(Step::Done);
        }
        self.element_len()?;
        let compressor = if self.stages.filter == Filter::None { self.decompressor(self.byte_order)? } else { None };
        let Some(compressor) = compressor else { return self.plan_runs(None, runs).map(Step::Done) };
        let absent = |ranges: &[Range<u64>]| compressor.still_needed(payload, self.stage_len, ranges);
        let ranges = self.stage_ranges(runs.clone())?;
        if ranges.is_empty() {
            return self.plan_runs(None, runs).map(Step::Done);
        }
        match absent(&ranges)? {
            None => return self.plan_runs(None, runs).map(Step::Done),
            Some(spans) if !spans.is_empty() => return Ok(Step::Need(spans)),
            Some(_) => {}
        }
        let plan = self.plan_runs(Some(payload), runs)?;
        if let RunPlan::Covers(covers) = &plan {
            // Where blocks differ in length, a cover may reach over one that no run touches.
            let spans: Vec<Span> = absent(&self.stage_ranges(covers.iter().cloned())?)?.unwrap_or_default();
            if !spans.is_empty() {
                return Ok(Step::Need(spans));
            }
        }
        Ok(Step::Done(plan))
    }

    /// The bytes behind the encoding that hold the runs; neighbours are one range.
    fn stage_ranges(&self, runs: impl IntoIterator<Item = Range<u64>>) -> Result<Vec<Range<u64>>, CodecError> {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for run in runs {
            let range = self.stage_range(&run)?;
            match ranges.last_mut() {
                _ if range.is_empty() => {}
                Some(last) if last.end == range.start => last.end = range.end,
                _ => ranges.push(range),
            }
        }
        Ok(ranges)
    }
}
