//! Minimum and maximum of doubles, in one pass with the check for NaN and infinities.

use super::{BLOCK, Kind, Layout, any_non_finite, first_non_finite};
use crate::ahead::read_ahead;
use crate::{parallel, swap};
use fw_tensor::{ByteOrder, DType};

/// Smallest and largest of a run of doubles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extrema {
    /// The smallest; of zeros that compare equal, the one that comes first.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Extrema {
    fn join(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

/// The extrema of whole doubles in `order`; infinite (`min` above `max`) for no values at all.
///
/// # Errors
/// The first element that is not finite, with its kind.
pub fn extrema(bytes: &[u8], order: ByteOrder, threads: usize) -> Result<Extrema, (u64, Kind)> {
    let (values, _) = bytes.as_chunks::<8>();
    let mut parts = vec![(NOTHING, true); values.len().div_ceil(TASK)];
    let threads = if values.len() < PARALLEL_FROM { 1 } else { threads };
    let done = parallel::for_each(threads, parts.iter_mut().zip(values.chunks(TASK)), |(part, values)| {
        *part = scan(values, order, if bytes.len() >= UNCACHED_FROM { read_ahead } else { |_| () });
        Ok(())
    });
    debug_assert!(done.is_ok());
    let all = parts.iter().map(|(part, _)| *part).fold(NOTHING, Extrema::join);
    let finite = parts.iter().all(|(_, finite)| *finite);
    if !finite && let Some(found) = first_non_finite(bytes, DType::Float64, order, threads) {
        return Err(found);
    }
    if all.min == 0.0 {
        // Lanes forget which zero came first; the sign of the first one is wanted.
        let decode = |bytes: &[u8; 8]| match order {
            ByteOrder::Little => f64::from_le_bytes(*bytes),
            ByteOrder::Big => f64::from_be_bytes(*bytes),
        };
        let first = values.iter().map(decode).find(|value| *value == 0.0);
        return Ok(Extrema { min: first.unwrap_or(0.0), ..all });
    }
    Ok(all)
}

/// Extrema of one task, and whether all of it is finite. Infinities show in the extrema, NaN only in the check.
fn scan(values: &[[u8; 8]], order: ByteOrder, touch: fn(&[u8])) -> (Extrema, bool) {
    let mut all = NOTHING;
    let mut finite = true;
    let mut native = [[0; 8]; BLOCK / 8];
    // Block by block, so that the second look finds the bytes in the first-level cache.
    for block in values.chunks(BLOCK / 8) {
        touch(block.as_flattened());
        finite &= !any_non_finite(block.as_flattened(), LAYOUT, order);
        let block = if order == ByteOrder::NATIVE {
            block
        } else {
            let native = &mut native[..block.len()];
            swap::copy_swapped(block.as_flattened(), 8, 1, native.as_flattened_mut());
            native
        };
        all = all.join(block_extrema(block));
    }
    (all, finite)
}

fn block_extrema(values: &[[u8; 8]]) -> Extrema {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        return simd.vectorize(AvxExtrema { simd, values });
    }
    plain_extrema(values)
}

fn plain_extrema(values: &[[u8; 8]]) -> Extrema {
    values.iter().map(|bytes| f64::from_ne_bytes(*bytes)).fold(NOTHING, |all, value| Extrema {
        min: if value < all.min { value } else { all.min },
        max: if value > all.max { value } else { all.max },
    })
}

#[cfg(target_arch = "x86_64")]
struct AvxExtrema<'a> {
    simd: pulp::x86::V3,
    values: &'a [[u8; 8]],
}

#[cfg(target_arch = "x86_64")]
impl pulp::NullaryFnOnce for AvxExtrema<'_> {
    type Output = Extrema;

    #[inline(always)]
    fn call(self) -> Extrema {
        avx_extrema(self.simd, self.values)
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn avx_extrema(simd: pulp::x86::V3, values: &[[u8; 8]]) -> Extrema {
    use pulp::cast;
    use std::arch::x86_64::__m256d;
    // Four registers each: enough to hide the latency of a comparison.
    let mut min: [__m256d; 4] = [cast([f64::INFINITY; 4]); 4];
    let mut max: [__m256d; 4] = [cast([f64::NEG_INFINITY; 4]); 4];
    let (groups, rest) = values.as_chunks::<16>();
    for group in groups {
        let group: [__m256d; 4] = cast(*group);
        for i in 0..4 {
            // The second operand is what a NaN leaves.
            min[i] = simd.avx._mm256_min_pd(group[i], min[i]);
            max[i] = simd.avx._mm256_max_pd(group[i], max[i]);
        }
    }
    let (min, max): ([f64; 16], [f64; 16]) = (cast(min), cast(max));
    let lanes = min.into_iter().zip(max).map(|(min, max)| Extrema { min, max });
    lanes.fold(plain_extrema(rest), Extrema::join)
}

const NOTHING: Extrema = Extrema { min: f64::INFINITY, max: f64::NEG_INFINITY };
const LAYOUT: Layout = match Layout::of(DType::Float64) {
    Some(layout) => layout,
    None => unreachable!(),
};
/// Values per task.
const TASK: usize = 32 << 10;
/// Inputs of this many bytes are in no cache.
const UNCACHED_FROM: usize = 32 << 20;
/// Below this many values a second thread costs more than it saves.
const PARALLEL_FROM: usize = 128 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(values: &[f64], order: ByteOrder) -> Vec<u8> {
        let write = |value: &f64| if order == ByteOrder::Big { value.to_be_bytes() } else { value.to_le_bytes() };
        values.iter().flat_map(write).collect()
    }

    #[test]
    fn the_first_zero_wins() {
        for values in [[0.0, -0.0], [-0.0, 0.0]] {
            let mut long = vec![1.0; 100];
            long.extend(values);
            let found = extrema(&bytes(&long, ByteOrder::Little), ByteOrder::Little, 1).unwrap();
            assert_eq!(found.min.to_bits(), values[0].to_bits());
        }
    }

    proptest! {
        #[test]
        fn agrees_with_a_plain_loop(
            values in proptest::collection::vec(prop_oneof![9 => -1e3f64..1e3, 1 => Just(0.0), 1 => Just(-0.0)], 1..200),
            bad in proptest::option::of((0usize..200, prop_oneof![Just(f64::NAN), Just(f64::INFINITY)])),
            big: bool,
            offset in 0usize..40,
        ) {
            let order = if big { ByteOrder::Big } else { ByteOrder::Little };
            let mut values = values;
            if let Some((place, value)) = bad && place < values.len() {
                values[place] = value;
            }
            let plain = match values.iter().position(|value| !value.is_finite()) {
                Some(index) => Err(index as u64),
                None => {
                    let (mut min, mut max) = (values[0], values[0]);
                    for value in &values {
                        if *value < min { min = *value; }
                        if *value > max { max = *value; }
                    }
                    Ok((min.to_bits(), max))
                }
            };
            let memory = [vec![0xff; offset], bytes(&values, order)].concat();
            let found = extrema(&memory[offset..], order, 1)
                .map(|found| (found.min.to_bits(), found.max)).map_err(|(index, _)| index);
            prop_assert_eq!(found, plain);
        }
    }
}
