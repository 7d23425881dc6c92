//! `simple_packing` is the simple packing of GRIB: fields that ecCodes packed (a black box in Python, `FW_PYTHON` with
//! the package `eccodes`) compared with ours for the same parameters, packed bytes and decoded values.

use fw_tensogram::{
    DataObjectDescriptor, DecodeOptions, EncodeOptions, GlobalMetadata, MessageView, encode, encode_pre_encoded,
};
use fw_tensor::{ByteOrder, DType};
use serde_json::Value as Json;
use std::fs::OpenOptions;
use std::io::Write;
use std::process::Command;

#[test]
fn packs_and_unpacks_like_grib() {
    let Some(fields) = fields() else { return };
    let (mut exact, mut scaled) = (0, 0);
    for (number, field) in fields.iter().enumerate() {
        let number = format!("field {number}: {} bits, E {}, D {}", field.bits, field.binary, field.decimal);
        let descriptor = field.descriptor();
        let metadata = GlobalMetadata::default();
        let ours = encode(&metadata, &[(&descriptor, &field.values)], &EncodeOptions::default()).unwrap();
        let view = MessageView::open(&ours).unwrap();
        let packed = view.object(0).unwrap().payload().to_vec();
        assert_eq!(packed.len(), field.payload.len(), "{number}");
        let theirs =
            encode_pre_encoded(&metadata, &[(&descriptor, &field.payload)], &EncodeOptions::default()).unwrap();
        let decoded = MessageView::open(&theirs).unwrap().object(0).unwrap().decode(&DecodeOptions::default()).unwrap();
        if field.decimal == 0 {
            assert!(packed == field.payload, "packed bytes of {number}");
            assert!(decoded == field.decoded, "decoded values of {number}");
            exact += 1;
        } else {
            // GRIB scales the reference value and each value by ten first, we divide: the last bit may differ.
            let units = |payload: &[u8]| unpack(payload, field.bits, field.values.len() / 8);
            for (ours, theirs) in units(&packed).into_iter().zip(units(&field.payload)) {
                assert!(ours.abs_diff(theirs) <= 1, "packed values of {number}: {ours} and {theirs}");
            }
            for (ours, theirs) in doubles(&decoded).zip(doubles(&field.decoded)) {
                assert!((ours - theirs).abs() <= 1e-12 * theirs.abs(), "{number}: {ours} and {theirs}");
            }
            scaled += 1;
        }
    }
    assert!(exact >= 30 && scaled >= 40, "{exact} and {scaled} fields");
}

/// A field as ecCodes packed it.
struct Field {
    values: Vec<u8>,
    decoded: Vec<u8>,
    payload: Vec<u8>,
    reference: f64,
    binary: i64,
    decimal: i64,
    bits: u64,
}

impl Field {
    fn read(line: &str) -> Self {
        let json: Json = serde_json::from_str(line).expect("one JSON per line");
        assert_eq!(json["type"], "grid_simple");
        let reference = u64::from_str_radix(json["reference"].as_str().unwrap(), 16).unwrap();
        Self {
            values: unhex(&json["values"]),
            decoded: unhex(&json["decoded"]),
            payload: unhex(&json["payload"]),
            reference: f64::from_bits(reference),
            binary: json["binary"].as_i64().unwrap(),
            decimal: json["decimal"].as_i64().unwrap(),
            bits: json["bits"].as_u64().unwrap(),
        }
    }

    fn descriptor(&self) -> DataObjectDescriptor {
        // Theirs is in scaled units, except in constant fields.
        let scale = if self.bits == 0 { 1.0 } else { 10f64.powi(self.decimal as i32) };
        let reference = self.reference / scale;
        let mut descriptor = DataObjectDescriptor::new(DType::Float64, &[self.values.len() as u64 / 8])
            .unwrap()
            .with_encoding("simple_packing")
            .with_param("sp_bits_per_value", self.bits)
            .with_param("sp_binary_scale_factor", self.binary)
            .with_param("sp_decimal_scale_factor", self.decimal)
            .with_param("sp_reference_value", reference);
        descriptor.byte_order = ByteOrder::Little;
        descriptor
    }
}

/// What ecCodes makes, or nothing and a loud word when it is not there.
fn fields() -> Option<Vec<Field>> {
    let Some(python) = std::env::var_os("FW_PYTHON") else {
        skip("GRIB packing: FW_PYTHON is not set (cargo xtask test sets it)");
        return None;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/grib/grib.py");
    let output = Command::new(python).arg(script).output().expect("FW_PYTHON runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("JSON is text");
    if let Ok(Json::Object(fields)) = serde_json::from_str::<Json>(text.lines().next().unwrap_or_default())
        && let Some(reason) = fields.get("skip")
    {
        skip(&format!("GRIB packing: FW_PYTHON has no eccodes: {reason}"));
        return None;
    }
    Some(text.lines().map(Field::read).collect())
}

/// Integers of `bits` bits, most significant first.
fn unpack(payload: &[u8], bits: u64, count: usize) -> Vec<u64> {
    let bit = |at: u64| u64::from(payload[(at / 8) as usize] >> (7 - at % 8) & 1);
    (0..count as u64).map(|value| (0..bits).fold(0, |number, at| number << 1 | bit(value * bits + at))).collect()
}

fn doubles(bytes: &[u8]) -> impl Iterator<Item = f64> {
    bytes.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
}

fn unhex(json: &Json) -> Vec<u8> {
    let text = json.as_str().expect("hex text").as_bytes();
    let digit = |byte: u8| if byte <= b'9' { byte - b'0' } else { byte - b'a' + 10 };
    text.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// The harness hides what passing tests print: the run gathers these lines instead.
fn skip(reason: &str) {
    eprintln!("SKIPPED {reason}");
    if let Some(path) = std::env::var_os("FW_SKIPPED")
        && let Ok(mut file) = OpenOptions::new().append(true).create(true).open(path)
    {
        _ = writeln!(file, "{reason}");
    }
}
