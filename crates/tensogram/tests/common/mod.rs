//! Messages of many kinds, and values to fill them with.
#![allow(dead_code, reason = "each test file uses its own part")]

use fw_tensogram::*;
use fw_tensor::{ByteOrder, DType};
use proptest::prelude::*;
use std::path::PathBuf;

/// The folder of shared vectors.
pub(crate) fn vectors() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors/tensogram")
}

pub(crate) fn provenance() -> Provenance {
    Provenance {
        encoder_name: "framewright".to_owned(),
        encoder_version: "0".to_owned(),
        time: "2026-01-02T03:04:05Z".to_owned(),
        uuid: "00000000-0000-4000-8000-000000000000".to_owned(),
    }
}

pub(crate) fn options() -> EncodeOptions {
    EncodeOptions { provenance: Some(provenance()), ..EncodeOptions::default() }
}

/// An object of any type without a codec: descriptor and bytes.
pub(crate) fn object(dtype: DType, shape: &[u64], seed: u8) -> (DataObjectDescriptor, Vec<u8>) {
    let descriptor = DataObjectDescriptor::new(dtype, shape).unwrap();
    let len = descriptor.decoded_len().unwrap() as usize;
    // Small bytes never make a float that is not finite.
    let data = (0..len).map(|i| (i as u8).wrapping_mul(7).wrapping_add(seed) & 0x3f).collect();
    (descriptor, data)
}

/// Ten messages of different kinds, all with digests.
pub(crate) fn ten_kinds() -> Vec<(&'static str, Vec<u8>)> {
    let float = object(DType::Float32, &[3, 2], 1);
    let (mut big, big_data) = object(DType::UInt16, &[5], 2);
    big.byte_order = ByteOrder::Big;
    let bits = object(DType::Bitmask, &[13], 3);
    let empty = object(DType::Float64, &[4, 0, 2], 4);
    let scalar = object(DType::Complex128, &[], 5);
    let metadata = GlobalMetadata {
        base: vec![MetadataMap::from([("units".to_owned(), Value::from("K"))])],
        extra: MetadataMap::from([
            ("run".to_owned(), Value::from(20_240_115u64)),
            (
                "nested".to_owned(),
                [("pi", Value::from(3.25)), ("list", Value::Array(vec![Value::Null]))].into_iter().collect(),
            ),
        ]),
        ..GlobalMetadata::default()
    };
    let plain = GlobalMetadata::default();
    let with = |aggregate_hash| EncodeOptions { aggregate_hash, ..options() };
    let refs = |objects: &[&(DataObjectDescriptor, Vec<u8>)], metadata: &GlobalMetadata, options: &EncodeOptions| {
        let objects: Vec<_> = objects.iter().map(|(descriptor, data)| (descriptor, data.as_slice())).collect();
        encode(metadata, &objects, options).unwrap()
    };
    let big = (big, big_data);
    vec![
        ("no objects", refs(&[], &plain, &options())),
        ("one float", refs(&[&float], &plain, &options())),
        ("big-endian", refs(&[&big], &plain, &options())),
        ("bitmask", refs(&[&bits], &plain, &options())),
        ("empty and scalar", refs(&[&empty, &scalar], &plain, &options())),
        ("rich metadata", refs(&[&float, &big], &metadata, &options())),
        ("hashes on both sides", refs(&[&float, &bits], &plain, &with(AggregateHash::Both))),
        ("no hash list", refs(&[&float], &plain, &with(AggregateHash::None))),
        ("streamed", streamed(&[&float, &big], &metadata, false)),
        ("streamed with preceders", streamed(&[&float, &scalar], &plain, true)),
    ]
}

pub(crate) fn streamed(
    objects: &[&(DataObjectDescriptor, Vec<u8>)],
    metadata: &GlobalMetadata,
    preceders: bool,
) -> Vec<u8> {
    let mut stream = StreamingEncoder::new(Vec::new(), metadata, &options()).unwrap();
    for (index, (descriptor, data)) in objects.iter().enumerate() {
        if preceders {
            stream.write_preceder(&MetadataMap::from([("step".to_owned(), Value::from(index))])).unwrap();
        }
        stream.write_object(descriptor, data).unwrap();
    }
    stream.finish().unwrap()
}

/// Any metadata value a message can hold.
pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-1000i32..1000).prop_map(|n| Value::from(f64::from(n) / 8.0)),
        ".{0,12}".prop_map(Value::from),
        prop::collection::vec(any::<u8>(), 0..8).prop_map(Value::Bytes),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec((any_key(), inner.clone()), 0..5).prop_map(|entries| entries.into_iter().collect()),
            (any::<u64>(), inner).prop_map(|(tag, value)| Value::Tag(tag, Box::new(value))),
        ]
    })
}

fn any_key() -> impl Strategy<Value = Value> {
    prop_oneof![4 => ".{0,8}".prop_map(Value::from), 1 => any::<i64>().prop_map(Value::from)]
}

pub(crate) fn any_map() -> impl Strategy<Value = MetadataMap> {
    // Reserved keys are the encoder's.
    prop::collection::btree_map("[a-zA-Z0-9 ]{0,9}", any_value(), 0..5)
}

/// Any object without a codec.
pub(crate) fn any_object() -> impl Strategy<Value = (DataObjectDescriptor, Vec<u8>)> {
    let dtypes: Vec<DType> =
        DType::ALL.iter().copied().filter(|dtype| fw_tensogram::describe::is_tensogram_dtype(*dtype)).collect();
    (prop::sample::select(dtypes), prop::collection::vec(0u64..5, 0..4), any::<u8>(), any::<bool>()).prop_map(
        |(dtype, shape, seed, big)| {
            let (mut descriptor, data) = object(dtype, &shape, seed);
            descriptor.byte_order = if big { ByteOrder::Big } else { ByteOrder::Little };
            (descriptor, data)
        },
    )
}

/// A whole message: what went in, and the bytes.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) metadata: GlobalMetadata,
    pub(crate) objects: Vec<(DataObjectDescriptor, Vec<u8>)>,
    pub(crate) bytes: Vec<u8>,
}

pub(crate) fn any_message() -> impl Strategy<Value = Message> {
    let aggregate = prop::sample::select(vec![
        AggregateHash::Auto,
        AggregateHash::None,
        AggregateHash::Header,
        AggregateHash::Footer,
        AggregateHash::Both,
    ]);
    (prop::collection::vec((any_object(), any_map()), 0..4), any_map(), any::<bool>(), aggregate, any::<bool>())
        .prop_map(|(parts, extra, hashing, aggregate_hash, stream)| {
            let (objects, base): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
            let metadata = GlobalMetadata { base, extra, ..GlobalMetadata::default() };
            let options = EncodeOptions { hashing, ..options() };
            let bytes = if stream {
                let mut stream = StreamingEncoder::new(Vec::new(), &metadata, &options).unwrap();
                for (descriptor, data) in &objects {
                    stream.write_object(descriptor, data).unwrap();
                }
                stream.finish().unwrap()
            } else {
                let refs: Vec<_> = objects.iter().map(|(descriptor, data)| (descriptor, data.as_slice())).collect();
                encode(&metadata, &refs, &EncodeOptions { aggregate_hash, ..options }).unwrap()
            };
            Message { metadata, objects, bytes }
        })
}
