//! One data object, borrowed from its message or sharing its bytes.

use super::Origin;
use super::held::MessageBytes;
use crate::access::{DecodedRanges, ObjectHead, object_path, verify_object};
use crate::describe::{DataObjectDescriptor, MaskDescriptor, MaskKind};
use crate::error::{Result, TensogramError};
use crate::frame::{FrameRef, ObjectParts, on_slice};
use crate::options::DecodeOptions;
use crate::pipeline::{self, Encoded, SliceCost};
use bytes::Bytes;
use fw_bytes::{Limits, Span};
use fw_codec::Window;
use fw_codec::mask::Masks;
use fw_tensor::{Element, Selection, TensorBuf, TensorView};
use std::borrow::Borrow;
use zerocopy::FromBytes;

/// A data object whose descriptor was read and whose payload is still as it stands in the message. It shares the bytes of
/// its [`Message`](crate::Message): cheap to clone, and free to outlive it and to cross threads.
#[derive(Clone, Debug)]
pub struct Object<B: MessageBytes = Bytes> {
    /// Positions count from the start of the message.
    head: B::Held<ObjectHead>,
    message: B,
    /// Where errors happen; `None` for a frame on its own, which its caller names.
    origin: Option<Origin>,
    /// Whether the digest was compared when the object was opened.
    verified: bool,
}

/// A data object that borrows its bytes from a [`MessageView`](crate::MessageView).
pub type ObjectView<'a> = Object<&'a [u8]>;

impl<'a> Object<&'a [u8]> {
    /// The encoded payload, masks excluded.
    pub fn payload(&self) -> &'a [u8] {
        self.head.payload().slice_of(self.message, 0).unwrap_or(&[])
    }

    /// The elements in place, without copying: only for objects that went through no codec and have no masks, in the
    /// byte order of this machine and of the right length.
    pub fn bytes(&self) -> Option<&'a [u8]> {
        pipeline::in_place(self).map(|_| self.payload())
    }

    /// The elements as a typed slice in place, when [`ObjectView::bytes`] has them, aligned for `T`.
    pub fn values<T: Element>(&self) -> Option<&'a [T]> {
        if self.descriptor().dtype != T::DTYPE {
            return None;
        }
        <[T]>::ref_from_bytes(self.bytes()?).ok()
    }
}

impl Object {
    /// The encoded payload, masks excluded; shared with the message.
    pub fn payload(&self) -> Bytes {
        self.whole_payload().map(|payload| self.message.slice_ref(payload)).unwrap_or_default()
    }

    /// The elements in place, shared with the message, without copying: only for objects that went through no codec and
    /// have no masks, in the byte order of this machine and of the right length.
    pub fn bytes(&self) -> Option<Bytes> {
        pipeline::in_place(self).map(|bytes| self.message.slice_ref(bytes))
    }

    /// The elements as a typed slice in place, when [`Object::bytes`] has them, aligned for `T`.
    pub fn values<T: Element>(&self) -> Option<&[T]> {
        if self.descriptor().dtype != T::DTYPE {
            return None;
        }
        <[T]>::ref_from_bytes(pipeline::in_place(self)?).ok()
    }
}

impl<B: MessageBytes> Object<B> {
    /// Reads the descriptor of object `index`, whose frame is known.
    pub(crate) fn read(message: B, frame: FrameRef, index: usize, limits: &Limits) -> Result<Self> {
        let head = on_slice(message.as_ref(), |have| ObjectHead::read(have, frame, index, limits))?;
        Ok(Self { head: head.into(), message, origin: None, verified: false })
    }

    pub(super) fn new(head: ObjectHead, message: B, origin: Origin, verified: bool) -> Self {
        Self { head: head.into(), message, origin: Some(origin), verified }
    }

    /// Position among the objects of the message.
    pub fn index(&self) -> usize {
        self.head().index
    }

    /// What the object is.
    pub fn descriptor(&self) -> &DataObjectDescriptor {
        &self.head().descriptor
    }

