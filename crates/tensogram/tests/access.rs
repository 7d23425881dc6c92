//! Exact reads: the same answers as from a message in memory, from as few bytes as the format allows; and every failing
//! read is an error, never a wrong answer.

#[path = "common/cases.rs"]
mod cases;
mod common;
#[path = "common/source.rs"]
mod source;

use cases::{CODECS, Random};
use fw_bytes::{Limits, Span};
use fw_source::Buffers;
use fw_tensogram::access::{
    FindMessage, ReadDirectory, ReadFirstMetadata, ReadFrame, ReadHead, ReadMachine, ReadMetadata, ReadRanges,
    ReadSlice, run,
};
use fw_tensogram::frame::scan::Scanner;
use fw_tensogram::*;
use fw_tensor::{DType, Selection};
use source::Counting;

/// A message between junk, as it would stand in a file.
fn in_a_file(message: &[u8]) -> (Vec<u8>, Span) {
    let file = [&b"junk!"[..], message, &[0xab; 300]].concat();
    (file, Span::new(5, 5 + message.len() as u64))
}

fn fresh<M: ReadMachine>(file: &[u8], machine: M) -> Result<M::Output> {
    run(file, &mut Buffers::new(), machine)
}

#[test]
fn every_kind_of_message_reads_as_from_memory() {
    for (name, message) in common::ten_kinds() {
        let (file, at) = in_a_file(&message);
        let DecodedMessage { metadata, objects } = decode(&message, &DecodeOptions::default()).unwrap();
        assert_eq!(fresh(&file, ReadMetadata::new(at, Limits::default())).unwrap(), metadata, "{name}");
        let first = fresh(&file, ReadFirstMetadata::new(at, Limits::default())).unwrap();
        assert_eq!(first, decode_metadata(&message).unwrap(), "{name}");
        let directory = fresh(&file, ReadDirectory::new(at, Limits::default())).unwrap();
        assert_eq!(directory.objects.len(), objects.len(), "{name}");
        for (index, object) in objects.iter().enumerate() {
            let mut buffers = Buffers::new();
            let head = run(&file[..], &mut buffers, ReadHead::new(at, index, Limits::default())).unwrap();
            assert_eq!(head.descriptor, object.descriptor, "{name}");
            let known = ReadHead::with_directory(at, &directory, index, Limits::default()).unwrap();
            assert_eq!(fresh(&file, known).unwrap(), head, "{name}");
            let frame = run(&file[..], &mut buffers, ReadFrame::new(at, index, Limits::default())).unwrap();
            let options = DecodeOptions::default().with_verify_hash();
            assert_eq!(&frame.decode(&buffers, &options).unwrap(), object, "{name}");
        }
        let error = fresh(&file, ReadHead::new(at, objects.len(), Limits::default())).unwrap_err();
        assert_eq!((error.class(), error.code()), ("Object", "object_index_out_of_range"), "{name}");
    }
}

