//! Elements to payloads (TG-C1).

use super::masks::write_masks;
use super::plan::pipeline_of;
use crate::describe::{DataObjectDescriptor, Value};
use crate::error::{Fault, Result, TensogramError};
use crate::write::EncodeOptions;
use fw_codec::chain::{Derived, Encoding, Pipeline, SimplePacking};
use fw_codec::mask::{self, Separated};
use fw_codec::{Gathered, finite, parallel};
use std::borrow::Cow;

/// An object ready to be framed.
#[derive(Clone, Debug)]
pub(crate) struct Prepared<'a> {
    /// The descriptor as it will be read.
    pub(crate) descriptor: Cow<'a, DataObjectDescriptor>,
    /// The descriptor in canonical CBOR.
    pub(crate) cbor: Vec<u8>,
    /// The encoded payload, in parts.
    pub(crate) payload: Gathered<'a>,
    /// The mask blobs behind it.
    pub(crate) masks: Vec<u8>,
    /// The digest of the frame's body, when it is already known.
    pub(crate) digest: Option<u64>,
    /// Raw elements that nobody has looked at: whoever writes them refuses NaN and infinities on the way.
    pub(crate) unchecked: bool,
}

impl Prepared<'_> {
    /// Bytes of the payload.
    pub(crate) fn payload_len(&self) -> usize {
        self.payload.iter().map(|part| part.len()).sum()
    }

    /// Hands the memory of the payload to the next call.
    pub(crate) fn recycle(self) {
        for part in self.payload {
            if let Cow::Owned(part) = part {
                fw_codec::alloc::recycle(part);
            }
        }
    }
}

/// When the elements of a raw object are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FiniteCheck {
    /// Before anything is written.
    First,
    /// While they are copied, when they are in the cache: only where a half-written result can be thrown away.
    WhileWriting,
}

/// Runs the codecs a descriptor names.
pub(crate) fn prepare<'a>(
    descriptor: &'a DataObjectDescriptor,
    data: &'a [u8],
    options: &EncodeOptions,
    finite: FiniteCheck,
) -> Result<Prepared<'a>> {
    check(descriptor)?;
    check_data_len(descriptor, data)?;
    let threads = parallel::resolve(options.threads)?;
    let pipeline = pipeline_of(descriptor)?;
    let unchecked = finite == FiniteCheck::WhileWriting && descriptor.is_raw() && !options.sets_aside();
    let (data, masks) = match if unchecked { None } else { separate(descriptor, &pipeline, data, options, threads)? } {
        Some(Separated { bytes, masks }) => (Cow::Owned(bytes), Some(masks)),
        None => (Cow::Borrowed(data), None),
    };
    let (payload, derived) = match data {
        data if descriptor.is_raw() => (vec![data], Derived::default()),
        Cow::Borrowed(data) => pipeline.encode_gathered(data, threads)?,
        Cow::Owned(data) => {
            let encoded = pipeline.encode(&data, threads)?;
            fw_codec::alloc::recycle(data);
            (vec![Cow::Owned(encoded.payload)], encoded.derived)
        }
    };
    let mut descriptor = Cow::Borrowed(descriptor);
    complete(&mut descriptor, derived);
    let mut blobs = Vec::new();
    if let Some(masks) = masks {
        let payload_len = payload.iter().map(|part| part.len() as u64).sum();
        let (written, metadata) = write_masks(&masks, &options.mask_options(), payload_len)?;
        descriptor.to_mut().masks = Some(metadata);
        blobs = written;
    }
    Ok(Prepared { unchecked, ..prepared(descriptor, payload, blobs) })
}

/// Takes a payload that already went through the codecs.
pub(crate) fn prepare_pre_encoded<'a>(descriptor: &'a DataObjectDescriptor, payload: &'a [u8]) -> Result<Prepared<'a>> {
    check(descriptor)?;
    if descriptor.is_raw() {
        check_data_len(descriptor, payload)?;
    }
    let pipeline = pipeline_of(descriptor)?;
    if let Encoding::SimplePacking(packing) = &pipeline.stages().encoding
        && packing.sp_reference_value.is_none()
    {
        let message = "a packed payload needs sp_reference_value and sp_binary_scale_factor";
        return Err(TensogramError::Metadata(Fault::misuse("codec_parameter", message)));
    }
    check_offsets(descriptor, payload)?;
    Ok(prepared(Cow::Borrowed(descriptor), vec![Cow::Borrowed(payload)], Vec::new()))
}

fn prepared<'a>(descriptor: Cow<'a, DataObjectDescriptor>, payload: Gathered<'a>, masks: Vec<u8>) -> Prepared<'a> {
    let cbor = descriptor.to_cbor();
    Prepared { descriptor, cbor, payload, masks, digest: None, unchecked: false }
}

