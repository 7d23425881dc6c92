//! Against a plain classification of every element, for every type, order and method.

use super::*;
use crate::finite::Layout;
use fw_tensor::{ByteOrder, DType};
use proptest::prelude::*;

const FLOATS: [DType; 6] =
    [DType::Float16, DType::BFloat16, DType::Float32, DType::Float64, DType::Complex64, DType::Complex128];

fn both() -> Options {
    Options { allow_nan: true, allow_inf: true, ..Options::default() }
}

/// Elements with all kinds in all parts; 0 to 8 stand for pairs of kinds, anything else for finite.
fn elements(dtype: DType, order: ByteOrder, choices: &[u8]) -> Vec<u8> {
    let layout = Layout::of(dtype).unwrap();
    let mut bytes = Vec::new();
    for (index, choice) in choices.iter().enumerate() {
        for part in 0..layout.parts {
            let bits = match (choice / 3u8.pow(part as u32)) % 4 {
                0 if *choice < 30 => layout.nan | layout.sign | index as u64 & 1,
                1 if *choice < 30 => layout.exponent,
                2 if *choice < 30 => layout.exponent | layout.sign,
                _ => (layout.exponent - 1 - index as u64) | if index % 3 == 0 { layout.sign } else { 0 },
            };
            let mut scalar = bits.to_le_bytes()[..layout.width].to_vec();
            if order == ByteOrder::Big {
                scalar.reverse();
            }
            bytes.extend(scalar);
        }
    }
    bytes
}

#[test]
fn the_example_of_the_specification() {
    let values = [1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 2.0, f64::NAN];
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    let separated = separate(&bytes, DType::Float64, ByteOrder::Little, &both(), 1).unwrap().unwrap();
    let mut region = separated.bytes.clone();
    let stored = separated.masks.append(&both(), &mut region).unwrap();
    assert_eq!(region[48..], [0x44, 0x20, 0x10]);
    let places: Vec<_> =
        stored.iter().map(|mask| (mask.kind.key(), mask.offset, mask.length, mask.method.name())).collect();
    assert_eq!(places, [("nan", 48, 1, "none"), ("inf+", 49, 1, "none"), ("inf-", 50, 1, "none")]);
    let masks = Masks::read(&stored, &region, 6).unwrap();
    assert_eq!(masks, separated.masks);
    let mut out = region[..48].to_vec();
    masks.restore(&mut out, DType::Float64, ByteOrder::Little, 0);
    assert_eq!(out, bytes);
}

#[test]
fn what_is_not_allowed_is_named() {
    let order = ByteOrder::Little;
    let bytes: Vec<u8> = [1.0f32, f32::INFINITY, f32::NAN].iter().flat_map(|v| v.to_le_bytes()).collect();
    let code = |options: &Options| separate(&bytes, DType::Float32, order, options, 1).unwrap_err();
    assert_eq!(code(&Options::default()).message, "element 1 is +Inf, expected finite values");
    let inf = Options { allow_inf: true, ..Options::default() };
    assert_eq!((code(&inf).code, code(&inf).message.starts_with("element 2 is NaN")), ("nan_not_allowed", true));
    let nan = Options { allow_nan: true, ..Options::default() };
    assert_eq!(code(&nan).code, "inf_not_allowed");
    assert_eq!(separate(&bytes[..5], DType::Float32, order, &nan, 1).unwrap_err().code, "partial_element");
    assert_eq!(separate(&[0xff; 16], DType::UInt64, order, &Options::default(), 1), Ok(None));
}

#[test]
fn every_method_round_trips_and_small_masks_stay_plain() {
    let mut bytes = vec![0u8; 5000usize.div_ceil(8)];
    crate::bits::set_range(&mut bytes, 100, 1400);
    crate::bits::set_range(&mut bytes, 4999, 5000);
    let mask = Bits::from_packed(bytes, 5000).unwrap();
    assert_eq!((mask.count_ones(), mask.contains(4999), mask.contains(5000)), (1301, true, false));
    for method in [
        Method::None,
        Method::Rle,
        Method::Roaring,
        Method::Lz4,
        Method::Zstd { level: None },
        Method::Zstd { level: Some(9) },
        Method::BLOSC2,
    ] {
        let mut blob = Vec::new();
        method.encode(&mask, &mut blob).unwrap();
        let read = Method::from_name(method.name()).unwrap();
        assert_eq!(read.decode(&blob, 5000).unwrap(), mask, "{method:?}");
        for count in [0, 4992, 5008, 1 << 33] {
            // A bitmap does not say how many bits it is about, only that there are enough.
            if method == Method::Roaring && count > 5000 {
                continue;
            }
            assert!(read.decode(&blob, count).is_err(), "{method:?} as {count} bits");
        }
        assert!(read.decode(&blob[..blob.len() - 1], 5000).is_err(), "{method:?} cut off");
    }
    let options = both();
    assert_eq!(options.method(Kind::Nan, 1024), &Method::None);
    assert_eq!(options.method(Kind::Nan, 1025), &Method::Roaring);
    let never = Options { small_mask_threshold_bytes: 0, ..both() };
    assert_eq!(never.method(Kind::PosInf, 1), &Method::Roaring);
    assert_eq!(Method::from_name("gzip"), None);
}

