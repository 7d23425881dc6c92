//! Re-encoding a vector from its input, and inputs that must be accepted or refused.

use std::io::Cursor;

use fw_tensogram::describe::cbor;
use fw_tensogram::{
    AggregateHash, DataObjectDescriptor, DecodeOptions, DecodedMessage, EncodeOptions, GlobalMetadata, MaskMethod,
    Provenance, StreamingEncoder, TensogramError, Value, decode, decode_object, encode, encode_pre_encoded,
};
use fw_tensor::{ByteOrder, row_major_strides};
use serde_json::{Map, Value as Json};

use super::json;
use super::model::{EncodeCase, EncodeInput, InputObject, Options, Policy, Vector};
use crate::digest::{sha256, short, unhex};
use crate::row::Row;

/// Encodes what a vector was made from and compares every byte.
pub fn check_input(input: &EncodeInput, vector: &Vector, file: &[u8], row: &mut Row) {
    let Some(request) = row.accept("encode input", Request::from_input(input, file)) else { return };
    for (name, value, expected) in [
        ("base", Value::Array(request.metadata.base.iter().map(map_value).collect()), &input.base_cbor),
        ("_extra_", map_value(&request.metadata.extra), &input.extra_cbor),
    ] {
        if unhex(expected) != Ok(cbor::encode(&value)) {
            row.deviates(format!("canonical CBOR of {name} is not {expected}"));
        }
    }
    let encoded = request.run(&input.api, input.options.backfill);
    if vector.policy == Policy::StricterOk && vector.note.contains("an encoder should refuse") {
        if !matches!(&encoded, Err(error) if error.class() == "Metadata") {
            row.deviates("encode: accepted, a Metadata error is due");
        }
        return;
    }
    let Some(encoded) = row.accept("encode", encoded) else { return };
    if encoded != file && request.depends_on_compressor() {
        // Other builds of the compressor write other bytes: what they mean must be the same.
        check_meaning(&encoded, file, row);
    } else if encoded != file {
        let at = encoded.iter().zip(file).position(|(ours, theirs)| ours != theirs);
        let at = at.unwrap_or(encoded.len().min(file.len()));
        let part = |bytes: &[u8]| short(bytes.get(at..).unwrap_or_default());
        row.deviates(format!("encode: byte {at} differs, ours {}, theirs {}", part(&encoded), part(file)));
    }
}

/// An input that an encoder must accept or refuse.
pub fn check_case(case: &EncodeCase, row: &mut Row) {
    let Some(request) = row.accept("encode input", Request::from_case(case)) else { return };
    let encoded = request.run(&case.api, case.options.backfill);
    let must_accept = case.reference.ok || case.note.contains("must succeed");
    match encoded {
        Ok(message) if must_accept => check_stored(&request, &message, row),
        Ok(_) if case.note.contains("recommended") => {}
        Ok(_) => {
            row.deviates(format!("accepted, expected {}", case.reference.error.as_deref().unwrap_or("an error")));
        }
        Err(error) if must_accept => row.deviates(format!("refused with {}: {error}", error.class())),
        Err(error) => {
            let expected = case.reference.error.as_deref().unwrap_or("unspecified");
            row.equal("class of the error", expected, error.class());
        }
    }
}

/// Raw data is stored as given: read back in the descriptor's own byte order it is the same.
fn check_stored(request: &Request, message: &[u8], row: &mut Row) {
    let options = DecodeOptions { native_byte_order: false, ..DecodeOptions::default() };
    let Some(stored) = row.accept("decode of what was encoded", decode(message, &options)) else { return };
    row.equal("objects", &request.objects.len(), &stored.objects.len());
    for ((descriptor, data), decoded) in request.objects.iter().zip(&stored.objects) {
        if descriptor.is_raw() && *data != decoded.bytes {
            row.deviates(format!("stored {}, reads as {}", short(data), short(&decoded.bytes)));
        }
    }
}

fn check_meaning(ours: &[u8], theirs: &[u8], row: &mut Row) {
    let read = |bytes| decode(bytes, &DecodeOptions::default());
    let Some(ours) = row.accept("decode of what was encoded", read(ours)) else { return };
    let Some(theirs) = row.accept("decode", read(theirs)) else { return };
    if ours.metadata != theirs.metadata {
        row.deviates("encode: metadata differs");
    }
    let bytes = |message: &DecodedMessage| -> Vec<Vec<u8>> {
        message.objects.iter().map(|object| object.bytes.clone()).collect()
    };
    if bytes(&ours) != bytes(&theirs) {
        row.deviates("encode: values differ");
    }
}

