//! Chains of every kind: round trips, ranges, byte orders, threads, refusals, limits.

use super::*;
use crate::{CodecErrorKind, Reach, Window, swap};
use proptest::prelude::*;

fn floats(count: usize, order: ByteOrder) -> Vec<u8> {
    let value = |i: usize| 270.0 + 20.0 * (i as f64 * 0.01).sin() + (i * 7919 % 13) as f64 * 0.001;
    let mut bytes: Vec<u8> = (0..count).flat_map(|i| value(i).to_ne_bytes()).collect();
    if order != ByteOrder::NATIVE {
        swap::swap_threaded(&mut bytes, 8, 1);
    }
    bytes
}

fn szip() -> Compression {
    Compression::Szip(SzipSettings { szip_rsi: 4, szip_block_size: 8, szip_flags: 8, szip_block_offsets: None })
}

/// Compressors that take any bytes.
fn general() -> impl Strategy<Value = Compression> {
    prop_oneof![
        Just(Compression::None),
        Just(Compression::Lz4(Lz4Settings)),
        (-5i32..12).prop_map(|level| Compression::Zstd(ZstdSettings { zstd_level: Some(level) })),
        Just(Compression::Zstd(ZstdSettings { zstd_level: None })),
        (0i32..10)
            .prop_map(|level| Compression::Blosc2(Blosc2Settings { blosc2_codec: None, blosc2_clevel: Some(level) })),
        Just(Compression::Blosc2(Blosc2Settings { blosc2_codec: Some(Blosc2Codec::Zstd), blosc2_clevel: None })),
    ]
}

/// Stages for float64 that lose nothing but what packing loses, or the rate.
fn stages() -> impl Strategy<Value = Stages> {
    let encoding = prop_oneof![
        2 => Just(Encoding::None),
        3 => (1u64..=64).prop_map(|bits| Encoding::SimplePacking(SimplePacking::bits(bits))),
    ];
    let shuffle = Filter::Shuffle(ShuffleSettings { shuffle_element_size: 8 });
    let bytes = Filter::Shuffle(ShuffleSettings { shuffle_element_size: 1 });
    let odd = Filter::Shuffle(ShuffleSettings { shuffle_element_size: 4 });
    prop_oneof![
        6 => (encoding, general()).prop_map(|(encoding, compression)| Stages { encoding, compression, ..Stages::default() }),
        3 => (prop_oneof![Just(shuffle), Just(bytes), Just(odd)], general())
            .prop_map(|(filter, compression)| Stages { filter, compression, ..Stages::default() }),
        1 => general().prop_map(|compression| Stages {
            encoding: Encoding::SimplePacking(SimplePacking::bits(16)),
            filter: Filter::Shuffle(ShuffleSettings { shuffle_element_size: 2 }),
            compression,
        }),
        2 => prop_oneof![Just(8u64), Just(16), Just(24), Just(32)].prop_map(|bits| Stages {
            encoding: Encoding::SimplePacking(SimplePacking::bits(bits)),
            compression: szip(),
            ..Stages::default()
        }),
        1 => prop_oneof![Just(Filter::Shuffle(ShuffleSettings { shuffle_element_size: 8 }))].prop_map(|filter| Stages {
            filter,
            compression: szip(),
            ..Stages::default()
        }),
        1 => (4f64..40.0).prop_map(|zfp_rate| Stages {
            compression: Compression::Zfp(ZfpSettings::FixedRate { zfp_rate }),
            ..Stages::default()
        }),
    ]
}

/// The stages with what encoding found out, as a reader meets them.
fn completed(mut stages: Stages, derived: &Derived) -> Stages {
    if let Some(encoding) = &derived.encoding {
        stages.encoding = encoding.clone();
    }
    if let Some(compression) = &derived.compression {
        stages.compression = compression.clone();
    }
    stages
}

