//! Where the bytes of frames come from: a message in memory, or a source that is asked for one frame at a time.

use super::structure::{Frames, ReadStructure};
use crate::access::{compare_frame_hash, in_source, missing, verify_frame_hash};
use crate::error::Result;
use crate::frame::{Based, FrameRef, Lookup};
use fw_bytes::checksum::Xxh3;
use fw_bytes::{Limits, Span, Step};
use fw_report::Report;
use fw_source::{Buffers, ReadAt, drive, stream};

/// The frames of a message. Positions count from its start.
pub(super) trait FrameBytes {
    /// Compares the digest of a frame with its body; a frame without one passes.
    ///
    /// # Errors
    /// `HashMismatch`; when reading fails.
    fn verify(&self, frame: &FrameRef, object: Option<usize>) -> Result<()>;

    /// Hands the bytes of a frame to `work`.
    ///
    /// # Errors
    /// When reading fails.
    fn with<T>(&self, frame: &FrameRef, work: impl FnOnce(&dyn Lookup) -> T) -> Result<T>;
}

impl FrameBytes for [u8] {
    fn verify(&self, frame: &FrameRef, object: Option<usize>) -> Result<()> {
        verify_frame_hash(self, frame, object)
    }

    fn with<T>(&self, _: &FrameRef, work: impl FnOnce(&dyn Lookup) -> T) -> Result<T> {
        Ok(work(&Based::new(self, 0)))
    }
}

/// A message in a source, of which one frame is held at a time.
pub(super) struct InSource<'s, S: ?Sized> {
    pub(super) source: &'s S,
    pub(super) message: Span,
}

impl<S: ReadAt + ?Sized> InSource<'_, S> {
    fn read(&self, span: Span) -> Result<Vec<u8>> {
        let len = usize::try_from(span.len()).map_err(|_| crate::error::too_large())?;
        let mut bytes = fw_codec::alloc::zeroed(len)?;
        self.source.read_exact_at(self.place(span).start, &mut bytes)?;
        Ok(bytes)
    }

    /// A span of the message as one of the source: frames lie in their message, so it cannot overflow.
    fn place(&self, span: Span) -> Span {
        span.shifted(self.message.start).unwrap_or(span)
    }

    /// Follows the frames, and fetches what says what they are: frames that are not objects, and the descriptors of objects. `None`
    /// when not even the outer shell holds.
    ///
    /// # Errors
    /// When reading fails.
    pub(super) fn follow(&self, limits: &Limits, report: &mut Report) -> Result<Option<(Frames, Buffers)>> {
        let mut reading = ReadStructure::new(self.message.len(), *limits);
        let (mut buffers, mut found) = (Buffers::new(), None);
        drive(self.source, &mut buffers, |have| {
            let have = Based::new(have, self.message.start);
            let step = match &found {
                None => match reading.poll(&have) {
                    Step::Need(spans) => Step::Need(spans),
                    Step::Done(None) => Step::Done(()),
                    Step::Done(Some(frames)) => described(found.insert(frames), &have),
                },
                Some(frames) => described(frames, &have),
            };
            in_source(self.message, Ok(step))
        })?;
        report.extend(std::mem::take(&mut reading.report));
        Ok(found.map(|frames| (frames, buffers)))
    }
}

/// What is still to be fetched of what describes a message.
fn described(frames: &Frames, have: &impl Lookup) -> Step<()> {
    let others = frames.others().iter().map(FrameRef::span);
    let objects = frames.objects().iter();
    let objects = objects.flat_map(|object| [object.parts.descriptor, object.frame.hash_slot()]);
    let absent = missing(have, others.chain(objects).filter(|span| !span.is_empty()));
    if absent.is_empty() { Step::Done(()) } else { Step::Need(absent) }
}

impl<S: ReadAt + ?Sized> FrameBytes for InSource<'_, S> {
    fn verify(&self, frame: &FrameRef, object: Option<usize>) -> Result<()> {
        if !frame.has_hash() {
            return Ok(());
        }
        let mut hasher = Xxh3::new();
        stream::<std::io::Error>(self.source, self.place(frame.body()), |piece| {
            hasher.update(piece);
            Ok(())
        })?;
        compare_frame_hash(frame, object, &self.read(frame.hash_slot())?, hasher.digest())
    }

    fn with<T>(&self, frame: &FrameRef, work: impl FnOnce(&dyn Lookup) -> T) -> Result<T> {
        let mut buffers = Buffers::new();
        buffers.insert(frame.start(), self.read(frame.span())?);
        Ok(work(&buffers))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ValidateMode, ValidateOptions, validate_in_source, validate_message};
    use fw_bytes::Span;
    use fw_source::ReadAt;
    use std::io;
    use std::path::Path;
    use std::sync::atomic::{AtomicU64, Ordering};

    const MODES: [ValidateMode; 5] = [
        ValidateMode::Quick,
        ValidateMode::Metadata,
        ValidateMode::Checksum,
        ValidateMode::Default,
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
                    let found = validate_in_source(&source[..], place, &options).unwrap();
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
        let found = validate_in_source(&source, span, &ValidateOptions::mode(ValidateMode::Quick)).unwrap();
        assert!(found.is_ok() && found.object_count == 4);
        let read = source.1.load(Ordering::Relaxed);
        assert!(read < 256 << 10, "{read} of {} bytes", message.len());
    }
}
