//! Values as text (tables, scripts, comparison) and as JSON.

use super::Value;
use std::fmt::Write;

impl Value<'_> {
    /// The value as text: text as it is, integers in decimal, floats in their shortest form (`1.0` is `1`), `true`,
    /// `false`, `null`, bytes in hexadecimal, arrays and maps as compact JSON.
    ///
    /// Text is not escaped: names from files need that before they reach a terminal.
    ///
    /// ```
    /// use fw_query::Value;
    ///
    /// assert_eq!(Value::from(1.0).to_text(), "1");
    /// assert_eq!(Value::from(vec![Value::from("a"), Value::from(2), Value::Null]).to_text(), r#"["a",2,null]"#);
    /// ```
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        match self {
            Self::Text(text) => out.push_str(text),
            Self::Bytes(bytes) => hexadecimal(bytes, &mut out),
            Self::Float(value) => float(*value, &mut out),
            other => json(other, 0, &mut out),
        }
        out
    }

    /// The value as compact JSON. NaN and infinities are `null`, bytes are hexadecimal text.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        json(self, 0, &mut out);
        out
    }
}

/// Nesting beyond this is cut short; formats refuse such metadata long before.
const DEEPEST: usize = 256;

fn json(value: &Value<'_>, depth: usize, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Integer(value) => push(out, format_args!("{value}")),
        Value::Float(value) if value.is_finite() => float(*value, out),
        Value::Float(_) => out.push_str("null"),
        Value::Text(text) => string(text, out),
        Value::Bytes(bytes) => {
            out.push('"');
            hexadecimal(bytes, out);
            out.push('"');
        }
        Value::Array(_) | Value::Map(_) if depth == DEEPEST => out.push_str("\"...\""),
        Value::Array(array) => {
            out.push('[');
            for (index, value) in array.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                json(&value, depth + 1, out);
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push('{');
            for (index, (key, value)) in map.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                string(&key, out);
                out.push(':');
                json(&value, depth + 1, out);
            }
            out.push('}');
        }
    }
}

fn float(value: f64, out: &mut String) {
    // Plain digits up to where a reader stops counting zeros, an exponent beyond.
    let size = value.abs();
    if value.is_finite() && size != 0.0 && !(1e-5..1e17).contains(&size) {
        push(out, format_args!("{value:e}"));
    } else {
        push(out, format_args!("{value}"));
    }
}

fn hexadecimal(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        push(out, format_args!("{byte:02x}"));
    }
}

fn string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Beyond what JSON asks for: escape sequences of terminals start with these.
            c if c.is_control() => push(out, format_args!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_short_and_read_back() {
        for (value, text) in [
            (0.1, "0.1"),
            (-2.0, "-2"),
            (1e16, "10000000000000000"),
            (1e300, "1e300"),
            (1.5e-7, "1.5e-7"),
            (0.0, "0"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(Value::from(value).to_text(), text);
        }
        assert_eq!(Value::from(f64::INFINITY).to_json(), "null");
    }

    #[test]
    fn json_escapes_text_and_nests() {
        let value = Value::map([
            ("a\"b", Value::from("x\u{1b}\n\u{9b}ü")),
            ("n", Value::from(&[721u64, 1440][..])),
            ("h", Value::Bytes(vec![0, 255].into())),
        ]);
        assert_eq!(value.to_json(), "{\"a\\\"b\":\"x\\u001b\\n\\u009bü\",\"n\":[721,1440],\"h\":\"00ff\"}");
    }

    #[test]
    fn deep_nesting_is_cut_short() {
        let deep = (0..1000).fold(Value::Null, |inner, _| Value::from(vec![inner]));
        let text = deep.to_json();
        assert!(text.contains("\"...\"") && text.len() < 600);
    }
}
