//! Recovery: whatever is damaged, every object whose bytes are untouched comes back, nothing else does, and the result is
//! valid.

mod common;

use fw_bytes::Span;
use fw_tensogram::*;
use fw_tensor::DType;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The frames of every object of a file, by their place.
fn frames(file: &[u8]) -> Vec<(Span, Vec<u8>)> {
    let mut found = Vec::new();
    for span in scan(file) {
        let bytes = &file[span.start as usize..span.end as usize];
        let view = MessageView::open(bytes).unwrap();
        for object in view.objects() {
            let frame = object.unwrap().frame().span();
            let place = frame.shifted(span.start).unwrap();
            found.push((place, file[place.start as usize..place.end as usize].to_vec()));
        }
    }
    found
}

/// Several objects with names, some of them compressed or masked, buffered or streamed.
fn named_message(seed: u8, streamed: bool) -> Vec<u8> {
    let objects: Vec<_> = (0..4u8)
        .map(|i| {
            common::object(
                [DType::Float32, DType::UInt8, DType::Int16][usize::from(i) % 3],
                &[20 + u64::from(i)],
                seed + i,
            )
        })
        .collect();
    let name = |i: usize| -> MetadataMap { [("name".to_owned(), Value::from(format!("{seed}/{i}").as_str()))].into() };
    if !streamed {
        let metadata = GlobalMetadata {
            base: (0..objects.len()).map(name).collect(),
            extra: [("seed".to_owned(), Value::from(u64::from(seed)))].into(),
            ..Default::default()
        };
        let pairs: Vec<_> = objects.iter().map(|(descriptor, data)| (descriptor, &data[..])).collect();
        return encode(&metadata, &pairs, &EncodeOptions::default()).unwrap();
    }
    let metadata =
        GlobalMetadata { extra: [("seed".to_owned(), Value::from(u64::from(seed)))].into(), ..Default::default() };
    let mut encoder = StreamingEncoder::new(Vec::new(), &metadata, &EncodeOptions::default()).unwrap();
    for (i, (descriptor, data)) in objects.iter().enumerate() {
        encoder.write_preceder(&name(i)).unwrap();
        encoder.write_object(descriptor, data).unwrap();
    }
    encoder.finish().unwrap()
}

fn full(file: &[u8]) -> FileReport {
    validate_source(file, &ValidateOptions::mode(ValidateMode::Full)).unwrap()
}

/// The names of a file's objects, by the bytes of their frames.
fn names(file: &[u8]) -> BTreeMap<Vec<u8>, Option<String>> {
    let mut names = BTreeMap::new();
    for span in scan(file) {
        let bytes = &file[span.start as usize..span.end as usize];
        let metadata = decode(bytes, &DecodeOptions::default().with_verify_hash()).unwrap().metadata;
        let view = MessageView::open(bytes).unwrap();
        for (index, object) in view.objects().enumerate() {
            let frame = object.unwrap().frame().span();
            let name = metadata.base[index].get("name").and_then(Value::as_text).map(str::to_owned);
            names.insert(bytes[frame.start as usize..frame.end as usize].to_vec(), name);
        }
    }
    names
}

/// What must hold for a damaged file and what was recovered from it.
fn check(original: &[u8], damaged: &[u8]) -> std::result::Result<(), TestCaseError> {
    let touched = |span: Span| {
        let (start, end) = (span.start as usize, span.end as usize);
        original[start..end] != damaged[start..end]
    };
    let (saved, recovery) = recover(damaged, &RecoverOptions::default()).unwrap();
    let known = frames(original);
    let untouched: Vec<_> = known.iter().filter(|(span, _)| !touched(*span)).collect();
    let found = frames(&saved);
    for (span, frame) in &untouched {
        prop_assert!(found.iter().any(|(_, other)| other == frame), "object at {span} was not saved");
    }
    for (span, frame) in &found {
        prop_assert!(known.iter().any(|(_, other)| other == frame), "object at {span} of the output was made up");
    }
    // Damage that no digest covers and that changes nothing, such as a frame's version, may be mended.
    prop_assert!(found.len() >= untouched.len());
    prop_assert_eq!(recovery.object_count(), found.len());
    let report = full(&saved);
    let faults: Vec<_> =
        report.findings().filter(|f| f.severity == fw_report::Severity::Error).map(ToString::to_string).collect();
    prop_assert!(faults.is_empty() || saved.is_empty(), "{:?}", faults);
    // A name that is there is the right one.
    let right = names(original);
    for (frame, name) in names(&saved) {
        prop_assert!(name.is_none() || right.get(&frame) == Some(&name), "{:?}", name);
    }
    if found.len() < known.len() {
        prop_assert!(!recovery.is_complete(), "{} of {} objects", found.len(), known.len());
    }
    for finding in recovery.report.findings() {
        prop_assert!(finding.span.is_some(), "{}", finding);
    }
    Ok(())
}

