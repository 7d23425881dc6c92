//! What generated Rust does with the schema made to hurt. Panics when something is not as it should be.

mod messages {
    fw_structframe::include_schema!("torture");
}

use fw_structframe::field::{Field, zeroed};
use fw_structframe::{Bounded, FixedText, Layout, Message, MessageError, Text};
use messages::{AnyMessage, MESSAGES, other, torture};
use torture::*;

fn main() {
    views_read_what_was_written();
    views_of_variable_messages();
    defaults();
    short_payloads();
    counts_and_lengths();
    unions();
    several_packages();
    println!("all as it should be");
}

fn wire<M: Message>(message: &M, layout: Layout) -> Vec<u8> {
    let mut out = vec![0xee; 4096];
    let len = message.encode(layout, &mut out).unwrap();
    out.truncate(len);
    out
}

fn early() -> Early {
    let late = |n, s| Late { n, s: FixedText::literal(s) };
    Early {
        late: late(1, "a"),
        more: [late(2, "bc"), late(3, "def")],
        some: Bounded::from_slice(&[late(4, "")]).unwrap(),
        colour: Colour(99),
    }
}

fn views_read_what_was_written() {
    let bytes = wire(&early(), Layout::Wire);
    let view = EarlyView::read(Layout::Wire, &bytes).unwrap();
    assert_eq!((view.late().n(), view.late().s().as_str()), (1, Ok("a")));
    assert_eq!(view.more().iter().map(|late| late.n()).collect::<Vec<_>>(), [2, 3]);
    assert_eq!((view.some().len(), view.some().get(0).unwrap().s().as_bytes()), (1, &b""[..]));
    assert_eq!(view.colour(), Colour(99));
    assert_eq!(format!("{:?} {:?}", view.colour(), Colour::BLUE), "Colour(99) BLUE");
    assert_eq!(EarlyView::read(Layout::Wire, &bytes[1..]).unwrap_err().code(), "truncated");
}

fn views_of_variable_messages() {
    let mut arrays = Arrays {
        flags: Bounded::from_slice(&[true, false, true]).unwrap(),
        names: Bounded::from_slice(&[FixedText::literal("ab"), FixedText::literal("full")]).unwrap(),
        blobs: Bounded::from_slice(&[[1, 2, 3]]).unwrap(),
        long: Bounded::from_slice(&[7; 300]).unwrap(),
        text: Text::literal("grüße"),
        ..Arrays::default()
    };
    arrays.page[39] = 5;
    for layout in [Layout::Wire, Layout::Fixed] {
        let bytes = wire(&arrays, layout);
        assert_eq!(Arrays::decode(layout, &bytes).as_ref(), Ok(&arrays));
        let view = ArraysView::read(layout, &bytes).unwrap();
        assert_eq!(view.flags().iter().collect::<Vec<_>>(), [true, false, true]);
        assert_eq!(view.names().iter().map(|name| name.to_string()).collect::<Vec<_>>(), ["ab", "full"]);
        assert_eq!(view.blobs().get(0), Some(&[1, 2, 3][..]));
        assert_eq!((view.long().len(), view.long().get(299)), (300, Some(7)));
        assert_eq!((view.text().as_str(), view.page().get(39)), (Ok("grüße"), Some(5)));
    }
    let mixed = MixedTrimmed {
        first: MixedTrimmedFirst::Small(-3),
        second: MixedTrimmedSecond::Text(Text::literal("nine")),
    };
    for layout in [Layout::Wire, Layout::Fixed] {
        let bytes = wire(&mixed, layout);
        let view = MixedTrimmedView::read(layout, &bytes).unwrap();
        assert!(matches!(view.first(), MixedTrimmedFirstView::Small(-3)));
        assert!(matches!(view.second(), MixedTrimmedSecondView::Text(text) if text == "nine"));
    }
    assert_eq!(wire(&mixed, Layout::Wire), b"\x01\xfd\0\0\x02\x0a\0\x04nine\0\0\0\0\0");
}

