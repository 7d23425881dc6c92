//! Where the reference implementation is known to be wrong, lax or to crash, and what is done here instead. The clauses are
//! those of the codec specification.

use fw_tensogram::*;
use fw_tensor::{ByteOrder, DType, select};
use peak_alloc::PeakAlloc;
use std::path::PathBuf;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

// ---- combinations (clauses 1, 3, 9, 10.4, 11, 12)

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
            assert_eq!(read(&forged).unwrap_err().code(), "unsupported_combination", "{codec} {descriptor:?}");
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

// ---- ranges (clauses 5.4, 9.3, 10.3, 10.4, 15)

/// The reference returns padding, or anything when there are no bits, for ranges that reach past the end.
#[test]
fn ranges_past_the_end_are_refused_for_every_codec() {
    let values = bytes(&ramp(3000));
    let words: Vec<u8> = (0..3000u16).flat_map(u16::to_le_bytes).collect();
    let packed = |bits: u64| doubles(3000).with_encoding("simple_packing").with_param("sp_bits_per_value", bits);
    let uint16 = || DataObjectDescriptor::new(DType::UInt16, &[3000]).unwrap();
    let objects = [
        (doubles(3000), &values),
        (packed(0), &values),
        (packed(13), &values),
        (szip(packed(24), 8), &values),
        (szip(uint16(), 8), &words),
        (uint16().with_compression("blosc2"), &words),
        (packed(13).with_compression("blosc2"), &values),
        (zfp_rate(doubles(3000), 8.0), &values),
        (
            doubles(3000)
                .with_compression("zfp")
                .with_param("zfp_mode", "fixed_precision")
                .with_param("zfp_precision", 20u64),
            &values,
        ),
    ];
    for (descriptor, data) in &objects {
        let message = message(descriptor, data).unwrap();
        let view = MessageView::open(&message).unwrap();
        let object = view.object(0).unwrap();
        for range in
            [(2999, 2), (3000, 1), (3001, 0), (0, 3001), (u64::MAX, 1), (u64::MAX, 0), (1, u64::MAX), (2, u64::MAX / 8)]
        {
            let error = object.decode_range(&[range], &DecodeOptions::default()).unwrap_err();
            assert_eq!(error.code(), "range_out_of_bounds", "{range:?} of {descriptor:?}");
        }
        let whole = read(&message).unwrap();
        let width = descriptor.dtype.byte_width().unwrap();
        let ranges = [(3000, 0), (0, 0), (2999, 1), (0, 3000)];
        let parts = object.decode_range(&ranges, &DecodeOptions::default()).unwrap();
        assert_eq!(parts, [&[][..], &[], &whole[2999 * width..], &whole]);
    }
    assert_small_heap();
}

/// The reference asks for whole items and fails where the payload ends in the middle of one (9.3).
#[test]
fn blosc2_ranges_reach_into_an_incomplete_last_item() {
    for (bits, count) in [(13u64, 601u64), (37, 1498), (3, 5), (61, 1501)] {
        // Zeros too: the reference dies of its own message with nothing but zeros and an incomplete item.
        for values in [ramp(count), vec![68.0; count as usize]] {
            let descriptor = doubles(count)
                .with_encoding("simple_packing")
                .with_param("sp_bits_per_value", bits)
                .with_compression("blosc2");
            let message = message(&descriptor, &bytes(&values)).unwrap();
            let whole = read(&message).unwrap();
            let view = MessageView::open(&message).unwrap();
            let ranges = [(0, count), (count - 1, 1), (count - 3, 2), (count, 0)];
            let parts = view.object(0).unwrap().decode_range(&ranges, &DecodeOptions::default()).unwrap();
            let at = |first: u64, len: u64| &whole[first as usize * 8..(first + len) as usize * 8];
            let expected: Vec<&[u8]> = ranges.iter().map(|(first, len)| at(*first, *len)).collect();
            assert_eq!(parts, expected, "{bits} bits, {count} values");
        }
    }
}