#[test]
fn parts_of_objects_of_every_codec_read_as_from_memory() {
    for (number, codec) in CODECS.iter().enumerate() {
        let mut random = Random::new(number as u64 + 77);
        for _ in 0..30 {
            let case = random.case(codec);
            let what = case.label();
            let options = EncodeOptions { provenance: Some(common::provenance()), ..case.options.clone() };
            let message = encode(&GlobalMetadata::default(), &[(&case.descriptor, &case.data)], &options).unwrap();
            let (file, at) = in_a_file(&message);
            let view = MessageView::open(&message).unwrap();
            let object = view.object(0).unwrap();
            let head = fresh(&file, ReadHead::new(at, 0, Limits::default())).unwrap();
            let count = case.descriptor.element_count().unwrap();
            let first = random.below(count + 1);
            let ranges = [(first, random.below(count - first + 1).min(50)), (0, count.min(3)), (count, 0)];
            for native_byte_order in [true, false] {
                let options = DecodeOptions { native_byte_order, ..DecodeOptions::default() };
                let expected = object.decode_range(&ranges, &options);
                let found = ReadRanges::new(head.clone(), &ranges, &options).and_then(|machine| fresh(&file, machine));
                match (expected, found) {
                    (Ok(expected), Ok(found)) => assert!(expected == found, "{what}"),
                    (Err(expected), Err(found)) => assert_eq!(expected.code(), found.code(), "{what}"),
                    (expected, found) => panic!("{what}: {:?} but {:?}", expected.err(), found.err()),
                }
                let mut selection = Selection::new();
                for len in &case.descriptor.shape {
                    let (low, high) = (random.below(len + 1) as i64, random.below(len + 1) as i64);
                    selection = selection.stepped(low.min(high)..low.max(high), 1 + random.below(3) as i64);
                }
                let expected = object.slice(&selection, &options);
                let found = ReadSlice::new(head.clone(), selection, &options).and_then(|slice| fresh(&file, slice));
                match (expected, found) {
                    (Ok(expected), Ok(found)) => assert!(expected.data() == found.data(), "{what}"),
                    (Err(expected), Err(found)) => assert_eq!(expected.code(), found.code(), "{what}"),
                    (expected, found) => panic!("{what}: {:?} but {:?}", expected.err(), found.err()),
                }
            }
        }
    }
}

#[test]
fn only_the_bytes_that_matter_are_read() {
    let values: Vec<f32> = (0..1 << 20).map(|i| i as f32).collect();
    let message = MessageBuilder::new()
        .tensor(&[1024, 1024], &values)
        .unwrap()
        .tensor(&[1024, 1024], &values)
        .unwrap()
        .encode()
        .unwrap();
    let at = Span::new(0, message.len() as u64);
    let cost = |work: &dyn Fn(&Counting<'_>)| {
        let source = Counting::new(&message);
        work(&source);
        (source.calls(), source.read())
    };
    let (_, read) = cost(&|source| drop(run(source, &mut Buffers::new(), ReadMetadata::new(at, Limits::default()))));
    assert!(read <= 4096 + 1024, "metadata took {read} bytes");
    let (_, read) = cost(&|source| drop(run(source, &mut Buffers::new(), ReadHead::new(at, 1, Limits::default()))));
    assert!(read <= 4096 + 4096, "a descriptor took {read} bytes");
    let head = fresh(&message, ReadHead::new(at, 1, Limits::default())).unwrap();
    let options = DecodeOptions::default();
    let (calls, read) = cost(&|source| {
        let window = Selection::new().axis(500..516).axis(100..116);
        let slice = ReadSlice::new(head.clone(), window, &options).unwrap();
        run(source, &mut Buffers::new(), slice).unwrap();
    });
    assert!(read <= 16 * 64 + 15 * 4096 && calls <= 18, "a window took {calls} calls and {read} bytes");
    let (_, read) = cost(&|source| {
        let ranges = ReadRanges::new(head.clone(), &[(7, 1), (1_000_000, 3)], &options).unwrap();
        assert_eq!(ranges.needs().iter().map(|span| span.len()).sum::<u64>(), 16, "exactly the elements");
        run(source, &mut Buffers::new(), ranges).unwrap();
    });
    assert_eq!(read, 16);
}

