//! Byte order changed while copying, or in place.

use crate::parallel;
use crate::simd::vectorized;

/// Copies `input` to `out`, reversing every group of `unit` bytes (0 and 1: a plain copy). Bytes after the last whole
/// group are copied as they are.
///
/// # Panics
/// When the lengths differ.
pub fn copy_swapped(input: &[u8], unit: usize, threads: usize, out: &mut [u8]) {
    assert_eq!(input.len(), out.len(), "copy_swapped needs equal lengths");
    let chunk = chunk_len(unit);
    let threads = if input.len() < PARALLEL_FROM { 1 } else { threads };
    let tasks = out.chunks_mut(chunk).zip(input.chunks(chunk));
    let done = parallel::for_each(threads, tasks, |(to, from)| {
        match unit {
            2 => copy_2(from, to),
            4 => copy_4(from, to),
            8 => copy_8(from, to),
            _ => {
                to.copy_from_slice(from);
                fw_tensor::swap_in_place(to, unit);
            }
        }
        Ok(())
    });
    debug_assert!(done.is_ok());
}

/// Reverses every group of `unit` bytes (0 and 1: nothing to do). Bytes after the last whole group stay.
pub fn swap_in_place(bytes: &mut [u8], unit: usize, threads: usize) {
    if unit <= 1 {
        return;
    }
    let threads = if bytes.len() < PARALLEL_FROM { 1 } else { threads };
    let done = parallel::for_each(threads, bytes.chunks_mut(chunk_len(unit)), |chunk| {
        match unit {
            2 => in_place_2(chunk),
            4 => in_place_4(chunk),
            8 => in_place_8(chunk),
            _ => fw_tensor::swap_in_place(chunk, unit),
        }
        Ok(())
    });
    debug_assert!(done.is_ok());
}

/// Whole words, which compile to vector shuffles.
macro_rules! words {
    ($copy:ident, $in_place:ident, $word:ty) => {
        fn $copy(from: &[u8], to: &mut [u8]) {
            vectorized(
                #[inline(always)]
                || {
                    let (from, from_rest) = from.as_chunks::<{ size_of::<$word>() }>();
                    let (to, to_rest) = to.as_chunks_mut::<{ size_of::<$word>() }>();
                    for (to, from) in to.iter_mut().zip(from) {
                        *to = <$word>::from_ne_bytes(*from).swap_bytes().to_ne_bytes();
                    }
                    to_rest.copy_from_slice(from_rest);
                },
            );
        }

        fn $in_place(bytes: &mut [u8]) {
            vectorized(
                #[inline(always)]
                || {
                    for word in bytes.as_chunks_mut::<{ size_of::<$word>() }>().0 {
                        *word = <$word>::from_ne_bytes(*word).swap_bytes().to_ne_bytes();
                    }
                },
            );
        }
    };
}

words!(copy_2, in_place_2, u16);
words!(copy_4, in_place_4, u32);
words!(copy_8, in_place_8, u64);

/// Whole groups, about [`CHUNK`] bytes of them.
fn chunk_len(unit: usize) -> usize {
    let unit = unit.max(1);
    (CHUNK / unit).max(1) * unit
}

const CHUNK: usize = 256 << 10;
/// Below this many bytes a second thread costs more than it saves.
const PARALLEL_FROM: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn swapping_agrees_with_the_plain_twin(bytes in proptest::collection::vec(any::<u8>(), 0..300), unit in 0usize..12) {
            let mut expected = bytes.clone();
            fw_tensor::swap_in_place(&mut expected, unit);
            let mut copied = vec![0; bytes.len()];
            copy_swapped(&bytes, unit, 1, &mut copied);
            prop_assert_eq!(&copied, &expected);
            let mut swapped = bytes;
            swap_in_place(&mut swapped, unit, 1);
            prop_assert_eq!(&swapped, &expected);
        }
    }

    #[test]
    fn threads_change_nothing() {
        let bytes: Vec<u8> = (0..3_000_001u32).map(|i| ((i * 31) >> 3) as u8).collect();
        for unit in [1, 2, 3, 4, 8] {
            let mut expected = bytes.clone();
            fw_tensor::swap_in_place(&mut expected, unit);
            let mut copied = vec![0; bytes.len()];
            copy_swapped(&bytes, unit, 2, &mut copied);
            assert!(copied == expected);
            swap_in_place(&mut copied, unit, 3);
            assert!(copied == bytes);
        }
    }
}
