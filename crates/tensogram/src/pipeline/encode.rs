//! Elements to payloads (TG-C1).

use super::masks::write_masks;
use super::plan::{codecs, pipeline_of, stored};
use crate::describe::DataObjectDescriptor;
use crate::error::{Fault, Result, TensogramError};
use crate::options::EncodeOptions;
use fw_codec::chain::{Derived, Pipeline};
use fw_codec::mask::{self, Separated};
use fw_codec::spec::{DerivesFrom, Key, Need, Param, ParamProblem};
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
    /// Raw elements that are not checked yet: writing them refuses NaN and infinities on the way.
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
    check_derived(descriptor, &pipeline)?;
    check_written(descriptor, &pipeline, payload.len() as u64)?;
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
    if separated.is_some() {
        // Parameters are derived from the values as given, and these must be numbers.
        match pipeline.stages().encoding.derives_from() {
            DerivesFrom::Nothing => {}
            DerivesFrom::FirstValue => {
                let width = dtype.byte_width().unwrap_or(data.len());
                finite::check_finite(data.get(..width).unwrap_or(data), dtype, order, 1)?;
            }
            DerivesFrom::AllValues => finite::check_finite(data, dtype, order, threads)?,
        }
    }
    Ok(separated)
}

/// What encoding added to the settings goes into the descriptor.
fn complete(descriptor: &mut Cow<'_, DataObjectDescriptor>, derived: Derived) {
    let Derived { encoding, compression } = derived;
    if encoding.is_none() && compression.is_none() {
        return;
    }
    let params = &mut descriptor.to_mut().params;
    // What the caller gave stays as given; only what was derived is added.
    let mut put = |key: &'static Key, value: Param<'_>| match key.need {
        Need::Written => drop(params.insert(key.name.to_owned(), stored(value))),
        Need::Required | Need::RequiredWith(_) | Need::Default(_) | Need::Derived => {
            params.entry(key.name.to_owned()).or_insert_with(|| stored(value));
        }
    };
    if let Some(encoding) = encoding {
        encoding.write(&mut put);
    }
    if let Some(compression) = compression {
        compression.write(&mut put);
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

/// A payload given as it is cannot tell what encoding derived from the values.
fn check_derived(descriptor: &DataObjectDescriptor, pipeline: &Pipeline) -> Result<()> {
    let Some(codec) = pipeline.stages().encoding.info() else { return Ok(()) };
    let derived = codec.keys.iter().filter(|key| key.need == Need::Derived).map(|key| key.name);
    let missing: Vec<&str> = derived.filter(|key| !descriptor.params.contains_key(*key)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!("a payload of {} needs {}", codec.name, missing.join(" and "));
    Err(TensogramError::Metadata(Fault::misuse("codec_parameter", message)))
}

/// Parameters that encoding writes: those of the codec fit the payload, and there are none of another codec (TG-11.4).
fn check_written(descriptor: &DataObjectDescriptor, pipeline: &Pipeline, payload_len: u64) -> Result<()> {
    let fail = |key: &'static str, problem: &str| {
        let fault = Fault::misuse(key, format!("{key} {problem}"));
        Err(TensogramError::Metadata(fault.on(format!("descriptor.{key}"))))
    };
    let stages = [&descriptor.encoding, &descriptor.filter, &descriptor.compression];
    for codec in codecs().filter(|codec| !stages.iter().any(|name| *name == codec.name)) {
        // Compressors alone write parameters.
        let mut written = codec.keys.iter().filter(|key| key.need == Need::Written);
        if let Some(key) = written.find(|key| descriptor.params.contains_key(key.name)) {
            return fail(
                key.name,
                &format!("provided but compression is '{}', not '{}'", descriptor.compression, codec.name),
            );
        }
    }
    match pipeline.check_written(payload_len) {
        Ok(()) => Ok(()),
        Err(error) => match &error.problem {
            ParamProblem::Unusable(problem) => fail(error.key, problem),
            other => fail(error.key, &format!("is wrong: {other:?}")),
        },
    }
}
