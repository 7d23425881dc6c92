//! The bytes of a message under validation: all at hand, or read from a source as they are asked for.

use crate::describe::{DataObjectDescriptor, MaskDescriptor};
use crate::error::{Result, TensogramError};
use crate::frame::{FrameRef, Lookup};
use crate::pipeline::{Encoded, not_at_hand};
use fw_bytes::Span;
use fw_bytes::checksum::{Xxh3, xxh3_64};
use fw_codec::Window;
use fw_source::ReadAt;
use std::borrow::Cow;
use std::cell::RefCell;

/// Positions count from the first byte of the message.
pub(super) trait Held {
    /// The bytes of a span; none when they are not there.
    fn part(&self, span: Span) -> Cow<'_, [u8]>;

    /// The XXH3 digest of a span.
    fn digest(&self, span: Span) -> u64;
}

impl<L: Lookup + ?Sized> Held for L {
    fn part(&self, span: Span) -> Cow<'_, [u8]> {
        Cow::Borrowed(if span.is_empty() { &[] } else { self.lookup(span).unwrap_or_default() })
    }

    fn digest(&self, span: Span) -> u64 {
        xxh3_64(&self.part(span))
    }
}

/// A message in a source. Nothing of it is kept.
pub(super) struct InSource<'s, S: ?Sized> {
    source: &'s S,
    /// Where the message begins.
    base: u64,
    failed: RefCell<Option<TensogramError>>,
}

impl<'s, S: ReadAt + ?Sized> InSource<'s, S> {
    pub(super) const fn new(source: &'s S, base: u64) -> Self {
        Self { source, base, failed: RefCell::new(None) }
    }

    /// The first failure of the source: what was found in its place means nothing.
    pub(super) fn settle(self) -> Result<()> {
        self.failed.into_inner().map_or(Ok(()), Err)
    }

    fn read(&self, span: Span) -> Result<Vec<u8>> {
        let len = usize::try_from(span.len()).map_err(|_| crate::error::too_large())?;
        let mut bytes = fw_codec::alloc::zeroed(len)?;
        self.source.read_exact_at(self.base.saturating_add(span.start), &mut bytes)?;
        Ok(bytes)
    }

    fn or_failed<T: Default>(&self, read: Result<T>) -> T {
        read.unwrap_or_else(|error| {
            self.failed.borrow_mut().get_or_insert(error);
            T::default()
        })
    }
}

impl<S: ReadAt + ?Sized> Held for InSource<'_, S> {
    fn part(&self, span: Span) -> Cow<'_, [u8]> {
        Cow::Owned(if span.is_empty() { Vec::new() } else { self.or_failed(self.read(span)) })
    }

    fn digest(&self, span: Span) -> u64 {
        let mut hash = Xxh3::new();
        let mut position = span.start;
        while position < span.end {
            let piece = Span::new(position, span.end.min(position.saturating_add(PIECE)));
            match self.read(piece) {
                Ok(bytes) => hash.update(&bytes),
                Err(error) => return self.or_failed(Err(error)),
            }
            position = piece.end;
        }
        hash.digest()
    }
}

/// Compares a frame's digest with its body: both digests when they differ. A frame without one passes.
pub(super) fn mismatch(held: &(impl Held + ?Sized), frame: &FrameRef) -> Option<(u64, u64)> {
    if !frame.has_hash() {
        return None;
    }
    let stored = stored_digest(held, frame)?;
    let computed = held.digest(frame.body());
    (stored != computed).then_some((stored, computed))
}

/// What stands in the hash slot of a frame.
pub(super) fn stored_digest(held: &(impl Held + ?Sized), frame: &FrameRef) -> Option<u64> {
    <[u8; 8]>::try_from(&*held.part(frame.hash_slot())).ok().map(u64::from_be_bytes)
}

/// The encoded bytes of one object. The payload of a raw object is left where it is: only its length matters.
pub(super) struct Payload<'h> {
    head: &'h crate::access::ObjectHead,
    payload: Option<Cow<'h, [u8]>>,
    /// Everything behind it.
    masks: Cow<'h, [u8]>,
}