proptest! {
    #[test]
    fn chains_round_trip_and_ranges_are_slices(
        stages in stages(),
        count in 1usize..900,
        big: bool,
        out_big: bool,
        ranges in proptest::collection::vec((0u64..900, 0u64..300), 1..5),
    ) {
        let order = if big { ByteOrder::Big } else { ByteOrder::Little };
        let out_order = if out_big { ByteOrder::Big } else { ByteOrder::Little };
        let input = floats(count, order);
        let lossy = stages.encoding != Encoding::None || matches!(stages.compression, Compression::Zfp(_));
        let pipeline = Pipeline::new(stages.clone(), DType::Float64, count as u64, order).unwrap();
        let encoded = pipeline.encode(&input, 1).unwrap();
        prop_assert_eq!(&pipeline.encode(&input, 3).unwrap(), &encoded);
        let (parts, derived) = pipeline.encode_gathered(&input, 1).unwrap();
        prop_assert!(parts.concat() == encoded.payload && derived == encoded.derived);
        let stages = completed(stages, &encoded.derived);
        let pipeline = Pipeline::new(stages, DType::Float64, count as u64, order).unwrap();

        let options = DecodeOptions::default().with_order(out_order);
        let whole = pipeline.decode(&encoded.payload, &options).unwrap();
        prop_assert_eq!(&pipeline.decode(&encoded.payload, &options.with_threads(3)).unwrap(), &whole);
        if !lossy {
            let mut expected = input.clone();
            swap::swap_threaded(&mut expected, if order == out_order { 0 } else { 8 }, 1);
            prop_assert_eq!(&whole, &expected);
        }
        let ranges: Vec<_> = ranges.iter().map(|(start, len)| {
            let start = (*start).min(count as u64);
            start..(start + len).min(count as u64)
        }).collect();
        let mut expected = Vec::new();
        for range in &ranges {
            let slice = &whole[range.start as usize * 8..range.end as usize * 8];
            expected.extend_from_slice(slice);
            let mut part = vec![0xee; slice.len()];
            // What a remote reader holds: only the span.
            let total_len = encoded.payload.len() as u64;
            let window = match pipeline.plan(total_len, range.clone()).unwrap() {
                Plan::Partial { span: Some(span) } => {
                    Window::part(&encoded.payload[span.start as usize..span.end as usize], span.start, total_len)
                }
                _ => Window::whole(&encoded.payload),
            };
            let outcome = pipeline.decode_range_into(window, range.clone(), &options, &mut part);
            if outcome.as_ref().is_err_and(|error| error.code == "partial_payload") {
                pipeline.decode_range_into(Window::whole(&encoded.payload), range.clone(), &options, &mut part).unwrap();
            } else {
                outcome.unwrap();
            }
            prop_assert_eq!(&part[..], slice);
        }
        let mut out = vec![0xee; expected.len()];
        pipeline.decode_ranges_into(Window::whole(&encoded.payload), &ranges, &options, &mut out).unwrap();
        prop_assert_eq!(out, expected);
    }

    #[test]
    fn scattered_runs_are_slices(
        stages in stages(),
        count in 1usize..3000,
        runs in proptest::collection::vec((0u64..3000, 0u64..60), 1..40),
        threads in 1usize..4,
    ) {
        let input = floats(count, ByteOrder::Little);
        let pipeline = Pipeline::new(stages.clone(), DType::Float64, count as u64, ByteOrder::Little).unwrap();
        let encoded = pipeline.encode(&input, 1).unwrap();
        let stages = completed(stages, &encoded.derived);
        let pipeline = Pipeline::new(stages, DType::Float64, count as u64, ByteOrder::Little).unwrap();
        let options = DecodeOptions::default().with_order(ByteOrder::Little).with_threads(threads);
        let whole = pipeline.decode(&encoded.payload, &options).unwrap();
        let runs: Vec<_> = runs.iter().map(|(start, len)| {
            let start = start % (count as u64 + 1);
            start..(start + len).min(count as u64)
        }).collect();
        let expected: Vec<u8> = runs.iter()
            .flat_map(|run| whole[run.start as usize * 8..run.end as usize * 8].iter().copied()).collect();
        let mut out = vec![0xee; expected.len()];
        let payload = Window::whole(&encoded.payload);
        pipeline.decode_ranges_into(payload, &runs, &options, &mut out).unwrap();
        prop_assert!(out == expected);
        if let RunPlan::Covers(covers) = pipeline.plan_runs(Some(payload), runs.iter().cloned()).unwrap() {
            // In order, apart, and every run inside one of them.
            prop_assert!(covers.windows(2).all(|pair| pair[0].end <= pair[1].start), "{:?}", covers);
            let inside = |run: &std::ops::Range<u64>| {
                run.is_empty() || covers.iter().any(|cover| cover.start <= run.start && run.end <= cover.end)
            };
            prop_assert!(runs.iter().all(inside));
        }
    }

    #[test]
    fn damage_never_panics(
        stages in stages(),
        count in 1usize..400,
        damage in proptest::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let input = floats(count, ByteOrder::Little);
        let pipeline = Pipeline::new(stages.clone(), DType::Float64, count as u64, ByteOrder::Little).unwrap();
        let encoded = pipeline.encode(&input, 1).unwrap();
        let stages = completed(stages, &encoded.derived);
        let pipeline = Pipeline::new(stages, DType::Float64, count as u64, ByteOrder::Little).unwrap();
        let mut payload = encoded.payload;
        for (place, value) in damage {
            let place = place.index(payload.len());
            payload[place] ^= value;
        }
        payload.truncate(payload.len() - cut.index(payload.len() + 1) / 2);
        let mut out = vec![0; count * 8];
        let _ = pipeline.decode_into(&payload, &DecodeOptions::default(), &mut out);
        let _ = pipeline.decode_into(&payload, &DecodeOptions::default().with_threads(2), &mut out);
        let range = count as u64 / 3..count as u64;
        let part = &mut out[..(count - count / 3) * 8];
        let _ = pipeline.decode_range_into(Window::whole(&payload), range, &DecodeOptions::default(), part);
    }
}

