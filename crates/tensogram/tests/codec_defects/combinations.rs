//! Combinations and parameters (clauses 1, 3, 9, 10.4, 11, 12).

use super::*;

/// The reference encodes such values into payloads that decode to other values, or not at all (10.4).
#[test]
fn packing_widths_that_are_no_whole_samples_are_refused_under_szip() {
    let data = bytes(&ramp(64));
    for bits in 0..=64u64 {
        let packed = doubles(64)
            .with_encoding("simple_packing")
            .with_param("sp_bits_per_value", bits)
            .with_param("sp_reference_value", 0.0)
            .with_param("sp_binary_scale_factor", 0i64);
        let encoded = message(&szip(packed.clone(), 8), &data);
        if matches!(bits, 8 | 16 | 24 | 32) {
            assert!(encoded.is_ok(), "{bits} bits");
        } else {
            assert_eq!(encoded.unwrap_err().code(), "unsupported_combination", "{bits} bits");
            let forged = renamed(&message(&szip(packed, 8).with_compression("zstd"), &data).unwrap(), "zstd", "szip");
            assert_eq!(read(&forged).unwrap_err().code(), "unsupported_combination", "{bits} bits");
        }
    }
}

/// The reference takes the bytes for doubles and returns garbage (3).
#[test]
fn zfp_and_sz3_take_plain_doubles_only() {
    let packed = doubles(64).with_encoding("simple_packing").with_param("sp_bits_per_value", 16u64);
    let shuffled = doubles(64).with_filter("shuffle").with_param("shuffle_element_size", 8u64);
    let mut wrong = vec![(packed, 512), (shuffled, 512)];
    for dtype in DType::ALL.iter().filter(|dtype| describe::is_tensogram_dtype(**dtype)) {
        if *dtype != DType::Float64 {
            let descriptor = DataObjectDescriptor::new(*dtype, &[64]).unwrap();
            let len = descriptor.decoded_len().unwrap() as usize;
            wrong.push((descriptor, len));
        }
    }
    for (descriptor, len) in wrong {
        let data = vec![0; len];
        for (codec, described) in [("zfp", zfp_rate(descriptor.clone(), 16.0)), ("sz3", sz3(descriptor.clone(), 0.1))] {
            let error = message(&described, &data).unwrap_err();
            assert!(matches!(error, TensogramError::Encoding(_)), "{codec} {descriptor:?}: {error}");
            assert_eq!(error.code(), "unsupported_combination");
            // Messages of the reference may say so nevertheless.
            let forged = renamed(&message(&described.with_compression("lz4"), &data).unwrap(), "lz4", codec);
            // The reference's lossless streams of floats are read, so these bytes are taken for a stream.
            let floats = codec == "sz3" && descriptor.dtype == DType::Float32;
            let code = if floats { "bad_magic" } else { "unsupported_combination" };
            assert_eq!(read(&forged).unwrap_err().code(), code, "{codec} {descriptor:?}");
        }
    }
}

/// The reference packs what it is given and emits messages that nobody can decode (1).
#[test]
fn packed_data_must_have_the_length_of_the_shape() {
    let descriptor = doubles(10).with_encoding("simple_packing").with_param("sp_bits_per_value", 16u64);
    for count in [0, 9, 11, 1000] {
        assert_eq!(message(&descriptor, &bytes(&ramp(count))).unwrap_err().code(), "data_length_mismatch");
    }
}

#[test]
fn bitmask_codecs_take_bitmasks_only() {
    for codec in ["rle", "roaring"] {
        let bytes = DataObjectDescriptor::new(DType::UInt8, &[8]).unwrap().with_compression(codec);
        assert_eq!(message(&bytes, &[0; 8]).unwrap_err().code(), "unsupported_combination");
    }
    for codec in ["blosc2", "szip"] {
        let bits = szip(DataObjectDescriptor::new(DType::Bitmask, &[64]).unwrap(), 8).with_compression(codec);
        assert_eq!(message(&bits, &[0; 8]).unwrap_err().code(), "unsupported_combination");
    }
}

/// The padding that the flag announces is never written, only skipped by readers (10.1).
#[test]
fn szip_padding_and_restricted_flags_are_refused() {
    let data: Vec<u8> = (0..=255).collect();
    for flags in [32, 40, 16, 24] {
        let descriptor = szip(DataObjectDescriptor::new(DType::UInt8, &[256]).unwrap(), flags);
        assert!(message(&descriptor, &data).is_err(), "flags {flags}");
        let forged = renamed(&message(&descriptor.with_compression("zstd"), &data).unwrap(), "zstd", "szip");
        assert!(read(&forged).is_err(), "flags {flags}");
    }
}

/// The encoder of the reference breaks its heap on a few values in blocks of more than 64 samples (10.1, flag 64).
#[test]
fn szip_blocks_of_unusual_sizes_come_back() {
    for block in [2u64, 6, 62, 66, 100, 128, 1000] {
        for count in [1u64, 4, 50, 777] {
            let data: Vec<u8> = (0..count as u32).flat_map(|at| (at * at % 97).to_le_bytes()).collect();
            let descriptor = szip(DataObjectDescriptor::new(DType::UInt32, &[count]).unwrap(), 64 + 8)
                .with_param("szip_rsi", 3u64)
                .with_param("szip_block_size", block);
            let encoded = message(&descriptor, &data).unwrap_or_else(|error| panic!("blocks of {block}: {error}"));
            assert_eq!(read(&encoded).unwrap(), data, "{count} values in blocks of {block}");
        }
    }
}

