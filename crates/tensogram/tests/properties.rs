//! What must hold for any message, any damage and any split of a stream.

mod common;

use common::*;
use fw_tensogram::frame::{FrameRef, Outline, object_parts, on_slice};
use fw_tensogram::*;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// What goes in comes out, by every way in.
    #[test]
    fn messages_round_trip(message in any_message()) {
        let wire_order = DecodeOptions { native_byte_order: false, verify_hash: false, ..DecodeOptions::default() };
        let DecodedMessage { metadata, objects } = decode(&message.bytes, &wire_order).unwrap();
        let pairs: Vec<_> = objects.iter().map(|object| (object.descriptor.clone(), object.bytes.clone())).collect();
        prop_assert_eq!(&pairs, &message.objects);
        prop_assert_eq!(&metadata.extra, &message.metadata.extra);
        let view = MessageView::open(&message.bytes).unwrap();
        prop_assert_eq!(view.object_count(), objects.len());
        prop_assert_eq!(&view.metadata().unwrap(), &metadata);
        for (index, DecodedObject { descriptor, bytes: data }) in objects.iter().enumerate() {
            let object = view.object(index).unwrap();
            prop_assert_eq!(object.descriptor(), descriptor);
            prop_assert_eq!(&object.decode(&wire_order).unwrap(), data);
            let mut own = metadata.base[index].clone();
            own.remove("_reserved_");
            prop_assert_eq!(&own, &message.metadata.base[index]);
        }
        let report = validate_message(&message.bytes, &ValidateOptions { canonical: true, ..ValidateOptions::mode(ValidateMode::Full) });
        prop_assert!(report.is_ok(), "{:?}", report.report);
        prop_assert_eq!(scan(&message.bytes).len(), 1);
    }

    /// All CBOR we emit is canonical (TG-5.1): metadata, descriptors, index and hash frames.
    #[test]
    fn everything_emitted_is_canonical(message in any_message()) {
        let outline = Outline::of(&message.bytes, &Default::default()).unwrap();
        let body = |frame: &FrameRef| frame.body().slice_of(&message.bytes, 0).unwrap();
        for frame in &outline.others {
            verify_canonical_cbor(body(frame)).unwrap();
        }
        for object in &outline.objects {
            let parts = on_slice(&message.bytes, |bytes| object_parts(&object.frame, bytes)).unwrap();
            verify_canonical_cbor(parts.descriptor.slice_of(&message.bytes, 0).unwrap()).unwrap();
        }
    }

    /// Any split of a stream gives the same events, junk between messages included.
    #[test]
    fn splits_do_not_matter(messages in prop::collection::vec(any_message(), 1..3), junk in prop::collection::vec(any::<u8>(), 0..20), cuts in prop::collection::vec(1usize..200, 1..20)) {
        let mut stream = junk.clone();
        for message in &messages {
            stream.extend_from_slice(&message.bytes);
            stream.extend_from_slice(&junk);
        }
        let whole = events(&stream, &[stream.len()]);
        prop_assert_eq!(&events(&stream, &cuts), &whole);
        prop_assert_eq!(&events(&stream, &[1]), &whole);
        let ends = whole.iter().filter(|event| matches!(event, Ok(StreamEvent::End { .. }))).count();
        prop_assert_eq!(ends, messages.len());
    }

    /// Arbitrary bytes never make anything panic, whatever stands in front of them.
    #[test]
    fn arbitrary_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400), head in 0usize..60) {
        let message = &ten_kinds()[1].1;
        let mut input = message[..head].to_vec();
        input.extend_from_slice(&bytes);
        survive(&input);
    }
}

/// Every single-byte change of ten kinds of message decodes to the same values, or fails, or is reported.
#[test]
fn every_flip_is_harmless_or_reported() {
    for (kind, message) in ten_kinds() {
        let original = decode(&message, &DecodeOptions::default()).unwrap();
        let untouched = validate_message(&message, &ValidateOptions::default()).report;
        for position in 0..message.len() {
            for pattern in [0x01, 0x80, 0xff] {
                let mut damaged = message.clone();
                damaged[position] ^= pattern;
                survive(&damaged);
                let Ok(decoded) = decode(&damaged, &DecodeOptions::default()) else { continue };
                if decoded != original {
                    let report = validate_message(&damaged, &ValidateOptions::default()).report;
                    assert_ne!(report, untouched, "{kind}: byte {position} ^ {pattern:#x} changed values unnoticed");
                }
            }
        }
    }
}

