//! Element types the format does not have, carried so that every reader still opens the file (BT-9).
//!
//! The bytes are stored as `U8`; the user metadata says what they are: `bt.dtype/<name> = F8_E8M0`. The last dimension
//! counts bytes, so a packed `F4` tensor of shape `[6, 8]` is stored as `U8 [6, 4]`. Where that is not possible (no
//! dimension to scale, or rows that do not end at a byte) the stored shape is flat and `bt.shape/<name> = 3,5` keeps the
//! true one.

use super::TensorInfo;
use crate::dtype::Dtype;
use crate::error::BinTensorError;
use fw_tensor::DType;

/// User metadata key before the tensor's name: its true element type.
pub const DTYPE_KEY_PREFIX: &str = "bt.dtype/";
/// User metadata key before the tensor's name: its true shape, where the stored one does not tell.
pub const SHAPE_KEY_PREFIX: &str = "bt.shape/";

/// How a tensor is stored: in its own type, or as bytes with metadata entries beside them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Stored element type.
    pub dtype: Dtype,
    /// Stored shape.
    pub shape: Vec<u64>,
    /// Entries for the user metadata; empty for the types the format has.
    pub entries: Vec<(String, String)>,
}

/// How to store a tensor of any common element type.
///
/// # Errors
/// `ValidationOverflow` when the size does not fit in 64 bits.
pub fn carry(name: &str, dtype: DType, shape: &[u64]) -> Result<Carried, BinTensorError> {
    if let Some(dtype) = Dtype::from_common(dtype) {
        return Ok(Carried { dtype, shape: shape.to_vec(), entries: Vec::new() });
    }
    let overflow = || BinTensorError::ValidationOverflow { name: name.to_owned() };
    let type_name = carried_name(dtype)
        .ok_or_else(|| BinTensorError::EncodeError(format!("tensor {name:?}: type {dtype} has no counterpart")))?;
    let mut entries = vec![(format!("{DTYPE_KEY_PREFIX}{name}"), type_name.to_owned())];
    let total = fw_tensor::byte_len(dtype, shape).map_err(|_| overflow())?;
    let stored = match shape.split_last() {
        Some((last, outer)) => scale(*last, dtype.bits(), 8).map(|last| [outer, &[last]].concat()),
        None => None,
    };
    let stored = stored.unwrap_or_else(|| {
        let dims: Vec<String> = shape.iter().map(u64::to_string).collect();
        entries.push((format!("{SHAPE_KEY_PREFIX}{name}"), dims.join(",")));
        vec![total]
    });
    fw_tensor::element_count(&stored).map_err(|_| overflow())?;
    Ok(Carried { dtype: Dtype::U8, shape: stored, entries })
}

/// The name that the format, or what it carries, has for an element type: `BF16`, `F8_E8M0`.
pub(crate) fn type_name(dtype: DType) -> &'static str {
    let own = Dtype::from_common(dtype).map(Dtype::name);
    own.or_else(|| carried_name(dtype)).unwrap_or_else(|| dtype.name())
}

fn carried_name(dtype: DType) -> Option<&'static str> {
    CARRIED.iter().find(|(carried, _)| *carried == dtype).map(|(_, name)| *name)
}

/// What a stored tensor is to its user, given the user metadata as a lookup. Entries that contradict the stored bytes
/// are ignored.
pub fn logical<'m>(info: &TensorInfo<'_>, get: impl Fn(&str) -> Option<&'m str>) -> (DType, Vec<u64>) {
    match carried(info, get) {
        Some(Ok(carried)) => carried,
        Some(Err(_)) | None => (info.dtype.common(), info.shape.to_vec()),
    }
}

/// The carried type of a tensor, or what is wrong with its entries; `None` when it has none.
pub(crate) fn carried<'m>(
    info: &TensorInfo<'_>,
    get: impl Fn(&str) -> Option<&'m str>,
) -> Option<Result<(DType, Vec<u64>), String>> {
    let type_name = get(&format!("{DTYPE_KEY_PREFIX}{}", info.name))?;
    let shape = get(&format!("{SHAPE_KEY_PREFIX}{}", info.name));
    Some(resolve(info, type_name, shape))
}

