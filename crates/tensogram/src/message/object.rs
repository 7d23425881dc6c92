//! One data object, borrowed from its message.

use super::{frame_bytes, verify_frame_hash};
use crate::describe::{DataObjectDescriptor, MaskDescriptor, MaskKind};
use crate::error::{Fault, Place, Result, TensogramError};
use crate::frame::{FrameRef, ObjectParts, object_parts, on_slice};
use crate::pipeline::{self, Encoded, SliceCost};
use crate::read::DecodeOptions;
use fw_bytes::{Limits, Span};
use fw_codec::Window;
use fw_tensor::{ByteOrder, Element, Selection, TensorBuf, TensorView};
use zerocopy::{FromBytes, IntoBytes};

/// A data object whose descriptor was read and whose payload is still as it stands in the message.
#[derive(Clone, Debug)]
pub struct ObjectView<'a> {
    index: usize,
    frame: FrameRef,
    descriptor: DataObjectDescriptor,
    message: &'a [u8],
    parts: ObjectParts,
    region: &'a [u8],
}

impl<'a> ObjectView<'a> {
    /// Reads the descriptor of object `index`, whose frame is known.
    pub(crate) fn read(message: &'a [u8], frame: FrameRef, index: usize, limits: &Limits) -> Result<Self> {
        let parts = on_slice(message, |bytes| object_parts(&frame, bytes))?;
        let cbor = frame_bytes(message, parts.descriptor)?;
        let descriptor = DataObjectDescriptor::from_cbor(cbor, parts.descriptor.start, limits)?;
        let region = frame_bytes(message, parts.region)?;
        let object = Self { index, frame, descriptor, message, parts, region };
        object.check_masks()?;
        Ok(object)
    }

    /// Position among the objects of the message.
    pub const fn index(&self) -> usize {
        self.index
    }

    /// What the object is.
    pub const fn descriptor(&self) -> &DataObjectDescriptor {
        &self.descriptor
    }

    /// Takes the descriptor out.
    pub fn into_descriptor(self) -> DataObjectDescriptor {
        self.descriptor
    }

    /// Where it stands in its message.
    pub const fn frame(&self) -> &FrameRef {
        &self.frame
    }

    /// Where descriptor and payload stand in the message.
    pub const fn parts(&self) -> &ObjectParts {
        &self.parts
    }