#[cfg(all(feature = "szip", feature = "zfp"))]
#[test]
fn codecs_with_blocks_read_the_blocks_that_cover() {
    let values: Vec<f64> = (0..1 << 17).map(|i| (f64::from(i) * 0.001).sin()).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    let plain = DataObjectDescriptor::new(DType::Float64, &[1 << 17]).unwrap();
    let zfp = plain.clone().with_compression("zfp").with_param("zfp_mode", "fixed_rate").with_param("zfp_rate", 16.0);
    let szip = plain
        .with_encoding("simple_packing")
        .with_param("sp_bits_per_value", 16)
        .with_compression("szip")
        .with_param("szip_rsi", 128)
        .with_param("szip_block_size", 16)
        .with_param("szip_flags", 8);
    for descriptor in [zfp, szip] {
        let message = encode(&GlobalMetadata::default(), &[(&descriptor, &bytes)], &EncodeOptions::default()).unwrap();
        let at = Span::new(0, message.len() as u64);
        let head = fresh(&message, ReadHead::new(at, 0, Limits::default())).unwrap();
        let machine = ReadRanges::new(head, &[(100_000, 10)], &DecodeOptions::default()).unwrap();
        let needed: u64 = machine.needs().iter().map(|span| span.len()).sum();
        assert!(needed < 8192, "{}: {needed} bytes for ten elements", descriptor.compression);
        let source = Counting::new(&message);
        let found = run(&source, &mut Buffers::new(), machine).unwrap();
        assert_eq!(found[0].len(), 80);
        assert_eq!(source.read(), needed);
    }
}

/// A smooth field with noise, compressed by blosc2 into blocks of 32 KiB times eight; a message and its object's head.
#[cfg(feature = "blosc2")]
fn blosc2_field(shape: &[u64]) -> (Vec<f64>, Vec<u8>) {
    let mut random = Random::new(5);
    let count = shape.iter().product::<u64>();
    let values: Vec<f64> = (0..count).map(|i| (i as f64 / 900.0).sin() + random.below(1 << 20) as f64 * 1e-9).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    let descriptor = DataObjectDescriptor::new(DType::Float64, shape)
        .unwrap()
        .with_compression("blosc2")
        .with_param("blosc2_codec", "lz4")
        .with_param("blosc2_clevel", 1);
    let message = encode(&GlobalMetadata::default(), &[(&descriptor, &bytes)], &EncodeOptions::default()).unwrap();
    (values, message)
}

#[cfg(feature = "blosc2")]
#[test]
fn blosc2_reads_its_map_and_the_blocks_that_cover() {
    let (values, message) = blosc2_field(&[512, 2048]);
    let at = Span::new(0, message.len() as u64);
    assert!(message.len() > 5 << 20);
    let head = fresh(&message, ReadHead::new(at, 0, Limits::default())).unwrap();
    let options = DecodeOptions::default();
    let machine = ReadRanges::new(head.clone(), &[(700_000, 10)], &options).unwrap();
    let first: u64 = machine.needs().iter().map(|span| span.len()).sum();
    assert!(first <= 4096, "{first} bytes before anything is known");
    let source = Counting::new(&message);
    let found = run(&source, &mut Buffers::new(), machine).unwrap();
    assert_eq!(found[0], values[700_000..700_010].iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<u8>>());
    // Header, trailer and one block, which stands for 256 KiB.
    assert!(source.read() <= first + (256 << 10) + 32, "{} bytes", source.read());
    assert!(source.calls() <= 6, "{} calls", source.calls());

    // A column: every block but those between rows it does not touch; two far corners: two blocks.
    let corners = Selection::new().stepped(0..512, 511).axis(0..4);
    let source = Counting::new(&message);
    let slice = run(&source, &mut Buffers::new(), ReadSlice::new(head.clone(), corners, &options).unwrap()).unwrap();
    let last = 511 * 2048;
    assert_eq!(slice.view().to_vec::<f64>().unwrap(), [&values[..4], &values[last..last + 4]].concat());
    assert!(source.read() <= first + (512 << 10) + 64, "{} bytes", source.read());

    // Nothing is read for nothing, and everything at once for most of it.
    let machine = ReadRanges::new(head.clone(), &[(5, 0)], &options).unwrap();
    assert_eq!(machine.needs(), []);
    let machine = ReadRanges::new(head.clone(), &[(0, 900_000)], &options).unwrap();
    assert_eq!(machine.needs(), [head.payload()]);
}

