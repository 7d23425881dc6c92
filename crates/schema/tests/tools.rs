//! Byte maps, lookups and the comparison of two schemas.

use fw_schema::{Options, Schema, Variable, Verdict, Weight, check_text, check_with, diff, layout_text};

fn compile(text: &str) -> Schema {
    check_text("demo.sf", text).into_result().unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

const DEMO: &str = "package demo;
enum Mode { OFF = 0; ON = 1; }
message Pt    { uint8 x = 1; uint16 y = 2; }
message Go    { option msgid = 100; uint8 speed = 1; }
message Halt  { option msgid = 101; uint16 why = 1; uint32 at = 2; }
message Ping  { option msgid = 7;  uint16 seq = 1; bool ack = 2; Mode mode = 3; }
message Trace { option msgid = 8;  option variable = true; uint8 n = 1; repeated uint16 v = 2 [max_size=4];
                string s = 3 [max_size=5]; repeated string t = 4 [max_size=2, element_size=3]; uint8 end = 5; }
message Reading { option msgid = 9;  uint8 a = 1; oneof val { float f = 1; uint16 u = 2; Pt p = 3; } }
message Cmd     { option msgid = 10; uint8 a = 1; oneof body { Go go = 1; Halt halt = 2; } }
message CmdLen  { option msgid = 13; option variable = true; uint8 a = 1;
                  oneof body { option discriminator = field_order; option variable = true; option min_size = 3; Go go = 1; Halt halt = 2; } }
message Report  { option msgid = 14; uint16 id = 1; uint8 code = 2;
                  option extensions_start = 3; uint32 up = 3; uint8 lvl = 4 [default = 5]; }
";

/// SF-5.3, SF-5.4, SF-5.5, SF-6.1, SF-7.1, SF-9.1: the worked example as a byte map.
#[test]
fn byte_maps() {
    let expected = "\
demo.Pt  max 3  base 3  min 3
  offset  size  name  type
       0     1  x     uint8
       1     2  y     uint16

demo.Go  id 100 (0x0064)  max 1  base 1  min 1  magic 02 02
  offset  size  name   type
       0     1  speed  uint8

demo.Halt  id 101 (0x0065)  max 6  base 6  min 6  magic 0b 0f
  offset  size  name  type
       0     2  why   uint16
       2     4  at    uint32

demo.Ping  id 7 (0x0007)  max 4  base 4  min 4  magic 1d 2e
  offset  size  name  type
       0     2  seq   uint16
       2     1  ack   bool
       3     1  mode  enum Mode

demo.Trace  id 8 (0x0008)  max 24  base 24  min 5  magic 2c 71  variable
  offset         size  name  type
       0            1  n     uint8
       1  1+2n, max 9  v     uint16[<=4]
      10   1+n, max 6  s     string(<=5)
      16  1+3n, max 7  t     string(3)[<=2]
      23            1  end   uint8

demo.Reading  id 9 (0x0009)  max 6  base 6  min 6  magic da fa
  offset  size  name    type
       0     1  a       uint8
       1     1  val     tag, field_order; 0 is unset
       2     4          union
             4    1: f  float
             2    2: u  uint16
             3    3: p  Pt

demo.Cmd  id 10 (0x000a)  max 9  base 9  min 9  magic 46 02
  offset  size  name         type
       0     1  a            uint8
       1     2  body         tag, msgid; 0 is unset
       3     6               union
             1    100: go    Go
             6    101: halt  Halt

demo.CmdLen  id 13 (0x000d)  max 10  base 10  min 7  magic 46 02  variable
  offset  size  name       type
       0     1  a          uint8
       1     1  body       tag, field_order; 0 is unset
       2     6             union; wire: length (2), the member, at least 3
             1    1: go    Go
             6    2: halt  Halt
       8     2  (padding)  zero at the end of the fixed layout only

demo.Report  id 14 (0x000e)  max 8  base 3  min 3  magic 07 0b
  offset  size  name           type
       0     2  id             uint16
       2     1  code           uint8
       3        -- extensions  the checksum is split here
       3     4  up             uint32
       7     1  lvl            uint8
";
    assert_eq!(layout_text(&compile(DEMO)), expected);
}

/// SF-10.3
#[test]
fn default_image() {
    let schema = compile(
        "package p; enum E { A = 0; B = 7; } message S { uint8 a = 1 [default=5]; uint16 b = 2; }
         message M { int16 i = 1 [default=-3]; bool t = 2 [default=true]; float f = 3 [default=1.25]; double d = 4 [default=-inf];
                     string s = 5 [size=4, default='ab']; bytes x = 6 [max_size=300, default=\"hey\"]; E e = 7 [default=B]; S n = 8;
                     repeated S r = 9 [size=1]; uint64 u = 10 [default=0xFFFFFFFFFFFFFFFF]; oneof o { S q = 1; } }",
    );
    let message = schema.find("M").unwrap();
    let mut expected = vec![0xfd, 0xff, 1];
    expected.extend(1.25_f32.to_le_bytes());
    expected.extend(f64::NEG_INFINITY.to_le_bytes());
    expected.extend(*b"ab\0\0");
    expected.extend([3, 0]);
    expected.extend(*b"hey");
    expected.extend([0; 297]);
    expected.extend([7, 5, 0, 0, 0, 0, 0]);
    expected.extend([0xff; 8]);
    expected.extend([0; 4]);
    assert_eq!(schema.default_image(message), expected);
}

/// SF-2.11: a type is looked up in the package that declares the message, whoever imports it.
#[test]
fn lookup_begins_in_the_declaring_package() {
    let files = fw_schema::Memory::new()
        .with("a.sf", "package a; option pkgid = 1; import 'b.sf'; message In { uint64 x = 1; } message M { option msgid = 1; b.Out o = 1; In i = 2; }")
        .with("b.sf", "package b; option pkgid = 2; message In { uint8 x = 1; } message Out { In i = 1; }");
    let schema = check_with(&files, std::path::Path::new("a.sf"), &Options::default()).into_result().unwrap();
    assert_eq!(schema.find("b.Out").unwrap().sizes.max, 1);
    assert_eq!(schema.find("M").unwrap().sizes.max, 9);
    assert_eq!(schema.find("In").unwrap().sizes.max, 8);
}

/// SF-2.13: chains of imports, importers first; a direct import by the root counts before an indirect one.
#[test]
fn ids_are_inherited_from_importers() {
    let files = fw_schema::Memory::new()
        .with("r.sf", "package r; option pkgid = 1; import 'b.sf'; import 'd.sf';")
        .with("b.sf", "package b; option pkgid = 2; import 'd.sf'; import 'e.sf';")
        .with("d.sf", "package d; message D { option msgid = 1; uint8 a = 1; }")
        .with("e.sf", "package e; message E { option msgid = 1; uint8 a = 1; }");
    let schema = check_with(&files, std::path::Path::new("r.sf"), &Options::default()).into_result().unwrap();
    assert_eq!(schema.find("D").unwrap().id, Some(0x0101));
    assert_eq!(schema.find("E").unwrap().id, Some(0x0201));
}

/// SF-8.5
#[test]
fn all_messages_can_be_made_variable() {
    let files = fw_schema::Memory::new().with("a.sf", "package a; message M { string s = 1 [max_size=9]; }");
    let options = Options::default().with_variable(Variable::All);
    let schema = check_with(&files, std::path::Path::new("a.sf"), &options).into_result().unwrap();
    assert_eq!((schema.find("M").unwrap().variable, schema.find("M").unwrap().sizes.min), (true, 1));
}

fn verdict(old: &str, new: &str) -> (Verdict, String) {
    let with = |text: &str| compile(&format!("package p; {text}"));
    let found = diff(&with(old), &with(new));
    let text = found.to_string();
    let worst = found.messages.iter().map(|message| message.verdict).max().unwrap();
    assert_eq!(found.is_break(), worst == Verdict::Broken);
    assert!(found.messages.iter().all(|message| (message.verdict == Verdict::Broken)
        == message.reasons.iter().any(|reason| reason.weight == Weight::Break)));
    (worst, text)
}

/// SF-9.2, SF-9.5: each kind of change, with its verdict and a word of its reason.
#[test]
fn changes_and_their_verdicts() {
    let base = "enum E { A = 0; B = 1; } message In { uint8 x = 1; } message M { option msgid = 1; uint16 a = 1; In n = 2; E e = 3; repeated uint8 r = 4 [max_size=4]; }";
    let rows = [
        (base.to_owned(), Verdict::Same, ""),
        (base.replace("uint16 a", "uint16 renamed"), Verdict::Same, "is now called"),
        (base.replace("enum E", "enum F").replace("E e", "F e"), Verdict::Same, ""),
        (base.replace("message M", "message Renamed"), Verdict::Same, "was `p.M`"),
        (base.replace("B = 1;", "B = 1; C = 2;"), Verdict::Same, ""),
        (base.replace("B = 1;", "B = 3;"), Verdict::Broken, "`B` was 1 and is now 3"),
        (base.replace("A = 0; B = 1;", "B = 0; A = 1;"), Verdict::Broken, "`A` was 0 and is now 1"),
        (base.replace("B = 1;", "C = 1;"), Verdict::Same, "`B` (1) is now called `C`"),
        (base.replace("B = 1;", ""), Verdict::Compatible, "newer peers see a bare number"),
        (
            base.replace("message In", "enum F { X = 0; Y = 1; } message In").replace("E e", "F e"),
            Verdict::Broken,
            "enum `E`, now `F`: 0 was `A` and is now `X`",
        ),
        (
            base.replace("[max_size=4];", "[max_size=4]; option extensions_start = 5; uint8 z = 5;"),
            Verdict::Compatible,
            "extension field `z` was added",
        ),
        (base.replace("[max_size=4];", "[max_size=4]; uint8 z = 5;"), Verdict::Broken, "base field `z` was added"),
        (base.replace("[max_size=4]", "[max_size=8]"), Verdict::Broken, "uint8[<=8]"),
        (base.replace("[max_size=4]", "[size=4]"), Verdict::Broken, "uint8[4]"),
        (base.replace("uint16 a", "int16 a"), Verdict::Broken, "magic changed"),
        (base.replace("uint8 x", "uint16 x"), Verdict::Broken, "field `n`: `In` was 1 bytes and is now 2"),
        (base.replace("In", "Out"), Verdict::Broken, "magic changed"),
        (base.replace("msgid = 1;", "msgid = 2;"), Verdict::Broken, "effective id changed from 1 to 2"),
        // Padding at the very end is not missed, and zeros in its place are not read.
        (base.replace("msgid = 1;", "msgid = 1; option variable = true;"), Verdict::Compatible, "now variable"),
        (base.replace("package p;", "").replace("option msgid = 1;", ""), Verdict::Broken, "removed"),
        (format!("{base} message N {{ option msgid = 9; uint8 a = 1; }}"), Verdict::Added, "added"),
    ];
    for (new, expected, word) in &rows {
        let (found, text) = verdict(base, new);
        assert!(found == *expected && text.contains(word), "{new}\n{text}");
    }

    let union = "message In { uint8 x = 1; } message M { option msgid = 1; oneof o { option discriminator = field_order; In a = 1; uint16 b = 2; } }";
    let rows = [
        (
            union.replace("uint16 b = 2;", "uint16 b = 2; option extensions_start = 3; uint64 c = 3;"),
            Verdict::Compatible,
            "unknown tag",
        ),
        (union.replace("uint16 b = 2;", "uint16 b = 2; uint8 c = 3;"), Verdict::Broken, "base member `c` was added"),
        (union.replace("= field_order", "= none"), Verdict::Broken, "discriminator"),
        (union.replace("In a", "option max_size = 9; In a"), Verdict::Broken, "the base changed from 3 to 10 bytes"),
        (
            union.replace("In a = 1; uint16 b = 2;", "In b = 1; uint16 a = 2;"),
            Verdict::Broken,
            "tag 1 was `a` and is now `b`",
        ),
        (union.replace("oneof o", "oneof renamed"), Verdict::Same, "is now called"),
        (
            union.replace("option msgid = 1;", "option msgid = 1; option variable = true;"),
            Verdict::Compatible,
            "now variable",
        ),
    ];
    for (new, expected, word) in &rows {
        let (found, text) = verdict(union, new);
        assert!(found == *expected && text.contains(word), "{new}\n{text}");
    }
}

/// SF-9.2, SF-9.5: names that survive at another place, and changes that both directions decode.
#[test]
fn verdicts_by_name() {
    let rows = [
        (
            "message V { float lat = 1; float lon = 2; } message M { option msgid = 1; V v = 1; }",
            "message V { float lon = 1; float lat = 2; } message M { option msgid = 1; V v = 1; }",
            Verdict::Broken,
            "field `v.lat` was number 1 and is now number 2",
        ),
        (
            "message M { option msgid = 1; uint8 a = 1; option extensions_start = 2; uint8 b = 2; }",
            "message M { option msgid = 1; uint8 a = 1; option extensions_start = 2; uint8 c = 2; uint8 b = 3; }",
            Verdict::Broken,
            "field `b` was number 2 and is now number 3",
        ),
        (
            "message M { option msgid = 1; uint8 a = 1; option extensions_start = 2; uint8 b = 2; }",
            "message M { option msgid = 1; uint8 a = 1; }",
            Verdict::Compatible,
            "extension field `b` was removed",
        ),
        (
            "message A { uint8 x = 1; } message M { option msgid = 1; oneof o { A a = 1; uint32 b = 2; } }",
            "message A { uint8 x = 1; option extensions_start = 2; uint8 y = 2; }
             message M { option msgid = 1; oneof o { A a = 1; uint32 b = 2; } }",
            Verdict::Same,
            "",
        ),
        (
            "message A { uint8 x = 1; } message M { option msgid = 1; oneof o { A a = 1; uint32 b = 2; } }",
            "message A { uint8 x = 1; option extensions_start = 2; uint8 y = 2 [default=7]; }
             message M { option msgid = 1; oneof o { A a = 1; uint32 b = 2; } }",
            Verdict::Compatible,
            "new peers read 0 for `o.a.y`, not its default",
        ),
        (
            "message A { uint8 x = 1; } message M { option msgid = 1; option variable = true; oneof o { A a = 1; uint32 b = 2; } }",
            "message A { uint8 x = 1; option extensions_start = 2; uint8 y = 2; }
             message M { option msgid = 1; option variable = true; oneof o { A a = 1; uint32 b = 2; } }",
            Verdict::Broken,
            "new peers expect 2 bytes for `a`, and 1 are sent",
        ),
    ];
    for (old, new, expected, word) in rows {
        let (found, text) = verdict(old, new);
        assert!(found == expected && text.contains(word), "{new}\n{text}");
    }
}

/// SF-13.4
#[test]
fn lookup_rows() {
    let rows = fw_schema::records(&compile(DEMO));
    let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
    assert_eq!(ids, [7, 8, 9, 10, 13, 14, 100, 101]);
    assert_eq!((rows[5].max_size, rows[5].base_size, rows[5].min_size, rows[5].magic), (8, 3, 3, [7, 11]));
}
