//! Element types of safetensors, in the order the reference sorts by.

use fw_tensor::DType;

/// From the smallest to the largest; a writer puts the largest first.
const TYPES: [(DType, &str); 22] = [
    (DType::Bool, "BOOL"),
    (DType::Float4, "F4"),
    (DType::Float6E2M3, "F6_E2M3"),
    (DType::Float6E3M2, "F6_E3M2"),
    (DType::UInt8, "U8"),
    (DType::Int8, "I8"),
    (DType::Float8E5M2, "F8_E5M2"),
    (DType::Float8E4M3, "F8_E4M3"),
    (DType::Float8E8M0, "F8_E8M0"),
    (DType::Float8E4M3Fnuz, "F8_E4M3FNUZ"),
    (DType::Float8E5M2Fnuz, "F8_E5M2FNUZ"),
    (DType::Int16, "I16"),
    (DType::UInt16, "U16"),
    (DType::Float16, "F16"),
    (DType::BFloat16, "BF16"),
    (DType::Int32, "I32"),
    (DType::UInt32, "U32"),
    (DType::Float32, "F32"),
    (DType::Complex64, "C64"),
    (DType::Float64, "F64"),
    (DType::Int64, "I64"),
    (DType::UInt64, "U64"),
];

/// The name that safetensors has for an element type, such as `BF16`; `None` when it has no counterpart.
///
/// ```
/// use fw_convert::safetensors_name;
/// use fw_tensor::DType;
///
/// assert_eq!(safetensors_name(DType::Float8E8M0), Some("F8_E8M0"));
/// assert_eq!(safetensors_name(DType::Bitmask), None);
/// ```
pub fn safetensors_name(dtype: DType) -> Option<&'static str> {
    TYPES.iter().find(|(known, _)| *known == dtype).map(|(_, name)| *name)
}

/// The type of a name.
pub(super) fn type_of(name: &str) -> Option<DType> {
    TYPES.iter().find(|(_, known)| *known == name).map(|(dtype, _)| *dtype)
}

/// Place in the sort.
pub(super) fn rank(dtype: DType) -> usize {
    TYPES.iter().position(|(known, _)| *known == dtype).unwrap_or(0)
}