#[test]
fn masks_outside_their_region_are_refused() {
    for (offset, length) in [(0, 3), (3, 0), (u64::MAX, 2), (1, u64::MAX)] {
        let mask = StoredMask { kind: Kind::Nan, method: Method::None, offset, length };
        assert_eq!(Masks::read(&[mask], &[0; 2], 8).unwrap_err().code, "mask_outside_region");
    }
}

#[test]
fn threads_change_nothing() {
    let values: Vec<u8> = (0..700_003u32)
        .flat_map(|i| {
            if i % 97 == 3 {
                f32::NAN
            } else if i % 1003 == 7 {
                f32::INFINITY
            } else {
                i as f32
            }
            .to_le_bytes()
        })
        .collect();
    let one = separate(&values, DType::Float32, ByteOrder::Little, &both(), 1).unwrap().unwrap();
    for threads in [2, 4] {
        assert!(separate(&values, DType::Float32, ByteOrder::Little, &both(), threads).unwrap().unwrap() == one);
    }
    let nan = Options { allow_nan: true, ..Options::default() };
    for threads in [1, 2, 4] {
        let error = separate(&values, DType::Float32, ByteOrder::Little, &nan, threads).unwrap_err();
        assert_eq!(error.message, "element 7 is +Inf, expected finite values");
    }
}

/// Numbers and NaN alone take a way of their own, block by block; an infinity anywhere leaves it.
#[test]
fn blocks_of_nan_and_blocks_with_infinities() {
    for dtype in [DType::Float32, DType::Float64] {
        for infinity in [None, Some(0), Some(511), Some(512), Some(1535), Some(1599)] {
            // 255 is a number, 0 a NaN, 1 an infinity.
            let mut choices: Vec<u8> = (0..1600).map(|at| if at % 7 < 2 { 0 } else { 255 }).collect();
            if let Some(at) = infinity {
                choices[at] = 1;
            }
            let opposite = if ByteOrder::NATIVE == ByteOrder::Big { ByteOrder::Little } else { ByteOrder::Big };
            let bytes = elements(dtype, ByteOrder::NATIVE, &choices);
            let separated = separate(&bytes, dtype, ByteOrder::NATIVE, &both(), 1).unwrap().unwrap();
            // The other byte order takes the general way.
            let other = elements(dtype, opposite, &choices);
            let other = separate(&other, dtype, opposite, &both(), 1).unwrap().unwrap();
            assert_eq!(separated.masks, other.masks, "{dtype} {infinity:?}");
            let only_nan = Options { allow_inf: false, ..both() };
            let only_inf = Options { allow_nan: false, ..both() };
            let refused =
                |options: &Options| separate(&bytes, dtype, ByteOrder::NATIVE, options, 1).map_err(|error| error.code);
            assert_eq!(refused(&only_nan).err(), infinity.map(|_| "inf_not_allowed"));
            assert_eq!(refused(&only_inf).err(), Some("nan_not_allowed"));
        }
    }
}

proptest! {
    #[test]
    fn separation_agrees_with_classifying_each(
        choices in proptest::collection::vec(prop_oneof![1 => 0u8..30, 3 => Just(255u8)], 0..1500),
        which in 0usize..6,
        big: bool,
        range in (0usize..1500, 0usize..1500),
        offset in 0usize..40,
    ) {
        let (dtype, order) = (FLOATS[which], if big { ByteOrder::Big } else { ByteOrder::Little });
        let layout = Layout::of(dtype).unwrap();
        let width = layout.element_len();
        let memory = [vec![0xff; offset], elements(dtype, order, &choices)].concat();
        let bytes = &memory[offset..];
        let kinds: Vec<_> = bytes.chunks_exact(width).map(|element| layout.classify(element, order)).collect();
        let Some(separated) = separate(bytes, dtype, order, &both(), 1).unwrap() else {
            prop_assert!(kinds.iter().all(Option::is_none));
            return Ok(());
        };
        for (index, kind) in kinds.iter().enumerate() {
            for each in Kind::ALL {
                let set = separated.masks.get(each).is_some_and(|mask| mask.contains(index as u64));
                prop_assert_eq!(set, *kind == Some(each));
            }
            let element = &separated.bytes[index * width..][..width];
            match kind {
                Some(_) => prop_assert!(element.iter().all(|byte| *byte == 0)),
                None => prop_assert_eq!(element, &bytes[index * width..][..width]),
            }
        }
        // Restored elements classify as before; finite ones are untouched; a range is a slice of the whole.
        let mut whole = separated.bytes.clone();
        separated.masks.restore(&mut whole, dtype, order, 0);
        for (index, kind) in kinds.iter().enumerate() {
            let element = &whole[index * width..][..width];
            prop_assert_eq!(layout.classify(element, order), *kind);
            if kind.is_none() {
                prop_assert_eq!(element, &bytes[index * width..][..width]);
            }
        }
        let first = range.0.min(choices.len());
        let end = (first + range.1).min(choices.len());
        let mut part = separated.bytes[first * width..end * width].to_vec();
        separated.masks.restore(&mut part, dtype, order, first as u64);
        prop_assert_eq!(&part[..], &whole[first * width..end * width]);
    }
}
