//! What holds for every codec, on random objects: what goes in comes out, a part is a part of the whole, threads change
//! nothing, and damage is an error or has the declared size.

#[path = "common/cases.rs"]
mod cases;
mod common;

use cases::{CODECS, Case, Random};
use fw_tensogram::{
    DataObjectDescriptor, DecodeOptions, EncodeOptions, GlobalMetadata, MessageView, SliceCost, TensogramError, Value,
    encode, encode_pre_encoded,
};
use fw_tensor::{AxisSlice, ByteOrder, DType, Selection, select};

/// Values of an object that every codec shares between threads.
const LARGE: u64 = 320_000;

#[test]
fn lossless_pipelines_return_what_went_in() {
    let mut lossless = 0;
    each_case(1, 40, |_, case, what| {
        let message = encoded(case, 1);
        let view = MessageView::open(&message).unwrap();
        let object = view.object(0).unwrap();
        let wire = DecodeOptions { native_byte_order: false, ..DecodeOptions::default() };
        let found = object.decode(&wire).unwrap();
        assert_eq!(found.len(), case.data.len(), "{what}");
        if case.is_lossless() {
            assert!(found == case.data, "{what}");
            lossless += 1;
        }
        let mut native = found;
        if case.descriptor.byte_order != ByteOrder::NATIVE {
            native.chunks_exact_mut(case.descriptor.dtype.swap_unit()).for_each(<[u8]>::reverse);
        }
        assert!(object.decode(&DecodeOptions::default()).unwrap() == native, "{what}");
    });
    assert!(lossless > 200, "{lossless} lossless cases");
}

/// Whatever was in the caller's memory is overwritten, all of it, and only memory of the right size is taken.
#[test]
fn the_callers_buffer_is_filled_exactly() {
    each_case(7, 40, |_, case, what| {
        let message = encoded(case, 1);
        let view = MessageView::open(&message).unwrap();
        let object = view.object(0).unwrap();
        for native_byte_order in [true, false] {
            for threads in [1, 2] {
                let options = DecodeOptions { native_byte_order, threads, ..DecodeOptions::default() };
                let mut memory = vec![0xa5; case.data.len() + 2];
                let (end, out) = (memory.len() - 1, &mut memory[1..]);
                object.decode_into(&options, &mut out[..case.data.len()]).unwrap();
                assert!(memory[1..end] == object.decode(&options).unwrap(), "{what}");
                assert_eq!((memory[0], memory[end]), (0xa5, 0xa5), "{what}");
            }
        }
        for len in [case.data.len() + 1, case.data.len().wrapping_sub(1)] {
            if len <= case.data.len() + 1 {
                let error = object.decode_into(&DecodeOptions::default(), &mut vec![0; len]).unwrap_err();
                assert_eq!(error.code(), "buffer_length_mismatch", "{what}");
            }
        }
    });
}

#[test]
fn ranges_are_slices_of_the_whole() {
    each_case(2, 40, |random, case, what| {
        if !case.has_ranges() {
            return;
        }
        let message = encoded(case, 1);
        let view = MessageView::open(&message).unwrap();
        let object = view.object(0).unwrap();
        let whole = object.decode(&DecodeOptions::default()).unwrap();
        let (count, width) = (case.descriptor.element_count().unwrap(), case.descriptor.dtype.byte_width().unwrap());
        let mut ranges = case.ranges.clone();
        for _ in 0..8 {
            let first = random.below(count + 1);
            ranges.push((first, random.below((count - first + 1).min(70))));
        }
        let parts = object.decode_range(&ranges, &DecodeOptions::default().with_threads(2)).unwrap();
        for ((first, len), part) in ranges.iter().zip(parts) {
            let expected = &whole[*first as usize * width..(first + len) as usize * width];
            assert!(part == expected, "{first}, {len}: {what}");
        }
    });
}