fn resolve(info: &TensorInfo<'_>, type_name: &str, shape: Option<&str>) -> Result<(DType, Vec<u64>), String> {
    let Some((dtype, _)) = CARRIED.iter().find(|(_, name)| *name == type_name) else {
        return Err(format!("{type_name:?} is not a carried element type"));
    };
    if info.dtype != Dtype::U8 {
        return Err(format!("stored as {}, carried types are stored as U8", info.dtype));
    }
    let shape = match (shape, info.shape.split_last()) {
        (Some(""), _) => Vec::new(),
        (Some(text), _) => text
            .split(',')
            .map(|dim| dim.parse().map_err(|_| format!("{text:?} is not a list of dimensions")))
            .collect::<Result<_, _>>()?,
        (None, Some((last, outer))) => {
            let last = scale(*last, 8, dtype.bits())
                .ok_or_else(|| format!("rows of {last} bytes do not hold a whole number of {type_name} elements"))?;
            [outer, &[last]].concat()
        }
        (None, None) => return Err(format!("one byte cannot be a {type_name} tensor")),
    };
    match fw_tensor::byte_len(*dtype, &shape) {
        Ok(len) if len == info.data_len() => Ok((*dtype, shape)),
        _ => Err(format!("{type_name} of shape {shape:?} is not {} bytes", info.data_len())),
    }
}

/// `count * from / to` when that is whole.
fn scale(count: u64, from: u64, to: u64) -> Option<u64> {
    let bits = u128::from(count) * u128::from(from);
    (bits % u128::from(to) == 0).then(|| u64::try_from(bits / u128::from(to)).ok()).flatten()
}

/// Carried types and the names their entries use.
const CARRIED: &[(DType, &str)] = &[
    (DType::Float8E8M0, "F8_E8M0"),
    (DType::Float8E4M3Fnuz, "F8_E4M3FNUZ"),
    (DType::Float8E5M2Fnuz, "F8_E5M2FNUZ"),
    (DType::Float6E2M3, "F6_E2M3"),
    (DType::Float6E3M2, "F6_E3M2"),
    (DType::Float4, "F4"),
    (DType::Complex64, "C64"),
    (DType::Complex128, "C128"),
    (DType::Bitmask, "BITMASK"),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// BT-9: every common type has a stored form of the same length, and the form tells what it was.
    #[test]
    fn every_type_comes_back() {
        for dtype in DType::ALL {
            for shape in [&[][..], &[0], &[5], &[8], &[3, 5], &[4, 8], &[2, 3, 16]] {
                let stored = carry("t", *dtype, shape).unwrap();
                let len = fw_tensor::byte_len(*dtype, shape).unwrap();
                let count = fw_tensor::element_count(&stored.shape).unwrap();
                assert_eq!(count * stored.dtype.size(), len, "{dtype} {shape:?}");
                let info = TensorInfo {
                    name: "t",
                    dtype: stored.dtype,
                    shape: stored.shape.into(),
                    data_offsets: (10, 10 + len),
                };
                if let [(_, type_name), rest @ ..] = &stored.entries[..] {
                    let shape_entry = rest.first().map(|(_, dims)| dims.as_str());
                    assert_eq!(resolve(&info, type_name, shape_entry), Ok((*dtype, shape.to_vec())));
                } else {
                    assert_eq!(logical(&info, |_| None), (*dtype, shape.to_vec()));
                }
            }
        }
    }

    /// BT-10.4: every type has a name of the format, and no two have the same.
    #[test]
    fn every_type_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<&str> = DType::ALL.iter().map(|dtype| type_name(*dtype)).collect();
        assert_eq!(names.len(), DType::ALL.len());
        let is_known = |dtype: &DType| Dtype::from_common(*dtype).is_some() || carried_name(*dtype).is_some();
        assert!(DType::ALL.iter().all(is_known));
    }

    #[test]
    fn packed_rows_are_halved() {
        let stored = carry("w", DType::Float4, &[6, 8]).unwrap();
        assert_eq!((stored.dtype, stored.shape), (Dtype::U8, vec![6, 4]));
        assert_eq!(stored.entries, [("bt.dtype/w".to_owned(), "F4".to_owned())]);
        let odd = carry("w", DType::Float4, &[3, 5]).unwrap();
        assert_eq!((odd.shape, odd.entries[1].1.as_str()), (vec![8], "3,5"));
    }

    #[test]
    fn contradicting_entries_are_named() {
        let info = TensorInfo { name: "t", dtype: Dtype::U8, shape: [3].into(), data_offsets: (0, 3) };
        assert!(resolve(&info, "C64", None).unwrap_err().contains("a whole number"));
        assert!(resolve(&info, "F9", None).unwrap_err().contains("not a carried element type"));
        assert!(resolve(&info, "F4", Some("7,7")).unwrap_err().contains("is not 3 bytes"));
        assert!(resolve(&info, "F4", Some("x")).unwrap_err().contains("is not a list"));
    }
}
