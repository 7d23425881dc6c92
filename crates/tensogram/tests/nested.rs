//! A message in the payload of another that was never finished: no message of the file, and not lost either.

use fw_tensogram::*;
use fw_tensor::DType;
use std::io::Write;
use std::path::Path;

fn message(number: u64, len: usize) -> Vec<u8> {
    let values = vec![number as u8; len];
    MessageBuilder::new().extra("n", number).tensor(&[len as u64], &values).unwrap().encode().unwrap()
}

fn buffered(payload: &[u8]) -> Vec<u8> {
    MessageBuilder::new().tensor(&[payload.len() as u64], payload).unwrap().encode().unwrap()
}

/// As a writer makes it that does not know its length before.
fn streamed(payload: &[u8]) -> Vec<u8> {
    let mut encoder = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &EncodeOptions::default()).unwrap();
    encoder.write_object(&DataObjectDescriptor::new(DType::UInt8, &[5]).unwrap(), &[1; 5]).unwrap();
    let descriptor = DataObjectDescriptor::new(DType::UInt8, &[payload.len() as u64]).unwrap();
    encoder.write_object(&descriptor, payload).unwrap();
    encoder.finish().unwrap()
}

fn spans(path: &Path) -> Vec<(u64, u64)> {
    let file = TensogramFile::open(path).unwrap();
    let spans = file.message_layouts().unwrap();
    let report = validate_file(path, &ValidateOptions::default()).unwrap();
    assert!(report.messages.iter().map(|(span, _)| span).eq(&spans), "validation lists the same");
    spans.iter().map(|span| (span.start, span.end)).collect()
}

/// What a file holds when each of these was written behind the other.
fn places(parts: &[&[u8]]) -> Vec<(u64, u64)> {
    let mut end = 0;
    let place = |part: &&[u8]| {
        let start = end;
        end += part.len() as u64;
        (start, end)
    };
    parts.iter().map(place).collect()
}

#[test]
fn whatever_byte_the_writer_of_an_archive_dies_at_its_messages_are_none_of_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("torn.tgm");
    let (before, next) = (message(1, 33), message(2, 20));
    let inner = message(7, 40);
    let archive = [&inner[..], &message(8, 25)].concat();
    for payload in [&inner, &archive] {
        for outer in [buffered(payload), streamed(payload)] {
            let end = memchr::memmem::find(&outer, &inner).unwrap() + inner.len();
            // Every byte around the end of the message inside, and some of all others.
            for len in (1..outer.len()).filter(|len| len % 7 == 1 || len.abs_diff(end) < 30) {
                let torn = [&before[..], &outer[..len]].concat();
                std::fs::write(&path, &torn).unwrap();
                assert_eq!(spans(&path), places(&[&before]), "cut at {len} of {}", outer.len());
                let file = TensogramFile::open(&path).unwrap();
                let inside = file.messages_inside().unwrap();
                let error = file.append_message(&next).unwrap_err();
                assert_eq!((error.code(), error.offset()), ("torn_tail", Some(before.len() as u64)), "{error}");
                assert_eq!(error.to_string().contains("whole messages in the payload"), !inside.is_empty(), "{error}");

                // Kept, the remains hide nothing and show nothing, or nothing is written.
                let keep = AppendOptions::default().with_tail(TailPolicy::Keep);
                match file.appender(&keep).unwrap().append_message(&next) {
                    Ok(()) => {
                        let [own, _, new] = places(&[&before, &outer[..len], &next])[..] else { unreachable!() };
                        assert_eq!(spans(&path), [own, new], "kept at {len}");
                    }
                    Err(error) => {
                        assert_eq!(error.code(), "torn_tail", "{error}");
                        assert!(std::fs::read(&path).unwrap() == torn, "nothing was touched");
                    }
                }
                std::fs::write(&path, &torn).unwrap();
                let cut = AppendOptions::default().with_tail(TailPolicy::Truncate);
                TensogramFile::open(&path).unwrap().appender(&cut).unwrap().append_message(&next).unwrap();
                assert!(std::fs::read(&path).unwrap() == [&before[..], &next].concat(), "cut at {len}");
            }
        }
    }
}