/// The third run joins the second, and draws it back over the first.
#[test]
fn covers_that_grow_backwards_are_joined() {
    let stages = Stages { filter: Filter::Shuffle(ShuffleSettings { shuffle_element_size: 8 }), ..Stages::default() };
    let pipeline = Pipeline::new(stages, DType::Float64, 386, ByteOrder::Little).unwrap();
    let runs = [58..82, 192..193, 110..129, 0..1];
    let access = pipeline.plan_runs(None, runs).unwrap();
    assert_eq!(access, RunPlan::Covers(Vec::from([0..193; 1])));
}

#[test]
fn ranges_of_every_codec_say_what_they_cost() {
    let plan = |stages: Stages, dtype: DType| {
        let pipeline = Pipeline::new(stages, dtype, 1000, ByteOrder::Little).unwrap();
        (pipeline.reach().ok(), pipeline.plan(5000, 10..20).ok())
    };
    let compressed = |compression| Stages { compression, ..Stages::default() };
    let span = |start, end| Some(Plan::Partial { span: Some(fw_bytes::Span::new(start, end)) });
    assert_eq!(plan(Stages::default(), DType::Float32), (Some(Reach::Blocks), span(40, 80)));
    let packed = Stages { encoding: Encoding::SimplePacking(SimplePacking::bits(12)), ..Stages::default() };
    assert_eq!(plan(packed, DType::Float64), (Some(Reach::Blocks), span(15, 30)));
    assert_eq!(plan(compressed(Compression::Lz4(Lz4Settings)), DType::Int8), (Some(Reach::Whole), Some(Plan::Whole)));
    let blosc2 = Compression::Blosc2(Blosc2Settings { blosc2_codec: None, blosc2_clevel: None });
    assert_eq!(plan(compressed(blosc2), DType::Int8), (Some(Reach::Blocks), Some(Plan::Partial { span: None })));
    let shuffled = Stages { filter: Filter::Shuffle(ShuffleSettings { shuffle_element_size: 4 }), ..Stages::default() };
    assert_eq!(plan(shuffled, DType::Float32), (Some(Reach::Blocks), Some(Plan::Partial { span: None })));
    let rate = Compression::Zfp(ZfpSettings::FixedRate { zfp_rate: 16.0 });
    assert_eq!(plan(compressed(rate), DType::Float64), (Some(Reach::Blocks), span(16, 40)));
    assert_eq!(plan(compressed(szip()), DType::Int8), (Some(Reach::FromStart), Some(Plan::Whole)));
    assert_eq!(plan(Stages::default(), DType::Bitmask), (None, None));

    let pipeline = Pipeline::new(Stages::default(), DType::Int16, 10, ByteOrder::Little).unwrap();
    #[expect(clippy::reversed_empty_ranges, reason = "a caller may ask for anything")]
    for range in [9..11, 11..11, 5..4, u64::MAX - 1..u64::MAX] {
        assert_eq!(pipeline.plan(20, range.clone()).unwrap_err().code, "range_out_of_bounds");
        let outcome =
            pipeline.decode_range_into(Window::whole(&[0; 20]), range, &DecodeOptions::default(), &mut [0; 4]);
        assert_eq!(outcome.unwrap_err().code, "range_out_of_bounds");
    }
    let decode = |payload: &[u8], out: &mut [u8]| {
        pipeline.decode_range_into(Window::whole(payload), 2..4, &DecodeOptions::default(), out).unwrap_err().code
    };
    assert_eq!(decode(&[0; 20], &mut [0; 3]), "output_length_mismatch");
    assert_eq!(decode(&[0; 19], &mut [0; 4]), "payload_length_mismatch");
    let window = Window::part(&[0; 6], 0, 20);
    let outcome = pipeline.decode_range_into(window, 2..4, &DecodeOptions::default(), &mut [0; 4]);
    assert_eq!(outcome.unwrap_err().code, "partial_payload");
}