/// A message to encode.
pub struct Request {
    /// Global metadata.
    pub metadata: GlobalMetadata,
    /// Descriptors and data.
    pub objects: Vec<(DataObjectDescriptor, Vec<u8>)>,
    /// How to encode.
    pub options: EncodeOptions,
    mask_methods: Vec<String>,
}

impl Request {
    /// What went into `file`. Data that the manifest names only by its digest is what the file decodes to.
    fn from_input(input: &EncodeInput, file: &[u8]) -> Result<Self, String> {
        let base = input.base.as_array().ok_or("base is no array")?;
        let metadata = GlobalMetadata {
            base: base.iter().map(json::to_map).collect::<Result<_, _>>()?,
            extra: json::to_map(&input.extra)?,
            ..GlobalMetadata::default()
        };
        let mut request = Self::new(metadata, &input.objects, &input.options, file)?;
        request.options.provenance = Some(Provenance {
            encoder_name: input.provenance.encoder.name.clone(),
            encoder_version: input.provenance.encoder.version.clone(),
            time: input.provenance.time.clone(),
            uuid: input.provenance.uuid.clone(),
        });
        Ok(request)
    }

    fn from_case(case: &EncodeCase) -> Result<Self, String> {
        let mut metadata = GlobalMetadata::default();
        for (key, value) in &case.metadata {
            match key.as_str() {
                "base" => {
                    let entries = value.as_array().ok_or("base is no array")?;
                    metadata.base = entries.iter().map(json::to_map).collect::<Result<_, _>>()?;
                }
                "_reserved_" => metadata.reserved = json::to_map(value)?,
                "_extra_" => metadata.extra.extend(json::to_map(value)?),
                _ => drop(metadata.extra.insert(key.clone(), json::to_value(value)?)),
            }
        }
        Self::new(metadata, &case.objects, &case.options, &[])
    }

    fn new(metadata: GlobalMetadata, objects: &[InputObject], options: &Options, file: &[u8]) -> Result<Self, String> {
        let objects = objects
            .iter()
            .enumerate()
            .map(|(index, object)| {
                let descriptor = descriptor(&object.descriptor)?;
                let decoded = || decode_object(file, index, &DecodeOptions::default()).ok().map(|object| object.bytes);
                let data = data(object, &descriptor, decoded)?;
                Ok((descriptor, data))
            })
            .collect::<Result<_, String>>()?;
        let methods = [&options.nan_mask_method, &options.pos_inf_mask_method, &options.neg_inf_mask_method];
        let mask_methods = methods.into_iter().flatten().cloned().collect();
        Ok(Self { metadata, objects, options: encode_options(options)?, mask_methods })
    }

    fn run(&self, api: &str, backfill: bool) -> Result<Vec<u8>, TensogramError> {
        let objects: Vec<_> = self.objects.iter().map(|(descriptor, data)| (descriptor, data.as_slice())).collect();
        match api {
            "encode" => encode(&self.metadata, &objects, &self.options),
            "encode_pre_encoded" => encode_pre_encoded(&self.metadata, &objects, &self.options),
            "streaming" => {
                let mut stream = StreamingEncoder::new(Cursor::new(Vec::new()), &self.metadata, &self.options)?;
                for (descriptor, data) in objects {
                    stream.write_object(descriptor, data)?;
                }
                let sink = if backfill { stream.finish_with_backfill() } else { stream.finish() }?;
                Ok(sink.into_inner())
            }
            other => panic!("api `{other}` not understood"),
        }
    }

    /// Whether the bytes depend on the build of a compressor.
    fn depends_on_compressor(&self) -> bool {
        let compressions = self.objects.iter().map(|(descriptor, _)| descriptor.compression.as_str());
        compressions.chain(self.mask_methods.iter().map(String::as_str)).any(|name| COMPRESSORS.contains(&name))
    }
}

/// Compressors whose output differs between versions.
const COMPRESSORS: &[&str] = &["zstd", "lz4", "blosc2"];

