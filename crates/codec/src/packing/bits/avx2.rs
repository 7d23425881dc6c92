//! Groups of eight values taken apart on vector registers.
//!
//! Four values of up to 25 bits lie within 16 bytes, and each of them within 4. So lane 0 takes the 16 bytes at the
//! beginning of a group, lane 1 those where its fifth value begins; one shuffle brings the 4 bytes of each value into a
//! 32-bit word, most significant first, and one shift per word drops the bits behind the value.

use pulp::cast;
use pulp::x86::V3;
use std::arch::x86_64::__m256i;

/// The widest value that always lies within four bytes.
pub(super) const MAX_BITS: u32 = 25;

/// Reads groups of eight values of `bits` (1 to [`MAX_BITS`]) bits; false when the machine cannot.
#[inline(always)]
pub(super) fn read_groups(packed: &[u8], bits: u32, groups: &mut [[u32; 8]]) -> bool {
    let Some(simd) = V3::try_new() else { return false };
    let step = bits as usize;
    let second = step / 2;
    // The bit where value `i` begins, counted from the bytes its lane holds.
    let begin: [u32; 8] =
        std::array::from_fn(|i| if i < 4 { i as u32 * bits } else { i as u32 * bits - second as u32 * 8 });
    let order: [u8; 32] = std::array::from_fn(|i| (begin[i / 4] / 8) as u8 + 3 - (i % 4) as u8);
    let shift: [u32; 8] = begin.map(|begin| 32 - bits - begin % 8);
    let (order, shift): (__m256i, __m256i) = (cast(order), cast(shift));
    let mask: __m256i = cast([u32::MAX >> (32 - bits); 8]);
    for (index, group) in groups.iter_mut().enumerate() {
        let bytes = &packed[index * step..][..second + 16];
        let (Some(low), Some(high)) = (bytes.first_chunk::<16>(), bytes.last_chunk::<16>()) else { return false };
        let words = simd.avx2._mm256_shuffle_epi8(cast([*low, *high]), order);
        let values = simd.avx2._mm256_and_si256(simd.avx2._mm256_srlv_epi32(words, shift), mask);
        *group = cast(values);
    }
    true
}
