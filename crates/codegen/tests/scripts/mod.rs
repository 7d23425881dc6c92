//! Payloads for generated code to read and write again, and what the dynamic codec makes of them.

use fw_dynamic::{Codec, Layout, UnionValue, Value};
use fw_schema::Schema;
use std::fmt::Write as _;

/// A line per payload (`id layout hex`), and the line that the program must answer: the payload written again, or
/// `error` and its code.
pub(crate) fn exchange(schema: &Schema) -> (String, Vec<String>) {
    let codec = Codec::new(schema);
    let (mut lines, mut expected) = (String::new(), Vec::new());
    let mut random = 0x2545_f491_4f6c_dd1du64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    for (id, message) in schema.ids() {
        for layout in [Layout::Wire, Layout::Fixed] {
            let image = schema.default_image(message);
            for round in 0..60u64 {
                let mut payload = match round {
                    // A new message, and what is left of it when its end is missing.
                    0 => codec.encode(message, layout, &codec.default_value(message)).unwrap(),
                    1..20 => {
                        let whole = codec.encode(message, layout, &codec.default_value(message)).unwrap();
                        let keep = next() as usize % (whole.len() + 1);
                        whole[..keep].to_vec()
                    }
                    _ => (0..image.len() + 4).map(|_| next() as u8).collect(),
                };
                if round >= 20 {
                    // Small numbers make counts and tags that mean something.
                    for byte in &mut payload {
                        if next() % 3 > 0 {
                            *byte = (next() % 4) as u8;
                        }
                    }
                    let keep = payload.len() - (next() as usize % 6).min(payload.len());
                    payload.truncate(keep);
                }
                let answer = match codec.decode(message, layout, &payload) {
                    Ok(value) if has_nan(&value) => continue,
                    Ok(value) => hex(&codec.encode(message, layout, &value).unwrap()),
                    Err(fault) => format!("error {}", fault.code),
                };
                let layout = if layout == Layout::Wire { "wire" } else { "fixed" };
                writeln!(lines, "{id} {layout} {}", hex(&payload)).unwrap();
                expected.push(answer);
            }
        }
    }
    (lines, expected)
}

/// Compares answers with what was expected.
pub(crate) fn compare(lines: &str, answers: &str, expected: &[String]) {
    let answers: Vec<&str> = answers.lines().collect();
    assert_eq!(answers.len(), expected.len(), "an answer per line");
    for ((line, answer), expected) in lines.lines().zip(answers).zip(expected) {
        assert_eq!(answer.trim_end(), expected, "for {line}");
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A NaN may lose its lower bits on its way through a language's numbers.
fn has_nan(value: &Value<'_>) -> bool {
    match value {
        Value::Float(value) => value.is_nan(),
        Value::Double(value) => value.is_nan(),
        Value::List(list) => list.iter().any(has_nan),
        Value::Message(entries) => entries.iter().any(|(_, value)| has_nan(value)),
        Value::Union(value) => matches!(&**value, UnionValue::Member { value, .. } if has_nan(value)),
        _ => false,
    }
}