/// The reference made 5 GB of forty values (2).
#[test]
fn absurd_zfp_rates_are_refused() {
    let data = bytes(&ramp(40));
    // A few hundred bits are more than any block can use; from there on it is a mistake or an attack.
    let largest = message(&zfp_rate(doubles(40), 256.0), &data).unwrap();
    assert_eq!((payload(&largest).len(), read(&largest).unwrap() == data), (40 * 256 / 8, true));
    for rate in [-1.0, 0.0, 256.01, 257.0, 1e9, 1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let descriptor = zfp_rate(doubles(40), rate);
        assert!(message(&descriptor, &data).is_err(), "rate {rate}");
        let forged = renamed(&message(&descriptor.with_compression("lz4"), &data).unwrap(), "lz4", "zfp");
        assert!(read(&forged).is_err(), "rate {rate}");
    }
    for tolerance in [0.0, -1.0, f64::NAN] {
        let descriptor = doubles(40)
            .with_compression("zfp")
            .with_param("zfp_mode", "fixed_accuracy")
            .with_param("zfp_tolerance", tolerance);
        assert!(message(&descriptor, &data).is_err(), "tolerance {tolerance}");
    }
    assert_small_heap();
}

#[test]
fn absurd_sz3_bounds_are_refused() {
    for bound in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(message(&sz3(doubles(40), bound), &bytes(&ramp(40))).is_err(), "bound {bound}");
    }
}

/// Levels outside 0 to 9 are refused, on either side (9.3).
#[test]
fn blosc2_levels_out_of_range_are_refused() {
    let data = bytes(&ramp(40));
    let descriptor = |level: i64| doubles(40).with_compression("blosc2").with_param("blosc2_clevel", level);
    for level in [0, 9] {
        assert_eq!(read(&message(&descriptor(level), &data).unwrap()).unwrap(), data, "level {level}");
    }
    let frame = payload(&message(&descriptor(5), &data).unwrap());
    for level in [-1, 10, 255, i64::from(i32::MAX)] {
        assert_eq!(message(&descriptor(level), &data).unwrap_err().code(), "blosc2_clevel_invalid", "level {level}");
        let stored = pre_encoded(&descriptor(level), &frame);
        assert_eq!(stored.unwrap_err().code(), "blosc2_clevel_invalid", "level {level}");
    }
}

/// The reference refuses the one and divides by zero in the other (9.3, 12).
#[test]
fn empty_objects_are_refused_or_come_back_empty() {
    assert_eq!(message(&doubles(0).with_compression("blosc2"), &[]).unwrap_err().code(), "unsupported_combination");
    for (descriptor, empty) in [
        (sz3(doubles(0), 0.1), true),
        (zfp_rate(doubles(0), 16.0), true),
        (szip(DataObjectDescriptor::new(DType::UInt8, &[0]).unwrap(), 8), true),
        // These have a frame, or a length, around nothing.
        (doubles(0).with_compression("zstd"), false),
        (doubles(0).with_compression("lz4"), false),
    ] {
        let encoded = message(&descriptor, &[]).unwrap_or_else(|error| panic!("{error}: {descriptor:?}"));
        assert_eq!(payload(&encoded).is_empty(), empty, "{descriptor:?}");
        assert_eq!(read(&encoded).unwrap(), [0u8; 0], "{descriptor:?}");
        // Values where none should be are refused.
        let forged = pre_encoded(&descriptor_of(&encoded), &[0x5a; 40]);
        assert!(forged.and_then(|forged| read(&forged)).is_err(), "{descriptor:?}");
    }
}

/// The encoder of the reference reads every double as little-endian (11.3).
#[test]
fn zfp_and_sz3_read_the_declared_byte_order() {
    let values = ramp(1000);
    let (little, big): (Vec<u8>, Vec<u8>) =
        (bytes(&values), values.iter().flat_map(|value| value.to_be_bytes()).collect());
    for descriptor in [zfp_rate(doubles(1000), 24.0), sz3(doubles(1000), 1e-3)] {
        let swapped = DataObjectDescriptor { byte_order: ByteOrder::Big, ..descriptor.clone() };
        let (one, other) = (message(&descriptor, &little).unwrap(), message(&swapped, &big).unwrap());
        assert_eq!(payload(&one), payload(&other));
        assert_eq!(read(&one).unwrap(), read(&other).unwrap());
        let wire = DecodeOptions { native_byte_order: false, ..DecodeOptions::default() };
        let mut found = MessageView::open(&other).unwrap().object(0).unwrap().decode(&wire).unwrap();
        found.chunks_exact_mut(8).for_each(<[u8]>::reverse);
        assert_eq!(found, read(&one).unwrap());
    }
}

/// Raw elements are looked at while they are copied: the first one that is not finite is still named, with its object.
#[test]
fn a_lone_nan_in_a_raw_object_is_named() {
    let good = bytes(&ramp(50_000));
    for place in [0, 8191, 8192, 33_333, 49_999] {
        let mut bad = good.clone();
        bad[place * 8..place * 8 + 8].copy_from_slice(&f64::NEG_INFINITY.to_le_bytes());
        for threads in [1, 2] {
            let options = EncodeOptions { threads, ..EncodeOptions::default() };
            let descriptor = doubles(50_000);
            let objects = [(&descriptor, &good[..]), (&descriptor, &bad[..])];
            let error = encode(&GlobalMetadata::default(), &objects, &options).unwrap_err();
            assert_eq!(error.code(), "inf_not_allowed");
            let text = error.to_string();
            assert!(text.contains(&format!("element {place} is -Inf")) && text.contains("object[1]"), "{text}");
        }
    }
}
