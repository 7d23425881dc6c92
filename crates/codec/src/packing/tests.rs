//! Against the worked examples and a plain restatement of the formulae.

use super::*;
use proptest::prelude::*;

fn bytes(values: &[f64], order: ByteOrder) -> Vec<u8> {
    let write = |value: &f64| if order == ByteOrder::Big { value.to_be_bytes() } else { value.to_le_bytes() };
    values.iter().flat_map(write).collect()
}

fn pack(packing: &Packing, values: &[f64], threads: usize) -> Vec<u8> {
    let mut out = vec![0xee; packing.packed_len(values.len() as u64).unwrap() as usize];
    packing.pack(&bytes(values, ByteOrder::Little), ByteOrder::Little, threads, &mut out).unwrap();
    out
}

fn unpack(packing: &Packing, packed: &[u8], count: usize) -> Vec<f64> {
    let mut out = vec![0xee; count * 8];
    packing.unpack(packed, ByteOrder::Little, 1, &mut out).unwrap();
    out.as_chunks().0.iter().map(|value| f64::from_le_bytes(*value)).collect()
}

fn derive(values: &[f64], bits: u64) -> Packing {
    Packing::derive(Request::bits(bits), &bytes(values, ByteOrder::Little), ByteOrder::Little, 1).unwrap()
}

/// The formulae of the specification, one value and one bit at a time.
mod plain {
    use super::Packing;

    fn power(base: f64, n: i32) -> f64 {
        let mut result = 1.0;
        let (mut a, mut n2) = (base, n.unsigned_abs());
        while n2 > 0 {
            if n2 % 2 == 1 {
                result *= a;
            }
            a *= a;
            n2 /= 2;
        }
        if n < 0 { 1.0 / result } else { result }
    }

    pub(super) fn pack(packing: &Packing, values: &[f64]) -> Vec<u8> {
        let s = power(10.0, packing.decimal) * power(2.0, -packing.binary);
        let bits = packing.bits as usize;
        let largest = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        let mut out = vec![0; (values.len() * bits).div_ceil(8)];
        for (i, value) in values.iter().enumerate() {
            let q = (((value - packing.reference) * s).round() as u64).min(largest);
            for bit in 0..bits {
                let place = i * bits + bit;
                out[place / 8] |= ((q >> (bits - 1 - bit) & 1) as u8) << (7 - place % 8);
            }
        }
        out
    }

    pub(super) fn unpack(packing: &Packing, packed: &[u8], count: usize) -> Vec<f64> {
        let t = power(2.0, packing.binary) * power(10.0, -packing.decimal);
        let bits = packing.bits as usize;
        let value = |i: usize| {
            let q =
                (i * bits..(i + 1) * bits).fold(0u64, |q, at| q << 1 | u64::from(packed[at / 8] >> (7 - at % 8) & 1));
            packing.reference + t * q as f64
        };
        (0..count).map(value).collect()
    }
}

#[test]
fn worked_examples() {
    let packing = derive(&[250.0, 251.3, 252.7], 16);
    assert_eq!((packing.reference, packing.binary, packing.decimal), (250.0, -14, 0));
    let packed = pack(&packing, &[250.0, 251.3, 252.7], 1);
    assert_eq!(packed, [0x00, 0x00, 0x53, 0x33, 0xac, 0xcd]);
    assert_eq!(unpack(&packing, &packed, 3), [250.0, 251.29998779296875, 252.70001220703125]);

    let values = [250.0, 251.3, 252.7, 249.9];
    let packing = derive(&values, 12);
    assert_eq!((packing.reference, packing.binary), (249.9, -10));
    let packed = pack(&packing, &values, 1);
    assert_eq!(packed, [0x06, 0x65, 0x9a, 0xb3, 0x30, 0x00]);
    assert_eq!(unpack(&packing, &packed, 4), [249.999609375, 251.300390625, 252.6998046875, 249.9]);

    let given = Request {
        sp_reference_value: Some(250.0),
        sp_binary_scale_factor: Some(-6),
        sp_decimal_scale_factor: Some(0),
        ..Request::bits(8)
    };
    let packing = given.complete().unwrap().unwrap();
    assert_eq!(pack(&packing, &values, 1), [0x00, 0x53, 0xad, 0x00]);
    assert_eq!(packing.to_request(), given);

    let constant = derive(&[7.25; 3], 8);
    assert_eq!((constant.reference, constant.binary), (7.25, 0));
    assert_eq!(pack(&constant, &[7.25; 3], 1), [0, 0, 0]);
    let none = derive(&[7.25, 9.0], 0);
    assert_eq!(pack(&none, &[7.25, 9.0], 1), []);
    assert_eq!(unpack(&none, &[], 2), [7.25, 7.25]);
    assert_eq!(derive(&[], 16).reference, 0.0);
}

