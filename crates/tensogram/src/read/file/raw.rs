//! Elements that stand in the file as they are: read straight to where they are wanted.

use crate::access::ObjectHead;
use crate::error::Result;
use crate::message::too_large;
use crate::read::DecodeOptions;
use fw_codec::parallel;
use fw_source::ReadAt;
use fw_tensor::{ByteOrder, Selection, TensorBuf, TensorError};
use std::ops::Range;

/// Whether the payload is the elements themselves, all of them, with no masks to put back.
pub(super) fn is_direct(head: &ObjectHead) -> bool {
    let descriptor = &head.descriptor;
    let unmasked = descriptor.masks.as_ref().is_none_or(|masks| masks.is_empty());
    descriptor.is_raw() && unmasked && descriptor.decoded_len().is_ok_and(|len| len == head.payload().len())
}

/// Turns elements as they stand in the file into the order the caller wants.
pub(super) fn to_order(head: &ObjectHead, options: &DecodeOptions, out: &mut [u8]) -> Result<()> {
    let unit = head.descriptor.dtype.swap_unit();
    if options.native_byte_order && head.descriptor.byte_order != ByteOrder::NATIVE && unit > 1 {
        fw_codec::swap::swap_threaded(out, unit, parallel::resolve(options.threads)?);
    }
    Ok(())
}

/// An N-dimensional part: a read per run, or per stretch of runs that lie close together.
pub(super) fn slice(
    source: &impl ReadAt,
    head: &ObjectHead,
    selection: &Selection,
    options: &DecodeOptions,
) -> Result<TensorBuf> {
    let dtype = head.descriptor.dtype;
    let width = dtype.byte_width().ok_or(TensorError::Unsliceable { dtype })? as u64;
    let plan = selection.plan(&head.descriptor.shape)?;
    let len = usize::try_from(plan.element_count().saturating_mul(width)).map_err(|_| too_large())?;
    let mut data = fw_codec::alloc::zeroed(len)?;
    // The runs lie inside the object, whose bytes fit in 64 bits.
    let run = (plan.run_len() * width) as usize;
    if run > 0 {
        let places = plan.runs().map(|elements| elements.start * width);
        let mut reader = Reader { source, base: head.payload().start, run, scratch: Vec::new() };
        reader.read(places, &mut data)?;
    }
    to_order(head, options, &mut data)?;
    Ok(TensorBuf::new(dtype, plan.shape().to_vec(), data)?)
}

struct Reader<'s, S> {
    source: &'s S,
    /// Where the payload begins.
    base: u64,
    /// Bytes of each run.
    run: usize,
    scratch: Vec<u8>,
}

impl<S: ReadAt> Reader<'_, S> {
    fn read(&mut self, places: impl Iterator<Item = u64>, mut out: &mut [u8]) -> Result<()> {
        let run = self.run as u64;
        // The stretch to read next: where it begins and ends, and where its runs begin.
        let mut stretch = 0..0;
        let mut held: Vec<u64> = Vec::new();
        for place in places {
            let near = place >= stretch.end && place - stretch.end <= GAP && place + run - stretch.start <= STRETCH;
            if held.is_empty() || !near {
                out = self.fetch(&stretch, &held, out)?;
                held.clear();
                stretch.start = place;
            }
            stretch.end = place + run;
            held.push(place);
        }
        self.fetch(&stretch, &held, out).map(drop)
    }

    /// Fills the beginning of `out` with the runs of one stretch; returns the rest.
    fn fetch<'o>(&mut self, stretch: &Range<u64>, held: &[u64], out: &'o mut [u8]) -> Result<&'o mut [u8]> {
        let (part, rest) = out.split_at_mut(self.run * held.len());
        match held {
            [] => {}
            [only] => self.source.read_exact_at(self.base + only, part)?,
            several => {
                self.scratch.resize((stretch.end - stretch.start) as usize, 0);
                self.source.read_exact_at(self.base + stretch.start, &mut self.scratch)?;
                for (place, out) in several.iter().zip(part.chunks_exact_mut(self.run)) {
                    let at = (place - stretch.start) as usize;
                    out.copy_from_slice(&self.scratch[at..at + self.run]);
                }
            }
        }
        Ok(rest)
    }
}

/// Bytes between two runs that cost less than another read.
const GAP: u64 = 2048;
/// The longest stretch that is read at once.
const STRETCH: u64 = 256 << 10;
