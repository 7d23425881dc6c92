//! Many runs of elements out of one payload: what they touch is planned once, and every block is decoded once.

use super::reader::RangeReader;
use super::{DecodeOptions, NAME, Pipeline};
use crate::{CodecError, Reach, Window, alloc, parallel};
use fw_bytes::Span;
use std::ops::Range;

/// Where the encoded bytes of an object are: all at hand, or the parts that were asked for.
pub trait Payload {
    /// Length of the whole payload.
    fn total_len(&self) -> u64;

    /// A window that holds a span of the payload; for `None` the whole payload, or all the pieces of it that are at hand.
    /// A payload that is all at hand need not ask which.
    ///
    /// # Errors
    /// `partial_payload` when the bytes are not there.
    fn window(&self, span: impl FnOnce() -> Option<Span>) -> Result<Window<'_>, CodecError>;
}

impl Payload for Window<'_> {
    fn total_len(&self) -> u64 {
        self.total_len
    }

    fn window(&self, _span: impl FnOnce() -> Option<Span>) -> Result<Window<'_>, CodecError> {
        Ok(*self)
    }
}

/// How runs of elements are decoded: what is decoded, and where the runs are taken from. Complete: callers have to know
/// what each costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunPlan {
    /// Each run is decoded by itself, straight into its place.
    Runs,
    /// These ranges of elements are decoded, none of a codec's blocks twice, and the runs copied out of them.
    Covers(Vec<Range<u64>>),
    /// The codecs cannot start in the middle: everything is decoded, and the runs copied out.
    Whole,
}

impl Pipeline {
    /// How to decode runs of elements, in any order. Some codecs say in the payload how large their blocks are; without
    /// it, one range that covers all runs is taken. See [`Pipeline::locate`] for payloads that are fetched piece by piece.
    ///
    /// # Errors
    /// A run outside the object, elements that do not begin at byte boundaries, a codec that is not built in.
    pub fn plan_runs(
        &self,
        payload: Option<Window<'_>>,
        runs: impl IntoIterator<Item = Range<u64>>,
    ) -> Result<RunPlan, CodecError> {
        self.element_len()?;
        let mut count = 0usize;
        let runs = runs.into_iter().inspect(|_| count += 1);
        if self.is_plain() {
            // Any element lies where it lies.
            for run in runs {
                self.check_range(&run)?;
            }
            return Ok(RunPlan::Runs);
        }
        let block = match self.unit(payload)? {
            Unit::Whole => {
                for run in runs {
                    self.check_range(&run)?;
                }
                return Ok(RunPlan::Whole);
            }
            // One block: what comes before a run has to be walked over, so one walk does for all.
            Unit::FromStart => u64::MAX,
            Unit::Blocks(len) => len,
        };
        let mut covers: Vec<Cover> = Vec::new();
        for run in runs {
            let bytes = self.stage_range(&run)?;
            if run.is_empty() {
                continue;
            }
            // A value of no bits has no byte, and no block.
            let last = bytes.end.saturating_sub(1).max(bytes.start);
            let cover = Cover { elements: run, blocks: bytes.start / block..last / block + 1 };
            match covers.last_mut() {
                Some(before) if before.touches(&cover) => before.join(&cover),
                _ => covers.push(cover),
            }
        }
        // Asked only now: a run that joins the last cover may draw it back over an earlier one.
        if !covers.is_sorted_by(|before, cover| before.blocks.end <= cover.blocks.start) {
            covers.sort_unstable_by_key(|cover| cover.blocks.start);
            covers.dedup_by(|cover, before| {
                let joined = before.touches(cover);
                if joined {
                    before.join(cover);
                }
                joined
            });
        }
        if covers.len() == count {
            return Ok(RunPlan::Runs);
        }
        Ok(RunPlan::Covers(covers.into_iter().map(|cover| cover.elements).collect()))
    }

