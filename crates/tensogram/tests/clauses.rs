//! Clauses that no vector shows, because vectors are messages and these are about calls and options.

mod common;

use common::{object, options, provenance};
use fw_tensogram::*;
use fw_tensor::DType;

/// TG-10.1: preceders wait for their object, have no reserved keys, and go into the footer metadata.
#[test]
fn preceders_of_a_stream() {
    let entry = |key: &str| MetadataMap::from([(key.to_owned(), Value::from(1))]);
    let (descriptor, data) = object(DType::UInt8, &[3], 0);
    let open = || StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &options()).unwrap();

    let mut stream = open();
    stream.write_preceder(&entry("a")).unwrap();
    let twice = stream.write_preceder(&entry("b")).unwrap_err();
    assert_eq!((twice.class(), twice.code()), ("Framing", "preceder_not_followed_by_object"));
    stream.write_object(&descriptor, &data).unwrap();
    let message = stream.finish().unwrap();
    let footer = decode(&message, &DecodeOptions::default()).unwrap().metadata;
    assert_eq!(footer.base[0].get("a"), Some(&Value::from(1)));

    let mut left_over = open();
    left_over.write_preceder(&entry("a")).unwrap();
    assert_eq!(left_over.finish().unwrap_err().class(), "Framing");
    assert_eq!(open().write_preceder(&entry("_reserved_")).unwrap_err().class(), "Metadata");
}

/// TG-9.3: digests cannot be gathered before the objects of a stream.
#[test]
fn a_stream_has_no_list_in_its_header() {
    for aggregate_hash in [AggregateHash::Header, AggregateHash::Both] {
        let options = EncodeOptions { aggregate_hash, ..options() };
        let refused = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &options).unwrap_err();
        assert_eq!(refused.class(), "Encoding", "{aggregate_hash:?}");
    }
}

/// TG-11.1: the defaults, spelt out, write the same bytes; each other value is seen in them.
#[test]
fn defaults_of_writing() {
    // More than 1024 elements: the mask is larger than the threshold and takes the method.
    let values: Vec<f32> = (0..2000).map(|i| if i % 7 == 0 { f32::NAN } else { i as f32 }).collect();
    let encode =
        |options: EncodeOptions| MessageBuilder::new().tensor(&[2000], &values).unwrap().options(options).encode();
    assert_eq!(encode(options()).unwrap_err().class(), "Encoding", "NaN is refused");
    let masked = || EncodeOptions { allow_nan: true, ..options() };
    let defaults = EncodeOptions {
        hashing: true,
        aggregate_hash: AggregateHash::Auto,
        allow_nan: true,
        allow_inf: false,
        nan_mask_method: MaskMethod::Roaring,
        pos_inf_mask_method: MaskMethod::Roaring,
        neg_inf_mask_method: MaskMethod::Roaring,
        small_mask_threshold_bytes: 128,
        threads: 1,
        provenance: Some(provenance()),
    };
    let expected = encode(masked()).unwrap();
    assert_eq!(encode(defaults).unwrap(), expected);
    for other in [
        EncodeOptions { hashing: false, ..masked() },
        EncodeOptions { aggregate_hash: AggregateHash::Footer, ..masked() },
        EncodeOptions { nan_mask_method: MaskMethod::Rle, ..masked() },
        EncodeOptions { small_mask_threshold_bytes: 250, ..masked() },
    ] {
        assert_ne!(encode(other.clone()).unwrap(), expected, "{other:?}");
    }
    assert_eq!(encode(EncodeOptions { threads: 4, ..masked() }).unwrap(), expected, "threads change nothing");
}

/// TG-C16.1: parameters of a payload that is stored as it is are checked, its bytes are not.
#[test]
fn parameters_of_pre_encoded_payloads() {
    let (raw, _) = object(DType::Float64, &[4], 0);
    let packed = raw.with_encoding("simple_packing").with_param("sp_bits_per_value", 8);
    let store = |descriptor: &DataObjectDescriptor| {
        encode_pre_encoded(&GlobalMetadata::default(), &[(descriptor, &[1, 2, 3, 4])], &options())
    };
    assert_eq!(store(&packed).unwrap_err().class(), "Metadata", "a packed payload needs its scale");
    let without_decimal = packed.with_param("sp_reference_value", 1.0).with_param("sp_binary_scale_factor", 0);
    let message = store(&without_decimal).unwrap();
    let error = decode(&message, &DecodeOptions::default()).unwrap_err();
    assert_eq!((error.class(), error.code()), ("Metadata", "sp_parameters_incomplete"), "the default is the encoder's");
    let whole = without_decimal.with_param("sp_decimal_scale_factor", 0);
    let message = store(&whole).unwrap();
    let values = decode(&message, &DecodeOptions::default()).unwrap().objects;
    let expected: Vec<u8> = [2.0f64, 3.0, 4.0, 5.0].iter().flat_map(|value| value.to_ne_bytes()).collect();
    assert_eq!(values[0].bytes, expected);
    assert_eq!(store(&whole.with_param("sp_bits_per_value", 65)).unwrap_err().class(), "Encoding");
}
