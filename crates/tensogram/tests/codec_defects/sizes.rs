//! Sizes, damage and bombs (clauses 4, 7, 8, 11.3, 12, 13, 18).

use super::*;

/// The reference returns buffers of the wrong length for most of these (4).
#[test]
fn another_decoded_size_than_declared_is_an_error() {
    let words: Vec<u8> = (0..1000u16).flat_map(u16::to_le_bytes).collect();
    let uint16 = |count| DataObjectDescriptor::new(DType::UInt16, &[count]).unwrap();
    let bits = |count| DataObjectDescriptor::new(DType::Bitmask, &[count]).unwrap();
    let shuffled = |count| uint16(count).with_filter("shuffle").with_param("shuffle_element_size", 1u64);
    type Make<'a> = Box<dyn Fn(u64) -> DataObjectDescriptor + 'a>;
    let makes: Vec<(Make<'_>, u64, Vec<u8>)> = vec![
        (Box::new(uint16), 1000, words.clone()),
        (Box::new(shuffled), 1000, words.clone()),
        (Box::new(|count| uint16(count).with_compression("zstd")), 1000, words.clone()),
        (Box::new(|count| shuffled(count).with_compression("zstd")), 1000, words.clone()),
        (Box::new(|count| uint16(count).with_compression("lz4")), 1000, words.clone()),
        (Box::new(|count| uint16(count).with_compression("blosc2")), 1000, words.clone()),
        (Box::new(|count| sz3(doubles(count), 0.01)), 1000, bytes(&ramp(1000))),
        (Box::new(|count| sz3(doubles(count), 0.0)), 1000, bytes(&ramp(1000))),
        (Box::new(|count| zfp_rate(doubles(count), 16.0)), 1000, bytes(&ramp(1000))),
        (Box::new(|count| bits(count).with_compression("rle")), 4000, vec![0xf0; 500]),
        (Box::new(|count| bits(count).with_compression("roaring")), 4000, vec![0xf0; 500]),
    ];
    for (make, count, data) in &makes {
        let honest = message(&make(*count), data).unwrap();
        read(&honest).unwrap();
        for claimed in [0, 1, count / 2, count - 64, count + 64, count * 2, count * 100] {
            let descriptor = make(claimed);
            let Ok(lying) = pre_encoded(&descriptor, &payload(&honest)) else { continue };
            let result = read(&lying);
            assert!(result.is_err(), "{claimed} claimed, {count} stored: {descriptor:?}");
        }
    }
    // szip streams do not say where they end; what is missing is an error all the same.
    let honest = message(&szip(uint16(1000), 8), &words).unwrap();
    let lying = pre_encoded(&szip(uint16(100_000), 8), &payload(&honest)).unwrap();
    assert!(read(&lying).is_err());
    assert_small_heap();
}

/// The reference fills what is missing with zeros, or copies memory that was never written (10.4, 11.3, 12).
#[test]
fn truncated_payloads_are_errors() {
    let values = bytes(&ramp(1000));
    let words: Vec<u8> = (0..1000u16).flat_map(u16::to_le_bytes).collect();
    let uint16 = || DataObjectDescriptor::new(DType::UInt16, &[1000]).unwrap();
    let zfp = |mode: &str, key: &str, value: Value| {
        doubles(1000).with_compression("zfp").with_param("zfp_mode", mode).with_param(key, value)
    };
    let objects = [
        (zfp_rate(doubles(1000), 16.0), &values),
        (zfp("fixed_precision", "zfp_precision", Value::from(30u64)), &values),
        (zfp("fixed_accuracy", "zfp_tolerance", Value::from(1e-6)), &values),
        (sz3(doubles(1000), 1e-3), &values),
        (szip(uint16(), 8), &words),
        (uint16().with_compression("zstd"), &words),
        (uint16().with_compression("lz4"), &words),
        (uint16().with_compression("blosc2"), &words),
    ];
    for (descriptor, data) in objects {
        let message = message(&descriptor, data).unwrap();
        let whole = payload(&message);
        for len in [0, 1, 8, whole.len() / 2, whole.len() - 9] {
            let mut described = descriptor_of(&message);
            described.params.remove("szip_block_offsets");
            let cut = pre_encoded(&described, &whole[..len]).unwrap();
            assert!(read(&cut).is_err(), "{len} of {} bytes: {descriptor:?}", whole.len());
        }
    }
}