#[test]
fn halves_round_away_from_zero() {
    let packing = Packing { bits: 16, reference: 0.0, binary: 0, decimal: 0 };
    let values = [0.5, 1.5, 2.5, 0.49999999999999994, 4503599627370495.5, 65534.5, 65535.5, -0.5, -0.0];
    let expected = [1u16, 2, 3, 0, 65535, 65535, 65535, 0, 0];
    let packed = pack(&packing, &values, 1);
    assert_eq!(packed, expected.iter().flat_map(|q| q.to_be_bytes()).collect::<Vec<_>>());
}

#[test]
fn refusals_name_the_reason() {
    let code = |values: &[f64], request: Request| {
        Packing::derive(request, &bytes(values, ByteOrder::Little), ByteOrder::Little, 1).unwrap_err().code
    };
    assert_eq!(code(&[1.0], Request::bits(65)), "sp_bits_per_value_range");
    assert_eq!(code(&[1.0, f64::NAN], Request::bits(16)), "nan_not_allowed");
    assert_eq!(code(&[f64::INFINITY], Request::bits(16)), "inf_not_allowed");
    assert_eq!(code(&[f64::INFINITY, 1.0], Request::bits(0)), "sp_reference_value_not_finite");
    assert_eq!(code(&[0.0, 1e-100], Request::bits(16)), "sp_binary_scale_factor_range");
    assert_eq!(code(&[-1e308, 1e308], Request::bits(16)), "sp_binary_scale_factor_range");
    assert_eq!(
        code(&[0.0, 1.0], Request { sp_decimal_scale_factor: Some(100), ..Request::bits(16) }),
        "sp_binary_scale_factor_range"
    );
    assert_eq!(code(&[1.0], Request { sp_reference_value: Some(1.0), ..Request::bits(8) }), "sp_parameters_incomplete");
    assert_eq!(
        code(&[1.0], Request { sp_binary_scale_factor: Some(1), ..Request::bits(8) }),
        "sp_parameters_incomplete"
    );
    let given = |reference, binary| Request {
        sp_reference_value: Some(reference),
        sp_binary_scale_factor: Some(binary),
        ..Request::bits(8)
    };
    assert_eq!(code(&[1.0], given(f64::NAN, 0)), "sp_reference_value_not_finite");
    assert_eq!(code(&[1.0], given(1.0, 257)), "sp_binary_scale_factor_range");

    let packing = derive(&[1.0, 2.0], 12);
    let mut out = [0; 16];
    assert_eq!(packing.unpack(&[0; 2], ByteOrder::Little, 1, &mut out).unwrap_err().code, "packed_length_mismatch");
    assert_eq!(packing.unpack(&[0; 4], ByteOrder::Little, 1, &mut out).unwrap_err().code, "packed_length_mismatch");
    let nan = bytes(&[1.0, f64::NAN], ByteOrder::Little);
    assert_eq!(packing.pack(&nan, ByteOrder::Little, 1, &mut [0; 3]).unwrap_err().code, "nan_not_allowed");
}

