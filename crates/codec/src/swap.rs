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
    if unit <= 1 && threads <= 1 {
        // In one piece: large copies go past the caches.
        out.copy_from_slice(input);
        return;
    }
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

/// [`fw_tensor::swap_in_place`] on up to `threads` threads and on the vector unit at hand.
pub fn swap_threaded(bytes: &mut [u8], unit: usize, threads: usize) {
    if unit <= 1 {
        return;
    }
    let threads = if bytes.len() < PARALLEL_FROM { 1 } else { threads };
    let done = parallel::for_each(threads, bytes.chunks_mut(chunk_len(unit)), |chunk| {
        vectorized(
            #[inline(always)]
            || fw_tensor::swap_in_place(chunk, unit),
        );
        Ok(())
    });
    debug_assert!(done.is_ok());
}

/// Whole words, which compile to vector shuffles.
macro_rules! words {
    ($copy:ident, $word:ty) => {
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
    };
}

words!(copy_2, u16);
words!(copy_4, u32);
words!(copy_8, u64);

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

    /// The definition, byte by byte.
    fn naive(bytes: &[u8], unit: usize) -> Vec<u8> {
        let unit = unit.max(1);
        let whole = bytes.len() / unit * unit;
        let place = |at: usize| if at < whole { at / unit * unit + (unit - 1 - at % unit) } else { at };
        (0..bytes.len()).map(|at| bytes[place(at)]).collect()
    }

    proptest! {
        #[test]
        fn swapping_agrees_with_the_plain_twin(
            memory in proptest::collection::vec(any::<u8>(), 0..700),
            offset in 0usize..70,
            target in 0usize..70,
            unit in 0usize..20,
        ) {
            let bytes = memory.get(offset..).unwrap_or_default();
            let expected = naive(bytes, unit);
            // Source and target begin anywhere in a register.
            let mut copied = vec![0; target + bytes.len()];
            copy_swapped(bytes, unit, 1, &mut copied[target..]);
            prop_assert_eq!(&copied[target..], &expected);
            copied[target..].copy_from_slice(bytes);
            swap_threaded(&mut copied[target..], unit, 1);
            prop_assert_eq!(&copied[target..], &expected);
            copied[target..].copy_from_slice(bytes);
            fw_tensor::swap_in_place(&mut copied[target..], unit);
            prop_assert_eq!(&copied[target..], &expected);
        }
    }

    #[test]
    fn threads_change_nothing() {
        let bytes: Vec<u8> = (0..3_000_001u32).map(|i| ((i * 31) >> 3) as u8).collect();
        for unit in [1, 2, 3, 4, 8] {
            let expected = naive(&bytes, unit);
            let mut copied = vec![0; bytes.len()];
            copy_swapped(&bytes, unit, 2, &mut copied);
            assert!(copied == expected);
            swap_threaded(&mut copied, unit, 3);
            assert!(copied == bytes);
        }
    }
}
