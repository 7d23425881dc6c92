//! Parts of payloads to parts of elements (TG-12.5).

use super::decode::{chain_options, check_at_hand, limited_pipeline};
use super::masks::read_masks;
use super::plan::pipeline_of;
use super::{Encoded, PARTIAL_PAYLOAD};
use crate::describe::DataObjectDescriptor;
use crate::error::{Fault, Result, TensogramError, too_large};
use crate::options::DecodeOptions;
use fw_bytes::{Span, Step};
use fw_codec::chain::{Filter, Payload, Pipeline, RunPlan};
use fw_codec::{CodecError, Reach, Window};
use fw_tensor::{DType, Selection, SlicePlan, TensorBuf, TensorError};
use std::ops::Range;

/// What decoding a selection costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SliceCost {
    /// Only the runs of elements that the selection names are decoded, with the rest of the blocks they lie in.
    Runs {
        /// How many there are.
        count: u64,
    },
    /// Runs share blocks of the codec: what covers them is decoded once, and the selection copied out of it.
    Cover {
        /// Elements decoded.
        elements: u64,
    },
    /// The codec cannot start in the middle: the whole object is decoded.
    Whole,
}

/// Decodes runs of elements, one buffer per run; refuses codecs that would have to decode everything. Asks for spans of
/// the payload when a map in it says that more is needed than is at hand.
pub(crate) fn decode_ranges(
    object: &impl Encoded,
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
) -> Result<Step<Vec<Vec<u8>>>> {
    let descriptor = object.descriptor();
    // What needs no byte of the payload comes first, as where the payload is yet to be fetched.
    let pipeline = limited_pipeline(descriptor, object.payload_len(), &options.limits)?;
    check_ranges(descriptor, &pipeline, ranges)?;
    let width = descriptor.dtype.byte_width().unwrap_or(1);
    let runs = runs_of(descriptor, ranges)?;
    if runs.is_empty() {
        // Nothing is asked for, and nothing was fetched.
        return Ok(Step::Done(Vec::new()));
    }
    check_at_hand(&pipeline, object)?;
    let how = match pipeline.locate(object.window(None)?, runs.iter().cloned())? {
        Step::Done(how) => how,
        Step::Need(spans) => return Ok(Step::Need(spans)),
    };
    let mut parts = Vec::with_capacity(runs.len());
    for run in &runs {
        // The whole object fits in 64 bits and this is a part of it.
        let bytes = usize::try_from((run.end - run.start) * width as u64).map_err(|_| too_large())?;
        parts.push(fw_codec::alloc::zeroed(bytes)?);
    }
    let chain = chain_options(descriptor, options)?;
    let places = runs.iter().cloned().zip(parts.iter_mut().map(Vec::as_mut_slice));
    pipeline.decode_parts(&Bytes(object), &how, places, &chain)?;
    if options.restore_non_finite && object.is_masked() && !ranges.is_empty() {
        let masks = read_masks(object)?;
        for (run, part) in runs.iter().zip(&mut parts) {
            masks.restore(part, descriptor.dtype, chain.order, run.start);
        }
    }
    Ok(Step::Done(parts))
}

/// The payload bytes that [`decode_ranges`] needs first; `None` means all of them. Everything is checked that can be
/// checked without looking at any.
pub(crate) fn range_spans(
    descriptor: &DataObjectDescriptor,
    payload_len: u64,
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
) -> Result<Option<Vec<Span>>> {
    let pipeline = limited_pipeline(descriptor, payload_len, &options.limits)?;
    check_ranges(descriptor, &pipeline, ranges)?;
    let runs = runs_of(descriptor, ranges)?;
    first_spans(&pipeline, payload_len, runs.iter().cloned())
}

/// Decodes an N-dimensional selection, whatever the codec. Asks for more as [`decode_ranges`] does.
pub(crate) fn slice(object: &impl Encoded, selection: &Selection, options: &DecodeOptions) -> Result<Step<TensorBuf>> {
    let descriptor = object.descriptor();
    let pipeline = limited_pipeline(descriptor, object.payload_len(), &options.limits)?;
    let plan = plan_of(descriptor, selection)?;
    check_at_hand(&pipeline, object)?;
    let chain = chain_options(descriptor, options)?;
    let width = descriptor.dtype.byte_width().ok_or(TensorError::Unsliceable { dtype: descriptor.dtype })?;
    let how = match pipeline.locate(object.window(None)?, plan.runs())? {
        Step::Done(how) => how,
        Step::Need(spans) => return Ok(Step::Need(spans)),
    };
    let total = usize::try_from(plan.element_count().saturating_mul(width as u64)).map_err(|_| too_large())?;
    let mut data = fw_codec::alloc::zeroed(total)?;
    let run = (plan.run_len() as usize * width).max(1);
    pipeline.decode_parts(&Bytes(object), &how, plan.runs().zip(data.chunks_exact_mut(run)), &chain)?;
    if options.restore_non_finite && object.is_masked() {
        let masks = read_masks(object)?;
        for (range, out) in plan.runs().zip(data.chunks_exact_mut(run)) {
            masks.restore(out, descriptor.dtype, chain.order, range.start);
        }
    }
    Ok(Step::Done(TensorBuf::new(descriptor.dtype, plan.shape().to_vec(), data)?))
}