/// A few bytes that claim or unpack to gigabytes cost the reference gigabytes, or half a minute (7, 8, 13, 18).
#[test]
fn bombs_cost_nothing() {
    let uint8 = |count| DataObjectDescriptor::new(DType::UInt8, &[count]).unwrap();
    let bits = |count| DataObjectDescriptor::new(DType::Bitmask, &[count]).unwrap();
    let zeros = vec![0u8; 8 << 20];
    for codec in ["zstd", "lz4", "blosc2"] {
        let big = message(&uint8(8 << 20).with_compression(codec), &zeros).unwrap();
        for claimed in [1, 600] {
            assert!(
                read(&pre_encoded(&uint8(claimed).with_compression(codec), &payload(&big)).unwrap()).is_err(),
                "{codec}"
            );
        }
        // The other way round: a little payload that claims to be a terabyte.
        let little = message(&uint8(64).with_compression(codec), &zeros[..64]).unwrap();
        for claimed in [1 << 40, 1 << 60] {
            assert!(read(&pre_encoded(&uint8(claimed).with_compression(codec), &payload(&little)).unwrap()).is_err());
        }
    }
    for codec in ["rle", "roaring"] {
        let counts = [0xff, 0xff, 0xff, 0xf8, 0x00, 0xf8, 0xff, 0xff, 0xff, 0x0f];
        for claimed in [16, 1 << 40] {
            assert!(read(&pre_encoded(&bits(claimed).with_compression(codec), &counts).unwrap()).is_err(), "{codec}");
        }
    }
    let lz4 = [0xff, 0xff, 0xff, 0xff, 0x1f, 0, 1, 0, 0xff];
    assert!(read(&pre_encoded(&uint8(600).with_compression("lz4"), &lz4).unwrap()).is_err());
    // Without bits every payload is empty, whatever the shape says.
    let nothing = doubles(1 << 40)
        .with_encoding("simple_packing")
        .with_param("sp_bits_per_value", 0u64)
        .with_param("sp_reference_value", 1.5)
        .with_param("sp_binary_scale_factor", 0i64);
    let nothing = pre_encoded(&nothing, &[]).unwrap();
    let error = read(&nothing).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Limit, "limit_expansion_ratio"), "{error}");
    let view = MessageView::open(&nothing).unwrap();
    let object = view.object(0).unwrap();
    for ranges in [&[(0, 1 << 40)][..], &[(5, 1 << 39), (0, 1 << 39)]] {
        let error = object.decode_range(ranges, &DecodeOptions::default()).unwrap_err();
        assert_eq!(error.code(), "limit_expansion_ratio", "{error}");
    }
    let error = object.slice(select![..; 2], &DecodeOptions::default()).unwrap_err();
    assert_eq!(error.code(), "limit_expansion_ratio", "{error}");
    for claimed in [1 << 32, 1 << 50] {
        for descriptor in [zfp_rate(doubles(claimed), 16.0), sz3(doubles(claimed), 0.1), szip(uint8(claimed), 8)] {
            assert!(read(&pre_encoded(&descriptor, &[0; 64]).unwrap()).is_err(), "{descriptor:?}");
        }
    }
    assert_small_heap();
}