/// Whatever is asked for, no block of a codec is decoded twice: covers lie in different blocks.
#[test]
fn blocks_are_decoded_once() {
    let count = 20_000u64;
    let input = floats(count as usize, ByteOrder::Little);
    let access = |stages: Stages, runs: &mut dyn Iterator<Item = u64>| {
        let pipeline = Pipeline::new(stages.clone(), DType::Float64, count, ByteOrder::Little).unwrap();
        let encoded = pipeline.encode(&input, 1).unwrap();
        let stages = completed(stages, &encoded.derived);
        let pipeline = Pipeline::new(stages, DType::Float64, count, ByteOrder::Little).unwrap();
        pipeline.plan_runs(Some(Window::whole(&encoded.payload)), runs.map(|first| first..first + 1)).unwrap()
    };
    let compressed = |compression| Stages { compression, ..Stages::default() };
    let one = |cover: std::ops::Range<u64>| RunPlan::Covers(std::iter::once(cover).collect());
    let zfp = |zfp_rate| compressed(Compression::Zfp(ZfpSettings::FixedRate { zfp_rate }));
    // Every second value, forwards and backwards: one cover of all.
    assert_eq!(access(zfp(16.0), &mut (0..count).step_by(2)), one(0..19_999));
    assert_eq!(access(zfp(16.0), &mut (0..count).rev().step_by(2)), one(1..20_000));
    // Values 0 and 3 share a block, that of 4 is its neighbour; blocks between are left out.
    assert_eq!(access(zfp(16.0), &mut [3, 4, 0, 40].into_iter()), RunPlan::Covers(vec![0..5, 40..41]));
    assert_eq!(access(zfp(16.0), &mut [40, 3].into_iter()), RunPlan::Runs);
    // 32 samples of two bytes in an interval.
    let packed =
        Stages { encoding: Encoding::SimplePacking(SimplePacking::bits(16)), compression: szip(), ..Stages::default() };
    assert_eq!(access(packed, &mut [31, 0, 64, 95].into_iter()), RunPlan::Covers(vec![0..32, 64..96]));
    let precision = compressed(Compression::Zfp(ZfpSettings::FixedPrecision { zfp_precision: 20 }));
    assert_eq!(access(precision, &mut [90, 5].into_iter()), one(5..91));
    assert_eq!(access(compressed(Compression::Lz4(Lz4Settings)), &mut [90, 5].into_iter()), RunPlan::Whole);
    assert_eq!(access(Stages::default(), &mut [90, 5, 6].into_iter()), RunPlan::Runs);
    let blosc2 = compressed(Compression::Blosc2(Blosc2Settings { blosc2_codec: None, blosc2_clevel: Some(1) }));
    assert_eq!(access(blosc2, &mut (0..count).step_by(100)), one(0..19_901));
}