/// Every truncation fails, and validation says so.
#[test]
fn every_truncation_fails() {
    for (kind, message) in ten_kinds() {
        for len in 0..message.len() {
            let cut = &message[..len];
            survive(cut);
            assert!(decode(cut, &DecodeOptions::default()).is_err(), "{kind} cut to {len} bytes");
            assert!(!validate_message(cut, &ValidateOptions::default()).is_ok(), "{kind} cut to {len} bytes");
        }
    }
}

/// Every byte of every message, damaged ones too, has exactly one name.
#[test]
fn inspection_covers_every_byte() {
    for entry in std::fs::read_dir(vectors()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "tgm") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let mut position = 0;
        for (_, leaf) in inspect(&bytes).leaves() {
            assert_eq!(leaf.span.start, position, "{}: {}", path.display(), leaf.label);
            position = leaf.span.end;
        }
        assert_eq!(position, bytes.len() as u64, "{}", path.display());
    }
}

/// Everything that reads, read.
fn survive(bytes: &[u8]) {
    let options = DecodeOptions::default();
    let verified = DecodeOptions::untrusted();
    let _ = decode(bytes, &options);
    let _ = decode(bytes, &verified);
    let _ = decode_metadata(bytes);
    let _ = decode_object(bytes, 1, &options);
    let _ = decode_range(bytes, 0, &[(0, 2)], &options);
    let _ = scan(bytes);
    let _ = inspect(bytes);
    let _ = events(bytes, &[7]);
    let _ = validate_message(bytes, &ValidateOptions { canonical: true, ..ValidateOptions::mode(ValidateMode::Full) });
    if let Ok(view) = MessageView::open(bytes) {
        for object in view.objects().flatten() {
            let _ = (object.bytes(), object.values::<f32>(), object.decode(&options));
        }
    }
}

/// The events of a stream fed in pieces of these sizes, again and again.
fn events(stream: &[u8], sizes: &[usize]) -> Vec<std::result::Result<StreamEvent, String>> {
    let mut decoder = StreamDecoder::new(DecodeOptions::default());
    let mut events = Vec::new();
    let mut rest = stream;
    let mut sizes = sizes.iter().copied().cycle();
    loop {
        loop {
            match decoder.poll() {
                Ok(Some(event)) => push(&mut events, event),
                Ok(None) => break,
                Err(error) => events.push(Err(error.to_string())),
            }
        }
        if rest.is_empty() {
            decoder.end_of_input();
            match decoder.poll() {
                Ok(None) => return events,
                Ok(Some(event)) => push(&mut events, event),
                Err(error) => events.push(Err(error.to_string())),
            }
            continue;
        }
        let (piece, tail) = rest.split_at(sizes.next().unwrap_or(1).min(rest.len()));
        decoder.push(piece);
        rest = tail;
    }
}

/// Skipped bytes may be told in several pieces; joined they are the same.
fn push(events: &mut Vec<std::result::Result<StreamEvent, String>>, event: StreamEvent) {
    match (events.last_mut(), event) {
        (Some(Ok(StreamEvent::Skipped(before))), StreamEvent::Skipped(span)) if before.end == span.start => {
            before.end = span.end;
        }
        (_, event) => events.push(Ok(event)),
    }
}

