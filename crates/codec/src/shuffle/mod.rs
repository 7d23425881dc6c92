//! Byte transposition: bytes of equal significance side by side, so that a compressor finds their likeness.
//!
//! With elements of `S` bytes and `n` of them, `output[b * n + i] = input[i * S + b]`. Specification: TG-C6.
//! Any size works; 2, 4, 8 and 16 bytes run on vector registers where the machine has them.
//!
//! ```
//! let mut planes = [0; 6];
//! fw_codec::shuffle::shuffle(&[1, 2, 3, 4, 5, 6], 2, &mut planes);
//! assert_eq!(planes, [1, 3, 5, 2, 4, 6]);
//! ```

#[cfg(target_arch = "x86_64")]
mod avx2; // vector registers: lanes of 16 bytes
mod plain; // any machine, any element size

use crate::{Codec, CodecError, alloc, parallel};

/// Transposes `input` into `out`. Bytes after the last whole element are copied as they are, at the end.
///
/// # Panics
/// When the lengths differ or `element_size` is 0.
pub fn shuffle(input: &[u8], element_size: usize, out: &mut [u8]) {
    shuffle_threaded(input, element_size, 1, out);
}

/// Undoes [`shuffle`].
///
/// # Panics
/// When the lengths differ or `element_size` is 0.
pub fn unshuffle(input: &[u8], element_size: usize, out: &mut [u8]) {
    unshuffle_threaded(input, element_size, 1, out);
}

/// [`shuffle`] on up to `threads` threads.
///
/// # Panics
/// When the lengths differ or `element_size` is 0.
pub fn shuffle_threaded(input: &[u8], element_size: usize, threads: usize, out: &mut [u8]) {
    infallible(shuffle_inspecting(input, element_size, threads, |_, _| Ok(()), out));
}

/// [`shuffle_threaded`] for callers that check the elements anyway: `inspect` gets each run of them, and the position
/// where it begins, just before it is moved and while it comes into the cache.
///
/// # Errors
/// What `inspect` finds, the earliest run first.
///
/// # Panics
/// As [`shuffle_threaded`].
pub(crate) fn shuffle_inspecting(
    input: &[u8],
    element_size: usize,
    threads: usize,
    inspect: impl Fn(usize, &[u8]) -> Result<(), CodecError> + Sync,
    out: &mut [u8],
) -> Result<(), CodecError> {
    assert!(input.len() == out.len() && element_size > 0, "shuffle needs equal lengths and an element size");
    let count = input.len() / element_size;
    let (elements, rest) = input.split_at(count * element_size);
    let (planes, out_rest) = out.split_at_mut(count * element_size);
    if element_size == 1 || count <= 1 || element_size > MAX_SPLIT_SIZE {
        inspect(0, elements)?;
        if element_size == 1 || count <= 1 {
            planes.copy_from_slice(elements);
        } else {
            shuffle_part(elements, element_size, &mut planes.chunks_exact_mut(count).collect::<Vec<_>>());
        }
    } else {
        // One task per run of elements, holding its part of every plane.
        let run = TASK_LEN / element_size;
        let mut tasks: Vec<(&[u8], Vec<&mut [u8]>)> =
            elements.chunks(run * element_size).map(|part| (part, Vec::with_capacity(element_size))).collect();
        for plane in planes.chunks_exact_mut(count) {
            tasks.iter_mut().zip(plane.chunks_mut(run)).for_each(|(task, part)| task.1.push(part));
        }
        let threads = if elements.len() < PARALLEL_FROM { 1 } else { threads };
        parallel::for_each(threads, tasks.into_iter().enumerate(), |(index, (part, mut planes))| {
            inspect(index * run * element_size, part)?;
            shuffle_part(part, element_size, &mut planes);
            Ok(())
        })?;
    }
    inspect(elements.len(), rest)?;
    out_rest.copy_from_slice(rest);
    Ok(())
}