#[test]
fn combinations_that_cannot_be_read_back_are_refused() {
    let refused = |encoding, filter, compression, dtype| {
        let stages = Stages { encoding, filter, compression };
        Pipeline::new(stages, dtype, 40, ByteOrder::Little).unwrap_err().code
    };
    let sp = |bits| Encoding::SimplePacking(SimplePacking::bits(bits));
    let shuffle = |shuffle_element_size| Filter::Shuffle(ShuffleSettings { shuffle_element_size });
    let blosc2 = |level| Compression::Blosc2(Blosc2Settings { blosc2_codec: None, blosc2_clevel: Some(level) });
    let zfp = || Compression::Zfp(ZfpSettings::FixedRate { zfp_rate: 16.0 });
    let sz3 = || Compression::Sz3(Sz3Settings { sz3_error_bound_mode: Sz3Mode::Abs, sz3_error_bound: 0.1 });
    let (none, plain) = (Encoding::None, Filter::None);
    const COMBINATION: &str = "unsupported_combination";
    for (code, encoding, filter, compression, dtype) in [
        (COMBINATION, sp(16), plain.clone(), Compression::None, DType::Float32),
        ("sp_bits_per_value_range", sp(65), plain.clone(), Compression::None, DType::Float64),
        ("shuffle_element_size_mismatch", none.clone(), shuffle(0), Compression::None, DType::Float32),
        ("shuffle_element_size_mismatch", none.clone(), shuffle(7), Compression::None, DType::Float32),
        ("shuffle_element_size_mismatch", sp(12), shuffle(8), Compression::None, DType::Float64),
        (COMBINATION, none.clone(), plain.clone(), zfp(), DType::Float32),
        (COMBINATION, none.clone(), shuffle(8), zfp(), DType::Float64),
        (COMBINATION, sp(16), plain.clone(), zfp(), DType::Float64),
        (COMBINATION, none.clone(), plain.clone(), sz3(), DType::Int64),
        (COMBINATION, sp(16), plain.clone(), sz3(), DType::Float64),
        (COMBINATION, none.clone(), plain.clone(), Compression::Rle(RleSettings), DType::UInt8),
        (COMBINATION, none.clone(), plain.clone(), Compression::Roaring(RoaringSettings), DType::Float32),
        (COMBINATION, none.clone(), plain.clone(), blosc2(5), DType::Bitmask),
        (COMBINATION, sp(0), plain.clone(), blosc2(5), DType::Float64),
        ("blosc2_clevel_invalid", none.clone(), plain.clone(), blosc2(10), DType::Float32),
        (COMBINATION, none.clone(), plain.clone(), szip(), DType::Float64),
        (COMBINATION, none.clone(), plain.clone(), szip(), DType::Complex64),
        (COMBINATION, none.clone(), plain.clone(), szip(), DType::Bitmask),
        (COMBINATION, sp(12), plain.clone(), szip(), DType::Float64),
        (COMBINATION, sp(33), plain.clone(), szip(), DType::Float64),
    ] {
        let found = refused(encoding.clone(), filter.clone(), compression.clone(), dtype);
        assert_eq!(found, code, "{encoding:?} {filter:?} {compression:?} {dtype}");
    }
    let half = SimplePacking { sp_reference_value: Some(1.0), ..SimplePacking::bits(8) };
    assert_eq!(
        refused(Encoding::SimplePacking(half), plain, Compression::None, DType::Float64),
        "sp_parameters_incomplete"
    );
    let huge = Pipeline::new(Stages::default(), DType::Float64, u64::MAX / 8, ByteOrder::Little);
    assert_eq!(huge.unwrap_err().code, "object_too_large");
}

