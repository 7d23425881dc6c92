//! Properties over random schemas and values.

use fw_dynamic::columns::{Decoder, Header};
use fw_dynamic::testing::value as grow;
use fw_dynamic::{Codec, Layout, Strictness};
use fw_schema::testing::{self, Entropy};
use fw_schema::{Schema, check_text};
use proptest::prelude::*;

fn grown(bytes: &[u8]) -> Schema {
    check_text("grown.sf", &testing::schema(bytes)).into_result().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// decode(encode(x)) = x in both layouts, directly, through JSON text, and through columns.
    #[test]
    fn round_trips(bytes in prop::collection::vec(any::<u8>(), 0..300), data in prop::collection::vec(any::<u8>(), 0..600)) {
        let schema = grown(&bytes);
        let codec = Codec::new(&schema).with_strictness(Strictness::Strict);
        let mut entropy = Entropy::new(&data);
        for layout in [Layout::Wire, Layout::Fixed] {
            let mut decoder = Decoder::new(&codec, layout);
            let mut sent = Vec::new();
            for message in schema.messages() {
                let value = grow(&schema, message, &mut entropy);
                let payload = codec.encode(message, layout, &value).unwrap();
                prop_assert!(payload.len() <= message.sizes.max);
                prop_assert!(layout == Layout::Wire && payload.len() >= message.sizes.min || payload.len() == message.sizes.max);
                let decoded = codec.decode(message, layout, &payload).unwrap();
                prop_assert!(decoded.same(&value), "{:?}\n{:?}", decoded, value);
                let text = serde_json::to_string(&value).unwrap();
                let again = codec.value_from_json(message, &serde_json::from_str(&text).unwrap()).unwrap();
                prop_assert!(again.same(&value), "{}", text);
                if let Some(id) = message.id {
                    let header = Header { sequence: entropy.byte(), system: 1, component: 2 };
                    decoder.push(id, header, &payload).unwrap();
                    sent.push((id, header, payload));
                }
            }
            let capture = decoder.finish();
            prop_assert!(capture.strays.is_empty());
            prop_assert!(capture.tables.iter().all(|table| table.irregular.is_empty()));
            prop_assert_eq!(capture.payloads().collect::<Vec<_>>(), sent);
        }
    }

    /// Arbitrary bytes are read or refused, never a panic, and columns give back exactly what was put in.
    #[test]
    fn arbitrary_payloads(bytes in prop::collection::vec(any::<u8>(), 0..200), payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..120), 0..12), pick in any::<prop::sample::Index>()) {
        let schema = grown(&bytes);
        let codec = Codec::new(&schema);
        let ids: Vec<u16> = schema.ids().map(|(id, _)| id).chain([0xfffe]).collect();
        for layout in [Layout::Wire, Layout::Fixed] {
            let mut decoder = Decoder::new(&codec, layout);
            let mut sent = Vec::new();
            for (at, payload) in payloads.iter().enumerate() {
                let id = ids[(pick.index(ids.len()) + at) % ids.len()];
                if let Some(message) = schema.by_id(id)
                    && let Ok(value) = codec.decode(message, layout, payload)
                {
                    // What was understood can be written, and means the same.
                    let written = codec.encode(message, Layout::Fixed, &value).unwrap();
                    prop_assert!(codec.decode(message, Layout::Fixed, &written).unwrap().same(&value));
                }
                decoder.push(id, Header::default(), payload).unwrap();
                sent.push((id, Header::default(), payload.clone()));
            }
            prop_assert_eq!(decoder.finish().payloads().collect::<Vec<_>>(), sent);
        }
    }

    /// Lines written straight from payloads are those of the values, byte for byte, also where payloads cannot be read.
    #[test]
    fn fast_lines_are_the_same(bytes in prop::collection::vec(any::<u8>(), 0..200), payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..120), 0..12), data in prop::collection::vec(any::<u8>(), 0..600), strict in any::<bool>(), numbers in any::<bool>()) {
        use fw_dynamic::{EnumStyle, FrameCodec, LineWriter};
        use fw_structframe::{Event, Profile};
        let schema = grown(&bytes);
        let strictness = if strict { Strictness::Strict } else { Strictness::Lenient };
        let codec = Codec::new(&schema).with_strictness(strictness);
        let enums = if numbers { EnumStyle::Numbers } else { EnumStyle::Names };
        let mut entropy = Entropy::new(&data);
        for profile in [Profile::Standard, Profile::Network, Profile::Bulk] {
            let frames = FrameCodec::new(&codec, profile.framing()).with_enums(enums);
            let mut wire = Vec::new();
            for (id, message) in schema.ids() {
                // What does not fit the framing is not sent.
                let value = grow(&schema, message, &mut entropy);
                let _ = frames.write(message, Header::default(), &value, &mut wire);
                for payload in &payloads {
                    let _ = frames.write_payload(id, Header { sequence: 7, system: 1, component: 2 }, payload, &mut wire);
                }
            }
            let _ = frames.write_payload(0xfe, Header::default(), &[1, 2], &mut wire);
            let mut lines = LineWriter::new(&frames);
            for event in frames.read(&wire) {
                let Event::Frame(frame) = event else { continue };
                let mut text = b"before".to_vec();
                let fault = lines.write(&frame, None, &mut text);
                let line = frames.line(&frame);
                prop_assert_eq!(&fault.map(|fault| fault.to_string()), &line.error.as_ref().map(ToString::to_string));
                prop_assert_eq!(String::from_utf8(text).unwrap(), format!("before{}\n", serde_json::to_string(&line).unwrap()));
            }
        }
    }

    /// SF-6.4: any prefix of a payload of an ordinary message reads, the missing bytes coming from the defaults.
    #[test]
    fn short_payloads_take_defaults(bytes in prop::collection::vec(any::<u8>(), 0..200), data in prop::collection::vec(any::<u8>(), 0..300), cut in any::<prop::sample::Index>()) {
        let schema = grown(&bytes);
        let codec = Codec::new(&schema);
        let mut entropy = Entropy::new(&data);
        for message in schema.messages().iter().filter(|message| !message.variable) {
            let value = grow(&schema, message, &mut entropy);
            let payload = codec.encode(message, Layout::Wire, &value).unwrap();
            let kept = cut.index(payload.len() + 1);
            let mut image = schema.default_image(message);
            image[..kept].copy_from_slice(&payload[..kept]);
            let short = codec.decode(message, Layout::Wire, &payload[..kept]).unwrap();
            prop_assert!(short.same(&codec.decode(message, Layout::Wire, &image).unwrap()));
        }
    }
}
