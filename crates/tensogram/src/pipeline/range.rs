//! Parts of payloads to parts of elements (TG-12.5).

use super::decode::{check_claim, to_wanted_order, unknown_stage};
use crate::error::{Fault, Result, TensogramError};
use crate::message::ObjectView;
use crate::read::DecodeOptions;
use fw_tensor::{DType, Selection, TensorBuf, TensorError};

/// Decodes runs of elements, one buffer per run.
pub(crate) fn decode_ranges(
    object: &ObjectView<'_>,
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
) -> Result<Vec<Vec<u8>>> {
    let descriptor = object.descriptor();
    check_claim(object, options)?;
    if descriptor.dtype == DType::Bitmask {
        return Err(TensorError::Unsliceable { dtype: descriptor.dtype }.into());
    }
    let count = descriptor.element_count()?;
    ranges
        .iter()
        .map(|(first, len)| {
            let mut out = vec![0; run_bytes(object, count, *first, *len)?];
            run_into(object, *first, options, &mut out)?;
            Ok(out)
        })
        .collect()
}

/// Decodes an N-dimensional selection.
pub(crate) fn slice(object: &ObjectView<'_>, selection: &Selection, options: &DecodeOptions) -> Result<TensorBuf> {
    let descriptor = object.descriptor();
    check_claim(object, options)?;
    if descriptor.dtype == DType::Bitmask {
        return Err(TensorError::Unsliceable { dtype: descriptor.dtype }.into());
    }
    let count = descriptor.element_count()?;
    let plan = selection.plan(&descriptor.shape)?;
    let run = run_bytes(object, count, plan.bounds().start, plan.run_len())?;
    let mut data = vec![0; run * plan.run_count() as usize];
    for (range, out) in plan.runs().zip(data.chunks_exact_mut(run.max(1))) {
        run_into(object, range.start, options, out)?;
    }
    Ok(TensorBuf::new(descriptor.dtype, plan.shape().to_vec(), data)?)
}

/// Bytes of a run of elements, once it lies inside the object.
fn run_bytes(object: &ObjectView<'_>, count: u64, first: u64, len: u64) -> Result<usize> {
    if first.checked_add(len).is_none_or(|end| end > count) {
        let message = format!("range of {len} elements from {first} reaches past the {count} elements of the object");
        return Err(TensogramError::Encoding(Fault::misuse("range_out_of_bounds", message)));
    }
    // The whole object fits in 64 bits and this is a part of it.
    let width = object.descriptor().dtype.byte_width().unwrap_or(1) as u64;
    usize::try_from(len * width).map_err(|_| crate::message::too_large())
}

fn run_into(object: &ObjectView<'_>, first: u64, options: &DecodeOptions, out: &mut [u8]) -> Result<()> {
    let descriptor = object.descriptor();
    if !descriptor.is_raw() {
        return Err(unknown_stage(descriptor));
    }
    let width = descriptor.dtype.byte_width().unwrap_or(1);
    let start = first as usize * width;
    // `check_claim` proved that the payload has exactly the bytes of the object, and the run lies inside it.
    let payload = object.payload().get(start..start + out.len()).unwrap_or(&[]);
    out.copy_from_slice(payload);
    to_wanted_order(descriptor, options, out);
    Ok(())
}