    /// Takes the descriptor out.
    pub fn into_descriptor(self) -> DataObjectDescriptor {
        B::into_inner(self.head).descriptor
    }

    /// What the object is and where its parts stand in the message.
    pub fn head(&self) -> &ObjectHead {
        self.head.borrow()
    }

    /// Where it stands in its message.
    pub fn frame(&self) -> &FrameRef {
        &self.head().frame
    }

    /// Where descriptor and payload stand in the message.
    pub fn parts(&self) -> &ObjectParts {
        &self.head().parts
    }

    /// The mask blobs, still encoded, in the order they are applied.
    pub fn masks(&self) -> impl Iterator<Item = (MaskKind, &MaskDescriptor, &[u8])> {
        let masks = self.descriptor().masks.iter().flat_map(|masks| masks.iter());
        masks.map(|(kind, mask)| (kind, mask, self.blob(mask)))
    }

    /// The elements as a tensor in place, when they can be handed out without copying.
    pub fn tensor(&self) -> Option<TensorView<'_>> {
        TensorView::new(self.descriptor().dtype, self.descriptor().shape.as_slice(), pipeline::in_place(self)?).ok()
    }

    /// Decodes the object.
    ///
    /// # Errors
    /// `verify_hash` faults first; then codec faults, a payload of the wrong size, masks that do not fit.
    pub fn decode(&self, options: &DecodeOptions) -> Result<Vec<u8>> {
        self.verify_if(options)?;
        self.located(pipeline::decode_to_vec(self, options))
    }

    /// Decodes the object and keeps nothing of it: shows that [`ObjectView::decode`] succeeds. Payloads of codecs that decode
    /// piece by piece are never held decoded.
    ///
    /// # Errors
    /// As [`ObjectView::decode`].
    pub fn check_decodes(&self, options: &DecodeOptions) -> Result<()> {
        self.verify_if(options)?;
        self.located(pipeline::check_decodes(self, options))
    }

    /// Decodes the object into memory the caller gives; its length must be [`DataObjectDescriptor::decoded_len`].
    ///
    /// # Errors
    /// As [`ObjectView::decode`], and when `out` has another length.
    pub fn decode_into(&self, options: &DecodeOptions, out: &mut [u8]) -> Result<()> {
        self.verify_if(options)?;
        self.located(pipeline::decode_into(self, options, out))
    }

    /// Decodes the object into values of its element type.
    ///
    /// # Errors
    /// As [`ObjectView::decode`], and when `T` is another type.
    pub fn to_vec<T: Element>(&self, options: &DecodeOptions) -> Result<Vec<T>> {
        self.verify_if(options)?;
        self.located(pipeline::decode_values(self, options))
    }

    /// Decodes runs of elements, `(first, count)` over the flattened tensor; one buffer per run. Digests are not verified.
    ///
    /// # Errors
    /// A run that reaches past the end, elements or codecs that cannot be cut; codec faults.
    pub fn decode_range(&self, ranges: &[(u64, u64)], options: &DecodeOptions) -> Result<Vec<Vec<u8>>> {
        self.located(pipeline::decode_ranges(self, ranges, options).and_then(pipeline::done))
    }

    /// The same, with the descriptor.
    pub(crate) fn into_ranges(self, ranges: &[(u64, u64)], options: &DecodeOptions) -> Result<DecodedRanges> {
        let parts = self.decode_range(ranges, options)?;
        Ok(DecodedRanges { descriptor: self.into_descriptor(), parts })
    }

    /// Decodes an N-dimensional selection; only what it touches when the codec can seek, and every block of the codec
    /// at most once.
    ///
    /// ```
    /// use fw_tensogram::{DecodeOptions, MessageBuilder, MessageView};
    /// use fw_tensor::select;
    ///
    /// let values: Vec<f32> = (0..600).map(|i| i as f32).collect();
    /// let message = MessageBuilder::new().tensor(&[10, 20, 3], &values)?.encode()?;
    /// let view = MessageView::open(&message)?;
    /// let object = view.object(0)?;
    /// let options = DecodeOptions::default();
    ///
    /// let part = object.slice(select![0..10, 5..20, ..], &options)?;
    /// assert_eq!(part.shape(), [10, 15, 3]);
    /// // every second row, the columns backwards, the last component
    /// let part = object.slice(select![..; 2, ..; -1, -1], &options)?;
    /// assert_eq!(part.shape(), [5, 20]);
    /// // ranges of one kind need no macro
    /// let part = object.slice([0..4, 5..20], &options)?;
    /// assert_eq!(part.shape(), [4, 15, 3]);
    /// # Ok::<(), fw_tensogram::TensogramError>(())
    /// ```
    ///
    /// # Errors
    /// A selection that does not fit the shape; codec faults.
    pub fn slice(&self, selection: impl Into<Selection>, options: &DecodeOptions) -> Result<TensorBuf> {
        self.located(pipeline::slice(self, &selection.into(), options).and_then(pipeline::done))
    }

    /// What [`ObjectView::slice`] would cost: runs, a covering range, or the whole object when the codec cannot seek.
    ///
    /// # Errors
    /// A selection that does not fit the shape; parameters that do not fit the codecs.
    pub fn slice_cost(&self, selection: impl Into<Selection>) -> Result<SliceCost> {
        self.located(pipeline::slice_cost(self, &selection.into()))
    }

    /// The masks of non-finite values, decoded to packed bits.
    ///
    /// # Errors
    /// `Encoding` when a blob is not what its method promises.
    pub fn decode_masks(&self) -> Result<Masks> {
        self.decode_masks_with(&DecodeOptions::default())
    }

    /// [`ObjectView::decode_masks`] with options.
    ///
    /// # Errors
    /// As there, and limits.
    pub fn decode_masks_with(&self, options: &DecodeOptions) -> Result<Masks> {
        self.verify_if(options)?;
        // A mask has a bit per element: the claimed number of elements must be credible before memory is taken for it.
        self.located(pipeline::checked_pipeline(self, options).and_then(|_| pipeline::read_masks(self)))
    }

    /// Compares the digest of the frame with its bytes.
    ///
    /// # Errors
    /// `MissingHash` when it carries none, `HashMismatch` when they differ.
    pub fn verify_hash(&self) -> Result<()> {
        verify_object(self.message.as_ref(), self.frame(), self.index()).map_err(|error| match &self.origin {
            Some(origin) => origin.locate(error),
            None => error,
        })
    }

    fn verify_if(&self, options: &DecodeOptions) -> Result<()> {
        if options.verify_hash && !self.verified { self.verify_hash() } else { Ok(()) }
    }

    fn located<T>(&self, result: Result<T>) -> Result<T> {
        let place = |error: TensogramError| match &self.origin {
            Some(origin) => origin.locate(error.on(object_path(self.index()))),
            None => error,
        };
        result.map_err(place)
    }

    fn blob(&self, mask: &MaskDescriptor) -> &[u8] {
        self.head().mask(mask).slice_of(self.message.as_ref(), 0).unwrap_or(&[])
    }
}

impl<B: MessageBytes> Encoded for Object<B> {
    fn descriptor(&self) -> &DataObjectDescriptor {
        &self.head().descriptor
    }

    fn payload_len(&self) -> u64 {
        self.head().payload().len()
    }

    fn window(&self, _: Option<Span>) -> Result<Window<'_>> {
        pipeline::whole(self).map(Window::whole)
    }

    fn whole_payload(&self) -> Option<&[u8]> {
        self.head().payload().slice_of(self.message.as_ref(), 0)
    }

    fn mask_blob(&self, mask: &MaskDescriptor) -> Result<&[u8]> {
        Ok(self.blob(mask))
    }
}
