//! Messages without an index that lost a frame: an object is never answered with its neighbour, and what is in doubt is
//! said to be.

use fw_bytes::{Limits, Span};
use fw_source::Buffers;
use fw_tensogram::access::{ReadFrame, ReadHead, run};
use fw_tensogram::frame::Outline;
use fw_tensogram::wire::{MessageFlags, Postamble, Preamble};
use fw_tensogram::*;

/// Four objects without an index or a hash list, and where their frames stand.
fn without_index(entries: usize) -> (Vec<u8>, Vec<Span>) {
    let mut builder = MessageBuilder::new();
    let values = [[0u8; 40], [1; 40], [2; 40], [3; 40]];
    for values in &values {
        builder = builder.tensor(&[40], values).unwrap().base("name", format!("field {}", values[0]));
    }
    let message = builder.encode().unwrap();
    let outline = Outline::of(&message, &Limits::default()).unwrap();
    let mut bytes = vec![0; 24];
    let mut spans = Vec::new();
    let put = |bytes: &mut Vec<u8>, frame: &[u8]| {
        let start = bytes.len() as u64;
        bytes.extend_from_slice(frame);
        let span = Span::new(start, bytes.len() as u64);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        span
    };
    // The metadata may have fewer entries than there are objects: here none, as that of a message without objects.
    let bare = encode::<ObjectInput<'_>>(&GlobalMetadata::default(), &[], &EncodeOptions::default()).unwrap();
    let source = if entries == 0 { &bare } else { &message };
    let metadata = Outline::of(source, &Limits::default()).unwrap().metadata().unwrap().span();
    put(&mut bytes, metadata.slice_of(source, 0).unwrap());
    for object in &outline.objects {
        spans.push(put(&mut bytes, object.frame.span().slice_of(&message, 0).unwrap()));
    }
    let footer = bytes.len() as u64;
    let total = footer + 24;
    bytes.extend(Postamble { first_footer_offset: footer, total_length: Some(total) }.to_bytes());
    let flags = MessageFlags::HEADER_METADATA | MessageFlags::HASHES_PRESENT;
    let preamble = Preamble { flags, reserved: 0, total_length: Some(total) };
    bytes[..24].copy_from_slice(&preamble.to_bytes());
    (bytes, spans)
}

/// The marker of these frames is damaged: the walk steps over them.
fn damaged(message: &[u8], frames: &[Span], lost: &[usize]) -> Vec<u8> {
    let mut damaged = message.to_vec();
    for lost in lost {
        damaged[frames[*lost].start as usize] ^= 1;
    }
    damaged
}

/// Every way to read one object of a message.
fn answers(message: &[u8], object: usize) -> Vec<Result<Vec<u8>>> {
    let at = Span::new(0, message.len() as u64);
    let options = DecodeOptions::default();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.tgm");
    std::fs::write(&path, message).unwrap();
    let file = TensogramFile::open(&path).unwrap();
    let mut buffers = Buffers::new();
    let whole = run(message, &mut buffers, ReadFrame::new(at, object, Limits::default()));
    let head = run(message, &mut Buffers::new(), ReadHead::new(at, object, Limits::default()));
    vec![
        whole.and_then(|frame| frame.decode(&buffers, &options)).map(|object| object.bytes),
        head.map(|head| head.payload().slice_of(message, 0).unwrap().to_vec()),
        MessageView::open(message).and_then(|view| view.object(object)?.decode(&options)),
        file.decode_object(0, object, &options).map(|object| object.bytes),
        file.decode_range(0, object, &[(0, 40)], &options).map(|mut runs| runs.parts.remove(0)),
        decode_object(message, object, &options).map(|object| object.bytes),
        decode(message, &options).map(|decoded| decoded.objects[object].bytes.clone()),
    ]
}

#[test]
fn without_damage_everything_is_read() {
    for entries in [4, 0] {
        let (message, _) = without_index(entries);
        for object in 0..4 {
            for answer in answers(&message, object) {
                assert_eq!(answer.unwrap(), [object as u8; 40]);
            }
        }
        let report = validate_message(&message, &ValidateOptions::default());
        assert!(report.is_ok(), "{:?}", report.report.findings());
    }
}

#[test]
fn an_object_behind_a_lost_frame_is_an_error_and_never_another() {
    for entries in [4, 0] {
        let (message, frames) = without_index(entries);
        for lost in [&[0][..], &[1], &[2], &[3], &[1, 2], &[0, 2], &[1, 3]] {
            let bytes = damaged(&message, &frames, lost);
            for object in 0..4 {
                for (way, answer) in answers(&bytes, object).into_iter().enumerate() {
                    match answer {
                        Ok(data) => assert_eq!(data, [object as u8; 40], "way {way}, lost {lost:?}"),
                        Err(error) => {
                            let known = ["frame_chain_broken", "base_count_exceeds_objects"];
                            assert!(known.contains(&error.code()), "way {way}, lost {lost:?}: {error}");
                            // One object at a time, those before the damage are there.
                            assert!(way >= 5 || object >= lost[0], "way {way}, lost {lost:?}: {error}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn listings_give_the_true_numbers_or_say_that_they_cannot() {
    let in_doubt =
        |report: &fw_report::Report| report.findings().iter().any(|finding| finding.code == "object_numbers_in_doubt");
    let (message, frames) = without_index(4);
    let all: Vec<Vec<usize>> = (1..15u32).map(|bits| (0..4).filter(|i| bits >> i & 1 == 1).collect()).collect();
    for lost in &all {
        let bytes = damaged(&message, &frames, lost);
        let survey = survey(&bytes);
        let validated = validate_message(&bytes, &ValidateOptions::default()).report;
        assert!(!survey.report.is_ok() && !validated.is_ok());
        assert_eq!(in_doubt(&survey.report), in_doubt(&validated), "lost {lost:?}");
        for object in &survey.objects {
            let truth = frames.iter().position(|frame| *frame == object.frame.span()).unwrap();
            assert!(object.index == truth || in_doubt(&survey.report), "lost {lost:?}: {} is {truth}", object.index);
        }
        // One stretch of lost frames is made up for by the number of entries.
        let stretches = lost.windows(2).filter(|pair| pair[0] + 1 != pair[1]).count() + 1;
        assert_eq!(in_doubt(&survey.report), stretches > 1, "lost {lost:?}");
    }
    // Nothing says how many there were.
    let (message, frames) = without_index(0);
    let bytes = damaged(&message, &frames, &[1]);
    assert!(in_doubt(&survey(&bytes).report));
    assert!(in_doubt(&validate_message(&bytes, &ValidateOptions::default()).report));
    // Behind the last one nobody is in doubt.
    let bytes = damaged(&message, &frames, &[3]);
    assert!(!in_doubt(&survey(&bytes).report));
}
