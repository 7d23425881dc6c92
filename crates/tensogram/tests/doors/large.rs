//! Damaged messages that are too large to be fetched at once: a survey that reads parts says what one of the whole says.

use fw_bytes::Span;
use fw_source::nonblocking::wait_for;
use fw_tensogram::*;
use std::sync::Arc;

/// Three objects of 9 kB each: with an index in the header, streamed with preceders and a footer, and without any index.
fn messages() -> [(&'static str, Vec<u8>); 3] {
    let field: Vec<u8> = (0..9000u32).map(|at| (at * 7 % 251) as u8).collect();
    let mut builder = MessageBuilder::new();
    for name in ["a", "b", "c"] {
        builder = builder.tensor(&[90, 100], &field).unwrap().base("name", name);
    }
    let plain = builder.encode().unwrap();
    let options = EncodeOptions::default();
    let mut encoder = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &options).unwrap();
    for name in ["a", "b", "c"] {
        encoder.write_preceder(&[("name".to_owned(), Value::from(name))].into()).unwrap();
        encoder.write_tensor(&[90, 100], &field, Pipe::raw()).unwrap();
    }
    let streamed = encoder.finish().unwrap();
    // Frames that say nothing of an index: the flag is taken back, and the frame becomes one of hashes.
    let mut walked = plain.clone();
    let index = find(&walked, |bytes| bytes.starts_with(b"FR\x00\x02"));
    walked[index + 3] = 3;
    [("index", plain), ("streamed", streamed), ("no index", walked)]
}

fn find(bytes: &[u8], is: impl Fn(&[u8]) -> bool) -> usize {
    (0..bytes.len()).find(|at| is(&bytes[*at..])).unwrap()
}

#[test]
fn damage_anywhere_is_surveyed_the_same_in_parts() {
    const BEFORE: usize = 1000;
    let options = DecodeOptions::default();
    let mut faulty = 0;
    for (name, message) in messages() {
        let payloads: Vec<Span> = survey(&message).objects.iter().map(|object| object.parts.region).collect();
        assert_eq!(payloads.len(), 3, "{name}");
        for at in 0..message.len() {
            // Of payloads only the ends: what lies inside is never looked at.
            let inside = |payload: &Span| payload.start + 9 < at as u64 && (at as u64) + 9 < payload.end;
            if payloads.iter().any(inside) {
                continue;
            }
            for change in [0x01, 0x80, 0xff] {
                let mut damaged = message.clone();
                damaged[at] ^= change;
                let expected = survey_with(&damaged, &options);
                faulty += usize::from(!expected.report.findings().is_empty());
                let expected = format!("{expected:?}");
                let file = [&[0x2e; BEFORE][..], &damaged, &[0x2e; 100]].concat();
                let span = Span::new(BEFORE as u64, (BEFORE + damaged.len()) as u64);
                let found = survey_source_with(&file[..], span, &options).unwrap();
                assert_eq!(format!("{found:?}"), expected, "{name}, byte {at} ^ {change:#x}");
                if scan(&file) != [span] || change != 0xff {
                    continue;
                }
                let found = wait_for(async move {
                    let source = Arc::new(bytes::Bytes::from(file));
                    let file = AsyncTensogramFile::new(source, "memory", ScanOptions::default()).await.unwrap();
                    file.survey(0).await.unwrap()
                });
                assert_eq!(format!("{found:?}"), expected, "{name}, awaited, byte {at} ^ {change:#x}");
            }
        }
    }
    assert!(faulty > 1000, "{faulty} findings");
}

#[test]
fn a_damaged_message_is_not_read_whole() {
    let field = vec![7u8; 3 << 20];
    let mut builder = MessageBuilder::new();
    for name in ["a", "b", "c"] {
        builder = builder.tensor(&[3 << 20], &field).unwrap().base("name", name);
    }
    let mut message = builder.encode().unwrap();
    let slot = MessageView::open(&message).unwrap().object(1).unwrap().frame().cbor_offset_slot();
    message[slot.start as usize] = 0xff;
    let counting = crate::source::Counting::new(&message);
    let found = survey_source(&counting, Span::new(0, message.len() as u64)).unwrap();
    assert_eq!(found.report.findings()[0].code, "cbor_offset_invalid");
    assert_eq!(found.objects.iter().map(|object| object.index).collect::<Vec<_>>(), [0, 2]);
    assert!(counting.read() < 20_000, "{} bytes were read", counting.read());
}