#[test]
fn slices_are_slices_of_the_whole() {
    each_case(3, 40, |random, case, what| {
        let message = encoded(case, 1);
        let view = MessageView::open(&message).unwrap();
        let object = view.object(0).unwrap();
        if case.descriptor.dtype == DType::Bitmask {
            assert!(object.slice(Selection::new(), &DecodeOptions::default()).is_err(), "{what}");
            return;
        }
        let whole = object.decode(&DecodeOptions::default()).unwrap();
        for _ in 0..4 {
            let (selection, axes) = random_selection(random, &case.descriptor.shape);
            let found = object.slice(&selection, &DecodeOptions::default()).unwrap();
            let expected = gather(&whole, &case.descriptor, &axes);
            assert!(found.data() == expected, "{selection:?} of {what}");
        }
    });
}

/// What a slice costs is told before anything is decoded: the fewest runs, what covers them, or everything.
#[test]
fn slices_say_what_they_cost() {
    let values: Vec<u8> = (0..10_000).flat_map(|at| (f64::from(at) * 0.01).sin().to_le_bytes()).collect();
    let doubles = || DataObjectDescriptor {
        byte_order: ByteOrder::Little,
        ..DataObjectDescriptor::new(DType::Float64, &[100, 100]).unwrap()
    };
    let cost = |descriptor: DataObjectDescriptor, selection: Selection| {
        let message = encode(&GlobalMetadata::default(), &[(&descriptor, &values)], &EncodeOptions::default()).unwrap();
        MessageView::open(&message).unwrap().object(0).unwrap().slice_cost(selection).unwrap()
    };
    // Whole rows lie one behind the other; parts of rows do not.
    assert_eq!(cost(doubles(), select![10..20, ..]), SliceCost::Runs { count: 1 });
    assert_eq!(cost(doubles(), select![10..20, 5..8]), SliceCost::Runs { count: 10 });
    assert_eq!(cost(doubles(), select![10..20; 2, 5..8]), SliceCost::Runs { count: 5 });
    assert_eq!(cost(doubles(), select![3, 5..15; 2]), SliceCost::Runs { count: 5 });
    let part = || select![10..20, 5..8];
    let packed = || doubles().with_encoding("simple_packing").with_param("sp_bits_per_value", 16u64);
    let shuffled = || doubles().with_filter("shuffle").with_param("shuffle_element_size", 8u64);
    let szip = |descriptor: DataObjectDescriptor| {
        descriptor
            .with_compression("szip")
            .with_param("szip_rsi", 128u64)
            .with_param("szip_block_size", 16u64)
            .with_param("szip_flags", 8u64)
    };
    let zfp = |mode: &str, key: &str, value: Value| {
        doubles().with_compression("zfp").with_param("zfp_mode", mode).with_param(key, value)
    };
    let sz3 = doubles().with_param("sz3_error_bound_mode", "abs").with_param("sz3_error_bound", 0.001);
    // Each run has a block of its own.
    let fixed_rate = zfp("fixed_rate", "zfp_rate", Value::from(16.0));
    assert_eq!(cost(fixed_rate, part()), SliceCost::Runs { count: 10 });
    // From the first element wanted to the last.
    let cover = SliceCost::Cover { elements: 9 * 100 + 3 };
    for descriptor in [
        packed(),
        szip(packed()),
        doubles().with_compression("blosc2"),
        zfp("fixed_precision", "zfp_precision", Value::from(20u64)),
    ] {
        assert_eq!(cost(descriptor.clone(), part()), cover, "{descriptor:?}");
    }
    for descriptor in [
        doubles().with_compression("zstd"),
        doubles().with_compression("lz4"),
        shuffled().with_compression("zstd"),
        szip(shuffled()),
        sz3.with_compression("sz3"),
    ] {
        assert_eq!(cost(descriptor.clone(), part()), SliceCost::Whole, "{descriptor:?}");
    }
}

#[test]
fn threads_do_not_change_bytes() {
    each_case(4, 12, |_, case, what| same_with_threads(case, what));
}

