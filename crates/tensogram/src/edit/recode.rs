//! One object through other codecs: decoded, encoded anew, its masks moved as they are.

use super::stored::StoredObject;
use crate::access::{AtHand, ObjectFrame, ObjectHead};
use crate::describe::{DataObjectDescriptor, MasksMetadata};
use crate::error::{Result, too_large};
use crate::frame::FrameRef;
use crate::options::{DecodeOptions, EncodeOptions};
use crate::pipeline::{self, FiniteCheck, read_masks, write_masks};
use crate::wire::{FRAME_VERSION, FrameFlags, FrameHeader, FrameType};
use crate::write::{COPIED, write_object};
use fw_bytes::Span;
use fw_codec::chain::Pipe;
use fw_codec::finite::Kind;
use fw_codec::mask::{self, Masks, Separated};
use fw_codec::parallel;
use fw_source::ReadAt;
use std::io::Write;

/// An object whose elements are at hand, to be coded anew.
///
/// Elements are in the byte order of the descriptor. Where the masks have NaN or an infinity they hold a stand-in, which no
/// reader sees.
#[derive(Clone, Debug)]
pub struct OpenObject {
    descriptor: DataObjectDescriptor,
    elements: Vec<u8>,
    masks: Masks,
    /// The mask blobs as they are written, and what the descriptor says about them, from the first blob on.
    blobs: Vec<u8>,
    described: MasksMetadata,
    hashed: bool,
}

/// What was written.
#[derive(Clone, Debug, PartialEq)]
pub struct RecodedFrame {
    /// The object, at the place where the frame was written.
    pub object: StoredObject,
    /// What it is now.
    pub descriptor: DataObjectDescriptor,
    /// Bytes of payload and masks.
    pub stored_bytes: u64,
}

impl RecodedFrame {
    /// The object, once its frame was copied to begin `by` bytes later.
    pub fn moved(self, by: u64) -> StoredObject {
        StoredObject::written(self.object.frame.shifted(by), self.object.digest)
    }
}

impl OpenObject {
    /// Reads and decodes an object; `head` is [`StoredObject::head`].
    ///
    /// # Errors
    /// Digest (where the options ask for it), framing and codec faults; `Io`; limits.
    pub fn read(
        source: &(impl ReadAt + ?Sized),
        object: &StoredObject,
        head: &ObjectHead,
        options: &DecodeOptions,
    ) -> Result<Self> {
        let mut bytes = fw_codec::alloc::zeroed(usize::try_from(object.span().len()).map_err(|_| too_large())?)?;
        source.read_exact_at(object.span().start, &mut bytes)?;
        let options = DecodeOptions { restore_non_finite: false, native_byte_order: false, ..options.clone() };
        let frame = ObjectFrame { index: head.index, frame: object.frame.rebased(object.span().start) };
        let decoded = frame.decode(&bytes[..], &options)?;
        let mut descriptor = decoded.descriptor;
        let threads = parallel::resolve(options.threads)?;
        let (elements, masks, blobs, described) = match descriptor.masks.take().filter(|masks| !masks.is_empty()) {
            Some(stored) => {
                let (masks, blobs, described) = frame.masks_as_stored(&bytes, &stored, &options)?;
                (decoded.bytes, masks, blobs, described)
            }
            // Elements that are not finite and stand in the payload go into masks, as an encoder does it.
            None => {
                let allowed = mask::Options { allow_nan: true, allow_inf: true, ..mask::Options::default() };
                match mask::separate(&decoded.bytes, descriptor.dtype, descriptor.byte_order, &allowed, threads)? {
                    Some(Separated { bytes, masks }) => {
                        let (blobs, described) = write_masks(&masks, &allowed, 0)?;
                        (bytes, masks, blobs, described)
                    }
                    None => (decoded.bytes, Masks::default(), Vec::new(), MasksMetadata::default()),
                }
            }
        };
        Ok(Self { descriptor, elements, masks, blobs, described, hashed: object.digest.is_some() })
    }

    /// What the object is; without masks, and coded as it was.
    pub const fn descriptor(&self) -> &DataObjectDescriptor {
        &self.descriptor
    }

    /// Its elements, in the byte order of the descriptor, with stand-ins where it is masked.
    pub fn elements(&self) -> &[u8] {
        &self.elements
    }

    /// The same to change stand-ins; other elements would change the object.
    pub fn elements_mut(&mut self) -> &mut [u8] {
        &mut self.elements
    }

    /// Whether an element is NaN or infinite.
    pub fn is_masked(&self, index: u64) -> bool {
        Kind::ALL.into_iter().any(|kind| self.masks.get(kind).is_some_and(|bits| bits.contains(index)))
    }

    /// Whether any element is NaN or infinite.
    pub const fn has_masks(&self) -> bool {
        !self.masks.is_empty()
    }

    /// Its elements with NaN and infinities where they belong.
    pub fn restored(&self) -> Vec<u8> {
        let mut elements = self.elements.clone();
        self.masks.restore(&mut elements, self.descriptor.dtype, self.descriptor.byte_order, 0);
        elements
    }

    /// Writes its frame, coded as `pipe` states, to `sink`, of which it fills the bytes from `at` on. Parameters that belong to
    /// no codec are kept.
    ///
    /// # Errors
    /// Element types, values and settings that the codecs refuse; `Io` from the sink.
    pub fn encode(&self, pipe: &Pipe, options: &EncodeOptions, sink: &mut impl Write, at: u64) -> Result<RecodedFrame> {
        let descriptor = self.descriptor.clone().with_pipeline(pipe.clone())?;
        // Nothing is left to set aside.
        let options = EncodeOptions { allow_nan: false, allow_inf: false, ..options.clone() };
        let mut prepared = pipeline::prepare(&descriptor, &self.elements, &options, FiniteCheck::First)?;
        if !self.blobs.is_empty() || !self.described.is_empty() {
            let payload_len = prepared.payload_len() as u64;
            prepared.descriptor.to_mut().masks = Some(self.described.shifted(payload_len));
            prepared.masks = self.blobs.clone();
            prepared.cbor = prepared.descriptor.to_cbor();
        }
        let threads = parallel::resolve(options.threads)?;
        let written = write_object(sink, &prepared, self.hashed, threads, COPIED)?;
        let stored_bytes = (prepared.payload_len() + prepared.masks.len()) as u64;
        let flags = FrameFlags::CBOR_AFTER_PAYLOAD | FrameFlags::HASH_PRESENT.when(self.hashed);
        let header =
            FrameHeader { frame_type: FrameType::NTENSOR, version: FRAME_VERSION, flags, length: written.length };
        let object = StoredObject::written(FrameRef::of(at, header), self.hashed.then_some(written.digest));
        let descriptor = prepared.descriptor.clone().into_owned();
        prepared.recycle();
        Ok(RecodedFrame { object, descriptor, stored_bytes })
    }
}

impl ObjectFrame {
    /// The masks of an object, and their blobs as they stand, described from the first one on.
    fn masks_as_stored(
        &self,
        frame: &[u8],
        stored: &MasksMetadata,
        options: &DecodeOptions,
    ) -> Result<(Masks, Vec<u8>, MasksMetadata)> {
        let head = self.open(frame, options)?;
        let masks = read_masks(&AtHand::new(&head, frame))?;
        let (payload, region) = (head.payload(), head.parts.region);
        let blobs = Span::new(payload.end, region.end).slice_of(frame, 0).unwrap_or_default().to_vec();
        Ok((masks, blobs, stored.rebased(payload.len())))
    }
}