    /// The payload bytes that suffice to decode runs as `plan` says; `None` means all of them.
    ///
    /// # Errors
    /// As [`Pipeline::plan_runs`].
    pub fn spans(
        &self,
        payload_len: u64,
        plan: &RunPlan,
        runs: impl IntoIterator<Item = Range<u64>>,
    ) -> Result<Option<Vec<Span>>, CodecError> {
        let reader = RangeReader::new(self, self.byte_order)?;
        Ok(match plan {
            RunPlan::Runs => runs.into_iter().map(|run| reader.span(payload_len, &run)).collect(),
            RunPlan::Covers(covers) => covers.iter().map(|cover| reader.span(payload_len, cover)).collect(),
            RunPlan::Whole => None,
        })
    }

    /// Decodes runs of elements, each into its own buffer, as `plan` says; `parts` are the runs it was made for.
    ///
    /// # Errors
    /// As [`Pipeline::decode_range_into`].
    pub fn decode_parts<'o>(
        &self,
        payload: &impl Payload,
        plan: &RunPlan,
        parts: impl IntoIterator<Item = (Range<u64>, &'o mut [u8])>,
        options: &DecodeOptions,
    ) -> Result<(), CodecError> {
        let width = self.element_len()?;
        let mut parts = parts.into_iter();
        match plan {
            RunPlan::Runs => {
                let reader = RangeReader::new(self, options.order)?;
                let window = |run: &Range<u64>| {
                    self.check_range(run)?;
                    payload.window(|| reader.span(payload.total_len(), run))
                };
                if options.threads <= 1 || self.is_plain() {
                    return parts.try_for_each(|(run, out)| reader.read(window(&run)?, run, options.threads, out));
                }
                let tasks = parts.map(|(run, out)| Ok((window(&run)?, run, out)));
                self.read_all(&reader, tasks.collect::<Result<_, CodecError>>()?, options.threads)
            }
            RunPlan::Covers(covers) => {
                let reader = RangeReader::new(self, options.order)?;
                let bytes = |cover: &Range<u64>| (cover.end.saturating_sub(cover.start)).saturating_mul(width);
                let total = covers.iter().map(bytes).fold(0, u64::saturating_add);
                let mut decoded = alloc::zeroed(usize::try_from(total).unwrap_or(usize::MAX))?;
                let mut rest = decoded.as_mut_slice();
                let mut tasks = Vec::with_capacity(covers.len());
                for cover in covers {
                    self.check_range(cover)?;
                    // All covers together are as long as what was reserved for them.
                    let (out, after) = rest.split_at_mut(bytes(cover) as usize);
                    let window = payload.window(|| reader.span(payload.total_len(), cover))?;
                    tasks.push((window, cover.clone(), out));
                    rest = after;
                }
                self.read_all(&reader, tasks, options.threads)?;
                let mut place = Places::new(covers);
                parts.try_for_each(|(run, out)| copy(place.of(&run), width, &decoded, out))
            }
            RunPlan::Whole => {
                let whole = self.decode(payload.window(|| None)?.whole_bytes(NAME)?, options)?;
                parts.try_for_each(|(run, out)| copy(Some(run.start), width, &whole, out))
            }
        }
    }

    /// Decodes several ranges, one after another, so that they fill `out` exactly. Blocks that several of them touch
    /// are decoded once; when the codec cannot begin anywhere, the whole is.
    ///
    /// # Errors
    /// As [`Pipeline::decode_range_into`].
    pub fn decode_ranges_into(
        &self,
        payload: Window<'_>,
        ranges: &[Range<u64>],
        options: &DecodeOptions,
        out: &mut [u8],
    ) -> Result<(), CodecError> {
        let width = self.element_len()?;
        let plan = self.plan_runs(Some(payload), ranges.iter().cloned())?;
        // Every range lies inside the object, so its length in bytes fits in 64 bits.
        let len = |range: &Range<u64>| (range.end - range.start) * width;
        let total = ranges.iter().map(len).fold(0, u64::saturating_add);
        if total != out.len() as u64 {
            let message = format!("output has {} bytes, the ranges have {total}", out.len());
            return Err(CodecError::misuse(NAME, "output_length_mismatch", message));
        }
        let mut rest = out;
        let parts = ranges.iter().map(move |range| {
            let (part, after) = std::mem::take(&mut rest).split_at_mut(len(range) as usize);
            rest = after;
            (range.clone(), part)
        });
        self.decode_parts(&payload, &plan, parts, options)
    }