fn original() -> Vec<u8> {
    let mut file = Vec::new();
    for seed in 0..5u8 {
        file.extend(named_message(seed * 10, seed % 2 == 1));
    }
    file
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn untouched_objects_survive_flipped_bytes(flips in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..12)) {
        let original = original();
        let mut damaged = original.clone();
        for (place, flip) in &flips {
            damaged[place.index(original.len())] ^= flip;
        }
        check(&original, &damaged)?;
    }

    #[test]
    fn untouched_objects_survive_overwritten_stretches(
        stretches in prop::collection::vec((any::<prop::sample::Index>(), 1usize..600, any::<u8>()), 1..4),
    ) {
        let original = original();
        let mut damaged = original.clone();
        for (place, len, with) in &stretches {
            let start = place.index(original.len());
            let end = (start + len).min(original.len());
            damaged[start..end].fill(*with);
        }
        check(&original, &damaged)?;
    }

    #[test]
    fn a_cut_file_keeps_what_is_whole(place in any::<prop::sample::Index>()) {
        let original = original();
        let cut = place.index(original.len());
        let (saved, _) = recover(&original[..cut], &RecoverOptions::default()).unwrap();
        let whole: Vec<_> = frames(&original).into_iter().filter(|(span, _)| span.end as usize <= cut).map(|(_, frame)| frame).collect();
        let found: Vec<_> = frames(&saved).into_iter().map(|(_, frame)| frame).collect();
        prop_assert_eq!(found, whole);
        prop_assert!(saved.is_empty() || full(&saved).is_ok());
    }

    #[test]
    fn any_bytes_end_in_a_report(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let (saved, recovery) = recover(&bytes, &RecoverOptions::default()).unwrap();
        prop_assert!(saved.is_empty() && !recovery.is_complete());
    }
}

#[test]
fn intact_messages_are_copied_byte_for_byte() {
    let mut file = Vec::new();
    for (_, message) in common::ten_kinds() {
        file.extend(message);
    }
    let (saved, recovery) = recover(&file, &RecoverOptions::default()).unwrap();
    assert!(saved == file);
    assert!(recovery.is_complete() && recovery.messages.iter().all(|message| message.state == MessageState::Intact));
    // Junk in between is left out, and said.
    let (again, recovery) = recover(&[b"junk", &file[..], b"more junk"].concat(), &RecoverOptions::default()).unwrap();
    assert!(again == file && !recovery.is_complete());
    let spans: Vec<_> = recovery.report.findings().iter().map(|finding| finding.span.unwrap()).collect();
    assert_eq!(spans, [Span::new(0, 4), Span::new(4 + file.len() as u64, 13 + file.len() as u64)]);
}

