//! The fuzz target `frames`: any bytes as they come from a link, in any framing, in any pieces.

use fw_dynamic::{Codec, EnumStyle, FrameCodec, LineWriter, Strictness};
use fw_schema::{Schema, check_text};
use fw_structframe::{Event, Frame, Framing, Header, HeaderKind, PayloadKind, Profile};
use serde_json::Value as Json;
use std::sync::LazyLock;

/// A message of every kind.
pub(crate) const SCHEMA: &str = "package f;
enum Mode { IDLE = 0; GO = 1; STOP = 200; }
message Point { float x = 1; double y = 2; }
message Note { uint8 level = 1; string text = 2 [max_size=6]; }
message Numbers { option msgid = 1; uint8 a = 1; int8 b = 2; uint16 c = 3; int16 d = 4; uint32 e = 5; int32 f = 6;
  uint64 g = 7; int64 h = 8; bool i = 9; Mode j = 10; repeated Point points = 11 [size=2]; }
message Text { option msgid = 2; string fixed = 1 [size=5]; string bounded = 2 [max_size=7]; bytes blob = 3 [max_size=300];
  repeated string names = 4 [max_size=3, element_size=4]; }
message Trace { option msgid = 3; option variable = true; uint8 n = 1; repeated uint16 values = 2 [max_size=9];
  repeated Note notes = 3 [max_size=2]; string last = 4 [max_size=20]; }
message Choice { option msgid = 4; uint8 n = 1;
  oneof body { option discriminator = field_order; Point point = 1; Note note = 2; Mode mode = 3; } }
message Grown { option msgid = 5; uint16 old = 1 [default=7]; option extensions_start = 2; uint8 newer = 2 [default=9]; string who = 3 [max_size=4]; }
message Empty { option msgid = 6; uint8 nothing = 1; }
";

static COMPILED: LazyLock<Schema> =
    LazyLock::new(|| check_text("f.sf", SCHEMA).into_result().unwrap_or_else(|faults| panic!("{faults}")));

/// The first two bytes choose the framing, how strict payloads are read, and the pieces; the others are what arrives.
pub(crate) fn run(bytes: &[u8]) {
    let [kind, cut, bytes @ ..] = bytes else { return };
    let strictness = if cut & 1 == 0 { Strictness::Lenient } else { Strictness::Strict };
    let enums = if cut & 2 == 0 { EnumStyle::Names } else { EnumStyle::Numbers };
    let codec = Codec::new(&COMPILED).with_strictness(strictness);
    let frames = FrameCodec::new(&codec, framing(*kind)).with_enums(enums);
    // Where an event stands, and all of it.
    let mut whole = Vec::new();
    let (mut lines, mut payloads) = (LineWriter::new(&frames), Vec::new());
    let mut events = frames.read(bytes);
    for event in events.by_ref() {
        whole.push(format!("{event:?}"));
        if let Event::Frame(frame) = event {
            payloads.push((frame.id, frame.header, frame.payload.to_vec()));
            look(&frames, &mut lines, &frame);
        }
    }
    let counters = events.counters();
    let (mut pieces, mut stream, mut rest) = (Vec::new(), frames.stream(), bytes);
    let mut dice = u32::from(*cut);
    while !rest.is_empty() {
        dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // Many single bytes, and some of everything.
        let len = if dice >> 31 == 0 { 1 } else { (dice >> 20) as usize % 97 };
        let (chunk, behind) = rest.split_at(len.min(rest.len()));
        stream.read(chunk, |event| pieces.push(format!("{event:?}")));
        rest = behind;
    }
    stream.finish(|event| pieces.push(format!("{event:?}")));
    assert_eq!(pieces, whole, "however the bytes arrive, they say the same");
    assert_eq!(stream.counters(), counters);
    let (columns, again) = frames.columns(bytes).expect("frames that were read fit into columns");
    assert_eq!(again, counters);
    assert_eq!(columns.payloads().collect::<Vec<_>>(), payloads, "columns give every payload back");
}

/// Both ways of printing a frame say the same, and what is printed is a frame that says it again.
fn look(frames: &FrameCodec<'_, '_>, lines: &mut LineWriter<'_, '_>, frame: &Frame<'_>) {
    let mut text = Vec::new();
    let fault = lines.write(frame, None, &mut text);
    let line = frames.line(frame);
    assert_eq!(fault.map(|fault| fault.to_string()), line.error.as_ref().map(ToString::to_string));
    let text = String::from_utf8(text).expect("JSON is text");
    assert_eq!(text, format!("{}\n", serde_json::to_string(&line).expect("it can be shown")));
    let mut json: Json = serde_json::from_str(&text).expect("a line is JSON");
    let mut bytes = Vec::new();
    // Values may take more room than the payload had, and not fit the framing any more.
    if frames.write_line(&json, Header::default(), &mut bytes).is_err() {
        return;
    }
    let mut events = frames.read(&bytes);
    let Some(Event::Frame(again)) = events.next() else { panic!("{text} became no frame") };
    assert!(events.next().is_none());
    // Through text, in which a single-precision number is its shortest form.
    let shown = serde_json::to_string(&frames.line(&again)).expect("it can be shown");
    let mut read: Json = serde_json::from_str(&shown).expect("a line is JSON");
    for json in [&mut json, &mut read] {
        let object = json.as_object_mut().expect("an object");
        // The new frame stands alone.
        object.remove("at");
        object.remove("recovered");
    }
    assert_eq!(read, json);
}

/// The five profiles first, then every other framing.
fn framing(kind: u8) -> Framing {
    let kind = usize::from(kind);
    if let Some(profile) = Profile::ALL.get(kind) {
        return profile.framing();
    }
    let (headers, kinds) = (HeaderKind::ALL, PayloadKind::ALL);
    Framing::new(headers[kind % headers.len()], kinds[kind / headers.len() % kinds.len()])
}
