//! Parts of payloads to parts of elements (TG-12.5).

use super::Encoded;
use super::decode::{chain_options, checked_pipeline};
use super::masks::read_masks;
use super::plan::pipeline_of;
use crate::describe::DataObjectDescriptor;
use crate::error::{Fault, Result, TensogramError};
use crate::message::too_large;
use crate::read::DecodeOptions;
use fw_bytes::Span;
use fw_codec::chain::{Compression, Filter, Pipeline};
use fw_tensor::{DType, Selection, SlicePlan, TensorBuf, TensorError};
use std::ops::Range;

/// What decoding a selection costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SliceCost {
    /// Only the runs of elements that the selection names are decoded.
    Runs {
        /// How many there are.
        count: u64,
    },
    /// One range of elements that covers the selection is decoded, and the selection copied out of it.
    Cover {
        /// Elements decoded.
        elements: u64,
    },
    /// The codec cannot begin anywhere: the whole object is decoded.
    Whole,
}

/// Decodes runs of elements, one buffer per run; refuses codecs that would have to decode everything.
pub(crate) fn decode_ranges(
    object: &impl Encoded,
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
) -> Result<Vec<Vec<u8>>> {
    let descriptor = object.descriptor();
    let pipeline = checked_pipeline(object, options)?;
    check_ranges(descriptor, &pipeline)?;
    let chain = chain_options(descriptor, options)?;
    let count = descriptor.element_count()?;
    let width = descriptor.dtype.byte_width().unwrap_or(1);
    let masked = options.restore_non_finite && object.is_masked() && !ranges.is_empty();
    let masks = masked.then(|| read_masks(object)).transpose()?;
    ranges
        .iter()
        .map(|(first, len)| {
            let range = checked_run(count, *first, *len)?;
            // The whole object fits in 64 bits and this is a part of it.
            let bytes = usize::try_from(len * width as u64).map_err(|_| too_large())?;
            let mut out = fw_codec::alloc::zeroed(bytes)?;
            let payload = object.window(pipeline.encoded_span(object.payload_len(), range.clone()))?;
            pipeline.decode_range_into(payload, range, &chain, &mut out)?;
            if let Some(masks) = &masks {
                masks.restore(&mut out, descriptor.dtype, chain.order, *first);
            }
            Ok(out)
        })
        .collect()
}

/// The payload bytes that [`decode_ranges`] needs; `None` means all of them. Everything is checked that can be checked
/// without looking at any.
pub(crate) fn range_spans(
    descriptor: &DataObjectDescriptor,
    payload_len: u64,
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
) -> Result<Option<Vec<Span>>> {
    let pipeline = pipeline_of(descriptor)?;
    pipeline.check_limits(payload_len, &options.limits)?;
    check_ranges(descriptor, &pipeline)?;
    let count = descriptor.element_count()?;
    let runs = ranges.iter().map(|(first, len)| checked_run(count, *first, *len)).collect::<Result<Vec<_>>>()?;
    Ok(runs.into_iter().map(|run| pipeline.encoded_span(payload_len, run)).collect())
}

/// Decodes an N-dimensional selection, whatever the codec.
pub(crate) fn slice(object: &impl Encoded, selection: &Selection, options: &DecodeOptions) -> Result<TensorBuf> {
    let descriptor = object.descriptor();
    let pipeline = checked_pipeline(object, options)?;
    let plan = plan_of(descriptor, selection)?;
    let chain = chain_options(descriptor, options)?;
    let width = descriptor.dtype.byte_width().ok_or(TensorError::Unsliceable { dtype: descriptor.dtype })?;
    let total = usize::try_from(plan.element_count().saturating_mul(width as u64)).map_err(|_| too_large())?;
    let mut data = fw_codec::alloc::zeroed(total)?;
    let run = plan.run_len() as usize * width;
    let payload = |range: &Range<u64>| object.window(pipeline.encoded_span(object.payload_len(), range.clone()));
    match cost(&pipeline, &plan) {
        SliceCost::Runs { .. } => {
            for (range, out) in plan.runs().zip(data.chunks_exact_mut(run.max(1))) {
                pipeline.decode_range_into(payload(&range)?, range, &chain, out)?;
            }
        }
        SliceCost::Cover { .. } => {
            let bounds = plan.bounds();
            let mut cover = fw_codec::alloc::zeroed(covered_bytes(&bounds, width)?)?;
            pipeline.decode_range_into(payload(&bounds)?, bounds.clone(), &chain, &mut cover)?;
            copy_runs(&plan, &cover, bounds.start, width, &mut data);
        }
        SliceCost::Whole => {
            let whole = pipeline.decode(object.window(None)?.bytes, &chain)?;
            copy_runs(&plan, &whole, 0, width, &mut data);
        }
    }
    if options.restore_non_finite && object.is_masked() {
        let masks = read_masks(object)?;
        for (range, out) in plan.runs().zip(data.chunks_exact_mut(run.max(1))) {
            masks.restore(out, descriptor.dtype, chain.order, range.start);
        }
    }
    Ok(TensorBuf::new(descriptor.dtype, plan.shape().to_vec(), data)?)
}