#[test]
fn lengths_and_values_are_checked() {
    let pipeline = Pipeline::new(Stages::default(), DType::Float32, 3, ByteOrder::Little).unwrap();
    assert_eq!(pipeline.encode(&[0; 11], 1).unwrap_err().code, "input_length_mismatch");
    let nan: Vec<u8> = [1.0f32, f32::NAN, 2.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    assert_eq!(pipeline.encode(&nan, 1).unwrap_err().code, "nan_not_allowed");
    for len in [0, 11, 13] {
        let error = pipeline.decode(&vec![0; len], &DecodeOptions::default()).unwrap_err();
        assert_eq!(error.code, "payload_length_mismatch");
    }
    let outcome = pipeline.decode_into(&[0; 12], &DecodeOptions::default(), &mut [0; 8]);
    assert_eq!(outcome.unwrap_err().code, "output_length_mismatch");
    let packed = Stages { encoding: Encoding::SimplePacking(SimplePacking::bits(8)), ..Stages::default() };
    let pipeline = Pipeline::new(packed, DType::Float64, 3, ByteOrder::Little).unwrap();
    let error = pipeline.decode(&[0; 3], &DecodeOptions::default()).unwrap_err();
    assert_eq!((error.kind, error.code), (CodecErrorKind::Parameter, "sp_parameters_incomplete"));
    // Only the encoder has a default for the decimal scale factor.
    let given =
        SimplePacking { sp_reference_value: Some(1.0), sp_binary_scale_factor: Some(0), ..SimplePacking::bits(8) };
    for (decimal, complete) in [(None, false), (Some(0), true)] {
        let stages = Stages {
            encoding: Encoding::SimplePacking(SimplePacking { sp_decimal_scale_factor: decimal, ..given }),
            ..Stages::default()
        };
        let pipeline = Pipeline::new(stages, DType::Float64, 3, ByteOrder::Little).unwrap();
        assert!(pipeline.encode(&floats(3, ByteOrder::Little), 1).is_ok());
        let decoded = pipeline.decode(&[0; 3], &DecodeOptions::default());
        assert_eq!(
            decoded.as_ref().map_err(|error| error.code).err(),
            (!complete).then_some("sp_parameters_incomplete")
        );
    }
    let mut with_nan = floats(3, ByteOrder::Little);
    with_nan[8..16].copy_from_slice(&f64::NAN.to_le_bytes());
    assert_eq!(pipeline.encode(&with_nan, 1).unwrap_err().code, "nan_not_allowed");
    let zero = Stages { encoding: Encoding::SimplePacking(SimplePacking::bits(0)), ..Stages::default() };
    let pipeline = Pipeline::new(zero, DType::Float64, 3, ByteOrder::Little).unwrap();
    assert_eq!(pipeline.encode(&with_nan, 1).unwrap_err().code, "nan_not_allowed");
}

#[test]
fn bombs_are_refused_before_memory_is_reserved() {
    let zero_bits =
        SimplePacking { sp_reference_value: Some(1.0), sp_binary_scale_factor: Some(0), ..SimplePacking::bits(0) };
    let stages = Stages { encoding: Encoding::SimplePacking(zero_bits), ..Stages::default() };
    let bomb = Pipeline::new(stages, DType::Float64, 1 << 40, ByteOrder::Little).unwrap();
    let error = bomb.decode(&[], &DecodeOptions::default()).unwrap_err();
    assert_eq!((error.kind, error.code), (CodecErrorKind::Limit, "limit_expansion_ratio"));
    assert!(error.message.contains("expansion_ratio"));
    let strict = DecodeOptions::default().with_limits(Limits::untrusted());
    let large = Pipeline::new(Stages::default(), DType::UInt8, 65 << 20, ByteOrder::Little).unwrap();
    assert_eq!(large.decode(&[], &strict).unwrap_err().code, "limit_object_len");
    // Below the limits, but not what the payload says: three gigabytes are never reserved.
    for compression in [Compression::Zstd(ZstdSettings { zstd_level: None }), Compression::Lz4(Lz4Settings)] {
        let stages = Stages { compression, ..Stages::default() };
        let small = Pipeline::new(stages.clone(), DType::UInt8, 100, ByteOrder::Little).unwrap();
        let payload = small.encode(&[7; 100], 1).unwrap().payload;
        let claims = Pipeline::new(stages, DType::UInt8, 3 << 30, ByteOrder::Little).unwrap();
        assert_eq!(claims.decode(&payload, &DecodeOptions::default()).unwrap_err().code, "decoded_length_mismatch");
    }
}

/// Large and out of proportion: both, or it passes.
#[test]
fn sizes_are_refused_from_the_default_limits_on() {
    let check = |decoded: u64, payload: u64| {
        let stages = Stages { compression: Compression::Zstd(ZstdSettings { zstd_level: None }), ..Stages::default() };
        let pipeline = Pipeline::new(stages, DType::UInt8, decoded, ByteOrder::Little).unwrap();
        pipeline.check_limits(payload, &Limits::default()).map_err(|error| (error.kind, error.code, error.message))
    };
    let floor = 4 << 30;
    assert_eq!(check(floor, 0), Ok(()));
    assert_eq!(check(256 << 30, 1 << 30), Ok(()));
    assert_eq!(check(floor + 1, (16 << 20) + 1), Ok(()));
    for (decoded, payload) in
        [(floor + 1, 0), (floor + 1, 16 << 20), ((256 << 30) + 1, 1 << 30), (u64::MAX / 8, 1 << 52)]
    {
        let (kind, code, message) = check(decoded, payload).unwrap_err();
        assert_eq!((kind, code), (CodecErrorKind::Limit, "limit_expansion_ratio"), "{decoded} from {payload}");
        for part in ["expansion_ratio", "256 times", "expansion_floor (4294967296 bytes)"] {
            assert!(message.contains(part), "{message}");
        }
    }
}

/// A zstd behind a shuffle knows that it compresses planes; one behind a shuffle of single bytes, which moves nothing, does not.
#[test]
fn zstd_is_told_what_a_shuffle_left() {
    use crate::Codec as _;
    let value = |i: u32| 280.0 + 15.0 * (i as f32 / 900.0).sin() + (i as f32 / 37.0).cos();
    let input: Vec<u8> = (0..100_000).flat_map(|i| value(i).to_le_bytes()).collect();
    for (size, planes) in [(4, true), (2, true), (1, false)] {
        let stages = Stages {
            filter: Filter::Shuffle(ShuffleSettings { shuffle_element_size: size }),
            compression: Compression::Zstd(ZstdSettings { zstd_level: None }),
            ..Stages::default()
        };
        let pipeline = Pipeline::new(stages, DType::Float32, 100_000, ByteOrder::Little).unwrap();
        let payload = pipeline.encode(&input, 1).unwrap().payload;
        let mut shuffled = vec![0; input.len()];
        crate::shuffle::shuffle(&input, size as usize, &mut shuffled);
        let codec = crate::zstd::Zstd::default();
        let mut expected = Vec::new();
        (if planes { codec.for_planes() } else { codec }).encode(&shuffled, 1, &mut expected).unwrap();
        assert!(payload == expected, "elements of {size} bytes");
        let options = DecodeOptions::default().with_order(ByteOrder::Little);
        assert!(pipeline.decode(&payload, &options).unwrap() == input, "elements of {size} bytes");
    }
}

#[test]
fn empty_objects_pass_through() {
    for compression in
        [Compression::None, Compression::Lz4(Lz4Settings), Compression::Zstd(ZstdSettings { zstd_level: None }), szip()]
    {
        let stages = Stages { compression, ..Stages::default() };
        let pipeline = Pipeline::new(stages.clone(), DType::Float32, 0, ByteOrder::Little).unwrap();
        let encoded = pipeline.encode(&[], 1).unwrap();
        assert_eq!(pipeline.decode(&encoded.payload, &DecodeOptions::default()).unwrap(), [], "{stages:?}");
    }
}