/// Offsets that the reference wrote may point before the last block of an interval; ranges through them returned garbage
/// (10.3). Ours are true, and no other ones are believed.
#[test]
fn szip_offsets_are_true_and_never_trusted() {
    // Zero blocks before the last one of each interval, which is coded on its own: where the reference errs.
    let data: Vec<u8> = (0..4096u32).flat_map(|at| (if at % 64 >= 56 { at % 7 } else { 0 }).to_le_bytes()).collect();
    let descriptor = szip(DataObjectDescriptor::new(DType::UInt32, &[4096]).unwrap(), 8)
        .with_param("szip_rsi", 8u64)
        .with_param("szip_block_size", 8u64);
    let honest = message(&descriptor, &data).unwrap();
    let view = MessageView::open(&honest).unwrap();
    let object = view.object(0).unwrap();
    let offsets = object.descriptor().params["szip_block_offsets"].as_array().unwrap().to_vec();
    assert_eq!(offsets.len(), 64);
    let numbers: Vec<i128> = offsets.iter().map(|offset| offset.as_integer().unwrap()).collect();
    for shift in [0, -1, 1, -9, 5] {
        for stride in [1, 3, 63] {
            let told = numbers
                .iter()
                .enumerate()
                .map(|(at, number)| Value::Integer(if at > 0 && at % stride == 0 { number + shift } else { *number }));
            let lying = object.descriptor().clone().with_param("szip_block_offsets", Value::Array(told.collect()));
            let Ok(lying) = pre_encoded(&lying, object.payload()) else { continue };
            assert_eq!(read(&lying).unwrap(), data, "shift {shift} every {stride}");
            let view = MessageView::open(&lying).unwrap();
            for first in (0..4000).step_by(61) {
                // An error would be honest; other values would not.
                match view.object(0).unwrap().decode_range(&[(first, 90)], &DecodeOptions::default()) {
                    Ok(parts) => {
                        let first = first as usize * 4;
                        assert!(parts[0] == data[first..first + 360], "shift {shift} every {stride} from {first}");
                    }
                    Err(error) => panic!("shift {shift} every {stride} from {first}: {error}"),
                }
            }
        }
    }
}

/// Offsets that come with a finished payload begin at 0, increase and lie inside it; other codecs have none (16).
#[test]
fn given_szip_offsets_are_checked() {
    let words: Vec<u8> = (0..5000u16).flat_map(u16::to_le_bytes).collect();
    let uint16 = DataObjectDescriptor::new(DType::UInt16, &[5000]).unwrap();
    let encoded = message(&szip(uint16.clone(), 8), &words).unwrap();
    let (honest, stream) = (descriptor_of(&encoded), payload(&encoded));
    assert_eq!(read(&pre_encoded(&honest, &stream).unwrap()).unwrap(), words);
    let given = |value: Value| pre_encoded(&honest.clone().with_param("szip_block_offsets", value), &stream);
    let list = |numbers: &[i128]| Value::Array(numbers.iter().copied().map(Value::Integer).collect());
    let bits = stream.len() as i128 * 8;
    given(list(&[0, 1, bits])).unwrap();
    let wrong = [&[][..], &[1], &[0, 0], &[0, 9, 5], &[0, bits + 1], &[0, -1], &[0, i128::from(u64::MAX) + 1]];
    let values = wrong.iter().map(|numbers| list(numbers)).chain([
        Value::from(0u64),
        Value::from("0"),
        Value::Array(vec![Value::from(0u64), Value::from(8.0)]),
    ]);
    for value in values {
        let error = given(value.clone()).unwrap_err();
        assert!(matches!(error, TensogramError::Metadata(_)), "{value:?}: {error}");
    }
    let raw = uint16.with_param("szip_block_offsets", list(&[0]));
    assert!(matches!(pre_encoded(&raw, &words), Err(TensogramError::Metadata(_))));
    // Encoding keeps the key of another codec, which means nothing to it.
    assert_eq!(descriptor_of(&message(&raw, &words).unwrap()).params["szip_block_offsets"], list(&[0]));
}

