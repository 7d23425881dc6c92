//! LZ4 blocks of long literals, appended to a `Vec`: such a block is little more than a copy, and clearing the output first
//! would cost as much again.

use crate::{CodecError, alloc};

/// The decoded block, or `None` when it is not of this kind, or malformed in any way.
///
/// # Errors
/// When there is no memory.
pub(super) fn decompress(block: &[u8], len: usize) -> Result<Option<Vec<u8>>, CodecError> {
    let mut out = alloc::with_capacity(len)?;
    Ok((read(block, len, &mut out).is_some() && out.len() == len).then_some(out))
}

fn read(mut block: &[u8], len: usize, out: &mut Vec<u8>) -> Option<()> {
    loop {
        let token = take_byte(&mut block)?;
        let literals = take_len(&mut block, usize::from(token >> 4), 15)?;
        let (literal, rest) = block.split_at_checked(literals)?;
        if literals > len - out.len() {
            return None;
        }
        out.extend_from_slice(literal);
        block = rest;
        // The last sequence has no match.
        if block.is_empty() {
            return (token & 15 == 0).then_some(());
        }
        let (offset, rest) = block.split_first_chunk()?;
        block = rest;
        let offset = usize::from(u16::from_le_bytes(*offset));
        let mut length = take_len(&mut block, usize::from(token & 15), 15)?.checked_add(MIN_MATCH)?;
        if offset == 0 || offset > out.len() || length > len - out.len() {
            return None;
        }
        // A match may run into what it writes: it repeats what stands between.
        while length > 0 {
            let start = out.len() - offset;
            let part = length.min(offset);
            out.extend_from_within(start..start + part);
            length -= part;
        }
    }
}

/// A length that goes on in further bytes when the first part is full.
fn take_len(block: &mut &[u8], first: usize, full: usize) -> Option<usize> {
    let mut len = first;
    if first == full {
        loop {
            let byte = take_byte(block)?;
            len = len.checked_add(usize::from(byte))?;
            if byte != 255 {
                break;
            }
        }
    }
    Some(len)
}

fn take_byte(block: &mut &[u8]) -> Option<u8> {
    let (byte, rest) = block.split_first()?;
    *block = rest;
    Some(*byte)
}

const MIN_MATCH: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever the bytes, the answer is that of the library, or none.
        #[test]
        fn agrees_with_the_library(
            pieces in proptest::collection::vec((proptest::collection::vec(any::<u8>(), 0..300), 0usize..200), 1..8),
            damage in proptest::option::of((any::<prop::sample::Index>(), 1u8..)),
        ) {
            // Noise, and repeats of what came before.
            let mut input: Vec<u8> = Vec::new();
            for (noise, repeat) in pieces {
                input.extend(noise);
                let start = input.len().saturating_sub(repeat);
                input.extend_from_within(start..);
            }
            let mut block = lz4_flex::block::compress(&input);
            if let Some((place, change)) = damage {
                let place = place.index(block.len());
                block[place] ^= change;
            }
            let mut expected = vec![0; input.len()];
            let library = lz4_flex::block::decompress_into(&block, &mut expected).is_ok_and(|len| len == input.len());
            match decompress(&block, input.len()).unwrap() {
                Some(found) => prop_assert!(library && found == expected),
                None => prop_assert!(damage.is_some()),
            }
        }
    }
}
