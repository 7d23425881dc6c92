//! Values that JSON cannot say plainly.

use fw_dynamic::{Codec, Layout};

/// SF-15.3: text that is not UTF-8 and a NaN with unusual bits are shown as hex, and encode to the same bytes again.
#[test]
fn text_and_nan_that_json_cannot_say() {
    let text = "package p; message M { option msgid = 1; string s = 1 [size = 4]; float f = 2; double d = 3; }";
    let schema = fw_schema::check_text("a.sf", text).into_result().unwrap();
    let codec = Codec::new(&schema);
    let message = schema.by_id(1).unwrap();
    let usual: Vec<u8> = [b"abc\0", &f32::NAN.to_le_bytes()[..], &f64::NAN.to_le_bytes()].concat();
    let odd: Vec<u8> =
        [&[b'a', 0xff, 0, 0], &0x7fc0_0001u32.to_le_bytes()[..], &0xfff8_0000_0000_0000u64.to_le_bytes()].concat();
    for (bytes, shown) in [
        (usual, serde_json::json!({ "s": "abc", "f": "NaN", "d": "NaN" })),
        (
            odd,
            serde_json::json!({ "s": { "hex": "61ff" }, "f": { "hex": "0100c07f" }, "d": { "hex": "000000000000f8ff" } }),
        ),
    ] {
        let value = codec.decode(message, Layout::Fixed, &bytes).unwrap();
        let json = serde_json::to_value(&value).unwrap();
        assert_eq!(json, shown);
        let again = codec.value_from_json(message, &json).unwrap();
        assert_eq!(codec.encode(message, Layout::Fixed, &again).unwrap(), bytes);
    }
}
