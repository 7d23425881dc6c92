//! Byte and bit transposition of one block.

use super::Filter;
use crate::shuffle::{shuffle, unshuffle};

/// Applies the filter of a pipeline to one block. `input` and `out` have the same length.
pub(super) fn apply(filter: Filter, typesize: usize, input: &[u8], out: &mut [u8]) {
    match filter {
        Filter::None => out.copy_from_slice(input),
        Filter::Shuffle => shuffle(input, typesize, out),
        Filter::BitShuffle => {
            let planes = bit_planes_len(input.len(), typesize);
            let (head, rest) = input.split_at(planes);
            let (out_head, out_rest) = out.split_at_mut(planes);
            out_rest.copy_from_slice(rest);
            let count = planes / typesize / 8;
            for (byte, plane_out) in out_head.chunks_exact_mut((count * 8).max(1)).enumerate() {
                for group in 0..count {
                    let bytes = std::array::from_fn(|i| head[(group * 8 + i) * typesize + byte]);
                    for (bit, value) in transpose(bytes).into_iter().enumerate() {
                        plane_out[bit * count + group] = value;
                    }
                }
            }
        }
    }
}

/// Undoes [`apply`].
pub(super) fn undo(filter: Filter, typesize: usize, input: &[u8], out: &mut [u8]) {
    match filter {
        Filter::None => out.copy_from_slice(input),
        Filter::Shuffle => unshuffle(input, typesize, out),
        Filter::BitShuffle => {
            let planes = bit_planes_len(input.len(), typesize);
            let (head, rest) = input.split_at(planes);
            let (out_head, out_rest) = out.split_at_mut(planes);
            out_rest.copy_from_slice(rest);
            let count = planes / typesize / 8;
            for (byte, plane) in head.chunks_exact((count * 8).max(1)).enumerate() {
                for group in 0..count {
                    let bits = std::array::from_fn(|bit| plane[bit * count + group]);
                    for (i, value) in transpose(bits).into_iter().enumerate() {
                        out_head[(group * 8 + i) * typesize + byte] = value;
                    }
                }
            }
        }
    }
}

/// True when the filter leaves every block as it is.
pub(super) fn is_identity(filter: Filter, typesize: usize) -> bool {
    match filter {
        Filter::None => true,
        Filter::Shuffle => typesize == 1,
        Filter::BitShuffle => false,
    }
}

/// Bits are transposed in groups of eight elements; what is left stays in place.
fn bit_planes_len(len: usize, typesize: usize) -> usize {
    let elements = len / typesize;
    (elements - elements % 8) * typesize
}

/// Row `i`, bit `j` becomes row `j`, bit `i`.
fn transpose(rows: [u8; 8]) -> [u8; 8] {
    let mut x = u64::from_le_bytes(rows);
    for (shift, mask) in [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)] {
        let swap = (x ^ (x >> shift)) & mask;
        x ^= swap ^ (swap << shift);
    }
    x.to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bit `k` of element `i` goes to bit `i % 8` of byte `k * elements / 8 + i / 8`.
    fn naive_bits(input: &[u8], typesize: usize) -> Vec<u8> {
        let mut out = input.to_vec();
        let elements = input.len() / typesize / 8 * 8;
        out[..elements * typesize].fill(0);
        for i in 0..elements {
            for k in 0..typesize * 8 {
                let bit = input[i * typesize + k / 8] >> (k % 8) & 1;
                out[k * (elements / 8) + i / 8] |= bit << (i % 8);
            }
        }
        out
    }

    proptest! {
        #[test]
        fn bit_shuffle_is_what_it_says_and_back(input in prop::collection::vec(any::<u8>(), 0..600), typesize in 1usize..18) {
            let mut out = vec![0; input.len()];
            apply(Filter::BitShuffle, typesize, &input, &mut out);
            prop_assert_eq!(&out, &naive_bits(&input, typesize));
            let mut back = vec![0; input.len()];
            undo(Filter::BitShuffle, typesize, &out, &mut back);
            prop_assert_eq!(back, input);
        }

        #[test]
        fn shuffle_comes_back(input in prop::collection::vec(any::<u8>(), 0..600), typesize in 1usize..18) {
            let mut out = vec![0; input.len()];
            apply(Filter::Shuffle, typesize, &input, &mut out);
            let mut back = vec![0; input.len()];
            undo(Filter::Shuffle, typesize, &out, &mut back);
            prop_assert_eq!(back, input);
        }
    }
}