impl<'h> Payload<'h> {
    pub(super) fn of(held: &'h (impl Held + ?Sized), head: &'h crate::access::ObjectHead) -> Self {
        let payload = head.payload();
        let masks = held.part(Span::new(payload.end, head.parts.region.end));
        Self { head, payload: (!head.descriptor.is_raw()).then(|| held.part(payload)), masks }
    }
}

impl Encoded for Payload<'_> {
    fn descriptor(&self) -> &DataObjectDescriptor {
        &self.head.descriptor
    }

    fn payload_len(&self) -> u64 {
        self.head.payload().len()
    }

    fn window(&self, _: Option<Span>) -> Result<Window<'_>> {
        crate::pipeline::whole(self).map(Window::whole)
    }

    fn whole_payload(&self) -> Option<&[u8]> {
        self.payload.as_deref()
    }

    fn mask_blob(&self, mask: &MaskDescriptor) -> Result<&[u8]> {
        let span = self.head.mask(mask);
        span.slice_of(&self.masks, self.head.payload().end).ok_or_else(|| not_at_hand(span))
    }
}

const PIECE: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::super::{ValidateMode, ValidateOptions, validate_message, validate_span};
    use fw_bytes::Span;
    use fw_source::ReadAt;
    use std::io;
    use std::path::Path;
    use std::sync::atomic::{AtomicU64, Ordering};

    const MODES: [ValidateMode; 6] = [
        ValidateMode::Quick,
        ValidateMode::Metadata,
        ValidateMode::Checksum,
        ValidateMode::Default,
        ValidateMode::Decode,
        ValidateMode::Full,
    ];

    /// A message somewhere in a source is reported as the same message in memory is, whole or damaged, at every level.
    #[test]
    fn messages_in_sources_are_reported_as_in_memory() {
        let mut compared = 0;
        let mut compare = |bytes: &[u8]| {
            let mut source = vec![0xaa; 40];
            source.extend_from_slice(bytes);
            source.extend_from_slice(&[0xbb; 24]);
            let place = Span::new(40, 40 + bytes.len() as u64);
            for mode in MODES {
                for canonical in [false, true] {
                    let options = ValidateOptions { canonical, ..ValidateOptions::mode(mode) };
                    let found = validate_span(&source[..], place, &options).unwrap();
                    assert_eq!(found, validate_message(bytes, &options), "{mode:?}");
                }
            }
            compared += 1;
        };
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/tensogram");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|end| end != "tgm") {
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            if bytes.len() > 16 << 10 {
                continue;
            }
            compare(&bytes);
            for place in (0..bytes.len()).step_by(bytes.len() / 7 + 1) {
                let mut damaged = bytes.clone();
                damaged[place] ^= 0x41;
                compare(&damaged);
            }
            compare(&bytes[..bytes.len() * 2 / 3]);
        }
        assert!(compared > 100, "{compared} messages");
    }

    /// Counts bytes.
    struct Counted<'a>(&'a [u8], AtomicU64);

    impl ReadAt for Counted<'_> {
        fn len(&self) -> io::Result<u64> {
            ReadAt::len(self.0)
        }

        fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
            self.1.fetch_add(buffer.len() as u64, Ordering::Relaxed);
            self.0.read_exact_at(offset, buffer)
        }
    }

    /// The structure of a message needs its headers alone.
    #[test]
    fn a_quick_look_reads_no_payload() {
        let (values, mut builder) = (vec![1.5f32; 1 << 20], crate::MessageBuilder::new());
        for _ in 0..4 {
            builder = builder.tensor(&[1 << 20], &values).unwrap();
        }
        let message = builder.encode().unwrap();
        let source = Counted(&message, AtomicU64::new(0));
        let span = Span::new(0, message.len() as u64);
        let found = validate_span(&source, span, &ValidateOptions::mode(ValidateMode::Quick)).unwrap();
        assert!(found.is_ok() && found.object_count == 4);
        let read = source.1.load(Ordering::Relaxed);
        assert!(read < 256 << 10, "{read} of {} bytes", message.len());
    }
}