/// [`unshuffle`] on up to `threads` threads.
///
/// # Panics
/// When the lengths differ or `element_size` is 0.
pub fn unshuffle_threaded(input: &[u8], element_size: usize, threads: usize, out: &mut [u8]) {
    assert!(input.len() == out.len() && element_size > 0, "unshuffle needs equal lengths and an element size");
    let count = input.len() / element_size;
    let (planes, rest) = input.split_at(count * element_size);
    let (elements, out_rest) = out.split_at_mut(count * element_size);
    out_rest.copy_from_slice(rest);
    if element_size == 1 || count <= 1 {
        return elements.copy_from_slice(planes);
    }
    let threads = if elements.len() < PARALLEL_FROM { 1 } else { threads };
    let run = if threads <= 1 { count } else { (TASK_LEN / element_size).max(1) };
    let tasks = elements.chunks_mut(run * element_size).enumerate();
    infallible(parallel::for_each(threads, tasks, |(index, part)| {
        unshuffle_part(planes, count, index * run, element_size, part);
        Ok(())
    }));
}

/// Fills `out` with whole elements from element `first` on, out of all planes.
///
/// # Panics
/// When the planes are no whole elements, or do not hold that many.
pub fn unshuffle_range(planes: &[u8], element_size: usize, first: usize, out: &mut [u8]) {
    let count = planes.len() / element_size;
    assert!(
        planes.len() == count * element_size && out.len().is_multiple_of(element_size),
        "unshuffle_range needs whole elements"
    );
    if !out.is_empty() {
        unshuffle_part(planes, count, first, element_size, out);
    }
}

/// The `shuffle` filter as a codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shuffle {
    element_size: usize,
}

impl Shuffle {
    /// A filter for elements of `shuffle_element_size` bytes.
    ///
    /// # Errors
    /// When the size is 0 or does not fit in memory.
    pub fn new(shuffle_element_size: u64) -> Result<Self, CodecError> {
        match usize::try_from(shuffle_element_size) {
            Ok(element_size) if element_size > 0 => Ok(Self { element_size }),
            _ => Err(CodecError::parameter(
                NAME,
                "shuffle_element_size_invalid",
                format!("shuffle_element_size is {shuffle_element_size}, expected 1 or more"),
            )),
        }
    }

    /// Bytes per element.
    pub const fn element_size(&self) -> usize {
        self.element_size
    }

    /// Checks that whole elements make up `len` bytes.
    ///
    /// # Errors
    /// When they do not.
    pub fn check_len(&self, len: u64) -> Result<(), CodecError> {
        if len.is_multiple_of(self.element_size as u64) {
            return Ok(());
        }
        Err(CodecError::misuse(
            NAME,
            "shuffle_element_size_mismatch",
            format!("shuffle_element_size {} does not divide the {len} bytes to shuffle", self.element_size),
        ))
    }
}

impl Shuffle {
    /// [`Codec::encode`] with a check of the elements, as [`shuffle_inspecting`] has it.
    pub(crate) fn encode_inspecting(
        &self,
        input: &[u8],
        threads: usize,
        inspect: impl Fn(usize, &[u8]) -> Result<(), CodecError> + Sync,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        self.check_len(input.len() as u64)?;
        shuffle_inspecting(input, self.element_size, threads, inspect, alloc::extend(out, input.len())?)
    }
}

impl Codec for Shuffle {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, input_len: usize) -> Option<usize> {
        Some(input_len)
    }

    fn encode(&self, input: &[u8], threads: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        self.encode_inspecting(input, threads, |_, _| Ok(()), out)
    }

    fn decode_into(&self, encoded: &[u8], threads: usize, out: &mut [u8]) -> Result<(), CodecError> {
        if encoded.len() != out.len() {
            return Err(CodecError::length(NAME, out.len() as u64, encoded.len() as u64));
        }
        self.check_len(encoded.len() as u64)?;
        unshuffle_threaded(encoded, self.element_size, threads, out);
        Ok(())
    }
}

/// Transposes whole elements; `planes` are `size` slices of one byte per element.
fn shuffle_part(elements: &[u8], size: usize, planes: &mut [&mut [u8]]) {
    #[cfg(target_arch = "x86_64")]
    let done = avx2::shuffle(elements, size, planes);
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    plain::shuffle(elements, size, done, planes);
}

