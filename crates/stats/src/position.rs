//! Positions as coordinates, bits as elements.

/// The coordinates of the element at `index` in row-major order, or `None` when the shape has no such element.
///
/// ```
/// assert_eq!(fw_stats::coordinates(&[2, 3], 5), Some(vec![1, 2]));
/// assert_eq!(fw_stats::coordinates(&[2, 3], 6), None);
/// assert_eq!(fw_stats::coordinates(&[], 0), Some(vec![]));
/// ```
pub fn coordinates(shape: &[u64], index: u64) -> Option<Vec<u64>> {
    let mut rest = index;
    let mut out: Vec<u64> = Vec::with_capacity(shape.len());
    for len in shape.iter().rev() {
        out.push(rest.checked_rem(*len)?);
        rest /= len;
    }
    out.reverse();
    (rest == 0).then_some(out)
}

/// Widens the first `count` bits of a bit mask to bytes 0 and 1 (`DType::Bool`), the most significant bit first.
/// `None` when there are fewer bits.
///
/// ```
/// assert_eq!(fw_stats::unpack_bits(&[0b1010_0000], 3), Some(vec![1, 0, 1]));
/// assert_eq!(fw_stats::unpack_bits(&[0], 9), None);
/// ```
pub fn unpack_bits(bytes: &[u8], count: usize) -> Option<Vec<u8>> {
    if count.div_ceil(8) > bytes.len() {
        return None;
    }
    Some((0..count).map(|bit| (bytes[bit / 8] >> (7 - bit % 8)) & 1).collect())
}
