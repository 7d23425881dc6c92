//! Messages and objects one after the other: descriptions are read, payloads stay where they are (TG-14).

use super::TensogramFile;
use crate::access::{ObjectHead, frame_bytes};
use crate::describe::GlobalMetadata;
use crate::error::Result;
use crate::frame::Outline;
use crate::frame::scan::scan;
use crate::message::{MessageView, ObjectView, Origin};
use crate::options::DecodeOptions;
use fw_bytes::{Cursor, Limits, Span};

/// The messages of a buffer: found by one scan, opened one at a time. Nothing is copied and no payload is read.
///
/// Damaged regions are skipped, as [`scan`] does. A message that was found and cannot be opened is an error, with bytes and
/// path counted from the start of the buffer; the next call goes on with the message after it.
///
/// ```
/// use fw_tensogram::{MessageBuilder, messages};
///
/// let message = |step: i32| MessageBuilder::new().extra("step", step).tensor(&[2], &[1.0f32, 2.0])?.encode();
/// let buffer = [message(0)?, message(6)?].concat();
/// for message in messages(&buffer) {
///     let message = message?;
///     println!("step {:?}, {} objects", message.metadata()?.get("step").as_i64(), message.object_count());
/// }
/// assert_eq!(messages(&buffer).len(), 2);
/// # Ok::<(), fw_tensogram::TensogramError>(())
/// ```
pub fn messages(buffer: &[u8]) -> Messages<'_> {
    Messages { buffer, found: scan(buffer).into_iter().enumerate() }
}

/// The iterator of [`messages`].
#[derive(Clone, Debug)]
pub struct Messages<'a> {
    buffer: &'a [u8],
    found: std::iter::Enumerate<std::vec::IntoIter<Span>>,
}

impl<'a> Messages<'a> {
    fn open(&self, (index, span): (usize, Span)) -> Result<MessageView<'a>> {
        let bytes = frame_bytes(self.buffer, span)?;
        MessageView::in_file(bytes, &DecodeOptions::default(), Origin::new(index.into(), span.start))
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = Result<MessageView<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.found.next().map(|found| self.open(found))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.found.size_hint()
    }
}

impl DoubleEndedIterator for Messages<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.found.next_back().map(|found| self.open(found))
    }
}

impl ExactSizeIterator for Messages<'_> {}

/// The objects of one message: its index is read here, each descriptor when its turn comes, and no payload at all.
///
/// ```
/// use fw_tensogram::{MessageBuilder, objects};
///
/// let message = MessageBuilder::new().tensor(&[2], &[1.0f32, 2.0])?.tensor(&[3], &[1u8, 2, 3])?.encode()?;
/// for (object, shape) in objects(&message)?.zip([[2], [3]]) {
///     assert_eq!(object?.descriptor().shape, shape);
/// }
/// # Ok::<(), fw_tensogram::TensogramError>(())
/// ```
///
/// # Errors
/// Framing faults of the message. A fault of one object is an item, and the next call goes on with the object after it.
pub fn objects(message: &[u8]) -> Result<Objects<'_>> {
    let message = MessageView::open(message)?;
    Ok(Objects { left: 0..message.object_count(), message })
}

/// The iterator of [`objects`].
#[derive(Clone, Debug)]
pub struct Objects<'a> {
    message: MessageView<'a>,
    left: std::ops::Range<usize>,
}

impl<'a> Iterator for Objects<'a> {
    type Item = Result<ObjectView<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left.next().map(|index| self.message.object(index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl DoubleEndedIterator for Objects<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.left.next_back().map(|index| self.message.object(index))
    }
}

impl ExactSizeIterator for Objects<'_> {}

/// The digest that each object of a message carries, in order, or `None` where it carries none. Nothing is decoded, and
/// nothing compared: `DecodeOptions::verify_hash` and validation do that.
///
/// A digest covers the body of the object's frame: payload, masks and descriptor.
///
/// ```
/// use fw_tensogram::{MessageBuilder, data_object_inline_hashes};
///
/// let message = MessageBuilder::new().tensor(&[2], &[1.0f32, 2.0])?.encode()?;
/// let hashes = data_object_inline_hashes(&message)?;
/// assert_eq!(hashes.len(), 1);
/// assert_eq!(hashes[0].as_ref().map(String::len), Some(16));
/// # Ok::<(), fw_tensogram::TensogramError>(())
/// ```
///
/// # Errors
/// Framing faults anywhere in the message.
pub fn data_object_inline_hashes(message: &[u8]) -> Result<Vec<Option<String>>> {
    let outline = Outline::of(message, &Limits::default())?;
    let frames = outline.objects.iter().map(|object| object.frame);
    frames
        .map(|frame| {
            if !frame.has_hash() {
                return Ok(None);
            }
            let slot = frame.hash_slot();
            let digest = Cursor::at(frame_bytes(message, slot)?, slot.start).u64_be("hash")?;
            Ok(Some(crate::describe::digest_text(digest)))
        })
        .collect()
}

impl TensogramFile {
    /// The messages that the file holds now, in order, without reading them: each is a handle to ask for metadata or for
    /// the heads of its objects. [`TensogramFile::read_messages`] reads the bytes instead.
    ///
    /// ```
    /// use fw_tensogram::{DType, DataObjectDescriptor, EncodeOptions, GlobalMetadata, TensogramFile};
    ///
    /// let directory = tempfile::tempdir()?;
    /// let file = TensogramFile::create(directory.path().join("fields.tgm"))?;
    /// let descriptor = DataObjectDescriptor::new(DType::UInt8, &[3])?;
    /// file.append(&GlobalMetadata::default(), &[(&descriptor, &[1, 2, 3])], &EncodeOptions::default())?;
    /// for message in file.messages()? {
    ///     for object in message.objects()? {
    ///         println!("message {} at {}: {:?}", message.index(), message.span(), object?.descriptor.shape);
    ///     }
    /// }
    /// # Ok::<(), fw_tensogram::TensogramError>(())
    /// ```
    ///
    /// # Errors
    /// `Io` when the file cannot be read.
    pub fn messages(&self) -> Result<impl DoubleEndedIterator<Item = FileMessage<'_>> + ExactSizeIterator + '_> {
        let spans = self.message_layouts()?.into_iter().enumerate();
        Ok(spans.map(|(index, span)| FileMessage { file: self, index, span }))
    }
}

/// One message of a file, not read yet.
#[derive(Clone, Copy, Debug)]
pub struct FileMessage<'f> {
    file: &'f TensogramFile,
    index: usize,
    span: Span,
}

impl<'f> FileMessage<'f> {
    /// Position among the messages of the file.
    pub const fn index(&self) -> usize {
        self.index
    }

    /// Where it stands in the file.
    pub const fn span(&self) -> Span {
        self.span
    }

    /// Its metadata; see [`TensogramFile::metadata`].
    ///
    /// # Errors
    /// As there.
    pub fn metadata(&self) -> Result<GlobalMetadata> {
        self.file.metadata(self.index)
    }

    /// What its objects are and where they stand: index and descriptors are read, payloads are not.
    ///
    /// # Errors
    /// As [`TensogramFile::object_count`]. A fault of one object is an item, and the next call goes on with the object after it.
    pub fn objects(&self) -> Result<impl DoubleEndedIterator<Item = Result<ObjectHead>> + ExactSizeIterator + use<'f>> {
        let Self { file, index, .. } = *self;
        Ok((0..file.object_count(index)?).map(move |object| file.object_head(index, object)))
    }
}