/// Fills `out` with whole elements from `first` on; `planes` are `size` runs of `count` bytes.
fn unshuffle_part(planes: &[u8], count: usize, first: usize, size: usize, out: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    let done = avx2::unshuffle(planes, count, first, size, out);
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    plain::unshuffle(planes, count, first, size, done, out);
}

/// For work that has no way to fail.
fn infallible(outcome: Result<(), CodecError>) {
    debug_assert!(outcome.is_ok());
}

const NAME: &str = "shuffle";
/// Below this many bytes a second thread costs more than it saves.
const PARALLEL_FROM: usize = 1 << 20;
/// Bytes one task moves: input and output stay in the second-level cache.
const TASK_LEN: usize = 128 << 10;
/// Larger elements are transposed plane by plane on one thread: slices of every plane would cost more than they hold.
const MAX_SPLIT_SIZE: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, word for word.
    fn naive(input: &[u8], size: usize) -> Vec<u8> {
        let count = input.len() / size;
        let mut out = input.to_vec();
        for i in 0..count {
            for b in 0..size {
                out[b * count + i] = input[i * size + b];
            }
        }
        out
    }

    fn noise(len: usize, seed: u32) -> Vec<u8> {
        (0..len as u32).map(|i| ((i ^ seed).wrapping_mul(2_654_435_761) >> 13) as u8).collect()
    }

    #[test]
    fn the_example_of_the_specification() {
        let mut out = [0; 6];
        shuffle(&[2, 1, 4, 3, 6, 5], 2, &mut out);
        assert_eq!(out, [2, 4, 6, 1, 3, 5]);
    }

    #[test]
    fn large_inputs_on_threads_agree_with_the_definition() {
        for size in [2, 3, 4, 8, 12, 16, 64, 65, 1000] {
            let input = noise(1_500_001, size as u32);
            let expected = naive(&input, size);
            for threads in [1, 2, 5] {
                let mut out = vec![0; input.len()];
                shuffle_threaded(&input, size, threads, &mut out);
                assert!(out == expected, "shuffle {size} on {threads} threads");
                let mut back = vec![0; input.len()];
                unshuffle_threaded(&out, size, threads, &mut back);
                assert!(back == input, "unshuffle {size} on {threads} threads");
            }
        }
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        assert_eq!(Shuffle::new(0).unwrap_err().code, "shuffle_element_size_invalid");
        let filter = Shuffle::new(4).unwrap();
        assert_eq!(filter.encode(&[0; 6], 1, &mut Vec::new()).unwrap_err().code, "shuffle_element_size_mismatch");
        assert_eq!(filter.decode_into(&[0; 8], 1, &mut [0; 12]).unwrap_err().code, "decoded_length_mismatch");
        filter.encode(&[], 1, &mut Vec::new()).unwrap();
    }

    proptest! {
        #[test]
        fn every_path_agrees_with_the_definition(len in 0usize..3000, offset in 0usize..40, size in 1usize..20, seed: u32) {
            let memory = noise(len + offset, seed);
            let input = &memory[offset..];
            let expected = naive(input, size);
            let mut memory = vec![0; len + offset];
            shuffle(input, size, &mut memory[offset..]);
            prop_assert_eq!(&memory[offset..], &expected[..]);
            let mut back = vec![0; len];
            unshuffle(&expected, size, &mut back);
            prop_assert_eq!(&back[..], input);
            // The plain twin on its own.
            let whole = len - len % size;
            let count = len / size;
            if count > 0 {
                let mut planes = vec![0; whole];
                let mut parts: Vec<&mut [u8]> = planes.chunks_exact_mut(count).collect();
                plain::shuffle(&input[..whole], size, 0, &mut parts);
                prop_assert_eq!(&planes[..], &expected[..whole]);
                let mut back = vec![0; whole];
                plain::unshuffle(&planes, count, 0, size, 0, &mut back);
                prop_assert_eq!(&back[..], &input[..whole]);
            }
        }
    }
}