/// Without values there are no offsets, but the range of nothing is still there.
#[test]
fn szip_objects_without_values_have_an_empty_range() {
    let empty = message(&szip(DataObjectDescriptor::new(DType::UInt16, &[4, 0]).unwrap(), 8), &[]).unwrap();
    let view = MessageView::open(&empty).unwrap();
    let object = view.object(0).unwrap();
    assert_eq!(object.decode_range(&[(0, 0)], &DecodeOptions::default()).unwrap(), [[0u8; 0]]);
    assert!(object.decode_range(&[(0, 1)], &DecodeOptions::default()).is_err());
}

/// Messages of the reference whose offsets are wrong, as it wrote them: whole, in parts and on threads (10.3).
#[test]
fn recorded_wrong_szip_offsets_are_read_right() {
    let mut wrong = 0;
    for number in 0..4 {
        let recorded = std::fs::read(vectors().join(format!("szip-offsetquirk-{number}.tgm"))).unwrap();
        let view = MessageView::open(&recorded).unwrap();
        let object = view.object(0).unwrap();
        let descriptor = object.descriptor();
        let whole = object.decode(&DecodeOptions::default()).unwrap();
        // The same elements from us: the payload is the same, the offsets need not be.
        let ours = message(descriptor, &whole).unwrap();
        assert_eq!(payload(&ours), object.payload(), "vector {number}");
        wrong +=
            u32::from(descriptor_of(&ours).params["szip_block_offsets"] != descriptor.params["szip_block_offsets"]);
        let (count, width) = (descriptor.element_count().unwrap(), descriptor.dtype.byte_width().unwrap());
        for threads in [1, 2, 4] {
            let options = DecodeOptions::default().with_threads(threads);
            assert!(object.decode(&options).unwrap() == whole, "vector {number} on {threads} threads");
            for first in (0..count - 40).step_by(13) {
                let part = object.decode_range(&[(first, 40)], &options).unwrap().remove(0);
                assert!(part == whole[first as usize * width..][..40 * width], "vector {number} from {first}");
            }
            let stepped = object.slice(select![7..; 50], &options).unwrap();
            let expected: Vec<u8> = whole.chunks(width).skip(7).step_by(50).flatten().copied().collect();
            assert_eq!(stepped.data(), expected, "vector {number} in steps");
        }
    }
    assert!(wrong >= 3, "{wrong} of the recorded messages have wrong offsets");
}

/// The reference reads no part without offsets; here the stream is walked (10.4).
#[test]
fn szip_without_offsets_is_walked() {
    let data: Vec<u8> = (0..5000u16).flat_map(|at| (at / 3).to_le_bytes()).collect();
    let full = message(&szip(DataObjectDescriptor::new(DType::UInt16, &[5000]).unwrap(), 8), &data).unwrap();
    let view = MessageView::open(&full).unwrap();
    let object = view.object(0).unwrap();
    let mut bare = object.descriptor().clone();
    bare.params.remove("szip_block_offsets");
    let bare = pre_encoded(&bare, object.payload()).unwrap();
    assert_eq!(read(&bare).unwrap(), data);
    let view = MessageView::open(&bare).unwrap();
    let object = view.object(0).unwrap();
    for ranges in [&[(0, 1)][..], &[(4999, 1)], &[(0, 5000)], &[(4000, 100), (17, 3), (4050, 900), (5000, 0)]] {
        let parts = object.decode_range(ranges, &DecodeOptions::default()).unwrap();
        for ((first, len), part) in ranges.iter().zip(parts) {
            assert!(part == data[*first as usize * 2..(first + len) as usize * 2], "{len} from {first}");
        }
    }
    assert_eq!(object.decode_range(&[(4999, 2)], &DecodeOptions::default()).unwrap_err().code(), "range_out_of_bounds");
    let slice = object.slice(select![4000..4100], &DecodeOptions::default()).unwrap();
    assert_eq!(slice.data(), &data[8000..8200]);
}

// ---- sizes (clauses 4, 7, 8, 11.3, 12, 13, 18)

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