/// Large enough for every codec to share its work: several hundred thousand values each.
#[test]
fn threads_do_not_change_the_bytes_of_large_objects() {
    let values: Vec<f64> = (0..LARGE).map(|at| (at as f64 * 0.001).sin() * 50.0 + (at % 11) as f64 * 0.125).collect();
    let doubles: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let swapped: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
    let words: Vec<u8> = values.iter().flat_map(|value| ((value * 100.0) as i32).to_le_bytes()).collect();
    let holes = values.iter().enumerate().map(|(at, value)| match at % 301 {
        0 => f64::NAN,
        1 | 5 => f64::INFINITY,
        17 if at > 200_000 => f64::NEG_INFINITY,
        _ => *value,
    });
    let holes: Vec<u8> = holes.flat_map(f64::to_le_bytes).collect();
    let float64 = || little(DType::Float64);
    let int32 = || little(DType::Int32);
    let packed = |bits: u64| float64().with_encoding("simple_packing").with_param("sp_bits_per_value", bits);
    let szip = |descriptor: DataObjectDescriptor| {
        descriptor
            .with_compression("szip")
            .with_param("szip_rsi", 128u64)
            .with_param("szip_block_size", 16u64)
            .with_param("szip_flags", 8u64)
    };
    let shuffled = int32().with_filter("shuffle").with_param("shuffle_element_size", 4u64);
    let sz3 = float64().with_param("sz3_error_bound_mode", "abs").with_param("sz3_error_bound", 0.001);
    let zfp = |mode: &str, key: &str, value: Value| {
        float64().with_compression("zfp").with_param("zfp_mode", mode).with_param(key, value)
    };
    let big = DataObjectDescriptor { byte_order: ByteOrder::Big, ..float64() };
    let blosc2 = |codec: &str| int32().with_compression("blosc2").with_param("blosc2_codec", codec);
    let masked = EncodeOptions { allow_nan: true, allow_inf: true, ..EncodeOptions::default() };
    let plain = EncodeOptions::default();
    let objects = [
        (float64(), &doubles, &plain),
        (big.clone(), &swapped, &plain),
        (float64(), &holes, &masked),
        (packed(24), &doubles, &plain),
        (packed(11), &doubles, &plain),
        (szip(packed(24)), &doubles, &plain),
        (szip(int32()), &words, &plain),
        (shuffled.clone(), &words, &plain),
        (shuffled.clone().with_compression("zstd"), &words, &plain),
        (shuffled.with_compression("lz4"), &words, &plain),
        (int32().with_compression("lz4"), &words, &plain),
        (blosc2("lz4"), &words, &plain),
        (blosc2("blosclz"), &words, &plain),
        (blosc2("zstd").with_param("blosc2_clevel", 1u64), &words, &plain),
        (sz3.with_compression("sz3"), &doubles, &plain),
        (zfp("fixed_rate", "zfp_rate", Value::from(12.0)), &doubles, &plain),
        (zfp("fixed_precision", "zfp_precision", Value::from(20u64)), &doubles, &plain),
        (zfp("fixed_accuracy", "zfp_tolerance", Value::from(0.01)), &doubles, &plain),
    ];
    for (descriptor, data, options) in &objects {
        let case = Case {
            descriptor: descriptor.clone(),
            data: data.to_vec(),
            options: (*options).clone(),
            ranges: Vec::new(),
        };
        same_with_threads(&case, &case.label());
    }
    // All of them in one message: objects are spread over the threads too.
    let whole = |threads| {
        let options = EncodeOptions { threads, provenance: Some(common::provenance()), ..masked.clone() };
        let all: Vec<_> = objects.iter().map(|(descriptor, data, _)| (descriptor, data.as_slice())).collect();
        encode(&GlobalMetadata::default(), &all[..8], &options).unwrap()
    };
    let message = whole(1);
    assert!(whole(2) == message && whole(4) == message);
}

/// From 32 MiB on a zstd frame is made of jobs, whoever does them.
#[test]
fn threads_do_not_change_the_bytes_of_a_long_zstd_frame() {
    let count = (33 << 20) / 4u64;
    let data: Vec<u8> = (0..count as u32).flat_map(|at| ((at / 3) ^ ((at >> 9) & 15)).to_le_bytes()).collect();
    let mut descriptor = DataObjectDescriptor::new(DType::UInt32, &[count]).unwrap().with_compression("zstd");
    descriptor.byte_order = ByteOrder::Little;
    let case = Case {
        descriptor: descriptor.with_param("zstd_level", -5i64),
        data,
        options: EncodeOptions::default(),
        ranges: Vec::new(),
    };
    same_with_threads(&case, "33 MiB");
}