fn defaults() {
    let new = Defaults::default();
    assert_eq!((new.i8, new.u64, new.i64, new.f, new.d), (-128, u64::MAX, i64::MIN, f32::NEG_INFINITY, 3.14));
    assert_eq!((new.text.as_bytes(), new.bounded.as_str()), (&br#"say \"hi\""#[..], Ok("naïve")));
    assert_eq!((new.blob, &new.bounded_blob[..], new.result), (*b"ab\0\0", &b"cd"[..], Result_::CLASS));
    assert_eq!(Result_::from_name("default"), Some(Result_::DEFAULT));
    assert_eq!((Result_::CLASS.name(), Result_(200).name()), (Some("class"), None));
    // Slots of arrays are zeros, not the element's defaults.
    assert_eq!((Early::default().late.n, Early::default().more[0].n), (77, 0));
    assert_eq!(zeroed::<Door>().state, DoorState::OPEN);
    assert_eq!((Door::default().state, ValveState::OPEN.0), (DoorState::SHUT, 2));
}

fn short_payloads() {
    // The fixed layout is filled byte by byte.
    let grown = Grown::decode(Layout::Wire, &[1, 2, 0xff]).unwrap();
    assert_eq!((grown.id, grown.up, grown.note.as_str()), (0x0201, 0x1234_56ff, Ok("fresh")));
    assert_eq!(Grown::decode(Layout::Wire, &[]).unwrap(), Grown { id: 0, ..Grown::default() });
    // The trimmed one field by field, as far as fields are whole.
    let grown = GrownVariable::decode(Layout::Wire, &[2, 8, 9, 1, 0, 0]).unwrap();
    assert_eq!((&grown.ids[..], grown.up, grown.note.as_str(), grown.blob), (&[8, 9][..], 5, Ok("fresh"), *b"ab"));
    let grown = GrownVariable::decode(Layout::Wire, &[0, 1, 0, 0, 0, 3, b'h']).unwrap();
    assert_eq!((grown.up, grown.note.as_str()), (1, Ok("fresh")));
    assert_eq!(GrownVariable::decode(Layout::Wire, &[2, 8]).unwrap_err().code(), "truncated");
    assert_eq!(GrownVariable::decode(Layout::Wire, &[0, 1, 0, 0, 0, 7]).unwrap_err().code(), "too_long");
    // A newer peer's surplus is ignored.
    assert_eq!(Frame::decode(Layout::Wire, &[4, 5, 6]), Ok(Frame { header: 4 }));
    assert_eq!(wire(&Empty::default(), Layout::Fixed), b"");
    assert_eq!(EmptyVariable::decode(Layout::Wire, &[1]), Ok(EmptyVariable {}));
}

fn counts_and_lengths() {
    let mut bytes = wire(&torture::Text { text: Text::literal("abcd") }, Layout::Fixed);
    bytes[0] = 255;
    let clamped = torture::Text::decode(Layout::Fixed, &bytes).unwrap();
    assert_eq!(clamped.text.as_str(), Ok("abcd"));
    assert_eq!(wire(&clamped, Layout::Fixed), b"\x04abcd");
    let broken = torture::Text::decode(Layout::Fixed, b"\x02\xff\xfe").unwrap();
    assert!(broken.text.as_str().is_err());
    assert_eq!(wire(&broken, Layout::Fixed), b"\x02\xff\xfe\0\0", "bytes that are no text come back as they were");
    assert_eq!(
        torture::Text::default().encode(Layout::Fixed, &mut [0; 4]),
        Err(MessageError::BufferTooShort { need: 5, have: 4 })
    );
}

fn unions() {
    let unknown = Mixed { data: MixedData::Unknown { tag: 77, region: [3; 8] } };
    let bytes = wire(&unknown, Layout::Fixed);
    assert_eq!(bytes, [77, 3, 3, 3, 3, 3, 3, 3, 3]);
    assert_eq!(Mixed::decode(Layout::Fixed, &bytes), Ok(unknown));
    assert_eq!(MixedData::Unset_(1.5).tag(), 1);
    assert!(MixedTrimmed::decode(Layout::Wire, &[9, 0, 0, 0, 0]).is_err_and(|error| error.code() == "unknown_tag"));
    // A member shorter than its message, with a length of its own, is completed with defaults.
    let short = MixedTrimmed::decode(Layout::Wire, &[0, 0, 0, 0, 3, 1, 0, 5]).unwrap();
    let late = Late { n: 5, ..Late::default() };
    assert_eq!(short.second, MixedTrimmedSecond::Late(late.clone()));
    let tagless = Tagless { kind: 1, body: TaglessBody::from_late(&late) };
    assert_eq!((tagless.body.as_late(), tagless.body.as_number()), (late, f32::from_bits(5)));
    assert_eq!(Tagless::decode(Layout::Wire, &wire(&tagless, Layout::Wire)), Ok(tagless));
}

fn several_packages() {
    let envelope = Envelope::wrap(other::Clash { a: 4 });
    assert_eq!((envelope.seq, envelope.payload.tag()), (3, 0x0901));
    assert_eq!(wire(&envelope, Layout::Wire), [3, 1, 9, 4]);
    assert_eq!(<other::Borrowed as Message>::MSG_ID, 0x0902);
    assert!(MESSAGES.is_sorted_by_key(|info| info.id) && MESSAGES.len() == torture::MESSAGES.len() + 2);
    let any = [AnyMessage::from(other::Clash { a: 1 }), AnyMessage::from(torture::Clash::default())];
    assert_eq!(any.map(|message| message.id()), [0x0901, 0x0815]);
    assert_eq!(<torture::Clash as Field>::SIZE, 6);
}