/// The bytes written, and the values read, do not depend on the number of threads.
#[test]
fn threads_do_not_matter() {
    let objects: Vec<_> = (0..5).map(|seed| object(fw_tensor::DType::Float64, &[3000], seed)).collect();
    let pipelines = [("none", "none"), ("shuffle", "zstd"), ("none", "lz4"), ("none", "blosc2"), ("shuffle", "szip")];
    let described: Vec<_> = objects
        .iter()
        .zip(pipelines)
        .map(|((descriptor, data), (filter, compression))| {
            let descriptor = descriptor.clone().with_filter(filter).with_compression(compression);
            let params = [("shuffle_element_size", 8), ("szip_rsi", 128), ("szip_block_size", 16), ("szip_flags", 8)];
            let descriptor = params.into_iter().fold(descriptor, |d, (key, value)| d.with_param(key, value));
            (descriptor, data.as_slice())
        })
        .collect();
    let refs: Vec<_> = described.iter().map(|(descriptor, data)| (descriptor, *data)).collect();
    let with = |threads| encode(&GlobalMetadata::default(), &refs, &EncodeOptions { threads, ..options() }).unwrap();
    let one = with(1);
    for threads in [2, 4, 9] {
        assert!(with(threads) == one, "{threads} threads");
        let decoded = decode(&one, &DecodeOptions::default().with_threads(threads)).unwrap().objects;
        assert!(decoded.iter().map(|object| object.bytes.as_slice()).eq(refs.iter().map(|(_, data)| *data)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// From whichever end a file of intact messages is scanned, junk between them or not, the same messages are found;
    /// in memory and from a file alike.
    #[test]
    fn scans_agree(messages in prop::collection::vec(any_message(), 0..6), junk in prop::collection::vec(any::<u8>(), 0..40), junk_every in 1usize..4) {
        let mut file = Vec::new();
        let mut expected = Vec::new();
        for (index, message) in messages.iter().enumerate() {
            if index % junk_every == 0 {
                file.extend_from_slice(&junk);
            }
            let start = file.len() as u64;
            file.extend_from_slice(&message.bytes);
            expected.push(fw_bytes::Span::new(start, file.len() as u64));
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("many.tgm");
        std::fs::write(&path, &file).unwrap();
        for direction in [ScanDirection::Forward, ScanDirection::Backward, ScanDirection::Bidirectional] {
            let found = scan_with(&file, &ScanOptions { direction, ..ScanOptions::default() });
            prop_assert_eq!(&found, &expected, "{:?}", direction);
        }
        prop_assert_eq!(&scan_file(&path).unwrap(), &expected);
        let opened = TensogramFile::open(&path).unwrap();
        prop_assert_eq!(opened.message_count().unwrap(), messages.len());
        for (index, message) in messages.iter().enumerate() {
            prop_assert_eq!(&opened.read_message(index).unwrap(), &message.bytes);
        }
    }

    /// One damaged or cut message in a file: every other one is still found.
    #[test]
    fn damage_to_one_message_spares_the_others(messages in prop::collection::vec(any_message(), 2..5), victim in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), cut in any::<bool>()) {
        let victim = victim.index(messages.len());
        let mut file = Vec::new();
        let mut others = Vec::new();
        for (index, message) in messages.iter().enumerate() {
            let start = file.len() as u64;
            let mut bytes = message.bytes.clone();
            if index == victim && cut {
                bytes.truncate(at.index(bytes.len()));
            } else if index == victim {
                // The magic, so that the message is lost as a whole.
                bytes[at.index(8)] ^= 0x20;
            }
            file.extend_from_slice(&bytes);
            if index != victim {
                others.push(fw_bytes::Span::new(start, file.len() as u64));
            }
        }
        for direction in [ScanDirection::Forward, ScanDirection::Backward, ScanDirection::Bidirectional] {
            let found = scan_with(&file, &ScanOptions { direction, ..ScanOptions::default() });
            for other in &others {
                prop_assert!(found.contains(other), "{:?} lost {} in {:?}", direction, other, found);
            }
        }
    }
}

/// Masks say where the non-finite values were; without restoring them zeros stand there.
#[test]
fn masks_come_along_on_request() {
    use fw_tensor::DType;
    let values: Vec<f32> = (0..3000)
        .map(|i| match i % 7 {
            1 => f32::NAN,
            3 => f32::INFINITY,
            5 => f32::NEG_INFINITY,
            _ => i as f32,
        })
        .collect();
    let options = EncodeOptions { allow_nan: true, allow_inf: true, ..options() };
    let message = MessageBuilder::new().tensor(&[3000], &values).unwrap().options(options).encode().unwrap();
    let masked = decode_with_masks(&message, &DecodeOptions::default()).unwrap().objects;
    let MaskedObject { descriptor, bytes, masks } = &masked[0];
    assert_eq!(descriptor.dtype, DType::Float32);
    let unrestored = DecodeOptions { restore_non_finite: false, ..DecodeOptions::default() };
    assert_eq!(bytes, &decode(&message, &unrestored).unwrap().objects[0].bytes);
    for (index, value) in values.iter().enumerate() {
        let stored = f32::from_ne_bytes(bytes[index * 4..index * 4 + 4].try_into().unwrap());
        assert_eq!(stored, if value.is_finite() { *value } else { 0.0 });
        for (kind, expected) in [
            (MaskKind::Nan, value.is_nan()),
            (MaskKind::PosInf, *value == f32::INFINITY),
            (MaskKind::NegInf, *value == f32::NEG_INFINITY),
        ] {
            assert_eq!(masks.get(kind).unwrap().contains(index as u64), expected, "{kind:?} {index}");
        }
    }
    let parts = decode_range(&message, 0, &[(1, 1), (3, 3)], &DecodeOptions::default()).unwrap().parts;
    assert!(f32::from_ne_bytes(parts[0][..4].try_into().unwrap()).is_nan());
    assert_eq!(parts[1][..4], f32::INFINITY.to_ne_bytes());
}