/// The payload bytes that [`slice`] needs first; `None` means all of them.
pub(crate) fn slice_spans(
    descriptor: &DataObjectDescriptor,
    payload_len: u64,
    selection: &Selection,
    options: &DecodeOptions,
) -> Result<Option<Vec<Span>>> {
    let pipeline = limited_pipeline(descriptor, payload_len, &options.limits)?;
    let plan = plan_of(descriptor, selection)?;
    first_spans(&pipeline, payload_len, plan.runs())
}

/// What [`slice`] would cost.
pub(crate) fn slice_cost(object: &impl Encoded, selection: &Selection) -> Result<SliceCost> {
    let plan = plan_of(object.descriptor(), selection)?;
    let pipeline = pipeline_of(object.descriptor())?;
    Ok(match pipeline.plan_runs(whole_window(object), plan.runs())? {
        RunPlan::Runs => SliceCost::Runs { count: plan.run_count() },
        RunPlan::Covers(covers) => {
            SliceCost::Cover { elements: covers.iter().map(|cover| cover.end - cover.start).sum() }
        }
        RunPlan::Whole => SliceCost::Whole,
    })
}

/// An object's payload as the codecs ask for it.
struct Bytes<'o, E>(&'o E);

impl<E: Encoded> Payload for Bytes<'_, E> {
    fn total_len(&self) -> u64 {
        self.0.payload_len()
    }

    fn window(&self, span: impl FnOnce() -> Option<Span>) -> std::result::Result<Window<'_>, CodecError> {
        if let Some(bytes) = self.0.whole_payload() {
            return Ok(Window::whole(bytes));
        }
        self.0.window(span()).map_err(|error| CodecError::misuse("pipeline", PARTIAL_PAYLOAD, error.to_string()))
    }
}

/// What to fetch before anything of the payload was seen; `None` means all of it.
fn first_spans<R>(pipeline: &Pipeline, payload_len: u64, runs: R) -> Result<Option<Vec<Span>>>
where
    R: IntoIterator<Item = Range<u64>> + Clone,
{
    Ok(match pipeline.locate(Window::part(&[], 0, payload_len), runs.clone())? {
        Step::Need(spans) => Some(spans),
        Step::Done(how) => pipeline.spans(payload_len, &how, runs)?,
    })
}

fn whole_window(object: &impl Encoded) -> Option<Window<'_>> {
    object.whole_payload().map(Window::whole)
}

/// Whether runs of elements can be cut out of an object at all, without decoding all of it.
fn check_ranges(descriptor: &DataObjectDescriptor, pipeline: &Pipeline, ranges: &[(u64, u64)]) -> Result<()> {
    if descriptor.dtype == DType::Bitmask {
        return Err(TensorError::Unsliceable { dtype: descriptor.dtype }.into());
    }
    let seekable = match pipeline.reach()? {
        Reach::Blocks | Reach::FromStart => true,
        // No run at all needs nothing of the codec.
        Reach::Whole => ranges.is_empty(),
    };
    if pipeline.stages().filter != Filter::None || !seekable {
        let message = format!(
            "filter {:?} and compression {:?} do not support ranges; decode the object, or slice it",
            descriptor.filter, descriptor.compression
        );
        return Err(TensogramError::Encoding(Fault::misuse("range_not_supported", message)));
    }
    Ok(())
}

fn plan_of(descriptor: &DataObjectDescriptor, selection: &Selection) -> Result<SlicePlan> {
    if descriptor.dtype.byte_width().is_none() {
        return Err(TensorError::Unsliceable { dtype: descriptor.dtype }.into());
    }
    Ok(selection.plan(&descriptor.shape)?)
}

/// Runs given as first element and count, inside the object.
fn runs_of(descriptor: &DataObjectDescriptor, ranges: &[(u64, u64)]) -> Result<Vec<Range<u64>>> {
    let count = descriptor.element_count()?;
    ranges.iter().map(|(first, len)| checked_run(count, *first, *len)).collect()
}

fn checked_run(count: u64, first: u64, len: u64) -> Result<Range<u64>> {
    match first.checked_add(len) {
        Some(end) if end <= count => Ok(first..end),
        _ => {
            let message =
                format!("range of {len} elements from {first} reaches past the {count} elements of the object");
            Err(TensogramError::Encoding(Fault::misuse("range_out_of_bounds", message)))
        }
    }
}