#[test]
fn extreme_scales_never_fail_on_decode() {
    for (binary, decimal) in [(i32::MIN, i32::MAX), (i32::MAX, i32::MIN), (5000, 400), (-5000, -400)] {
        let request = Request {
            sp_decimal_scale_factor: Some(decimal),
            sp_reference_value: Some(1.0),
            sp_binary_scale_factor: Some(binary),
            ..Request::bits(12)
        };
        let packing = request.complete().unwrap().unwrap();
        unpack(&packing, &[1, 2, 3], 2);
    }
}

#[test]
fn threads_give_the_same_bytes() {
    let values: Vec<f64> = (0..280_003).map(|i| 270.0 + 20.0 * (f64::from(i) * 0.001).sin()).collect();
    for bits in [1, 7, 8, 12, 16, 24, 31, 32, 40, 64] {
        let packing = derive(&values, bits);
        let packed = pack(&packing, &values, 1);
        assert!(packed == pack(&packing, &values, 2) && packed == pack(&packing, &values, 5));
        assert!(packed == plain::pack(&packing, &values), "{bits} bits");
        let mut one = vec![0; values.len() * 8];
        packing.unpack(&packed, ByteOrder::Big, 1, &mut one).unwrap();
        let mut two = vec![1; values.len() * 8];
        packing.unpack(&packed, ByteOrder::Big, 2, &mut two).unwrap();
        assert!(one == two && one == bytes(&plain::unpack(&packing, &packed, values.len()), ByteOrder::Big));
    }
}

proptest! {
    #[test]
    fn every_width_agrees_with_the_formulae(
        values in proptest::collection::vec(-1e6f64..1e6, 1..700),
        bits in 0u64..=64,
        decimal in -8i32..8,
        big: bool,
        range in (0usize..700, 0usize..700),
        offset in 0usize..40,
    ) {
        let order = if big { ByteOrder::Big } else { ByteOrder::Little };
        // Values and packed bytes begin anywhere in memory.
        let memory = [vec![0xff; offset], bytes(&values, order)].concat();
        let raw = &memory[offset..];
        let request = Request { sp_decimal_scale_factor: Some(decimal), ..Request::bits(bits) };
        let packing = Packing::derive(request, raw, order, 1).unwrap();
        let mut packed = vec![0xee; offset + packing.packed_len(values.len() as u64).unwrap() as usize];
        packing.pack(raw, order, 1, &mut packed[offset..]).unwrap();
        let packed = &packed[offset..];
        prop_assert_eq!(packed, &plain::pack(&packing, &values));
        let expected = bytes(&plain::unpack(&packing, packed, values.len()), order);
        let mut out = vec![0xee; offset + values.len() * 8];
        packing.unpack(packed, order, 1, &mut out[offset..]).unwrap();
        prop_assert_eq!(&out[offset..], &expected);

        let first = range.0.min(values.len());
        let end = (first + range.1).min(values.len());
        let span = packing.packed_span(first as u64..end as u64).unwrap();
        let mut part = vec![0xee; (end - first) * 8];
        packing.unpack_range(&packed[span.start as usize..span.end as usize], first as u64, order, 1, &mut part).unwrap();
        prop_assert_eq!(&part[..], &expected[first * 8..end * 8]);
    }

    #[test]
    fn quantising_agrees_with_rounding_each(
        steps in proptest::collection::vec((0u32..70_000, 0u32..4), 1..100),
    ) {
        // Quarters: every kind of tie.
        let values: Vec<f64> = steps.iter().map(|(whole, quarter)| f64::from(*whole) + f64::from(*quarter) / 4.0).collect();
        for bits in [8, 13, 16, 32] {
            let packing = Packing { bits, reference: 3.0, binary: 0, decimal: 0 };
            prop_assert_eq!(pack(&packing, &values, 1), plain::pack(&packing, &values));
        }
    }
}
