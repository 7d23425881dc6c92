//! `simple_packing` is the simple packing of GRIB: fields that ecCodes packed (a black box in Python, `FW_PYTHON` with
//! the package `eccodes`) compared with ours for the same parameters, packed bytes and decoded values; and our packed bytes
//! in a GRIB message, read by ecCodes.

use fw_tensogram::{
    DataObjectDescriptor, DecodeOptions, EncodeOptions, GlobalMetadata, MessageView, encode, encode_pre_encoded,
};
use fw_tensor::{ByteOrder, DType};
use serde_json::Value as Json;
use std::fs::OpenOptions;
use std::io::Write;
use std::process::{Command, Stdio};

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

/// The other way: what we packed stands in a GRIB message, and ecCodes reads it. Values are the same to the last bit, except
/// with a decimal scale, which GRIB applies to the sum and we to the parts.
#[test]
fn ecmwf_reads_what_we_packed() {
    let mut fields = Vec::new();
    for (number, bits) in (1..=24u64).chain([28, 31, 32]).enumerate() {
        for decimal in [0, 0, 1, -1, 2] {
            let (rows, columns) = [(1, 1), (2, 3), (5, 13), (16, 31), (40, 50)][(number + fields.len()) % 5];
            let (low, high) = [(200.0, 320.0), (-1.0, 1.0), (0.0, 1e5), (-5000.0, -4000.0)][fields.len() % 4];
            fields.push(Packed::new(bits, decimal, [rows, columns], low, high, fields.len() as u64));
        }
    }
    let requests: String = fields.iter().map(|field| format!("{}\n", field.request())).collect();
    let Some(answers) = ask(&["decode"], &requests) else { return };
    assert_eq!(answers.len(), fields.len());
    let (mut exact, mut scaled) = (0, 0);
    for (field, answer) in fields.iter().zip(&answers) {
        let json: Json = serde_json::from_str(answer).expect("one JSON per line");
        let theirs = unhex(&json["decoded"]);
        let what = format!("{} bits, E {}, D {}", field.bits, field.binary, field.decimal);
        assert_eq!(theirs.len(), field.decoded.len(), "{what}");
        if field.decimal == 0 {
            assert!(theirs == field.decoded, "values of {what}");
            exact += 1;
        } else {
            for (ours, theirs) in doubles(&field.decoded).zip(doubles(&theirs)) {
                assert!((ours - theirs).abs() <= 1e-12 * theirs.abs().max(1.0), "{what}: {ours} and {theirs}");
            }
            scaled += 1;
        }
    }
    assert!(exact >= 50 && scaled >= 70, "{exact} and {scaled} fields");
}

/// A field as we packed it, with parameters that GRIB can hold: its reference value is a 32-bit float.
struct Packed {
    shape: [u64; 2],
    bits: u64,
    decimal: i64,
    binary: i64,
    /// In scaled units, as GRIB has it.
    reference: f32,
    payload: Vec<u8>,
    decoded: Vec<u8>,
}

impl Packed {
    fn new(bits: u64, decimal: i64, shape: [u64; 2], low: f64, high: f64, seed: u64) -> Self {
        let mut state = seed;
        let values = (0..shape[0] * shape[1]).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            low + (high - low) * ((state >> 11) as f64 / (1u64 << 53) as f64)
        });
        let values: Vec<u8> = values.flat_map(f64::to_le_bytes).collect();
        let scale = 10f64.powi(decimal as i32);
        let nearest = (low * scale) as f32;
        let reference = if f64::from(nearest) <= low * scale { nearest } else { nearest.next_down() };
        let extent = high * scale - f64::from(reference);
        let binary = (extent / ((1u64 << bits) - 1) as f64).log2().ceil() as i64;
        let mut descriptor = DataObjectDescriptor::new(DType::Float64, &shape)
            .unwrap()
            .with_encoding("simple_packing")
            .with_param("sp_bits_per_value", bits)
            .with_param("sp_binary_scale_factor", binary)
            .with_param("sp_decimal_scale_factor", decimal)
            .with_param("sp_reference_value", f64::from(reference) / scale);
        descriptor.byte_order = ByteOrder::Little;
        let message = encode(&GlobalMetadata::default(), &[(&descriptor, &values)], &EncodeOptions::default()).unwrap();
        let view = MessageView::open(&message).unwrap();
        let object = view.object(0).unwrap();
        let decoded = object.decode(&DecodeOptions::default()).unwrap();
        Self { shape, bits, decimal, binary, reference, payload: object.payload().to_vec(), decoded }
    }

    fn request(&self) -> Json {
        let [rows, columns] = self.shape;
        let payload: String = self.payload.iter().map(|byte| format!("{byte:02x}")).collect();
        serde_json::json!({
            "rows": rows, "columns": columns, "bits": self.bits, "decimal": self.decimal, "binary": self.binary,
            "reference": f64::from(self.reference), "payload": payload,
        })
    }
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
    Some(ask(&[], "")?.iter().map(|line| Field::read(line)).collect())
}

/// The lines that the script answers.
fn ask(arguments: &[&str], input: &str) -> Option<Vec<String>> {
    let Some(python) = std::env::var_os("FW_PYTHON") else {
        skip("GRIB packing: FW_PYTHON is not set (cargo xtask test sets it)");
        return None;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/grib/grib.py");
    let mut command = Command::new(python);
    command.arg(script).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("FW_PYTHON runs");
    let mut stdin = child.stdin.take().expect("standard input was piped");
    let input = input.to_owned();
    // A script that has nothing to do does not read what it is told.
    let feeder = std::thread::spawn(move || _ = stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("the script ends");
    feeder.join().expect("feeding does not panic");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("JSON is text");
    if let Ok(Json::Object(fields)) = serde_json::from_str::<Json>(text.lines().next().unwrap_or_default())
        && let Some(reason) = fields.get("skip")
    {
        skip(&format!("GRIB packing: FW_PYTHON has no eccodes: {reason}"));
        return None;
    }
    Some(text.lines().map(str::to_owned).collect())
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
