//! Which data comes back from a message bit for bit: a mask gives back the canonical NaN and the infinities, in both
//! parts of a complex number, and nothing else.

use fw_tensor::DType;

/// How to store data so that every bit of it comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    /// Masks, should there be anything to set aside.
    Masked,
    /// The bytes as they are: some NaN has bits of its own, or only half of a complex number is finite.
    AsIs,
}

/// Chooses for little-endian data.
pub(super) fn storage(dtype: DType, data: &[u8]) -> Storage {
    if counted(dtype, data, Sign::Counts) == 0 { Storage::Masked } else { Storage::AsIs }
}

/// How many elements of little-endian data masks give back with other bits. The sign of a NaN means nothing and does not
/// count: arithmetic makes both.
pub(super) fn unrestored(dtype: DType, data: &[u8]) -> u64 {
    counted(dtype, data, Sign::Free)
}

/// Whether the sign of a NaN is one of its bits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Counts,
    Free,
}

fn counted(dtype: DType, data: &[u8], sign: Sign) -> u64 {
    match dtype {
        DType::Float16 => parts::<2, 1>(data, 0x7c00, 0x7e00, sign),
        DType::BFloat16 => parts::<2, 1>(data, 0x7f80, 0x7fc0, sign),
        DType::Float32 => parts::<4, 1>(data, 0x7f80_0000, 0x7fc0_0000, sign),
        DType::Float64 => parts::<8, 1>(data, 0x7ff0 << 48, 0x7ff8 << 48, sign),
        DType::Complex64 => parts::<4, 2>(data, 0x7f80_0000, 0x7fc0_0000, sign),
        DType::Complex128 => parts::<8, 2>(data, 0x7ff0 << 48, 0x7ff8 << 48, sign),
        DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => 0,
        DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => 0,
        DType::Bitmask | DType::Bool => 0,
        // Written as bytes, without masks.
        DType::Float8E4M3 | DType::Float8E5M2 | DType::Float8E4M3Fnuz | DType::Float8E5M2Fnuz => 0,
        DType::Float8E8M0 | DType::Float6E2M3 | DType::Float6E3M2 | DType::Float4 => 0,
    }
}

/// Counts the elements of `P` numbers of `N` bytes that are neither finite throughout nor the one pattern that a mask
/// restores.
fn parts<const N: usize, const P: usize>(data: &[u8], infinity: u64, nan: u64, free: Sign) -> u64 {
    let sign = 1u64 << (8 * N - 1);
    let number = |bytes: &[u8; N]| {
        let mut wide = [0u8; 8];
        wide.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        let bits = u64::from_le_bytes(wide);
        if free == Sign::Free && bits & !sign == nan { nan } else { bits }
    };
    let restored = |bits: u64| bits == infinity || bits == infinity | sign || bits == nan;
    let odd = |element: &[[u8; N]]| {
        let first = element.first().map_or(0, number);
        let finite = element.iter().all(|part| number(part) & infinity != infinity);
        !(finite || restored(first) && element.iter().all(|part| number(part) == first))
    };
    // Nearly everything is finite throughout: whole blocks are looked at without a branch.
    let blocks = data.as_chunks::<N>().0.chunks(BLOCK).filter(|block| {
        block.iter().fold(false, |found, bytes| {
            let mut wide = [0u8; 8];
            wide.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            found | (u64::from_le_bytes(wide) & infinity == infinity)
        })
    });
    blocks.map(|block| block.chunks_exact(P).filter(|element| odd(element)).count() as u64).sum()
}

/// Numbers in a block; even, so that no complex number is split.
const BLOCK: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_masks_restore_is_masked() {
        let single = |values: &[u32]| {
            storage(DType::Float32, &values.iter().flat_map(|bits| bits.to_le_bytes()).collect::<Vec<_>>())
        };
        assert_eq!(single(&[0x3f80_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x8000_0000]), Storage::Masked);
        assert_eq!(single(&[0x7fc0_0001]), Storage::AsIs);
        assert_eq!(single(&[0xffc0_0000]), Storage::AsIs);
        let complex = |re: f64, im: f64| storage(DType::Complex128, &[re.to_le_bytes(), im.to_le_bytes()].concat());
        assert_eq!(complex(1.0, 2.0), Storage::Masked);
        assert_eq!(complex(f64::INFINITY, f64::INFINITY), Storage::Masked);
        assert_eq!(complex(f64::INFINITY, 0.0), Storage::AsIs);
        assert_eq!(complex(1.0, f64::NAN), Storage::AsIs);
        assert_eq!(storage(DType::Int32, &[255; 8]), Storage::Masked);
    }

    #[test]
    fn the_sign_of_nan_is_no_loss() {
        let bits = [0x7fc0_0000u32, 0xffc0_0000, 0x7f80_0001, 0xffc0_1234, 0x3f80_0000, 0xff80_0000];
        let data: Vec<u8> = bits.iter().flat_map(|bits| bits.to_le_bytes()).collect();
        assert_eq!(unrestored(DType::Float32, &data), 2);
        // NaN+NaNi with unlike signs is whole; NaN+0i and inf+0i are not, nor is the pair of odd NaN.
        let pairs = [0x7fc0_0000u32, 0xffc0_0000, 0x7fc0_0000, 0, 0x7f80_0000, 0, 0x7fc0_1234, 0x7fc0_1234];
        let data: Vec<u8> = pairs.iter().flat_map(|bits| bits.to_le_bytes()).collect();
        assert_eq!(unrestored(DType::Complex64, &data), 3);
    }
}
