//! Everything of a buffered message but its objects, around object frames that are known already.

use super::frames::{frame_len, padded, write_frame};
use super::layout::layout;
use crate::describe::HashList;
use crate::wire::{FrameType, MessageFlags, POSTAMBLE_LEN, Postamble, Preamble};
use std::io;

/// An object frame that is known already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Framed {
    /// From header through end marker.
    pub(crate) len: u64,
    /// Its digest, when it carries one.
    pub(crate) digest: Option<u64>,
}

/// Where the digests of all objects are gathered in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HashFrames {
    pub(crate) header: bool,
    pub(crate) footer: bool,
}

/// What stands before and after the objects.
#[derive(Clone, Debug)]
pub(crate) struct Envelope {
    /// Preamble and header frames.
    pub(crate) head: Vec<u8>,
    /// Footer frames and postamble.
    pub(crate) tail: Vec<u8>,
    /// Bytes of the whole message.
    pub(crate) total: u64,
}

impl Envelope {
    /// Around objects in this order, each followed by its padding. Hash frames are written only when every object has a digest.
    ///
    /// # Errors
    /// None: the sink is memory.
    pub(crate) fn around(metadata: &[u8], objects: &[Framed], hashing: bool, gather: HashFrames) -> io::Result<Self> {
        let digests: Vec<u64> = objects.iter().filter_map(|object| object.digest).collect();
        let gathered = !objects.is_empty() && digests.len() == objects.len();
        let (header_hashes, footer_hashes) = (gathered && gather.header, gathered && gather.footer);
        let hashes = HashList::new(digests).to_cbor();
        let lens: Vec<u64> = objects.iter().map(|object| object.len).collect();
        let layout = layout(metadata.len(), header_hashes.then_some(hashes.len()), &lens);
        let footer = if footer_hashes { padded(frame_len(FrameType::FOOTER_HASH, hashes.len() as u64)) } else { 0 };
        let total = layout.footer_start + footer + POSTAMBLE_LEN;
        let flags = MessageFlags::HEADER_METADATA
            | MessageFlags::HEADER_INDEX.when(!lens.is_empty())
            | MessageFlags::HEADER_HASHES.when(header_hashes)
            | MessageFlags::FOOTER_HASHES.when(footer_hashes)
            | MessageFlags::HASHES_PRESENT.when(hashing);
        let mut head = Preamble { flags, reserved: 0, total_length: Some(total) }.to_bytes().to_vec();
        write_frame(&mut head, FrameType::HEADER_METADATA, metadata, hashing)?;
        if !lens.is_empty() {
            write_frame(&mut head, FrameType::HEADER_INDEX, &layout.index_cbor, hashing)?;
        }
        if header_hashes {
            write_frame(&mut head, FrameType::HEADER_HASH, &hashes, hashing)?;
        }
        let mut tail = Vec::new();
        if footer_hashes {
            write_frame(&mut tail, FrameType::FOOTER_HASH, &hashes, hashing)?;
        }
        let postamble = Postamble { first_footer_offset: layout.footer_start, total_length: Some(total) };
        tail.extend_from_slice(&postamble.to_bytes());
        Ok(Self { head, tail, total })
    }
}
