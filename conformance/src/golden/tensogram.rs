//! Golden Tensogram messages, with fixed provenance.

use std::io::Cursor;

use anyhow::{Result, ensure};
use fw_tensogram::{
    AggregateHash, DataObjectDescriptor, DecodeOptions, EncodeOptions, GlobalMetadata, MetadataMap, Provenance,
    StreamingEncoder, ValidateMode, ValidateOptions, Value, decode, encode, validate_message,
};
use fw_tensor::{ByteOrder, DType, byte_len};

use super::Golden;

/// Every golden message.
pub fn all() -> Vec<Golden> {
    let golden = |path, bytes| Golden { path, bytes };
    let aggregate = |aggregate_hash| EncodeOptions { aggregate_hash, ..options() };
    let two = [object(DType::Float32, &[3]), object(DType::Int16, &[2, 2])];
    vec![
        golden("tensogram/no-objects.tgm", buffered(&metadata(0), &[], &options())),
        golden("tensogram/one-object.tgm", buffered(&metadata(1), &two[..1], &options())),
        golden("tensogram/two-objects.tgm", buffered(&metadata(2), &two, &options())),
        golden("tensogram/no-hashes.tgm", buffered(&metadata(2), &two, &EncodeOptions { hashing: false, ..options() })),
        golden("tensogram/hash-list-none.tgm", buffered(&metadata(2), &two, &aggregate(AggregateHash::None))),
        golden("tensogram/hash-list-footer.tgm", buffered(&metadata(2), &two, &aggregate(AggregateHash::Footer))),
        golden("tensogram/hash-list-both.tgm", buffered(&metadata(2), &two, &aggregate(AggregateHash::Both))),
        golden("tensogram/every-dtype-little.tgm", buffered(&metadata(0), &every_dtype(ByteOrder::Little), &options())),
        golden("tensogram/every-dtype-big.tgm", buffered(&metadata(0), &every_dtype(ByteOrder::Big), &options())),
        golden("tensogram/scalar-and-empty.tgm", buffered(&metadata(0), &scalar_and_empty(), &options())),
        golden("tensogram/metadata-values.tgm", buffered(&metadata_values(), &[], &options())),
        golden("tensogram/parameters.tgm", buffered(&metadata(0), &parameters(), &options())),
        golden("tensogram/thirty-objects.tgm", buffered(&metadata(30), &thirty(), &options())),
        golden("tensogram/packing.tgm", buffered(&metadata(0), &packing(), &options())),
        golden("tensogram/shuffle.tgm", buffered(&metadata(0), &shuffle(), &options())),
        golden("tensogram/szip.tgm", buffered(&metadata(0), &szip(), &options())),
        golden("tensogram/zfp.tgm", buffered(&metadata(0), &zfp(), &options())),
        golden("tensogram/bitmasks.tgm", buffered(&metadata(0), &bitmasks(), &options())),
        golden("tensogram/masks-small.tgm", buffered(&metadata(0), &[non_finite(9)], &masked())),
        golden("tensogram/masks-roaring.tgm", buffered(&metadata(0), &[non_finite(1100)], &masked())),
        golden("tensogram/streamed.tgm", streamed(&two, Length::Unknown, Preceders::None)),
        golden("tensogram/streamed-filled-in.tgm", streamed(&two, Length::FilledIn, Preceders::None)),
        golden("tensogram/streamed-preceders.tgm", streamed(&two, Length::Unknown, Preceders::Each)),
    ]
}

/// Whether a message reads, with its hashes, and nothing is wrong with it.
///
/// # Errors
/// It does not.
pub fn read(bytes: &[u8]) -> Result<()> {
    let objects = decode(bytes, &DecodeOptions::default())?.objects;
    let report =
        validate_message(bytes, &ValidateOptions { canonical: true, ..ValidateOptions::mode(ValidateMode::Full) });
    let findings = report.report.findings();
    ensure!(report.is_ok(), "{} objects, findings: {findings:?}", objects.len());
    Ok(())
}

type Object = (DataObjectDescriptor, Vec<u8>);

