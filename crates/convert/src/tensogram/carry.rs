//! Types that Tensogram does not have travel as bytes; `base[i].fw.carried` says what they are.

use crate::ConvertError;
use fw_tensogram::{DataObjectDescriptor, MetadataMap, Value};
use fw_tensor::DType;

/// The key in an object's base entry.
pub(super) const KEY: &str = "fw.carried";

/// The shape of the bytes of a tensor: its own with the last axis in bytes, or one axis where rows end inside a byte.
pub(crate) fn stored_shape(dtype: DType, shape: &[u64]) -> Result<Vec<u64>, ConvertError> {
    let total = fw_tensor::byte_len(dtype, shape)?;
    if dtype.bits() == 8 {
        return Ok(shape.to_vec());
    }
    let last = shape.split_last().and_then(|(last, outer)| {
        let bits = last.checked_mul(dtype.bits()).filter(|bits| bits.is_multiple_of(8))?;
        Some([outer, &[bits / 8]].concat())
    });
    Ok(last.unwrap_or_else(|| vec![total]))
}

/// What the entry says.
pub(super) fn value(dtype: DType, shape: &[u64]) -> Value {
    let shape = shape.iter().map(|length| Value::Integer((*length).into())).collect();
    Value::Map(vec![(Value::from("dtype"), Value::from(dtype.name())), (Value::from("shape"), Value::Array(shape))])
}

/// What an object is to its user. An entry that contradicts the stored bytes is ignored.
pub(super) fn logical(descriptor: &DataObjectDescriptor, entry: &MetadataMap) -> Option<(DType, Vec<u64>)> {
    let carried = entry.get(KEY).filter(|_| descriptor.dtype == DType::UInt8)?;
    let dtype: DType = carried.member("dtype")?.as_text()?.parse().ok()?;
    let Some(Value::Array(lengths)) = carried.member("shape") else { return None };
    let length = |value: &Value| match value {
        Value::Integer(length) => u64::try_from(*length).ok(),
        _ => None,
    };
    let shape: Vec<u64> = lengths.iter().map(length).collect::<Option<_>>()?;
    let stored = stored_shape(dtype, &shape).ok()?;
    (!super::has(dtype) && stored == descriptor.shape).then_some((dtype, shape))
}