/// A descriptor from the fields given; absent ones are derived as the reference's Python layer derives them.
///
/// # Errors
/// A field of the wrong type.
pub fn descriptor(fields: &Map<String, Json>) -> Result<DataObjectDescriptor, String> {
    let mut found = DataObjectDescriptor::default();
    let mut strides = None;
    for (key, value) in fields {
        let text = || value.as_str().map(ToOwned::to_owned).ok_or_else(|| format!("{key} is no text"));
        match key.as_str() {
            "type" => found.obj_type = text()?,
            "dtype" => found.dtype = text()?.parse().map_err(|_| format!("dtype {value}"))?,
            "byte_order" => found.byte_order = ByteOrder::from_name(&text()?).ok_or("byte order")?,
            "encoding" => found.encoding = text()?,
            "filter" => found.filter = text()?,
            "compression" => found.compression = text()?,
            "shape" => found.shape = json::unsigned_list(value).ok_or("shape is no list of counts")?,
            "strides" => strides = Some(json::unsigned_list(value).ok_or("strides are no list of counts")?),
            _ => drop(found.params.insert(key.clone(), json::to_value(value)?)),
        }
    }
    found.ndim = found.shape.len() as u64;
    found.strides = match strides {
        Some(strides) => strides,
        None => row_major_strides(&found.shape).map_err(|error| error.to_string())?,
    };
    Ok(found)
}

/// Options as manifests write them.
///
/// # Errors
/// A name that is none of ours.
pub fn encode_options(options: &Options) -> Result<EncodeOptions, String> {
    let hashing = match options.hash.as_deref() {
        None | Some("none") => false,
        Some("xxh3") => true,
        Some(other) => return Err(format!("hash `{other}`")),
    };
    let aggregate_hash = match options.aggregate_hash.as_deref() {
        None | Some("auto") => AggregateHash::Auto,
        Some("none") => AggregateHash::None,
        Some("header") => AggregateHash::Header,
        Some("footer") => AggregateHash::Footer,
        Some("both") => AggregateHash::Both,
        Some(other) => return Err(format!("aggregate_hash `{other}`")),
    };
    let threads = options.threads.unwrap_or(0) as usize;
    let method = |name: &Option<String>| match name {
        None => Ok(MaskMethod::Roaring),
        Some(name) => MaskMethod::from_name(name).ok_or_else(|| format!("mask method `{name}`")),
    };
    Ok(EncodeOptions {
        hashing,
        aggregate_hash,
        threads,
        allow_nan: options.allow_nan,
        allow_inf: options.allow_inf,
        nan_mask_method: method(&options.nan_mask_method)?,
        pos_inf_mask_method: method(&options.pos_inf_mask_method)?,
        neg_inf_mask_method: method(&options.neg_inf_mask_method)?,
        small_mask_threshold_bytes: options.small_mask_threshold_bytes.map_or(128, |bytes| bytes as u64),
        ..EncodeOptions::default()
    })
}

fn data(
    object: &InputObject,
    descriptor: &DataObjectDescriptor,
    decoded: impl FnOnce() -> Option<Vec<u8>>,
) -> Result<Vec<u8>, String> {
    let implied = || match object.data_len {
        Some(len) => Ok(len),
        None => descriptor.decoded_len().ok().and_then(|len| usize::try_from(len).ok()).ok_or("no length for the data"),
    };
    let data = match (&object.data_hex, object.data_pattern.as_deref(), object.data.as_deref()) {
        (Some(hex), None, None) => unhex(hex)?,
        (None, Some("byte i = i mod 251"), None) => (0..implied()?).map(|index| (index % 251) as u8).collect(),
        (None, None, Some("all bytes zero")) => vec![0; implied()?],
        (None, None, None) if object.data_sha256.is_some() => decoded().ok_or("the file does not decode")?,
        (_, pattern, words) => return Err(format!("data not understood: {pattern:?} {words:?}")),
    };
    if object.data_len.is_some_and(|len| len != data.len()) {
        return Err(format!("data_len does not fit {} bytes", data.len()));
    }
    if object.data_sha256.as_ref().is_some_and(|digest| *digest != sha256(&data)) {
        return Err("data_sha256 does not fit the data".to_owned());
    }
    Ok(data)
}

fn map_value(map: &fw_tensogram::MetadataMap) -> Value {
    Value::Map(map.iter().map(|(key, value)| (Value::from(key.as_str()), value.clone())).collect())
}
