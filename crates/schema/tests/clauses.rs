//! Clauses about what has no effect, which the vectors of faults and of bytes do not show.

use fw_schema::{Code, Schema, check_text};

fn compiled(text: &str) -> Schema {
    check_text("a.sf", text).into_result().unwrap_or_else(|faults| panic!("{text}\n{faults}"))
}

/// What a peer sees of a message: names, places and sizes, and the seed of the checksum.
fn facts(text: &str) -> String {
    let schema = compiled(text);
    let message = schema.find("M").unwrap();
    let fields: Vec<_> = message.fields.iter().map(|field| (&field.name, field.offset, field.size)).collect();
    format!("{fields:?} {:?} {:?} {}", message.sizes, message.magic, message.variable)
}

/// SF-2.6: labels, and the values of `syntax` and `edition`, change nothing.
#[test]
fn labels_and_versions_have_no_effect() {
    let plain = facts("package p; message M { uint8 a = 1; uint16 b = 2; }");
    for text in [
        "syntax = \"proto2\"; package p; message M { uint8 a = 1; uint16 b = 2; }",
        "edition = \"whatever\"; package p; message M { uint8 a = 1; uint16 b = 2; }",
        "package p; message M { optional uint8 a = 1; required uint16 b = 2; }",
    ] {
        assert_eq!(facts(text), plain, "{text}");
    }
}

/// SF-2.8: an enum in a message is known there and nowhere else, and hides one of the package.
#[test]
fn enums_in_messages_are_known_there() {
    let inner = "message M { enum E { A = 0; B = 7; } E e = 1 [default = B]; }";
    let schema = compiled(&format!("package p; enum E {{ A = 0; B = 5; }} {inner}"));
    assert_eq!(schema.default_image(schema.find("M").unwrap()), [7]);
    let elsewhere = check_text("a.sf", &format!("package p; {inner} message N {{ E e = 1; }}"));
    let codes: Vec<Code> = elsewhere.diagnostics.list().iter().map(|fault| fault.code).collect();
    assert_eq!(codes, [Code::UnresolvedType]);
}

/// SF-3.3: what is true, what is false, and what is taken as false with a warning.
#[test]
fn truth() {
    let variable = |value: &str| {
        let text = format!("package p; message M {{ option variable = {value}; string s = 1 [max_size = 4]; }}");
        let compilation = check_text("a.sf", &text);
        let warned = compilation.diagnostics.list().iter().any(|fault| fault.code == Code::NotTruthy);
        (compilation.into_result().unwrap().find("M").unwrap().variable, warned)
    };
    for value in ["true", "1", "\"true\"", "\"TRUE\"", "\"1\"", "\"Yes\"", "'on'"] {
        assert_eq!(variable(value), (true, false), "{value}");
    }
    for value in ["false", "0", "\"false\"", "\"no\"", "'OFF'", "\"0\""] {
        assert_eq!(variable(value), (false, false), "{value}");
    }
    for value in ["yes", "on", "2", "\"maybe\""] {
        assert_eq!(variable(value), (false, true), "{value}");
    }
}

/// SF-3.5: options of an enum change no bytes.
#[test]
fn options_of_enums_have_no_effect() {
    let with = |option: &str| {
        facts(&format!("package p; enum E {{ {option} A = 0; B = 1; C = 2; }} message M {{ E e = 1; }}"))
    };
    let plain = with("");
    for option in ["option allow_alias = true;", "option extensions_start = 2;"] {
        assert_eq!(with(option), plain, "{option}");
    }
}