    /// The encoded payload, masks excluded.
    pub fn payload(&self) -> &'a [u8] {
        let end = self.descriptor.masks.as_ref().and_then(|masks| masks.first_offset());
        // `check_masks` proved that every mask lies inside the region.
        end.and_then(|end| self.region.get(..end as usize)).unwrap_or(self.region)
    }

    /// The mask blobs, still encoded, in the order they are applied.
    pub fn masks(&self) -> impl Iterator<Item = (MaskKind, &MaskDescriptor, &'a [u8])> {
        self.descriptor.masks.iter().flat_map(|masks| masks.iter()).map(|(kind, mask)| {
            let (start, end) = (mask.offset as usize, (mask.offset + mask.length) as usize);
            (kind, mask, self.region.get(start..end).unwrap_or(&[]))
        })
    }

    /// The elements in place, without copying: only for objects that went through no codec and have no masks, in the
    /// byte order of this machine and of the right length.
    pub fn bytes(&self) -> Option<&'a [u8]> {
        let swapped = self.descriptor.byte_order != ByteOrder::NATIVE && self.descriptor.dtype.swap_unit() > 1;
        let plain = self.descriptor.is_raw() && !swapped && self.masks().next().is_none();
        let fits = || self.descriptor.decoded_len().is_ok_and(|len| len == self.payload().len() as u64);
        (plain && fits()).then(|| self.payload())
    }

    /// The elements as a tensor in place, when [`ObjectView::bytes`] has them.
    pub fn tensor(&self) -> Option<TensorView<'_>> {
        TensorView::new(self.descriptor.dtype, self.descriptor.shape.as_slice(), self.bytes()?).ok()
    }

    /// The elements as a typed slice in place, when [`ObjectView::bytes`] has them, aligned for `T`.
    pub fn values<T: Element>(&self) -> Option<&'a [T]> {
        if self.descriptor.dtype != T::DTYPE {
            return None;
        }
        <[T]>::ref_from_bytes(self.bytes()?).ok()
    }

    /// Decodes the object.
    ///
    /// # Errors
    /// `verify_hash` faults first; then codec faults, a payload of the wrong size, masks that do not fit.
    pub fn decode(&self, options: &DecodeOptions) -> Result<Vec<u8>> {
        self.verify_if(options)?;
        pipeline::decode_to_vec(self, options)
    }

    /// Decodes the object into memory the caller gives; its length must be [`DataObjectDescriptor::decoded_len`].
    ///
    /// # Errors
    /// As [`ObjectView::decode`], and when `out` has another length.
    pub fn decode_into(&self, options: &DecodeOptions, out: &mut [u8]) -> Result<()> {
        self.verify_if(options)?;
        let expected = self.descriptor.decoded_len()?;
        if out.len() as u64 != expected {
            let message = format!("buffer of {} bytes for an object of {expected}", out.len());
            return Err(TensogramError::Encoding(Fault::misuse("buffer_length_mismatch", message)));
        }
        pipeline::decode_into(self, options, out)
    }

    /// Decodes the object into values of its element type.
    ///
    /// # Errors
    /// As [`ObjectView::decode`], and when `T` is another type.
    pub fn to_vec<T: Element>(&self, options: &DecodeOptions) -> Result<Vec<T>> {
        if self.descriptor.dtype != T::DTYPE {
            return Err(fw_tensor::TensorError::WrongType { expected: T::DTYPE, found: self.descriptor.dtype }.into());
        }
        let options = DecodeOptions { native_byte_order: true, ..options.clone() };
        if let Some(values) = self.values::<T>() {
            self.verify_if(&options)?;
            return Ok(values.to_vec());
        }
        let count = usize::try_from(self.descriptor.element_count()?).map_err(|_| too_large())?;
        pipeline::checked_pipeline(self, &options)?;
        let mut values = vec![T::new_zeroed(); count];
        self.decode_into(&options, values.as_mut_bytes())?;
        Ok(values)
    }

    /// Decodes runs of elements, `(first, count)` over the flattened tensor; one buffer per run.
    ///
    /// # Errors
    /// A run that reaches past the end, elements or codecs that cannot be cut; codec faults.
    pub fn decode_range(&self, ranges: &[(u64, u64)], options: &DecodeOptions) -> Result<Vec<Vec<u8>>> {
        pipeline::decode_ranges(self, ranges, options).and_then(pipeline::done)
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
        pipeline::slice(self, &selection.into(), options).and_then(pipeline::done)
    }

    /// What [`ObjectView::slice`] would cost: runs, a covering range, or the whole object when the codec cannot seek.
    ///
    /// # Errors
    /// A selection that does not fit the shape; parameters that do not fit the codecs.
    pub fn slice_cost(&self, selection: impl Into<Selection>) -> Result<SliceCost> {
        pipeline::slice_cost(self, &selection.into())
    }

    /// The masks of non-finite values, decoded to packed bits.
    ///
    /// # Errors
    /// `Encoding` when a blob is not what its method promises.
    pub fn decode_masks(&self) -> Result<fw_codec::mask::Masks> {
        // A mask has a bit per element: the claimed number of elements must be credible before memory is taken for it.
        pipeline::checked_pipeline(self, &DecodeOptions::default())?;
        pipeline::read_masks(self)
    }

    /// Compares the digest of the frame with its bytes.
    ///
    /// # Errors
    /// `MissingHash` when it carries none, `HashMismatch` when they differ.
    pub fn verify_hash(&self) -> Result<()> {
        if !self.frame.has_hash() {
            return Err(TensogramError::MissingHash { object_index: self.index, place: Place::at(self.frame.start()) });
        }
        verify_frame_hash(self.message, &self.frame, Some(self.index))
    }

    fn verify_if(&self, options: &DecodeOptions) -> Result<()> {
        if options.verify_hash { self.verify_hash() } else { Ok(()) }
    }

    fn check_masks(&self) -> Result<()> {
        check_masks(&self.descriptor, &self.parts)
    }
}

impl Encoded for ObjectView<'_> {
    fn descriptor(&self) -> &DataObjectDescriptor {
        &self.descriptor
    }

    fn payload_len(&self) -> u64 {
        self.payload().len() as u64
    }

    fn window(&self, _: Option<Span>) -> Result<Window<'_>> {
        Ok(Window::whole(self.payload()))
    }

    fn whole_payload(&self) -> Option<&[u8]> {
        Some(self.payload())
    }

    fn mask_blob(&self, mask: &MaskDescriptor) -> Result<&[u8]> {
        let (start, end) = (mask.offset as usize, (mask.offset + mask.length) as usize);
        Ok(self.region.get(start..end).unwrap_or(&[]))
    }
}

/// Refuses masks that reach past the payload region.
pub(crate) fn check_masks(descriptor: &DataObjectDescriptor, parts: &ObjectParts) -> Result<()> {
    let region_len = parts.region.len();
    for (kind, mask) in descriptor.masks.iter().flat_map(|masks| masks.iter()) {
        let end = mask.offset.checked_add(mask.length);
        if end.is_none_or(|end| end > region_len) {
            let (offset, length) = (mask.offset, mask.length);
            let message =
                format!("mask of {length} bytes at {offset} reaches past the payload region of {region_len} bytes");
            let fault = Fault::format("mask_out_of_range", message).at(parts.descriptor.start);
            return Err(TensogramError::Framing(fault.on(format!("descriptor.masks.{}", kind.key()))));
        }
    }
    Ok(())
}

pub(crate) fn too_large() -> TensogramError {
    TensogramError::Encoding(Fault::limit("decoded_too_large", "the object does not fit in the address space"))
}