/// The map at the end of the payload touches the mask after it: fetched as one range, each is found all the same.
#[cfg(all(feature = "blosc2", feature = "roaring"))]
#[test]
fn blosc2_with_a_mask_right_after_the_payload_is_sliced() {
    let mut random = Random::new(9);
    let values: Vec<f64> =
        (0..8621u32).map(|i| if i % 100 == 5 { f64::NAN } else { random.below(1 << 40) as f64 * 1e-9 }).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    let descriptor = DataObjectDescriptor::new(DType::Float64, &[8621]).unwrap().with_compression("blosc2");
    let masked = EncodeOptions { allow_nan: true, ..EncodeOptions::default() };
    let message = encode(&GlobalMetadata::default(), &[(&descriptor, &bytes)], &masked).unwrap();
    let head = fresh(&message, ReadHead::new(Span::new(0, message.len() as u64), 0, Limits::default())).unwrap();
    assert_eq!(head.masks().map(|(_, span)| span.start).min(), Some(head.payload().end), "no gap before the mask");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("masked.tgm"), &message).unwrap();
    let file = TensogramFile::open(folder.path().join("masked.tgm")).unwrap();
    let options = DecodeOptions::default();
    for (start, end) in [(0, 1), (5, 6), (100, 110), (8620, 8621), (0, 8621)] {
        let expected: Vec<u64> = values[start as usize..end as usize].iter().map(|value| value.to_bits()).collect();
        let slice = file.slice(0, 0, Selection::new().axis(start..end), &options).unwrap();
        let found: Vec<u64> = slice.view().to_vec::<f64>().unwrap().iter().map(|value| value.to_bits()).collect();
        assert_eq!(found, expected, "{start}..{end}");
        let runs = file.decode_range(0, 0, &[(start, end - start)], &options).unwrap().parts;
        let found: Vec<u64> =
            runs[0].chunks_exact(8).map(|eight| u64::from_ne_bytes(eight.try_into().unwrap())).collect();
        assert_eq!(found, expected, "{start}..{end}");
    }
}

#[cfg(feature = "blosc2")]
#[test]
fn maps_of_blosc2_that_lie_are_clear_errors() {
    let (_, message) = blosc2_field(&[512, 512]);
    let at = Span::new(0, message.len() as u64);
    let head = fresh(&message, ReadHead::new(at, 0, Limits::default())).unwrap();
    let (start, end) = (head.payload().start as usize, head.payload().end as usize);
    let (chunk, table) = (start + 97, start + 97 + 32);
    // Where, what is written there, and what is said.
    let huge = [0x7f, 0xff, 0xff, 0xff];
    let lies: [(usize, &[u8], &str); 8] = [
        (start + 2, b"xx", "magic"),
        (start + 16, &huge, "frame_size"),
        (start + 39, &huge, "truncated"),
        (start + 58, &[0, 0, 0, 1], "frame_chunk_size"),
        (end - 22, &[0xff; 4], "trailer"),
        (chunk + 12, &[0xff, 0xff, 0xff, 0x7f], "chunk_size"),
        (chunk + 8, &[1, 0, 0, 0], "block_table"),
        (table + 8, &[0xff, 0xff, 0xff, 0x7f], "block_start"),
    ];
    for (place, bytes, code) in lies {
        let mut damaged = message.clone();
        damaged[place..place + bytes.len()].copy_from_slice(bytes);
        // The third block of 32 768 elements.
        let source = Counting::new(&damaged);
        let machine = ReadRanges::new(head.clone(), &[(70_000, 5)], &DecodeOptions::default()).unwrap();
        let error = run(&source, &mut Buffers::new(), machine).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains("object[0]"), "{error}");
        assert!(source.read() < 300_000, "{code}: {} bytes", source.read());
    }
}