/// Little masks that claim to be about a tera of elements: whatever is asked, nothing is reserved for them (14, 18).
#[test]
fn masks_of_bombs_cost_nothing() {
    let count = 1 << 40;
    let constant = doubles(count)
        .with_encoding("simple_packing")
        .with_param("sp_bits_per_value", 0u64)
        .with_param("sp_reference_value", 1.5)
        .with_param("sp_binary_scale_factor", 0i64);
    let long_run = [0x01, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20]; // 2^40 ones
    let run_container = [0x3b, 0x30, 0, 0, 1, 0, 0, 0xff, 0xff, 1, 0, 0, 0, 0xff, 0xff];
    let blobs: [(&str, &[u8]); 9] = [
        ("none", &[0xff; 64]),
        ("rle", &long_run),
        ("rle", &[0x01, 0x40]),
        ("roaring", &run_container),
        ("lz4", &[0, 0, 0, 0, 0x1f, 0, 1, 0, 0xff]),
        ("lz4", &[0xff, 0xff, 0xff, 0x7f, 0x1f, 0, 1, 0, 0xff]),
        ("zstd", &[0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0x01, 0, 0]),
        ("zstd", &[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 0x03, 0xff, 0xff, 0x00]),
        ("blosc2", &[0x9e, 0xa8, b'b', b'2']),
    ];
    // With the limits as they are, and with none at all.
    let mut unlimited = fw_bytes::Limits::default();
    (unlimited.expansion_floor, unlimited.object_len) = (u64::MAX, u64::MAX);
    for (method, blob) in blobs {
        for (descriptor, payload) in [(constant.clone(), &[][..]), (doubles(count), &[0; 64])] {
            let frame = masked(descriptor, payload, method, blob);
            for options in [DecodeOptions::default(), DecodeOptions::default().with_limits(unlimited)] {
                assert!(decode_object_from_frame(&frame, &options).is_err(), "{method}: {blob:?}");
                // A part of the constant is no bomb; the mask that goes with it is still refused.
                assert!(decode_range_from_frame(&frame, &[(0, 4)], &options).is_err(), "{method}: {blob:?}");
            }
        }
    }
    assert_small_heap();
}

/// Sizes in a frame set to nonsense make the reference read and write outside its buffers (9).
#[test]
fn blosc2_frames_are_checked_field_by_field() {
    let data: Vec<u8> = (0..20_000u32).flat_map(|at| (at / 5).to_le_bytes()).collect();
    let descriptor = DataObjectDescriptor::new(DType::UInt32, &[20_000]).unwrap().with_compression("blosc2");
    let frame = payload(&message(&descriptor, &data).unwrap());
    for at in (0..160).chain(frame.len() - 80..frame.len() - 4) {
        for pattern in [[0xff, 0xff, 0xff, 0x7f], [0x7f, 0xff, 0xff, 0xff], [0xff; 4], [0; 4]] {
            let mut damaged = frame.clone();
            damaged[at..at + 4].copy_from_slice(&pattern);
            if let Ok(found) = read(&pre_encoded(&descriptor, &damaged).unwrap()) {
                assert_eq!(found.len(), data.len(), "{pattern:?} at {at}");
            }
        }
    }
    assert_small_heap();
}

/// A wrong magic or version aborts the process of the reference; a damaged inner part returns memory never written (12).
#[test]
fn sz3_streams_are_checked_byte_by_byte() {
    let descriptor = sz3(doubles(3000), 1e-3);
    let stream = payload(&message(&descriptor, &bytes(&ramp(3000))).unwrap());
    let read_damaged = |at: usize, change: u8| {
        let mut damaged = stream.clone();
        damaged[at] ^= change;
        read(&pre_encoded(&descriptor, &damaged).unwrap())
    };
    for at in 0..8 {
        assert!(read_damaged(at, 0x10).is_err(), "magic and version, byte {at}");
    }
    for at in 0..stream.len() {
        for change in [1, 0x80, 0xff] {
            if let Ok(found) = read_damaged(at, change) {
                assert_eq!(found.len(), 24_000, "byte {at}");
            }
        }
    }
    assert_small_heap();
}

/// Every damaged message of the shared vectors, crashes of the reference included: an error, or the declared size.
#[test]
fn damaged_vectors_are_errors_or_have_the_declared_size() {
    let mut seen = 0;
    for entry in std::fs::read_dir(vectors()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("corrupt-") || !name.ends_with(".tgm") {
            continue;
        }
        let message = std::fs::read(&path).unwrap();
        seen += 1;
        let Ok(view) = MessageView::open(&message) else { continue };
        for object in view.objects().flatten() {
            if let Ok(found) = object.decode(&DecodeOptions::default()) {
                assert_eq!(found.len() as u64, object.descriptor().decoded_len().unwrap(), "{name}");
            }
            _ = object.decode_range(&[(0, 1), (3, 4)], &DecodeOptions::default());
            _ = object.decode_masks();
        }
    }
    assert!(seen > 50, "{seen} damaged messages");
    assert_small_heap();
}
