//! What the columns of a message look like, and what becomes of unusual payloads.

use fw_dynamic::columns::{Capture, Column, Decoder, Header, Parts, Role, Stray, Table};
use fw_dynamic::{Codec, Layout, Strictness};
use fw_schema::{Schema, check_text};

fn compile(text: &str) -> Schema {
    check_text("a.sf", text).into_result().unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

const SHIP: &str = "package p;
    enum Deck { CAR = 0; BIKE = 1; }
    message Pt { uint8 x = 1; int16 y = 2; }
    message Ship { option msgid = 1; option variable = true;
        uint32 id = 1; repeated Pt track = 2 [max_size=2]; string name = 3 [max_size=4]; string code = 4 [size=3];
        repeated Deck decks = 5 [size=2]; repeated string tags = 6 [max_size=2, element_size=2]; bool ok = 7; Pt at = 8;
        oneof body { option discriminator = field_order; Pt pt = 1; float f = 2; } }";

fn summary(column: &Column) -> String {
    format!("{} {:?} {} {:?}", column.path, column.role, column.dtype.name(), column.dims)
}

#[test]
fn names_types_and_shapes() {
    let schema = compile(SHIP);
    let codec = Codec::new(&schema);
    let ship = schema.by_id(1).unwrap();
    let mut decoder = Decoder::new(&codec, Layout::Wire);
    let rows = [
        serde_json::json!({"id": 7, "track": [{"x": 1, "y": -2}], "name": "abc", "code": "xy", "decks": [1, 0],
            "tags": ["q"], "ok": true, "at": {"x": 9, "y": 10}, "body": {"which": "f", "value": 1.5}}),
        serde_json::json!({"id": 8, "track": [], "decks": [0, 1], "body": {"which": "pt", "value": {"x": 3, "y": 4}}}),
    ];
    for (row, json) in rows.iter().enumerate() {
        let value = codec.value_from_json(ship, json).unwrap();
        let payload = codec.encode(ship, Layout::Wire, &value).unwrap();
        decoder.push(1, Header { sequence: row as u8, system: 4, component: 5 }, &payload).unwrap();
        decoder.push(99, Header::default(), b"what").unwrap();
    }
    let capture = decoder.finish();
    let table = &capture.tables[0];
    let shown: Vec<_> = table.columns.iter().map(summary).collect();
    assert_eq!(
        shown,
        [
            "id Value uint32 []",
            "track@count Count uint8 []",
            "track.x Value uint8 [2]",
            "track.y Value int16 [2]",
            "name@len Length uint8 []",
            "name Value uint8 [4]",
            "code@len Length uint16 []",
            "code Value uint8 [3]",
            "decks Value uint8 [2]",
            "tags@count Count uint8 []",
            "tags Value uint8 [2, 2]",
            "ok Value bool []",
            "at.x Value uint8 []",
            "at.y Value int16 []",
            "body@tag Tag uint8 []",
            "body.pt@valid Valid bool []",
            "body.pt.x Value uint8 []",
            "body.pt.y Value int16 []",
            "body.f@valid Valid bool []",
            "body.f Value float32 []",
        ]
    );
    let data = |path: &str| table.column(path).unwrap().data.clone();
    assert_eq!(data("id"), [7, 0, 0, 0, 8, 0, 0, 0]);
    assert_eq!(data("track@count"), [1, 0]);
    assert_eq!(data("track.y"), [0xfe, 0xff, 0, 0, 0, 0, 0, 0]);
    assert_eq!(data("name"), *b"abc\0\0\0\0\0");
    assert_eq!(data("code@len"), [2, 0, 0, 0]);
    assert_eq!(data("decks"), [1, 0, 0, 1]);
    assert_eq!(data("tags"), *b"q\0\0\0\0\0\0\0");
    assert_eq!((data("body@tag"), data("body.pt@valid"), data("body.f@valid")), (vec![2, 1], vec![0, 1], vec![1, 0]));
    assert_eq!(data("body.pt.x"), [0, 3]);
    assert_eq!(data("body.f"), [1.5_f32.to_le_bytes(), [0; 4]].concat());
    assert_eq!(
        (table.arrival.as_slice(), table.sequence.as_slice(), table.system.as_slice()),
        (&[0, 2][..], &[0, 1][..], &[4, 4][..])
    );
    let strays: Vec<_> =
        capture.strays.iter().map(|stray| (stray.arrival, stray.id, stray.payload.as_slice())).collect();
    assert_eq!(strays, [(1, 99, b"what".as_slice()), (3, 99, b"what".as_slice())]);
}

/// Columns that were stored and loaded give every payload back; columns that do not fit are refused.
#[test]
fn stored_columns() {
    let schema = compile(SHIP);
    let codec = Codec::new(&schema);
    let ship = schema.by_id(1).unwrap();
    let mut decoder = Decoder::new(&codec, Layout::Fixed);
    let mut sent = Vec::new();
    for row in 0..300_u32 {
        let mut payload = codec.encode(ship, Layout::Fixed, &codec.default_value(ship)).unwrap();
        let last = payload.len() - 1;
        payload[0] = row as u8;
        payload[last] = u8::from(row % 7 == 0); // not what a careful encoder leaves in an unset union
        let header = Header { sequence: row as u8, system: 1, component: 2 };
        let id = if row % 5 == 0 { 77 } else { 1 };
        decoder.push(id, header, &payload).unwrap();
        sent.push((id, header, payload));
    }
    let capture = decoder.finish();
    let parts = |table: &Table<'_>| Parts {
        arrival: table.arrival.clone(),
        sequence: table.sequence.clone(),
        system: table.system.clone(),
        component: table.component.clone(),
        columns: table.columns.iter().rev().map(|column| (column.path.clone(), column.data.clone())).collect(),
        irregular: table.irregular.clone(),
    };
    let stored = parts(&capture.tables[0]);
    let load = |parts: Parts| Table::from_parts(&codec, ship, Layout::Fixed, parts);
    let strays = capture.strays.iter().map(|s| Stray::new(s.arrival, s.id, s.header, s.payload.clone())).collect();
    let loaded = Capture::new(Layout::Fixed, vec![load(stored.clone()).unwrap()], strays);
    assert_eq!(loaded.payloads().collect::<Vec<_>>(), sent);

    let mut missing = stored.clone();
    missing.columns.pop();
    assert_eq!(load(missing).unwrap_err().code, "missing_column");
    let mut short = stored.clone();
    short.columns[3].1.pop();
    assert_eq!(load(short).unwrap_err().code, "column_length");
    let mut extra = stored;
    extra.columns.push(("nope".to_owned(), Vec::new()));
    assert_eq!(load(extra).unwrap_err().code, "unknown_column");
}

