//! What holds for every codec, on random objects: what goes in comes out, a part is a part of the whole, threads change
//! nothing, and damage is an error or has the declared size.

#[path = "common/cases.rs"]
mod cases;
mod common;

use cases::{CODECS, Case, Random};
use fw_tensogram::{
    DataObjectDescriptor, DecodeOptions, EncodeOptions, GlobalMetadata, MessageView, encode, encode_pre_encoded,
};
use fw_tensor::{AxisSlice, ByteOrder, DType, Selection};

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
            assert!(object.slice(&Selection::new(), &DecodeOptions::default()).is_err(), "{what}");
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

#[test]
fn threads_do_not_change_bytes() {
    each_case(4, 12, |_, case, what| same_with_threads(case, what));
    // Large enough for the work to be shared.
    let values: Vec<f64> = (0..60_000).map(|at| (f64::from(at) * 0.001).sin() * 50.0 + f64::from(at % 11)).collect();
    let doubles: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let words: Vec<u8> = values.iter().flat_map(|value| ((value * 100.0) as i32).to_le_bytes()).collect();
    let float64 = || little(DType::Float64);
    let int32 = || little(DType::Int32);
    let packed = || float64().with_encoding("simple_packing").with_param("sp_bits_per_value", 24u64);
    let szip = |descriptor: DataObjectDescriptor| {
        descriptor
            .with_compression("szip")
            .with_param("szip_rsi", 128u64)
            .with_param("szip_block_size", 16u64)
            .with_param("szip_flags", 8u64)
    };
    let shuffled = int32().with_filter("shuffle").with_param("shuffle_element_size", 4u64);
    let sz3 = float64().with_param("sz3_error_bound_mode", "abs").with_param("sz3_error_bound", 0.001);
    let zfp = float64().with_param("zfp_mode", "fixed_rate").with_param("zfp_rate", 12.0);
    let objects = [
        (packed(), &doubles),
        (szip(packed()), &doubles),
        (szip(int32()), &words),
        (shuffled.clone(), &words),
        (shuffled.with_compression("zstd"), &words),
        (int32().with_compression("lz4"), &words),
        (int32().with_compression("blosc2"), &words),
        (sz3.with_compression("sz3"), &doubles),
        (zfp.with_compression("zfp"), &doubles),
    ];
    for (descriptor, data) in objects {
        let case = Case { descriptor, data: data.clone(), options: EncodeOptions::default(), ranges: Vec::new() };
        same_with_threads(&case, &case.label());
    }
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
                Ok(found) => assert_eq!(found.len(), case.data.len(), "{what}"),
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
    DataObjectDescriptor { byte_order: ByteOrder::Little, ..DataObjectDescriptor::new(dtype, &[60_000]).unwrap() }
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