#[test]
fn one_message_is_found_without_the_others() {
    let one = MessageBuilder::new().tensor(&[50_000], &vec![1u8; 50_000]).unwrap().encode().unwrap();
    let file = one.repeat(100);
    let at = |index: u64| Span::new(index * one.len() as u64, (index + 1) * one.len() as u64);
    let find = |wanted| {
        let source = Counting::new(&file);
        let options = ScanOptions { read_ahead: 0, ..ScanOptions::default() };
        let found = run(&source, &mut Buffers::new(), FindMessage::new(file.len() as u64, wanted, options)).unwrap();
        (found, source.calls(), source.read())
    };
    for wanted in [MessageIndex::FromStart(0), MessageIndex::FromEnd(0)] {
        let (found, calls, read) = find(wanted);
        assert!(found == Some(at(0)) || found == Some(at(99)));
        assert!(calls <= 8 && read < 1000, "{wanted:?} took {calls} calls and {read} bytes");
    }
    assert_eq!(find(MessageIndex::FromStart(70)).0, Some(at(70)));
    assert_eq!(find(MessageIndex::FromEnd(70)).0, Some(at(29)));
    assert_eq!(find(MessageIndex::FromStart(100)).0, None);
    assert_eq!(find(MessageIndex::FromEnd(100)).0, None);
}

#[test]
fn both_ends_are_asked_for_together_and_guesses_save_rounds() {
    let one = MessageBuilder::new().tensor(&[50_000], &vec![1u8; 50_000]).unwrap().encode().unwrap();
    let file = one.repeat(100);
    let rounds = |options: ScanOptions| {
        let mut scanner = Scanner::new(file.len() as u64, options);
        let (mut rounds, mut buffers) = (0, Buffers::new());
        loop {
            match scanner.poll(&buffers).unwrap() {
                fw_bytes::Step::Done(found) => {
                    assert_eq!(found.len(), 100);
                    return rounds;
                }
                fw_bytes::Step::Need(spans) => {
                    rounds += 1;
                    for span in spans {
                        buffers.insert(span.start, file[span.start as usize..span.end as usize].to_vec());
                    }
                }
            }
        }
    };
    let forward = ScanOptions { direction: ScanDirection::Forward, ..ScanOptions::default() };
    assert!(rounds(forward) >= 100);
    assert!(rounds(ScanOptions::default()) <= 55, "{}", rounds(ScanOptions::default()));
    assert!(rounds(ScanOptions { guesses: 16, ..forward }) <= 12);
    assert!(rounds(ScanOptions { guesses: 16, ..ScanOptions::default() }) <= 55);
}

#[test]
fn an_index_that_lies_is_not_believed() {
    let message = MessageBuilder::new()
        .tensor(&[100], &[1u8; 100])
        .unwrap()
        .tensor(&[100], &[2u8; 100])
        .unwrap()
        .encode()
        .unwrap();
    let view = MessageView::open(&message).unwrap();
    // The index names the two lengths; swap one digit so that it names another place.
    let second = view.object(1).unwrap().frame().start();
    let place = memchr::memmem::find(&message, &[0x19, (second >> 8) as u8, second as u8]).unwrap();
    let mut damaged = message.clone();
    damaged[place + 2] ^= 8;
    let at = Span::new(0, message.len() as u64);
    let head = fresh(&damaged, ReadHead::new(at, 1, Limits::default())).unwrap();
    assert_eq!(head.frame.start(), second);
    let mut buffers = Buffers::new();
    let frame = run(&damaged[..], &mut buffers, ReadFrame::new(at, 1, Limits::default())).unwrap();
    assert_eq!(frame.decode(&buffers, &DecodeOptions::default()).unwrap().bytes, [2; 100]);
}

