//! Ranges (clauses 5.4, 9.3, 10.3, 10.4, 15).

use super::*;

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
            let shifted = numbers
                .iter()
                .enumerate()
                .map(|(at, number)| Value::Integer(if at > 0 && at % stride == 0 { number + shift } else { *number }));
            let lying = object.descriptor().clone().with_param("szip_block_offsets", Value::Array(shifted.collect()));
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
