//! One message, borrowed or owned.

use super::held::MessageBytes;
use super::object::Object;
use super::{Origin, decode, decode_with_masks};
use crate::access::{
    CheckEnding, DecodedMessage, MaskedMessage, MessageDescription, ObjectHead, ReadDirectory, ReadFirstMetadata,
    ReadFrame, ReadHead, ReadMachine, ReadMetadata,
};
use crate::describe::GlobalMetadata;
use crate::error::Result;
use crate::frame::{Directory, on_slice};
use crate::options::DecodeOptions;
use crate::wire::Preamble;
use bytes::Bytes;
use fw_bytes::Span;
use std::borrow::Borrow;

/// A message that owns its bytes, or shares them: a buffer, a part of a mapped file, bytes that were fetched.
///
/// It is cheap to clone, and so are its objects, which keep the bytes alive: they outlive the call that opened them and
/// cross threads. [`MessageView`] is the same for bytes that are borrowed. Opening a message costs as much as its index; no
/// payload is touched.
///
/// ```
/// use fw_tensogram::{Message, MessageBuilder};
///
/// let bytes = MessageBuilder::new().tensor(&[3], &[1.5f32, -2.25, 1024.0])?.encode()?;
/// let object = {
///     let message = Message::from_bytes(bytes)?;
///     message.object(0)?
/// };
/// let sum = std::thread::spawn(move || object.values::<f32>().map(|values| values.iter().sum::<f32>()));
/// assert_eq!(sum.join().unwrap(), Some(1023.25));
/// # Ok::<(), fw_tensogram::TensogramError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Message<B: MessageBytes = Bytes> {
    bytes: B,
    directory: B::Held<Directory>,
    options: DecodeOptions,
    origin: Origin,
}

/// A message that borrows its bytes. Opening it costs as much as its index; nothing is copied, no payload is touched.
///
/// ```
/// use fw_tensogram::{MessageBuilder, MessageView};
///
/// let message = MessageBuilder::new().tensor(&[3], &[1.5f32, -2.25, 1024.0]).unwrap().encode().unwrap();
/// let view = MessageView::open(&message).unwrap();
/// assert_eq!(view.object(0).unwrap().values::<f32>(), Some(&[1.5f32, -2.25, 1024.0][..]));
/// ```
pub type MessageView<'a> = Message<&'a [u8]>;

impl<'a> Message<&'a [u8]> {
    /// Opens the message at the start of `bytes`; what follows a message of known length is ignored.
    ///
    /// # Errors
    /// Framing faults.
    pub fn open(bytes: &'a [u8]) -> Result<Self> {
        Self::open_with(bytes, &DecodeOptions::default())
    }

    /// [`MessageView::open`] with options: their limits hold for everything that is read of the message, and with
    /// [`DecodeOptions::verify_hash`] the digests of objects and metadata are compared before anything of them is parsed.
    ///
    /// # Errors
    /// Framing faults and limits.
    pub fn open_with(bytes: &'a [u8], options: &DecodeOptions) -> Result<Self> {
        Self::in_file(bytes, options, Origin::default())
    }

    /// The same for a message of a file, which errors will name.
    pub(crate) fn in_file(bytes: &'a [u8], options: &DecodeOptions, origin: Origin) -> Result<Self> {
        let directory = directory_of(bytes, options, origin)?;
        let bytes = bytes.get(..directory.length as usize).unwrap_or(bytes);
        Ok(Self { bytes, directory, options: options.clone(), origin })
    }
}

impl Message {
    /// Takes the message at the start of `bytes`: a `Vec<u8>`, a [`Bytes`]; what follows a message of known length is
    /// ignored.
    ///
    /// # Errors
    /// Framing faults.
    pub fn from_bytes(bytes: impl Into<Bytes>) -> Result<Self> {
        Self::from_bytes_with(bytes, &DecodeOptions::default())
    }

    /// [`Message::from_bytes`] with options, as [`MessageView::open_with`] takes them.
    ///
    /// # Errors
    /// Framing faults and limits.
    pub fn from_bytes_with(bytes: impl Into<Bytes>, options: &DecodeOptions) -> Result<Self> {
        Self::of_file(bytes.into(), options, Origin::default())
    }

