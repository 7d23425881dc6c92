//! Where everything goes in a buffered message (TG-9.2).
//!
//! The index frame stands before the objects and holds their positions, so its size depends on the positions and the
//! positions on its size. Sizes only ever grow from the first guess, so repeating until nothing moves always ends.

use super::frames::{frame_len, padded};
use crate::describe::Index;
use crate::wire::{FrameType, PREAMBLE_LEN};

/// The index of the objects of a message.
pub(crate) struct Layout {
    /// Positions and lengths in canonical CBOR; empty lists without objects.
    pub(crate) index_cbor: Vec<u8>,
    /// Where the frames behind the last object begin.
    pub(crate) footer_start: u64,
}

/// Lays out objects of these frame lengths behind header frames of these body lengths.
pub(crate) fn layout(metadata_len: usize, header_hash_len: Option<usize>, object_lens: &[u64]) -> Layout {
    let frame = |frame_type, len: usize| padded(frame_len(frame_type, len as u64));
    let fixed = PREAMBLE_LEN
        + frame(FrameType::HEADER_METADATA, metadata_len)
        + header_hash_len.map_or(0, |len| frame(FrameType::HEADER_HASH, len));
    let mut index = Index { offsets: vec![0; object_lens.len()], lengths: object_lens.to_vec() };
    let mut cbor = index.to_cbor();
    loop {
        let index_frame = if object_lens.is_empty() { 0 } else { frame(FrameType::HEADER_INDEX, cbor.len()) };
        let mut position = fixed + index_frame;
        for (offset, length) in index.offsets.iter_mut().zip(object_lens) {
            *offset = position;
            position += padded(*length);
        }
        cbor = index.to_cbor();
        if object_lens.is_empty() || frame(FrameType::HEADER_INDEX, cbor.len()) == index_frame {
            return Layout { index_cbor: cbor, footer_start: position };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_always_settles() {
        // Lengths around the places where an offset needs a longer head (TG-9.2 names 64896, 1, 1, 1).
        for first in (64_700..65_700).chain(150..300).chain([0xffff_fe00, 0xffff_ff00]) {
            for count in [1usize, 2, 4, 23, 24, 30] {
                let mut lens = vec![161u64; count];
                lens[0] = first;
                let layout = layout(214, None, &lens);
                let index = Index::from_cbor(&layout.index_cbor, 0, &Default::default()).unwrap();
                let start = 24 + padded(242) + padded(28 + layout.index_cbor.len() as u64);
                assert_eq!(index.offsets[0], start);
                assert_eq!(index.offsets[count - 1] + padded(lens[count - 1]), layout.footer_start);
            }
        }
    }
}