#[test]
fn lost_metadata_is_replaced_and_noted_and_kept_metadata_keeps_its_identity() {
    let message = named_message(50, false);
    let original = decode(&message, &DecodeOptions::default()).unwrap().metadata;
    let mut damaged = message.clone();
    damaged[45] ^= 0x20;
    let (saved, recovery) = recover(&damaged, &RecoverOptions::default()).unwrap();
    let DecodedMessage { metadata, objects } = decode(&saved, &DecodeOptions::default().with_verify_hash()).unwrap();
    assert_eq!(objects.len(), 4);
    assert!(metadata.reserved.is_empty(), "no identity is made up");
    let note = &metadata.extra["recovered"];
    assert_eq!(note.member("metadata").and_then(Value::as_text), Some("lost"));
    assert_eq!(recovery.report.findings()[0].code, "metadata_lost");
    assert_eq!(metadata.base.iter().filter(|entry| entry.contains_key("name")).count(), 0);

    // Without its second object.
    let view = MessageView::open(&message).unwrap();
    let second = view.object(1).unwrap();
    let mut damaged = message.clone();
    damaged[second.parts().region.start as usize] ^= 1;
    let (saved, recovery) = recover(&damaged, &RecoverOptions::default()).unwrap();
    let metadata = decode(&saved, &DecodeOptions::default()).unwrap().metadata;
    assert_eq!(metadata.reserved, original.reserved, "uuid, time and encoder are the original's");
    let kept: Vec<_> = metadata.base.iter().map(|entry| entry["name"].as_text().unwrap()).collect();
    assert_eq!(kept, ["50/0", "50/2", "50/3"]);
    let lost = recovery.report.findings().iter().find(|finding| finding.code == "object_lost").unwrap();
    assert_eq!((lost.object_index, lost.span), (Some(1), Some(second.frame().span())));
    assert_eq!(metadata.extra["recovered"].member("objects_lost"), Some(&Value::from(1)));
}

#[test]
fn frames_without_digests_are_kept_only_when_asked() {
    let options = EncodeOptions { hashing: false, ..EncodeOptions::default() };
    let values = [1u8, 2, 3];
    let message = MessageBuilder::new().tensor(&[3], &values).unwrap().options(options).encode().unwrap();
    let (saved, recovery) = recover(&message, &RecoverOptions::default()).unwrap();
    assert!(saved.is_empty());
    assert!(recovery.report.findings().iter().any(|finding| finding.code == "unverified_frame"));
    let keep = RecoverOptions { unverified: Unverified::Keep, ..RecoverOptions::default() };
    assert_eq!(recover(&message, &keep).unwrap().0, message);
    let mut damaged = message;
    damaged[3] ^= 1;
    let (saved, recovery) = recover(&damaged, &keep).unwrap();
    assert!(recovery.is_complete(), "{:?}", recovery.report);
    assert_eq!(decode(&saved, &DecodeOptions::default()).unwrap().objects[0].bytes, values);
    assert!(full(&saved).is_ok(), "{:?}", full(&saved).findings().collect::<Vec<_>>());
}

#[test]
fn a_message_inside_a_payload_stays_there() {
    let inner = named_message(70, false);
    let outer =
        MessageBuilder::new().tensor(&[inner.len() as u64], &inner).unwrap().tensor(&[3], &[1u8, 2, 3]).unwrap();
    let mut file = outer.encode().unwrap();
    file[3] ^= 1;
    let (saved, recovery) = recover(&file, &RecoverOptions::default()).unwrap();
    assert_eq!(recovery.messages.len(), 1);
    let objects = decode(&saved, &DecodeOptions::default()).unwrap().objects;
    assert_eq!(objects.len(), 2);
    assert!(objects[0].bytes == inner);
}

#[test]
fn files_are_written_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let message = named_message(1, false);
    std::fs::write(at("damaged.tgm"), [&message[..], &message[..500]].concat()).unwrap();
    std::fs::write(at("out.tgm"), b"precious").unwrap();
    std::fs::write(at("hopeless.tgm"), [0; 100]).unwrap();
    let error = recover_file(at("hopeless.tgm"), at("out.tgm"), &RecoverOptions::default()).unwrap_err();
    assert_eq!(error.code(), "nothing_recovered");
    assert_eq!(std::fs::read(at("out.tgm")).unwrap(), b"precious");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "no temporary file is left");
    let recovery = recover_file(at("damaged.tgm"), at("out.tgm"), &RecoverOptions::default()).unwrap();
    assert!(!recovery.is_complete());
    assert!(validate_file(at("out.tgm"), &ValidateOptions::default()).unwrap().is_ok());
    let reports = serde_json::to_value(&recovery).unwrap();
    assert_eq!(reports["messages"][0]["state"], "intact");
}