fn options() -> EncodeOptions {
    let provenance = Provenance {
        encoder_name: "framewright".to_owned(),
        encoder_version: "golden".to_owned(),
        time: "2026-01-02T03:04:05Z".to_owned(),
        uuid: "00112233-4455-4677-8899-aabbccddeeff".to_owned(),
    };
    EncodeOptions { provenance: Some(provenance), ..EncodeOptions::default() }
}

fn metadata(entries: usize) -> GlobalMetadata {
    let entry = |index: usize| MetadataMap::from([("name".to_owned(), Value::from(format!("field {index}")))]);
    let extra = MetadataMap::from([("source".to_owned(), Value::from("golden"))]);
    GlobalMetadata { base: (0..entries).map(entry).collect(), extra, ..GlobalMetadata::default() }
}

/// One key for every kind of value, and for every width of its encoding.
fn metadata_values() -> GlobalMetadata {
    let integers = [0, 23, 24, 255, 256, 65535, 65536, (1 << 32) - 1, 1 << 32, u64::MAX.into(), -1, -25, -(1 << 64)];
    let floats = [0.0, -0.0, 1.0, 1.5, 65504.0, 65505.0, 0.1, 1e39, 5e-324, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let mixed = vec![
        (Value::from("aa"), Value::from(2)),
        (Value::Integer(-1), Value::Null),
        (Value::from("b"), Value::from(1)),
        (Value::Integer(100), Value::Bool(true)),
    ];
    let extra = [
        ("integers", Value::Array(integers.into_iter().map(Value::Integer).collect())),
        ("floats", Value::Array(floats.into_iter().map(Value::Float).collect())),
        ("texts", Value::Array(["", "é", "日本語", &"x".repeat(24)].map(Value::from).to_vec())),
        ("truths", Value::Array(vec![Value::Bool(false), Value::Bool(true), Value::Null])),
        ("bytes", Value::Bytes(vec![0, 255])),
        ("tag", Value::Tag(0, Box::new(Value::from("2026-01-02T03:04:05Z")))),
        ("keys", Value::Map(mixed)),
        ("nested", Value::Array(vec![Value::Array(vec![]), Value::Map(vec![])])),
    ];
    let extra = extra.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    GlobalMetadata { extra, ..GlobalMetadata::default() }
}

/// An object whose bytes are small numbers, so that floats are finite.
fn object(dtype: DType, shape: &[u64]) -> Object {
    let mut descriptor = DataObjectDescriptor::new(dtype, shape).expect("golden shapes are small");
    descriptor.byte_order = ByteOrder::Little;
    let len = byte_len(dtype, shape).expect("golden shapes are small") as usize;
    (descriptor, (0..len).map(|index| (index * 7 % 59) as u8).collect())
}

fn every_dtype(order: ByteOrder) -> Vec<Object> {
    let dtypes = DType::ALL.iter().copied().filter(|dtype| fw_tensogram::describe::is_tensogram_dtype(*dtype));
    dtypes
        .map(|dtype| {
            let (mut descriptor, data) = object(dtype, &[3]);
            descriptor.byte_order = order;
            (descriptor, data)
        })
        .collect()
}

fn scalar_and_empty() -> Vec<Object> {
    vec![object(DType::Float64, &[]), object(DType::Float32, &[3, 0, 2]), object(DType::Bitmask, &[11])]
}

fn parameters() -> Vec<Object> {
    let (descriptor, data) = object(DType::UInt8, &[2]);
    let list = Value::Array(vec![Value::from(1), Value::from(2.5)]);
    vec![(descriptor.with_param("zeta", "q").with_param("custom", list), data)]
}

/// A smooth curve of doubles.
fn curve(count: u64) -> Object {
    let (descriptor, _) = object(DType::Float64, &[count]);
    let value = |index: u64| 280.0 + (index * index % 97) as f64 / 8.0;
    (descriptor, (0..count).flat_map(|index| value(index).to_le_bytes()).collect())
}

/// The codecs here are our own to the last byte; zstd, lz4 and blosc2 payloads belong to their libraries' versions.
fn packing() -> Vec<Object> {
    let packed = |bits: i32| {
        let (descriptor, data) = curve(50);
        (descriptor.with_encoding("simple_packing").with_param("sp_bits_per_value", bits), data)
    };
    [0, 1, 12, 16, 24, 33, 64].map(packed).into()
}

fn shuffle() -> Vec<Object> {
    let (descriptor, data) = object(DType::Float32, &[37]);
    vec![(descriptor.with_filter("shuffle").with_param("shuffle_element_size", 4), data)]
}

fn szip() -> Vec<Object> {
    let settings = |descriptor: DataObjectDescriptor| {
        let descriptor = descriptor.with_compression("szip").with_param("szip_rsi", 16);
        descriptor.with_param("szip_block_size", 8).with_param("szip_flags", 8)
    };
    let (plain, data) = object(DType::UInt16, &[700]);
    let (packed, curve) = curve(300);
    let packed = packed.with_encoding("simple_packing").with_param("sp_bits_per_value", 16);
    vec![(settings(plain), data), (settings(packed), curve)]
}

fn zfp() -> Vec<Object> {
    let modes = [
        ("fixed_rate", "zfp_rate", Value::from(16.0)),
        ("fixed_precision", "zfp_precision", Value::from(20)),
        ("fixed_accuracy", "zfp_tolerance", Value::from(0.125)),
    ];
    let object = |(mode, key, value): (&str, &str, Value)| {
        let (descriptor, data) = curve(90);
        (descriptor.with_compression("zfp").with_param("zfp_mode", mode).with_param(key, value), data)
    };
    modes.map(object).into()
}

fn bitmasks() -> Vec<Object> {
    let bits = |compression: &str| {
        let (descriptor, _) = object(DType::Bitmask, &[1000]);
        (
            descriptor.with_compression(compression),
            (0..125_u8).map(|byte| if byte < 60 { 255 } else { byte % 3 }).collect(),
        )
    };
    vec![bits("rle"), bits("roaring")]
}

fn masked() -> EncodeOptions {
    EncodeOptions { allow_nan: true, allow_inf: true, ..options() }
}

fn non_finite(count: u64) -> Object {
    let (descriptor, _) = object(DType::Float32, &[count]);
    let value = |index: u64| match index % 9 {
        1 => f32::NAN,
        2 => f32::INFINITY,
        3 => f32::NEG_INFINITY,
        _ => index as f32,
    };
    (descriptor, (0..count).flat_map(|index| value(index).to_le_bytes()).collect())
}

/// Enough that array heads in index, hash list and base need two bytes.
fn thirty() -> Vec<Object> {
    (0..30).map(|index| object(DType::UInt8, &[index + 1])).collect()
}

fn borrowed(objects: &[Object]) -> Vec<(&DataObjectDescriptor, &[u8])> {
    objects.iter().map(|(descriptor, data)| (descriptor, data.as_slice())).collect()
}

fn buffered(metadata: &GlobalMetadata, objects: &[Object], options: &EncodeOptions) -> Vec<u8> {
    encode(metadata, &borrowed(objects), options).expect("golden messages encode")
}

enum Length {
    Unknown,
    FilledIn,
}

enum Preceders {
    None,
    Each,
}

fn streamed(objects: &[Object], length: Length, preceders: Preceders) -> Vec<u8> {
    let stream = || -> fw_tensogram::Result<Vec<u8>> {
        let mut encoder = StreamingEncoder::new(Cursor::new(Vec::new()), &metadata(1), &options())?;
        for (index, (descriptor, data)) in objects.iter().enumerate() {
            if let Preceders::Each = preceders {
                encoder.write_preceder(&MetadataMap::from([("step".to_owned(), Value::from(index))]))?;
            }
            encoder.write_object(descriptor, data)?;
        }
        let sink = match length {
            Length::Unknown => encoder.finish()?,
            Length::FilledIn => encoder.finish_with_backfill()?,
        };
        Ok(sink.into_inner())
    };
    stream().expect("golden messages encode")
}