// ---- helpers

fn vectors() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors/tensogram-codecs")
}

fn ramp(count: u64) -> Vec<f64> {
    (0..count).map(|at| (at as f64 * 0.01).sin() * 30.0 + (at % 7) as f64 * 0.001).collect()
}

fn bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn doubles(count: u64) -> DataObjectDescriptor {
    DataObjectDescriptor {
        byte_order: ByteOrder::Little,
        ..DataObjectDescriptor::new(DType::Float64, &[count]).unwrap()
    }
}

fn szip(descriptor: DataObjectDescriptor, flags: u64) -> DataObjectDescriptor {
    descriptor
        .with_compression("szip")
        .with_param("szip_rsi", 128u64)
        .with_param("szip_block_size", 16u64)
        .with_param("szip_flags", flags)
}

fn zfp_rate(descriptor: DataObjectDescriptor, rate: f64) -> DataObjectDescriptor {
    descriptor.with_compression("zfp").with_param("zfp_mode", "fixed_rate").with_param("zfp_rate", rate)
}

fn sz3(descriptor: DataObjectDescriptor, bound: f64) -> DataObjectDescriptor {
    descriptor.with_compression("sz3").with_param("sz3_error_bound_mode", "abs").with_param("sz3_error_bound", bound)
}

fn message(descriptor: &DataObjectDescriptor, data: &[u8]) -> Result<Vec<u8>> {
    encode(&GlobalMetadata::default(), &[(descriptor, data)], &EncodeOptions::default())
}

/// A message whose payload is stored as given, and need not be that of its descriptor.
fn pre_encoded(descriptor: &DataObjectDescriptor, payload: &[u8]) -> Result<Vec<u8>> {
    encode_pre_encoded(&GlobalMetadata::default(), &[(descriptor, payload)], &EncodeOptions::default())
}

/// An object's frame as no encoder writes it: with a mask of NaN of anybody's choice behind the payload.
fn masked(mut descriptor: DataObjectDescriptor, payload: &[u8], method: &str, blob: &[u8]) -> Vec<u8> {
    let mut masks = MasksMetadata::default();
    let (offset, length) = (payload.len() as u64, blob.len() as u64);
    masks.set(MaskKind::Nan, MaskDescriptor { method: method.to_owned(), offset, length, params: MetadataMap::new() });
    descriptor.masks = Some(masks);
    let cbor = descriptor.to_cbor();
    let cbor_offset = 16 + (payload.len() + blob.len()) as u64;
    let length = cbor_offset + cbor.len() as u64 + 20;
    // Type 9, version 1, descriptor behind the payload, no digest.
    let header = [&b"FR\0\x09\0\x01\0\x01"[..], &length.to_be_bytes()].concat();
    [&header, payload, blob, &cbor, &cbor_offset.to_be_bytes(), &[0; 8], b"ENDF"].concat()
}

fn descriptor_of(message: &[u8]) -> DataObjectDescriptor {
    MessageView::open(message).unwrap().object(0).unwrap().descriptor().clone()
}

fn payload(message: &[u8]) -> Vec<u8> {
    MessageView::open(message).unwrap().object(0).unwrap().payload().to_vec()
}

/// The same message with another compression in its descriptor: what a writer that checks nothing would leave.
fn renamed(message: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let key = [b"compression", &[0x60 + from.len() as u8][..], from.as_bytes()].concat();
    let at = message.windows(key.len()).position(|window| window == key).expect("the descriptor names it");
    let mut renamed = message.to_vec();
    renamed[at + key.len() - to.len()..at + key.len()].copy_from_slice(to.as_bytes());
    renamed
}

fn read(message: &[u8]) -> Result<Vec<u8>> {
    MessageView::open(message)?.object(0)?.decode(&DecodeOptions::default())
}

/// All tests of this file together, side by side, never hold what one bomb would unpack to.
fn assert_small_heap() {
    let peak = HEAP.peak_usage();
    assert!(peak < 128 << 20, "{peak} bytes were held at once");
}