/// An object whose frame is damaged must not be answered with its neighbour.
#[test]
fn an_object_that_is_lost_is_not_another() {
    let mut message = MessageBuilder::new();
    let values = [[1u8; 100], [2; 100], [3; 100]];
    for (values, name) in values.iter().zip(["2t", "msl", "sd"]) {
        message = message.tensor(&[100], values).unwrap().base("name", name);
    }
    let message = message.encode().unwrap();
    let view = MessageView::open(&message).unwrap();
    let frames: Vec<Span> = (0..3).map(|index| view.object(index).unwrap().frame().span()).collect();
    for lost in 0..3 {
        let mut damaged = message.clone();
        damaged[frames[lost].start as usize] ^= 1;
        let (at, view) = (Span::new(0, message.len() as u64), MessageView::open(&damaged).unwrap());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("damaged.tgm");
        std::fs::write(&path, &damaged).unwrap();
        let file = TensogramFile::open(&path).unwrap();
        for index in 0..3 {
            let answers = [
                fresh(&damaged, ReadHead::new(at, index, Limits::default())).map(|head| head.frame.span()),
                fresh(&damaged, ReadFrame::new(at, index, Limits::default())).map(|found| found.frame.span()),
                view.object(index).map(|object| object.frame().span()),
                file.object_head(0, index).map(|head| head.frame.span()),
            ];
            for answer in answers {
                match answer {
                    Ok(span) => assert_eq!((span, index == lost), (frames[index], false)),
                    Err(error) => {
                        assert_eq!((error.class(), error.code(), index), ("Framing", "index_count_mismatch", lost));
                        assert_eq!(error.offset(), Some(frames[lost].start), "{error}");
                    }
                }
            }
        }
        // A listing keeps the numbers, and with them the names, of those that are left.
        let survey = survey(&damaged);
        let left: Vec<(usize, Span)> =
            survey.objects.iter().map(|object| (object.index, object.frame.span())).collect();
        let expected: Vec<(usize, Span)> =
            (0..3).filter(|index| *index != lost).map(|index| (index, frames[index])).collect();
        assert_eq!(left, expected);
        assert!(!survey.report.is_ok());
        assert_eq!(survey.metadata.unwrap().base.len(), 3);
    }
}

#[test]
fn every_failing_read_is_an_error() {
    for (name, message) in common::ten_kinds() {
        let (file, at) = in_a_file(&message);
        let work = |source: &Counting<'_>| -> Result<(GlobalMetadata, Vec<Span>)> {
            let mut buffers = Buffers::new();
            let found = run(source, &mut Buffers::new(), Scanner::new(file.len() as u64, ScanOptions::default()))?;
            let metadata = run(source, &mut buffers, ReadMetadata::new(at, Limits::default()))?;
            for index in 0..metadata.base.len() {
                let head = run(source, &mut Buffers::new(), ReadHead::new(at, index, Limits::default()))?;
                let slice = ReadSlice::new(head, Selection::new(), &DecodeOptions::default());
                if let Ok(slice) = slice {
                    run(source, &mut Buffers::new(), slice)?;
                }
            }
            Ok((metadata, found))
        };
        let counted = Counting::new(&file);
        let expected = work(&counted).unwrap();
        for call in 0..counted.calls() {
            let error = work(&Counting::failing_at(&file, call)).unwrap_err();
            assert_eq!(error.class(), "Io", "{name}");
            assert!(error.to_string().contains(&format!("injected at call {call}")), "{error}");
        }
        assert_eq!(work(&Counting::new(&file)).unwrap(), expected);
    }
}

#[test]
fn a_source_that_became_shorter_is_a_clear_error() {
    let message = MessageBuilder::new().tensor(&[10_000], &vec![7u8; 10_000]).unwrap().encode().unwrap();
    let at = Span::new(0, message.len() as u64);
    for len in [0, 10, 24, 500, 10_000] {
        let cut = &message[..len];
        let error = fresh(cut, ReadHead::new(at, 0, Limits::default())).unwrap_err();
        assert_eq!(error.class(), "Io", "{error}");
        assert!(error.to_string().contains(&format!("the source has {len}")), "{error}");
    }
}