/// The payload bytes that [`slice`] needs; `None` means all of them.
pub(crate) fn slice_spans(
    descriptor: &DataObjectDescriptor,
    payload_len: u64,
    selection: &Selection,
    options: &DecodeOptions,
) -> Result<Option<Vec<Span>>> {
    let pipeline = pipeline_of(descriptor)?;
    pipeline.check_limits(payload_len, &options.limits)?;
    let plan = plan_of(descriptor, selection)?;
    Ok(match cost(&pipeline, &plan) {
        SliceCost::Runs { .. } => plan.runs().map(|run| pipeline.encoded_span(payload_len, run)).collect(),
        SliceCost::Cover { .. } => pipeline.encoded_span(payload_len, plan.bounds()).map(|span| vec![span]),
        SliceCost::Whole => None,
    })
}

/// What [`slice`] would cost.
pub(crate) fn slice_cost(descriptor: &DataObjectDescriptor, selection: &Selection) -> Result<SliceCost> {
    Ok(cost(&pipeline_of(descriptor)?, &plan_of(descriptor, selection)?))
}

/// Whether runs of elements can be cut out of an object at all, without decoding all of it.
fn check_ranges(descriptor: &DataObjectDescriptor, pipeline: &Pipeline) -> Result<()> {
    if descriptor.dtype == DType::Bitmask {
        return Err(TensorError::Unsliceable { dtype: descriptor.dtype }.into());
    }
    if matches!(&pipeline.stages().compression, Compression::Szip(settings) if settings.szip_block_offsets.is_none()) {
        let message = "a range of an szip payload needs szip_block_offsets in its descriptor";
        return Err(TensogramError::Compression(Fault::format("missing_szip_block_offsets", message)));
    }
    // In its other modes zfp has to look at what comes before the range, but decodes only the range; szip without values
    // has an empty list of offsets.
    let seekable =
        pipeline.can_slice() || matches!(&pipeline.stages().compression, Compression::Zfp(_) | Compression::Szip(_));
    if pipeline.stages().filter != Filter::None || !seekable {
        let message = format!(
            "filter {:?} and compression {:?} allow no range; decode the object, or slice it",
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

fn cost(pipeline: &Pipeline, plan: &SlicePlan) -> SliceCost {
    let (runs, bounds) = (plan.run_count(), plan.bounds());
    let raw = pipeline.stages().compression == Compression::None && pipeline.stages().filter == Filter::None;
    let cover = bounds.end - bounds.start;
    match pipeline.can_slice() {
        false => SliceCost::Whole,
        true if raw || runs <= 1 => SliceCost::Runs { count: runs },
        // Blocks are decoded whole: neighbouring runs would decode the same ones again and again.
        true if cover / runs <= SHARED_BLOCK => SliceCost::Cover { elements: cover },
        true => SliceCost::Runs { count: runs },
    }
}

fn copy_runs(plan: &SlicePlan, from: &[u8], first: u64, width: usize, to: &mut [u8]) {
    let run = plan.run_len() as usize * width;
    for (range, out) in plan.runs().zip(to.chunks_exact_mut(run.max(1))) {
        let start = (range.start - first) as usize * width;
        out.copy_from_slice(from.get(start..start + out.len()).unwrap_or(&[]));
    }
}

fn covered_bytes(bounds: &Range<u64>, width: usize) -> Result<usize> {
    usize::try_from((bounds.end - bounds.start).saturating_mul(width as u64)).map_err(|_| too_large())
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

/// Runs closer together than this many elements are likely to share a compressed block.
const SHARED_BLOCK: u64 = 4096;