    /// The same for a message of a file, which errors will name.
    pub(crate) fn of_file(bytes: Bytes, options: &DecodeOptions, origin: Origin) -> Result<Self> {
        let directory = directory_of(&bytes, options, origin)?;
        let length = bytes.len().min(directory.length as usize);
        Ok(Self { bytes: bytes.slice(..length), directory: directory.into(), options: options.clone(), origin })
    }
}

impl<B: MessageBytes> Message<B> {
    /// The preamble.
    pub fn preamble(&self) -> &Preamble {
        &self.directory().preamble
    }

    /// The bytes of the whole message.
    pub fn bytes(&self) -> B {
        self.bytes.clone()
    }

    /// Number of objects.
    pub fn object_count(&self) -> usize {
        self.directory().objects.len()
    }

    /// One object, found through the index.
    ///
    /// # Errors
    /// `Object` when there is none with this index; framing and metadata faults of its frame.
    pub fn object(&self, index: usize) -> Result<Object<B>> {
        let (head, verified) = self.head(index).map_err(|error| self.origin.locate(error))?;
        Ok(Object::new(head, self.bytes.clone(), self.origin, verified))
    }

    /// Every object, in order.
    pub fn objects(&self) -> impl Iterator<Item = Result<Object<B>>> + '_ {
        (0..self.object_count()).map(|index| self.object(index))
    }

    /// The metadata as a full decode gives it: the last metadata frame, one base entry per object, preceders merged.
    ///
    /// # Errors
    /// Framing and metadata faults of what is read; frames that do not matter for it are not looked at.
    pub fn metadata(&self) -> Result<GlobalMetadata> {
        self.run(ReadMetadata::with_options(self.span(), &self.options))
    }

    /// The first metadata frame as it stands; see [`decode_metadata`](crate::decode_metadata).
    ///
    /// # Errors
    /// As [`Message::metadata`].
    pub fn decode_metadata(&self) -> Result<GlobalMetadata> {
        self.run(ReadFirstMetadata::with_options(self.span(), &self.options))
    }

    /// Metadata and descriptors; no payload is decoded.
    ///
    /// # Errors
    /// As [`Message::metadata`], and those of every descriptor.
    pub fn decode_descriptors(&self) -> Result<MessageDescription> {
        self.run(CheckEnding::new(self.span()))?;
        let metadata = self.metadata()?;
        let descriptors = self.objects().map(|object| object.map(Object::into_descriptor)).collect::<Result<_>>()?;
        Ok(MessageDescription { metadata, descriptors })
    }

    /// Decodes the whole message; every frame is followed and checked.
    ///
    /// # Errors
    /// Any fault in any frame.
    pub fn decode(&self, options: &DecodeOptions) -> Result<DecodedMessage> {
        decode(self.bytes.as_ref(), options).map_err(|error| self.origin.locate(error))
    }

    /// The same without putting NaN and infinities back: zeros stand for them, and the masks come along.
    ///
    /// # Errors
    /// As [`Message::decode`].
    pub fn decode_with_masks(&self, options: &DecodeOptions) -> Result<MaskedMessage> {
        decode_with_masks(self.bytes.as_ref(), options).map_err(|error| self.origin.locate(error))
    }

    /// The head of an object, and whether its digest was compared.
    fn head(&self, index: usize) -> Result<(ObjectHead, bool)> {
        let (bytes, limits) = (self.bytes.as_ref(), self.options.limits);
        if self.options.verify_hash {
            let mut machine = ReadFrame::with_directory(self.span(), self.directory(), index, limits)?;
            let frame = on_slice(bytes, |have| machine.poll(have))?;
            return Ok((frame.open(bytes, &self.options)?, true));
        }
        let mut machine = ReadHead::with_directory(self.span(), self.directory(), index, limits)?;
        Ok((on_slice(bytes, |have| machine.poll(have))?, false))
    }

    fn run<M: ReadMachine>(&self, mut machine: M) -> Result<M::Output> {
        let output = on_slice(self.bytes.as_ref(), |have| machine.poll(have));
        output.map_err(|error| self.origin.locate(error))
    }

    fn directory(&self) -> &Directory {
        self.directory.borrow()
    }

    fn span(&self) -> Span {
        Span::new(0, self.bytes.as_ref().len() as u64)
    }
}

fn directory_of(bytes: &[u8], options: &DecodeOptions, origin: Origin) -> Result<Directory> {
    let mut machine = ReadDirectory::new(Span::new(0, bytes.len() as u64), options.limits);
    on_slice(bytes, |have| machine.poll(have)).map_err(|error| origin.locate(error))
}