#[test]
fn damaged_payloads_are_errors_or_have_the_declared_size() {
    let mut refused = 0;
    each_case(5, 25, |random, case, what| {
        let message = encoded(case, 1);
        let view = MessageView::open(&message).unwrap();
        let object = view.object(0).unwrap();
        if object.masks().next().is_some() {
            return;
        }
        for _ in 0..10 {
            let mut payload = object.payload().to_vec();
            match random.below(4) {
                0 => payload.truncate(random.below(payload.len() as u64 + 1) as usize),
                1 => payload.extend((0..1 + random.below(9)).map(|at| at as u8)),
                _ if payload.is_empty() => continue,
                2 => {
                    let at = random.below(payload.len() as u64) as usize;
                    payload[at] ^= 1 << random.below(8);
                }
                _ => {
                    let at = random.below(payload.len() as u64) as usize;
                    let end = payload.len().min(at + 8);
                    payload[at..end].fill(random.pick(&[0, 0xff, 0x7f]));
                }
            }
            let descriptor = object.descriptor();
            let stored =
                encode_pre_encoded(&GlobalMetadata::default(), &[(descriptor, &payload)], &EncodeOptions::default());
            // Offsets may now lie outside the payload, or the length may be plainly wrong.
            let Ok(damaged) = stored else {
                refused += 1;
                continue;
            };
            let view = MessageView::open(&damaged).unwrap();
            let object = view.object(0).unwrap();
            match object.decode(&DecodeOptions::default()) {
                Ok(found) => {
                    assert_eq!(found.len(), case.data.len(), "{what}");
                    // Nothing that stood in the memory before shows through.
                    let mut out = vec![0xa5; found.len()];
                    object.decode_into(&DecodeOptions::default(), &mut out).unwrap();
                    assert!(out == found, "{what}");
                }
                Err(_) => refused += 1,
            }
            if let Ok(parts) = object.decode_range(&case.ranges, &DecodeOptions::default()) {
                let width = descriptor.dtype.byte_width().unwrap_or(1) as u64;
                assert!(parts.iter().zip(&case.ranges).all(|(part, range)| part.len() as u64 == range.1 * width));
            }
        }
    });
    assert!(refused > 500, "only {refused} refused");
}

/// Bytes changed where they stand in the message: a digest notices all of it, and without one the answer is an error
/// or has the declared size, also when masks are hit.
#[test]
fn damage_in_place_is_noticed_by_digests_and_harmless_without() {
    let (mut masked, mut refused, mut read) = (0, 0, 0);
    each_case(6, 25, |random, case, what| {
        let message = encoded(case, 1);
        let view = MessageView::open(&message).unwrap();
        let object = view.object(0).unwrap();
        let region = object.parts().region;
        let masks: u64 = object.masks().map(|(_, mask, _)| mask.length).sum();
        if region.is_empty() {
            return;
        }
        for round in 0..8 {
            // Every other time in the masks, where there are some.
            let (start, len) = match round % 2 == 0 && masks > 0 {
                true => (region.end - masks, masks),
                false => (region.start, region.len()),
            };
            masked += u32::from(start > region.start);
            let mut damaged = message.clone();
            let at = (start + random.below(len)) as usize;
            let end = (at + 1 + random.below(4) as usize).min(region.end as usize);
            let change = 1 << random.below(8);
            damaged[at..end].iter_mut().for_each(|byte| *byte ^= change);
            let view = MessageView::open(&damaged).unwrap();
            let object = view.object(0).unwrap();
            let verified = object.decode(&DecodeOptions::default().with_verify_hash());
            assert!(matches!(verified, Err(TensogramError::HashMismatch { .. })), "{what}");
            for options in [
                DecodeOptions::default(),
                DecodeOptions { restore_non_finite: false, ..DecodeOptions::default() },
                DecodeOptions::default().with_threads(2),
            ] {
                match object.decode(&options) {
                    Ok(found) => {
                        assert_eq!(found.len(), case.data.len(), "{what}");
                        read += 1;
                    }
                    Err(_) => refused += 1,
                }
            }
            if let Ok(masks) = object.decode_masks() {
                let count = object.descriptor().element_count().unwrap();
                assert!([masks.nan, masks.pos_inf, masks.neg_inf].iter().flatten().all(|mask| mask.count() == count));
            }
            _ = object.decode_range(&case.ranges, &DecodeOptions::default());
            _ = object.slice(Selection::new(), &DecodeOptions::default());
        }
    });
    assert!(masked > 50 && refused > 200 && read > 200, "{masked} in masks, {refused} refused, {read} read");
}

