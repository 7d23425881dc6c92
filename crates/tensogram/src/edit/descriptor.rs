//! Parameters of an object, changed: payload and masks stay, the descriptor behind them and the digest are written anew.

use super::plan::Piece;
use super::stored::StoredObject;
use crate::access::{ObjectHead, ReadMachine, in_source};
use crate::describe::DataObjectDescriptor;
use crate::error::Result;
use crate::frame::{FrameRef, Lookup};
use crate::wire::{FRAME_END, FRAME_HEADER_LEN, FrameFlags, FrameHeader, FrameType};
use crate::write::frame_len;
use fw_bytes::checksum::Xxh3;
use fw_bytes::{Limits, Span, Step};
use fw_source::{Buffers, ReadAt, stream};

/// A frame with another descriptor: the bytes around the payload.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Changed {
    header: [u8; FRAME_HEADER_LEN as usize],
    /// Payload and masks, in the source.
    region: Span,
    /// Descriptor, its position, digest and end marker.
    tail: Vec<u8>,
    descriptor: DataObjectDescriptor,
}

impl StoredObject {
    /// Bytes of the frame as it is written.
    pub(super) fn len(&self) -> u64 {
        match &self.changed {
            Some(changed) => FRAME_HEADER_LEN + changed.region.len() + changed.tail.len() as u64,
            None => self.frame.span().len(),
        }
    }

    pub(super) fn pieces<E>(&self, number: usize, put: &mut impl FnMut(Piece<'_>) -> Result<(), E>) -> Result<(), E> {
        match &self.changed {
            None => put(Piece::Copied { object: number, span: self.frame.span() }),
            Some(changed) => {
                put(Piece::Bytes(&changed.header))?;
                put(Piece::Copied { object: number, span: changed.region })?;
                put(Piece::Bytes(&changed.tail))
            }
        }
    }

    /// The descriptor that takes the place of the stored one, when there is one.
    pub fn descriptor(&self) -> Option<&DataObjectDescriptor> {
        self.changed.as_ref().map(|changed| &changed.descriptor)
    }

    /// What the object is: its frame header and descriptor are read, its payload is not.
    ///
    /// # Errors
    /// Framing and metadata faults, with positions in the source; `Io`.
    pub fn head(&self, source: &(impl ReadAt + ?Sized), index: usize, limits: &Limits) -> Result<ObjectHead> {
        let machine = ReadFrameHead { frame: self.frame, index, limits: *limits };
        crate::access::run(source, &mut Buffers::new(), machine)
    }

    /// The object with other parameters in its descriptor. Its payload is read once, for the new digest, and not decoded.
    ///
    /// # Errors
    /// A descriptor that cannot be written; `Io` from the source.
    pub fn with_descriptor(
        &self,
        source: &(impl ReadAt + ?Sized),
        head: &ObjectHead,
        descriptor: &DataObjectDescriptor,
    ) -> Result<Self> {
        descriptor.check_structure()?;
        let (region, cbor) = (head.parts.region, descriptor.to_cbor());
        let digest = if self.digest.is_some() {
            let mut hash = Xxh3::new();
            stream(source, region, |piece| {
                hash.update(piece);
                Ok::<_, std::io::Error>(())
            })?;
            hash.update(&cbor);
            Some(hash.digest())
        } else {
            None
        };
        let length = frame_len(FrameType::NTENSOR, region.len() + cbor.len() as u64);
        let flags = FrameFlags::CBOR_AFTER_PAYLOAD | FrameFlags::HASH_PRESENT.when(digest.is_some());
        let header = FrameHeader { flags, length, ..*self.frame.header() }.to_bytes();
        let mut tail = cbor;
        tail.extend_from_slice(&(FRAME_HEADER_LEN + region.len()).to_be_bytes());
        tail.extend_from_slice(&digest.unwrap_or(0).to_be_bytes());
        tail.extend_from_slice(FRAME_END);
        Ok(Self {
            frame: self.frame,
            digest,
            changed: Some(Changed { header, region, tail, descriptor: descriptor.clone() }),
        })
    }
}

/// The head of an object whose frame is known, in positions of the source.
struct ReadFrameHead {
    frame: FrameRef,
    index: usize,
    limits: Limits,
}

impl ReadMachine for ReadFrameHead {
    type Output = ObjectHead;

    fn poll(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<ObjectHead>> {
        let read = ObjectHead::read(have, self.frame, self.index, &self.limits);
        in_source(Span::new(0, u64::MAX), read.map_err(|error| error.on(crate::access::object_path(self.index))))
    }
}
