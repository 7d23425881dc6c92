//! The data object of a message: just enough to reach payload region and descriptor of well-framed files.

use serde_json::{Map, Value};

/// Payload region and descriptor of the first data object.
pub(crate) fn object(message: &[u8]) -> (Vec<u8>, Value) {
    let mut at = 24;
    loop {
        let header = &message[at..at + 16];
        assert_eq!(&header[..2], b"FR");
        let len = u64::from_be_bytes(header[8..16].try_into().unwrap()) as usize;
        if header[2..4] == [0, 9] {
            let frame = &message[at..at + len];
            let cbor = u64::from_be_bytes(frame[len - 20..len - 12].try_into().unwrap()) as usize;
            let mut descriptor = &frame[cbor..len - 20];
            return (frame[16..cbor].to_vec(), item(&mut descriptor));
        }
        at = (at + len).next_multiple_of(8);
    }
}

/// One CBOR item with definite lengths, as JSON.
fn item(bytes: &mut &[u8]) -> Value {
    let head = take(bytes, 1)[0];
    let argument = match head & 31 {
        small @ 0..24 => u64::from(small),
        wide @ 24..28 => take(bytes, 1 << (wide - 24)).iter().fold(0, |value, byte| value << 8 | u64::from(*byte)),
        other => panic!("additional information {other}"),
    };
    match head >> 5 {
        0 => argument.into(),
        1 => (-1 - argument as i64).into(),
        3 => String::from_utf8(take(bytes, argument as usize).to_vec()).unwrap().into(),
        4 => (0..argument).map(|_| item(bytes)).collect(),
        5 => {
            let entry = |_| (item(bytes).as_str().unwrap().to_owned(), item(bytes));
            Value::Object((0..argument).map(entry).collect::<Map<_, _>>())
        }
        7 => match head & 31 {
            20 => false.into(),
            21 => true.into(),
            22 => Value::Null,
            25 => half(argument as u16).into(),
            26 => f64::from(f32::from_bits(argument as u32)).into(),
            27 => f64::from_bits(argument).into(),
            other => panic!("simple value {other}"),
        },
        other => panic!("major type {other}"),
    }
}

fn take<'a>(bytes: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (front, rest) = bytes.split_at(len);
    *bytes = rest;
    front
}

fn half(bits: u16) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let magnitude = match exponent {
        0 => mantissa * 2f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + mantissa) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}