/// `count` random cases of every codec.
fn each_case(seed: u64, count: usize, mut check: impl FnMut(&mut Random, &Case, &str)) {
    for (index, codec) in CODECS.iter().enumerate() {
        let mut random = Random::new(seed << 32 | index as u64);
        for number in 0..count {
            let case = random.case(codec);
            check(&mut random, &case, &format!("{codec} {number}: {}", case.label()));
        }
    }
}

fn encoded(case: &Case, threads: usize) -> Vec<u8> {
    let options = EncodeOptions { threads, provenance: Some(common::provenance()), ..case.options.clone() };
    encode(&GlobalMetadata::default(), &[(&case.descriptor, &case.data)], &options)
        .unwrap_or_else(|error| panic!("{error}: {}", case.label()))
}

fn same_with_threads(case: &Case, what: &str) {
    let message = encoded(case, 1);
    let decoded = |threads| {
        let view = MessageView::open(&message).unwrap();
        view.object(0).unwrap().decode(&DecodeOptions::default().with_threads(threads)).unwrap()
    };
    let values = decoded(1);
    for threads in [2, 4] {
        assert!(encoded(case, threads) == message, "encoding with {threads} threads: {what}");
        assert!(decoded(threads) == values, "decoding with {threads} threads: {what}");
    }
}

fn little(dtype: DType) -> DataObjectDescriptor {
    DataObjectDescriptor { byte_order: ByteOrder::Little, ..DataObjectDescriptor::new(dtype, &[LARGE]).unwrap() }
}

/// A selection, and the indices it means along each axis, worked out the slow way.
fn random_selection(random: &mut Random, shape: &[u64]) -> (Selection, Vec<Vec<u64>>) {
    let mut selection = Selection::new();
    let mut axes = Vec::new();
    for &len in shape {
        let (low, high) = (random.below(len + 1), random.below(len + 1));
        let (start, end) = (low.min(high) as i64, low.max(high) as i64);
        match random.below(5) {
            0 if len > 0 => {
                let index = random.below(len);
                selection = selection.axis(index as i64);
                axes.push(vec![index]);
            }
            1 => {
                selection = selection.axis(..);
                axes.push((0..len).collect());
            }
            2 => {
                selection = selection.axis(start..end);
                axes.push((start as u64..end as u64).collect());
            }
            3 => {
                let step = 1 + random.below(4);
                selection = selection.stepped(start..end, step as i64);
                axes.push((start as u64..end as u64).step_by(step as usize).collect());
            }
            _ => {
                // Backwards over the whole axis.
                let step = 1 + random.below(3);
                selection = selection.axis(AxisSlice::stepped(.., -(step as i64)));
                axes.push((0..len).rev().step_by(step as usize).collect());
            }
        }
    }
    (selection, axes)
}

/// The elements at all combinations of the indices.
fn gather(whole: &[u8], descriptor: &DataObjectDescriptor, axes: &[Vec<u64>]) -> Vec<u8> {
    let width = descriptor.dtype.byte_width().unwrap();
    let mut places = vec![0u64];
    for (indices, len) in axes.iter().zip(&descriptor.shape) {
        places = places.iter().flat_map(|place| indices.iter().map(move |index| place * len + index)).collect();
    }
    places.iter().flat_map(|place| whole[*place as usize * width..][..width].iter().copied()).collect()
}
