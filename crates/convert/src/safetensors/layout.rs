//! The header of a new file, byte for byte as the reference writes it (metadata sorted by key).

use super::dtype::{rank, safetensors_name};
use crate::ConvertError;
use crate::report::{MAX_HEADER_LEN, SIZE_LEN};
use fw_bintensors::HeaderAlignment;
use fw_tensor::DType;
use std::collections::BTreeMap;

/// A planned file: length field and header, and which tensor comes when.
pub(super) struct Layout {
    pub(super) head: Vec<u8>,
    /// Places of the tensors given, in file order.
    pub(super) order: Vec<usize>,
}

/// Plans a file of `tensors`: name, type, shape.
pub(super) fn layout(
    tensors: &[(&str, DType, &[u64])],
    metadata: Option<&BTreeMap<String, String>>,
    align: HeaderAlignment,
) -> Result<Layout, ConvertError> {
    let mut order: Vec<usize> = (0..tensors.len()).collect();
    let key = |place: &usize| tensors.get(*place).map(|(name, dtype, _)| (usize::MAX - rank(*dtype), *name));
    order.sort_by(|a, b| key(a).cmp(&key(b)));
    let mut json = String::from("{");
    if let Some(metadata) = metadata {
        json.push_str("\"__metadata__\":");
        json.push_str(&to_json(metadata)?);
    }
    let mut end = 0u64;
    for (name, dtype, shape) in order.iter().filter_map(|place| tensors.get(*place)) {
        let type_name = safetensors_name(*dtype).ok_or_else(|| {
            ConvertError::unsupported("no_counterpart", format!("tensor {name:?}: safetensors has no {dtype}"))
        })?;
        let len = fw_tensor::byte_len(*dtype, shape)?;
        let whole = fw_tensor::element_count(shape)?.checked_mul(dtype.bits()).is_some_and(|bits| bits % 8 == 0);
        if dtype.byte_width().is_none() && !whole {
            let message = format!("tensor {name:?}: {dtype} {shape:?} does not fill whole bytes");
            return Err(ConvertError::unsupported("no_counterpart", message));
        }
        if *name == "__metadata__" {
            return Err(ConvertError::unsupported("reserved_name", "safetensors reserves the name __metadata__"));
        }
        let start = end;
        end = start
            .checked_add(len)
            .ok_or_else(|| ConvertError::unsupported("shape_overflow", "the file would exceed 64 bits"))?;
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(&to_json(name)?);
        json.push_str(&format!(
            ":{{\"dtype\":\"{type_name}\",\"shape\":{},\"data_offsets\":[{start},{end}]}}",
            to_json(shape)?
        ));
    }
    json.push('}');
    // Counted from the beginning of the file: the default, eight, is the same from the end of the length field.
    let padded =
        (json.len() as u64).saturating_add(SIZE_LEN).checked_next_multiple_of(align.bytes()).unwrap_or(u64::MAX);
    let padded = padded.saturating_sub(SIZE_LEN);
    if padded > MAX_HEADER_LEN {
        let message = format!("the header would have {padded} bytes, the limit is {MAX_HEADER_LEN}");
        return Err(ConvertError::unsupported("header_too_large", message));
    }
    let mut head = padded.to_le_bytes().to_vec();
    head.extend_from_slice(json.as_bytes());
    // Below the limit, so it has a length of this machine.
    head.resize(padded.saturating_add(SIZE_LEN) as usize, b' ');
    Ok(Layout { head, order })
}

fn to_json<T: serde::Serialize + ?Sized>(value: &T) -> Result<String, ConvertError> {
    serde_json::to_string(value).map_err(|error| ConvertError::Io(error.into()))
}