#[test]
fn recovering_saves_them_and_says_where_they_stood() {
    let (before, inner) = (message(1, 33), message(7, 40));
    let outer = buffered(&inner);
    let at = memchr::memmem::find(&outer, &inner).unwrap();
    let torn = [&before[..], &outer[..at + inner.len() + 3]].concat();
    let (saved, recovery) = recover(&torn, &RecoverOptions::default()).unwrap();
    assert!(saved == [&before[..], &inner].concat(), "the outer message lost its only object and is not written");
    let states: Vec<_> = recovery.messages.iter().map(|message| message.state).collect();
    assert_eq!(states, [MessageState::Intact, MessageState::Intact]);
    assert!(!recovery.is_complete(), "the object of the outer message is lost");
    let nested: Vec<_> = recovery.report.findings().iter().filter(|finding| finding.code == "nested_message").collect();
    let start = (before.len() + at) as u64;
    assert_eq!(nested.len(), 1);
    assert_eq!(nested[0].span.map(|span| span.start), Some(start));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("torn.tgm");
    std::fs::write(&path, &torn).unwrap();
    let inside = TensogramFile::open(&path).unwrap().messages_inside().unwrap();
    assert_eq!(inside.iter().map(|span| (span.start, span.len())).collect::<Vec<_>>(), [(start, inner.len() as u64)]);
    let report = validate_file(&path, &ValidateOptions::default()).unwrap();
    assert!(report.findings().any(|finding| finding.code == "nested_message"));
    assert!(report.findings().any(|finding| finding.code == "trailing_bytes"));
    #[cfg(feature = "mmap")]
    {
        // SAFETY: nothing else touches the file of this test.
        #[allow(unsafe_code)]
        let mapped = TensogramFile::open_mmap(&path, unsafe { fw_source::LeftAlone::promised() }).unwrap();
        assert_eq!(mapped.message_count().unwrap(), 1);
        assert_eq!(mapped.messages_inside().unwrap(), inside);
    }
}

/// In the middle of a payload only what follows tells a message of the payload from one that was written behind remains.
#[test]
fn messages_in_the_middle_of_a_payload() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("torn.tgm");
    let (before, inner) = (message(1, 33), message(7, 40));
    for outer in [buffered(&[b"x", &inner[..], b"yz"].concat()), streamed(&[b"x", &inner[..], b"yz"].concat())] {
        let end = memchr::memmem::find(&outer, &inner).unwrap() + inner.len();
        for len in end + 1..outer.len() {
            std::fs::write(&path, [&before[..], &outer[..len]].concat()).unwrap();
            assert_eq!(spans(&path), places(&[&before]), "cut at {len}");
        }
        // Cut right behind it, the bytes are those of a message written behind remains; nobody can tell.
        std::fs::write(&path, [&before[..], &outer[..end]].concat()).unwrap();
        assert_eq!(spans(&path).len(), 2);
    }
}

#[test]
fn what_is_written_behind_remains_is_listed_whatever_comes_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("torn.tgm");
    let (before, next) = (message(1, 33), message(2, 20));
    // Long enough to hold everything behind it, by what it says.
    for torn in [&buffered(&[9; 5000])[..700], &streamed(&[9; 5000])[..700]] {
        let file = || TensogramFile::open(&path).unwrap();
        std::fs::write(&path, [&before[..], torn].concat()).unwrap();
        let keep = AppendOptions::default().with_tail(TailPolicy::Keep);
        file().appender(&keep).unwrap().append_message(&next).unwrap();
        file().append_message(&next).unwrap();
        let [first, _, second, third] = places(&[&before, torn, &next, &next])[..] else { unreachable!() };
        assert_eq!(spans(&path), [first, second, third]);
        // Another writer dies, at any byte.
        let whole = std::fs::read(&path).unwrap();
        let last = message(3, 60);
        for len in (1..last.len()).filter(|len| *len < 50 || len % 9 == 0) {
            std::fs::write(&path, [&whole[..], &last[..len]].concat()).unwrap();
            assert_eq!(spans(&path), [first, second, third], "cut at {len}");
        }
        // A message behind them is damaged: those around it stay.
        let mut damaged = last.clone();
        damaged[0] ^= 1;
        std::fs::write(&path, [&whole[..], &damaged, &last].concat()).unwrap();
        assert_eq!(spans(&path).len(), 4);
    }
}

/// A message that cannot be read although all of it is there hides what is in its payload, too.
#[test]
fn a_damaged_archive_is_not_listed_as_its_messages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.tgm");
    let (before, inner) = (message(1, 33), message(7, 40));
    let mut outer = buffered(&inner);
    let end = outer.len();
    outer[end - 1] ^= 1;
    std::fs::write(&path, [&before[..], &outer, &before].concat()).unwrap();
    let [first, _, last] = places(&[&before, &outer, &before])[..] else { unreachable!() };
    assert_eq!(spans(&path), [first, last]);
}

#[test]
fn a_reader_never_sees_the_messages_of_an_archive_that_is_being_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("growing.tgm");
    let (before, inner) = (message(1, 33), message(7, 40));
    for outer in [buffered(&inner), streamed(&inner)] {
        std::fs::write(&path, &before).unwrap();
        let reader = TensogramFile::open(&path).unwrap();
        let mut writer = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        for byte in outer.chunks(1) {
            assert_eq!(reader.message_count().unwrap(), 1);
            writer.write_all(byte).unwrap();
        }
        assert_eq!(reader.message_count().unwrap(), 2);
        assert!(reader.read_message(1).unwrap() == outer);
        assert!(reader.messages_inside().unwrap().is_empty());
    }
}
