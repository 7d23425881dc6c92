//! Elements that stand in the file as they are: read straight to where they are wanted.

use crate::access::ObjectHead;
use crate::error::{Result, too_large};
use crate::options::DecodeOptions;
use fw_codec::parallel;
use fw_source::{ReadAt, read_runs};
use fw_tensor::{ByteOrder, Selection, TensorBuf, TensorError};

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
        let base = head.payload().start;
        read_runs(source, plan.runs().map(|elements| base + elements.start * width), run, &mut data)?;
    }
    to_order(head, options, &mut data)?;
    Ok(TensorBuf::new(dtype, plan.shape().to_vec(), data)?)
}