/// Sets non-finite values aside when the options allow it, and refuses them otherwise.
fn separate(
    descriptor: &DataObjectDescriptor,
    pipeline: &Pipeline,
    data: &[u8],
    options: &EncodeOptions,
    threads: usize,
) -> Result<Option<Separated>> {
    let (dtype, order) = (descriptor.dtype, descriptor.byte_order);
    if !options.sets_aside() {
        // Codecs look at every value themselves; only raw objects need the check here.
        if descriptor.is_raw() {
            finite::check_finite(data, dtype, order, threads)?;
        }
        return Ok(None);
    }
    let separated = mask::separate(data, dtype, order, &options.mask_options(), threads)?;
    if separated.is_some()
        && let Encoding::SimplePacking(SimplePacking { sp_bits_per_value: 1.., sp_reference_value: None, .. }) =
            &pipeline.stages().encoding
    {
        // Deriving the parameters looks at the values as given, and they are not all numbers.
        finite::check_finite(data, dtype, order, threads)?;
    }
    if separated.is_some()
        && matches!(&pipeline.stages().encoding, Encoding::SimplePacking(packing) if packing.sp_reference_value.is_none())
    {
        // Without bits, the first value is the reference value, and it must be a number.
        let first = data.get(..8).unwrap_or(data);
        finite::check_finite(first, dtype, order, 1)?;
    }
    Ok(separated)
}

/// What encoding found out goes into the descriptor.
fn complete(descriptor: &mut Cow<'_, DataObjectDescriptor>, derived: Derived) {
    if let Some(packing) = derived.simple_packing {
        let params = &mut descriptor.to_mut().params;
        // What the caller gave stays as given; only what was derived is added.
        let mut add = |key: &str, value: Value| {
            params.entry(key.to_owned()).or_insert(value);
        };
        add("sp_decimal_scale_factor", Value::from(packing.sp_decimal_scale_factor));
        if let (Some(reference), Some(scale)) = (packing.sp_reference_value, packing.sp_binary_scale_factor) {
            add("sp_reference_value", Value::from(reference));
            add("sp_binary_scale_factor", Value::from(scale));
        }
    }
    if let Some(offsets) = derived.szip_block_offsets {
        let offsets = Value::Array(offsets.into_iter().map(Value::from).collect());
        descriptor.to_mut().params.insert(SZIP_OFFSETS.to_owned(), offsets);
    }
}

fn check(descriptor: &DataObjectDescriptor) -> Result<()> {
    descriptor.check_structure()?;
    if !crate::describe::is_tensogram_dtype(descriptor.dtype) {
        let message = format!("the format has no element type {}", descriptor.dtype);
        return Err(TensogramError::Metadata(Fault::misuse("unsupported_dtype", message)));
    }
    if descriptor.masks.is_some() {
        let message = "masks are written by the encoder, not given to it";
        return Err(TensogramError::Metadata(Fault::misuse("masks_given", message)).on("descriptor.masks"));
    }
    Ok(())
}

fn check_data_len(descriptor: &DataObjectDescriptor, data: &[u8]) -> Result<()> {
    let expected = descriptor.decoded_len()?;
    if expected == data.len() as u64 {
        return Ok(());
    }
    let (dtype, shape) = (descriptor.dtype, &descriptor.shape);
    let message = format!("{dtype} tensor of shape {shape:?} needs {expected} bytes, got {}", data.len());
    Err(TensogramError::Metadata(Fault::misuse("data_length_mismatch", message)))
}

/// Offsets of a payload given as it is: bit positions that begin at 0, increase, and lie inside it (TG-11.4).
fn check_offsets(descriptor: &DataObjectDescriptor, payload: &[u8]) -> Result<()> {
    let Some(value) = descriptor.params.get(SZIP_OFFSETS) else { return Ok(()) };
    let fail = |problem: &str| {
        let fault = Fault::misuse("szip_block_offsets", format!("{SZIP_OFFSETS}: {problem}"));
        Err(TensogramError::Metadata(fault.on(format!("descriptor.{SZIP_OFFSETS}"))))
    };
    if descriptor.compression != "szip" {
        return fail("only szip payloads have block offsets");
    }
    let number = |item: &Value| item.as_integer().and_then(|number| u64::try_from(number).ok());
    let offsets: Option<Vec<u64>> = value.as_array().and_then(|items| items.iter().map(number).collect());
    let bits = payload.len() as u64 * 8;
    match offsets.as_deref() {
        Some([0, ..]) => {}
        Some(_) => return fail("the first offset must be 0"),
        None => return fail("expected an array of unsigned integers"),
    }
    let offsets = offsets.unwrap_or_default();
    if !offsets.windows(2).all(|pair| matches!(pair, [a, b] if a < b)) {
        return fail("offsets must increase");
    }
    match offsets.last() {
        Some(last) if *last > bits => fail(&format!("offset {last} is beyond the {bits} bits of the payload")),
        _ => Ok(()),
    }
}

const SZIP_OFFSETS: &str = "szip_block_offsets";