    /// Several ranges: one thread each; a single one gets all threads.
    fn read_all(
        &self,
        reader: &RangeReader<'_>,
        tasks: Vec<(Window<'_>, Range<u64>, &mut [u8])>,
        threads: usize,
    ) -> Result<(), CodecError> {
        let inside = if tasks.len() > 1 { 1 } else { threads };
        parallel::for_each(threads, tasks.into_iter(), |(window, range, out)| reader.read(window, range, inside, out))
    }

    /// What has to be decoded for an element.
    fn unit(&self, payload: Option<Window<'_>>) -> Result<Unit, CodecError> {
        let compressor = self.decompressor(self.byte_order)?;
        Ok(match (self.reach_through(compressor.as_deref()), compressor) {
            (Reach::Blocks, None) => Unit::Blocks(UNPACKED_TOGETHER),
            (Reach::Blocks, Some(compressor)) => match compressor.block_len(payload, self.stage_len) {
                Some(len) => Unit::Blocks(len.max(1)),
                None => Unit::FromStart,
            },
            (Reach::FromStart, _) => Unit::FromStart,
            (Reach::Whole, _) => Unit::Whole,
        })
    }

    /// True when the payload is the elements.
    fn is_plain(&self) -> bool {
        self.stages.is_empty()
    }
}

/// What has to be decoded for an element.
enum Unit {
    /// A block of so many bytes after the encoding.
    Blocks(u64),
    /// Everything from the beginning to the element.
    FromStart,
    /// Everything.
    Whole,
}

/// Elements to decode in one go, and the blocks they lie in.
struct Cover {
    elements: Range<u64>,
    blocks: Range<u64>,
}

impl Cover {
    /// True when they share a block, or have neighbouring ones: one go does for both.
    fn touches(&self, other: &Self) -> bool {
        self.blocks.start <= other.blocks.end && other.blocks.start <= self.blocks.end
    }

    fn join(&mut self, other: &Self) {
        let union = |a: &Range<u64>, b: &Range<u64>| a.start.min(b.start)..a.end.max(b.end);
        self.elements = union(&self.elements, &other.elements);
        self.blocks = union(&self.blocks, &other.blocks);
    }
}

/// Where elements stand in the covers that were decoded one behind the other.
struct Places<'a> {
    covers: &'a [Range<u64>],
    /// Elements before each cover.
    before: Vec<u64>,
    /// The cover of the last run: neighbours are asked for one after another.
    last: usize,
}

impl<'a> Places<'a> {
    fn new(covers: &'a [Range<u64>]) -> Self {
        let before = covers.iter().scan(0, |sum, cover| {
            let start = *sum;
            *sum += cover.end - cover.start;
            Some(start)
        });
        Self { covers, before: before.collect(), last: 0 }
    }

    fn of(&mut self, run: &Range<u64>) -> Option<u64> {
        if run.is_empty() {
            return Some(0);
        }
        let holds = |cover: &Range<u64>| cover.start <= run.start && run.end <= cover.end;
        if !self.covers.get(self.last).is_some_and(holds) {
            self.last = self.covers.partition_point(|cover| cover.end <= run.start);
        }
        let cover = self.covers.get(self.last).filter(|cover| holds(cover))?;
        Some(self.before.get(self.last)? + (run.start - cover.start))
    }
}

fn copy(first: Option<u64>, width: u64, from: &[u8], to: &mut [u8]) -> Result<(), CodecError> {
    let start = first.and_then(|first| first.checked_mul(width)).and_then(|start| usize::try_from(start).ok());
    let bytes = start.and_then(|start| from.get(start..)).and_then(|rest| rest.get(..to.len()));
    let Some(bytes) = bytes else {
        return Err(CodecError::misuse(NAME, "range_out_of_bounds", "the plan was not made for this run"));
    };
    to.copy_from_slice(bytes);
    Ok(())
}

/// Packed and shuffled values are cheap to decode and dear to look up: runs within so many bytes are decoded together.
const UNPACKED_TOGETHER: u64 = 512;