/// SF-6.4: hostile counts are clamped in the fixed layout and refused in the wire layout; nothing is lost either way.
#[test]
fn hostile_counts() {
    let schema = compile(
        "package p; message M { option msgid = 1; option variable = true; repeated uint8 r = 1 [max_size=3]; bool b = 2; }",
    );
    let codec = Codec::new(&schema);
    let message = schema.by_id(1).unwrap();
    let fixed = [200, 1, 2, 3, 7];
    let value = codec.decode(message, Layout::Fixed, &fixed).unwrap();
    assert_eq!(serde_json::to_string(&value).unwrap(), r#"{"r":[1,2,3],"b":true}"#);
    let fault = codec.decode(message, Layout::Wire, &fixed).unwrap_err();
    assert_eq!((fault.code, fault.path.as_str(), fault.at), ("count_exceeds_bound", "r", Some(0)));
    assert_eq!(fault.to_string(), "r: count 200 exceeds the bound 3 at byte 0 (0x0)");
    let strict = Codec::new(&schema).with_strictness(Strictness::Strict);
    assert_eq!(strict.decode(message, Layout::Fixed, &fixed).unwrap_err().code, "count_exceeds_bound");

    for layout in [Layout::Fixed, Layout::Wire] {
        let mut decoder = Decoder::new(&codec, layout);
        decoder.push(1, Header::default(), &fixed).unwrap();
        let capture = decoder.finish();
        assert_eq!(capture.payloads().next().unwrap().2, fixed);
        match layout {
            Layout::Fixed => {
                let table = &capture.tables[0];
                assert_eq!(
                    (&table.column("r@count").unwrap().data[..], &table.column("b").unwrap().data[..]),
                    (&[3][..], &[1][..])
                );
                assert_eq!(table.column("r@count").unwrap().role, Role::Count);
            }
            Layout::Wire => assert_eq!(capture.strays[0].fault.as_ref().unwrap().code, "count_exceeds_bound"),
        }
    }
}

/// SF-8.4: a missing base byte is an error that says where; a missing extension is not.
#[test]
fn truncated_payloads() {
    let schema = compile(
        "package p; message M { option msgid = 1; option variable = true; uint8 n = 1; string s = 2 [max_size=9]; option extensions_start = 3; uint32 e = 3 [default=5]; string t = 4 [max_size=3, default='no']; }",
    );
    let codec = Codec::new(&schema);
    let message = schema.by_id(1).unwrap();
    let fault = codec.decode(message, Layout::Wire, &[1, 4, b'a']).unwrap_err();
    assert_eq!(fault.to_string(), "s: need 4 bytes, have 1 at byte 2 (0x2)");
    let shown = |payload: &[u8]| serde_json::to_string(&codec.decode(message, Layout::Wire, payload).unwrap()).unwrap();
    assert_eq!(shown(&[1, 1, b'a']), r#"{"n":1,"s":"a","e":5,"t":"no"}"#);
    assert_eq!(shown(&[1, 1, b'a', 9, 9]), r#"{"n":1,"s":"a","e":5,"t":"no"}"#);
    assert_eq!(shown(&[1, 0, 1, 0, 0, 0, 3, b'x']), r#"{"n":1,"s":"","e":1,"t":"no"}"#);
    assert_eq!(shown(&[1, 0, 1, 0, 0, 0, 1, b'x', 7, 7]), r#"{"n":1,"s":"","e":1,"t":"x"}"#);
}

/// SF-6.3, SF-15: what does not fit is refused, with its path.
#[test]
fn refused_values() {
    let schema = compile(SHIP);
    let codec = Codec::new(&schema);
    let ship = schema.by_id(1).unwrap();
    let rows = [
        (serde_json::json!({"id": -1}), "number_out_of_range", "id"),
        (serde_json::json!({"id": 4294967296_u64}), "number_out_of_range", "id"),
        (serde_json::json!({"id": 1.5}), "wrong_type", "id"),
        (serde_json::json!({"nope": 1}), "unknown_field", ""),
        (serde_json::json!({"track": [{"x": 1, "y": 1}, {"x": 256}]}), "number_out_of_range", "track[1].x"),
        (serde_json::json!({"track": [{}, {}, {}]}), "array_length", "track"),
        (serde_json::json!({"decks": [1]}), "array_length", "decks"),
        (serde_json::json!({"name": "abcde"}), "text_too_long", "name"),
        (serde_json::json!({"code": "a\u{0}b"}), "text_with_zero", "code"),
        (serde_json::json!({"ok": 1}), "wrong_type", "ok"),
        (serde_json::json!({"body": {"which": "no", "value": 1}}), "unknown_member", "body"),
        (serde_json::json!({"body": {"which": "f", "value": 1e39}}), "number_out_of_range", "body.f"),
        (serde_json::json!({"body": {"which": "pt", "value": {"z": 1}}}), "unknown_field", "body.pt"),
        (serde_json::json!([1]), "wrong_type", ""),
    ];
    for (json, code, path) in rows {
        let fault =
            codec.value_from_json(ship, &json).and_then(|value| codec.encode(ship, Layout::Wire, &value)).unwrap_err();
        assert_eq!((fault.code, fault.path.as_str()), (code, path), "{json}: {fault}");
    }
    // Enums by name, integers as strings, missing fields with their defaults.
    let value = codec.value_from_json(ship, &serde_json::json!({"id": "7", "decks": ["BIKE", 9]})).unwrap();
    assert!(serde_json::to_string(&value).unwrap().contains(r#""id":7,"track":[],"name":"","code":"","decks":[1,9]"#));
}

/// A union with too many alternatives is refused as columns, not expanded.
#[test]
fn exponential_unions_are_refused() {
    let mut text = "package p; message M0 { uint8 a = 1; }".to_owned();
    for level in 1..30 {
        let inner = level - 1;
        text += &format!(
            " message M{level} {{ option msgid = {level}; oneof o {{ option discriminator = field_order; M{inner} a = 1; M{inner} b = 2; }} }}"
        );
    }
    let schema = compile(&text);
    let codec = Codec::new(&schema);
    let mut decoder = Decoder::new(&codec, Layout::Wire);
    assert_eq!(decoder.push(29, Header::default(), &[0; 30]).unwrap_err().code, "too_many_columns");
    assert!(codec.decode(schema.by_id(29).unwrap(), Layout::Wire, &[1; 30]).is_ok());
}
