//! Files of messages: opened lazily, followed while they grow, read exactly, appended to without risk, of any size.

mod common;

use fw_tensogram::access::ReadHead;
use fw_tensogram::wire::{FrameFlags, FrameHeader, FrameType, MessageFlags, Postamble, Preamble};
use fw_tensogram::*;
use fw_tensor::{DType, Selection};
use std::io::Write;
use std::path::PathBuf;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

fn message(number: u64, len: usize) -> Vec<u8> {
    let values = vec![number as u8; len];
    MessageBuilder::new().extra("n", number).tensor(&[len as u64], &values).unwrap().encode().unwrap()
}

fn numbers(file: &TensogramFile) -> Vec<i128> {
    let number = |index| file.metadata(index).unwrap().extra["n"].as_integer().unwrap();
    (0..file.message_count().unwrap()).map(number).collect()
}

#[test]
fn a_growing_file_is_followed_and_a_cut_one_noticed() {
    let folder = Folder::new();
    let path = folder.at("deep/er/grow.tgm");
    let writer = TensogramFile::create(&path).unwrap();
    let reader = TensogramFile::open(&path).unwrap();
    assert_eq!(reader.message_count().unwrap(), 0);
    for count in 1..4 {
        let message = message(count as u64, 100);
        writer.append_message(&message).unwrap();
        assert_eq!(reader.message_count().unwrap(), count);
        assert_eq!(reader.read_message(count - 1).unwrap(), message);
        assert_eq!(reader.decode_object(count - 1, 0, &DecodeOptions::default()).unwrap().bytes, [count as u8; 100]);
    }
    let error = reader.read_message(3).unwrap_err();
    assert_eq!((error.class(), error.code()), ("Framing", "message_index_out_of_range"));

    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    let len = file.metadata().unwrap().len();
    file.set_len(len - 1).unwrap();
    let error = reader.metadata(2).unwrap_err();
    assert_eq!(error.class(), "Io");
    assert!(error.to_string().contains(&format!("had {len} bytes and has {}", len - 1)), "{error}");
    assert_eq!(reader.message_count().unwrap(), 2);
    let error = TensogramFile::open(folder.at("absent.tgm")).unwrap_err();
    assert!(error.to_string().contains("absent.tgm"), "{error}");
}

#[test]
fn a_file_changed_in_place_is_scanned_again() {
    let folder = Folder::new();
    let path = folder.at("x.tgm");
    std::fs::write(&path, [message(1, 10), message(2, 10)].concat()).unwrap();
    let file = TensogramFile::open(&path).unwrap();
    assert_eq!(numbers(&file), [1, 2]);
    assert_eq!(file.decode_object(0, 0, &DecodeOptions::default()).unwrap().bytes, [1; 10]);
    // The same length, other messages; the clock of the file system may be coarse.
    std::thread::sleep(std::time::Duration::from_millis(20));
    std::fs::write(&path, [message(3, 10), message(4, 10)].concat()).unwrap();
    assert_eq!(numbers(&file), [3, 4]);
    assert_eq!(file.decode_object(0, 0, &DecodeOptions::default()).unwrap().bytes, [3; 10]);
}

#[test]
fn a_file_written_anew_and_longer_is_scanned_again() {
    let folder = Folder::new();
    let path = folder.at("x.tgm");
    std::fs::write(&path, [message(1, 10), message(2, 10)].concat()).unwrap();
    let file = TensogramFile::open(&path).unwrap();
    assert_eq!(numbers(&file), [1, 2]);
    std::fs::write(&path, [message(3, 5000), message(4, 10), message(5, 10)].concat()).unwrap();
    assert_eq!(numbers(&file), [3, 4, 5]);
    assert_eq!(file.decode_object(1, 0, &DecodeOptions::default()).unwrap().bytes, [4; 10]);
}

/// Whoever looks while a message is being written may take a message in its payload for one of the file's; not for long.
#[test]
fn a_message_inside_one_that_is_being_written_is_no_message_of_the_file() {
    let folder = Folder::new();
    let inner = message(7, 100);
    let buffered = MessageBuilder::new().tensor(&[inner.len() as u64], &inner).unwrap().encode().unwrap();
    let mut encoder = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &EncodeOptions::default()).unwrap();
    encoder.write_object(&DataObjectDescriptor::new(DType::UInt8, &[inner.len() as u64]).unwrap(), &inner).unwrap();
    let streamed = encoder.finish().unwrap();
    for (name, outer) in [("buffered", &buffered), ("streamed", &streamed)] {
        let path = folder.at(name);
        let before = message(1, 10);
        std::fs::write(&path, &before).unwrap();
        let reader = TensogramFile::open(&path).unwrap();
        let mut writer = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        let until = memchr::memmem::find(outer, &inner).unwrap() + inner.len() + 1;
        for piece in [&outer[..30], &outer[30..until], &outer[until..until + 1], &outer[until + 1..], &before] {
            writer.write_all(piece).unwrap();
            let count = reader.message_count().unwrap();
            assert!((1..=3).contains(&count), "{name}");
            assert_eq!(reader.read_message(0).unwrap(), before, "{name}");
        }
        let found: Vec<_> = reader.read_messages().unwrap().map(Result::unwrap).collect();
        assert!(found.iter().eq([&before, outer, &before]), "{name}: {:?}", reader.message_layouts());
    }
}

/// What this thread has read so far, in calls and bytes: the system counts.
#[cfg(target_os = "linux")]
fn has_read() -> (u64, u64) {
    let counters = std::fs::read_to_string("/proc/thread-self/io").unwrap();
    let counter = |name: &str| counters.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap();
    (counter("syscr:"), counter("rchar:"))
}

#[cfg(target_os = "linux")]
#[test]
fn opening_reads_nothing_and_reading_reads_what_is_asked_for() {
    let folder = Folder::new();
    let path = folder.at("exact.tgm");
    let values = vec![3u8; 4 << 20];
    let large = MessageBuilder::new().tensor(&[1 << 22], &values).unwrap().tensor(&[1 << 22], &values).unwrap();
    std::fs::write(&path, large.encode().unwrap().repeat(3)).unwrap();
    let (calls, bytes) = has_read();
    let (same_calls, same_bytes) = has_read();
    let (own_calls, own_bytes) = (same_calls - calls, same_bytes - bytes);
    let cost = |work: &dyn Fn()| {
        let (calls, bytes) = has_read();
        work();
        let (calls_now, bytes_now) = has_read();
        // The counters are text, a digit of which may be new.
        (calls_now - calls - own_calls, (bytes_now - bytes).saturating_sub(own_bytes + 8))
    };
    assert_eq!(cost(&|| drop(TensogramFile::open(&path).unwrap())).0, 0, "reads while opening");
    let file = TensogramFile::open(&path).unwrap();
    let options = DecodeOptions::default();
    let (calls, bytes) = cost(&|| assert_eq!(file.message_count().unwrap(), 3));
    assert!(calls > 0 && bytes < 20_000, "counting took {calls} calls and {bytes} bytes");
    let (_, bytes) = cost(&|| drop(file.metadata(1).unwrap()));
    assert!(bytes < 10_000, "metadata took {bytes} bytes");
    let (_, bytes) = cost(&|| drop(file.decode_object(1, 1, &options).unwrap()));
    assert!((4 << 20..(4 << 20) + 10_000).contains(&bytes), "an object took {bytes} bytes");
    let (_, bytes) = cost(&|| drop(file.decode_range(2, 1, &[(5, 3), (4_000_000, 3)], &options).unwrap()));
    assert!(bytes < 20_000, "a range took {bytes} bytes");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_is_one_handle() {
    let folder = Folder::new();
    let path = std::fs::canonicalize(folder.0.path()).unwrap().join("one.tgm");
    std::fs::write(&path, message(1, 100_000).repeat(20)).unwrap();
    let handles = || {
        let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        open.filter(|entry| std::fs::read_link(entry.path()).is_ok_and(|target| target == path)).count()
    };
    let file = TensogramFile::open(&path).unwrap();
    assert_eq!(handles(), 1);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (file, handles) = (&file, &handles);
            scope.spawn(move || {
                for index in 0..20 {
                    file.decode_object((index + thread) % 20, 0, &DecodeOptions::default()).unwrap();
                    assert_eq!(handles(), 1);
                }
            });
        }
    });
    drop(file);
    assert_eq!(handles(), 0);
}

#[test]
fn reads_agree_with_decoding_the_message() {
    let folder = Folder::new();
    let path = folder.at("kinds.tgm");
    let kinds = common::ten_kinds();
    let mut bytes = Vec::new();
    for (_, message) in &kinds {
        bytes.extend_from_slice(b"junk in between");
        bytes.extend_from_slice(message);
    }
    std::fs::write(&path, &bytes).unwrap();
    let plain = TensogramFile::open(&path).unwrap();
    for verify_hash in [false, true] {
        let options = DecodeOptions { verify_hash, ..DecodeOptions::default() };
        for (index, (name, message)) in kinds.iter().enumerate() {
            let DecodedMessage { metadata, objects } = decode(message, &options).unwrap();
            assert_eq!(plain.metadata(index).unwrap(), metadata, "{name}");
            assert_eq!(plain.decode_metadata(index).unwrap(), decode_metadata(message).unwrap(), "{name}");
            assert_eq!(plain.decode_descriptors(index).unwrap(), decode_descriptors(message).unwrap(), "{name}");
            assert_eq!(plain.decode_message(index, &options).unwrap().metadata, metadata, "{name}");
            assert_eq!(plain.object_count(index).unwrap(), objects.len(), "{name}");
            for (o, object) in objects.iter().enumerate() {
                assert_eq!(&plain.decode_object(index, o, &options).unwrap(), object, "{name}");
                let DecodedObject { descriptor, bytes: data } = object;
                let mut out = vec![0; data.len()];
                plain.decode_object_into(index, o, &options, &mut out).unwrap();
                assert_eq!(&out, data, "{name}");
                if descriptor.dtype != DType::Bitmask {
                    let slice = plain.slice(index, o, Selection::new(), &options).unwrap();
                    assert_eq!(slice.data(), data, "{name}");
                }
            }
            assert_eq!(plain.decode_object(index, objects.len(), &options).unwrap_err().class(), "Object");
        }
    }
}

#[test]
fn runs_of_raw_elements_come_from_their_places() {
    let folder = Folder::new();
    let path = folder.at("raw.tgm");
    let values: Vec<u16> = (0..40 * 50 * 60).map(|i| (i % 65_521) as u16).collect();
    let big: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
    let mut descriptor = DataObjectDescriptor::new(DType::UInt16, &[40, 50, 60]).unwrap();
    descriptor.byte_order = fw_tensor::ByteOrder::Big;
    let message = MessageBuilder::new().object(descriptor, &big).tensor(&[40, 50, 60], &values).unwrap();
    std::fs::write(&path, message.encode().unwrap()).unwrap();
    let file = TensogramFile::open(&path).unwrap();
    let bytes = file.read_message(0).unwrap();
    let view = MessageView::open(&bytes).unwrap();
    let selections = [
        Selection::new().axis(3..7).axis(10..12).axis(5..9),
        Selection::new().axis(3..7).axis(10..12),
        Selection::new().stepped(.., -3).stepped(.., 7).stepped(.., -11),
        Selection::new().axis(39).axis(49).axis(59),
        Selection::new().axis(5..5),
        Selection::new().ellipsis().axis(7),
        Selection::new(),
    ];
    for selection in selections {
        for object in 0..2 {
            for native_byte_order in [true, false] {
                let options = DecodeOptions { native_byte_order, ..DecodeOptions::default() };
                let expected = view.object(object).unwrap().slice(&selection, &options).unwrap();
                let found = file.slice(0, object, &selection, &options).unwrap();
                assert_eq!(found.data(), expected.data(), "{selection:?}");
                assert_eq!(found.shape(), expected.shape(), "{selection:?}");
            }
        }
    }
    let error = file.slice(0, 0, Selection::new().axis(40), &DecodeOptions::default()).unwrap_err();
    assert_eq!((error.class(), error.code(), error.path()), ("Selection", "invalid_slice", "message[0].object[0]"));
}

#[test]
fn a_torn_tail_is_an_error_or_what_the_policy_says() {
    let folder = Folder::new();
    let path = folder.at("torn.tgm");
    let whole = message(1, 1000);
    let torn = [&whole[..], &message(2, 1000)[..700]].concat();
    let appended = message(3, 10);
    let fresh = || {
        std::fs::write(&path, &torn).unwrap();
        TensogramFile::open(&path).unwrap()
    };

    let file = fresh();
    let error = file.append_message(&appended).unwrap_err();
    assert_eq!((error.class(), error.code(), error.offset()), ("Framing", "torn_tail", Some(whole.len() as u64)));
    assert!(error.to_string().contains(&format!("torn tail at byte {}", whole.len())), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), torn, "nothing was touched");

    let file = fresh();
    let cut = AppendOptions::default().with_tail(TailPolicy::Truncate).synced();
    file.appender(&cut).unwrap().append_message(&appended).unwrap();
    assert_eq!(numbers(&file), [1, 3]);
    assert_eq!(std::fs::read(&path).unwrap(), [&whole[..], &appended].concat());

    let file = fresh();
    let keep = AppendOptions::default().with_tail(TailPolicy::Keep);
    file.appender(&keep).unwrap().append_message(&appended).unwrap();
    assert_eq!(numbers(&file), [1, 3]);
    assert_eq!(std::fs::read(&path).unwrap(), [&torn[..], &appended].concat());
    // The remains stand in the middle now; the end is clean.
    file.append_message(&appended).unwrap();
    assert_eq!(numbers(&file), [1, 3, 3]);
}

/// A writer may die at any byte of a message, whichever way it writes.
#[test]
fn whatever_byte_a_writer_dies_at_the_messages_before_stay() {
    let folder = Folder::new();
    let path = folder.at("dies.tgm");
    let (whole, next) = (message(1, 50), message(3, 20));
    let descriptor = DataObjectDescriptor::new(DType::UInt8, &[40]).unwrap();
    let mut encoder = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &EncodeOptions::default()).unwrap();
    encoder.write_object(&descriptor, &[9; 40]).unwrap();
    let streamed = encoder.finish().unwrap();
    let cut = AppendOptions::default().with_tail(TailPolicy::Truncate);
    for torn in [message(2, 40), streamed] {
        for len in 1..torn.len() {
            std::fs::write(&path, [&whole, &torn[..len]].concat()).unwrap();
            let file = TensogramFile::open(&path).unwrap();
            assert_eq!(numbers(&file), [1], "cut at byte {len}");
            let error = file.append_message(&next).unwrap_err();
            assert!(error.to_string().contains(&format!("torn tail at byte {}", whole.len())), "{len}: {error}");
            file.appender(&cut).unwrap().append_message(&next).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), [&whole[..], &next].concat(), "cut at byte {len}");
            assert_eq!(numbers(&file), [1, 3], "cut at byte {len}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_was_replaced_is_not_appended_to_by_what_is_known_of_the_old_one() {
    let folder = Folder::new();
    let path = folder.at("replaced.tgm");
    std::fs::write(&path, message(1, 10)).unwrap();
    let file = TensogramFile::open(&path).unwrap();
    assert_eq!(numbers(&file), [1]);
    let new = [message(4, 1000), message(5, 1000)].concat();
    std::fs::write(folder.at("new.tgm"), &new).unwrap();
    std::fs::rename(folder.at("new.tgm"), &path).unwrap();
    for tail in [TailPolicy::Error, TailPolicy::Truncate, TailPolicy::Keep] {
        let error = file.appender(&AppendOptions::default().with_tail(tail)).unwrap_err();
        assert_eq!(error.class(), "Io", "{error}");
        assert!(error.to_string().contains("replaced by another one"), "{error}");
        assert!(std::fs::read(&path).unwrap() == new, "nothing was touched");
    }
    TensogramFile::open(&path).unwrap().append_message(&message(6, 10)).unwrap();
    assert_eq!(numbers(&TensogramFile::open(&path).unwrap()), [4, 5, 6]);
}

#[test]
fn remains_that_would_swallow_a_message_are_refused() {
    let folder = Folder::new();
    let path = folder.at("swallow.tgm");
    let appended = message(3, 10);
    // A torn message whose promised length ends exactly where the new one does.
    let mut torn = message(2, 1000)[..700].to_vec();
    let length = (torn.len() + appended.len()) as u64;
    torn[16..24].copy_from_slice(&length.to_be_bytes());
    std::fs::write(&path, &torn).unwrap();
    let file = TensogramFile::open(&path).unwrap();
    let keep = AppendOptions::default().with_tail(TailPolicy::Keep);
    let error = file.appender(&keep).unwrap().append_message(&appended).unwrap_err();
    assert_eq!(error.code(), "torn_tail");
    assert_eq!(std::fs::read(&path).unwrap(), torn);
}

#[test]
fn two_writers_never_write_at_once() {
    let folder = Folder::new();
    let path = folder.at("locked.tgm");
    let (one, other) = (TensogramFile::create(&path).unwrap(), TensogramFile::open(&path).unwrap());
    let mut appender = one.appender(&AppendOptions::default()).unwrap();
    appender.append_message(&message(1, 10)).unwrap();
    let error = other.append_message(&message(2, 10)).unwrap_err();
    assert_eq!(error.class(), "Io");
    assert!(error.is_retryable(), "{error}");
    assert!(error.to_string().contains("another writer"), "{error}");
    assert_eq!(other.message_count().unwrap(), 1, "readers are not kept out");
    drop(appender);
    other.append_message(&message(2, 10)).unwrap();
    assert_eq!(numbers(&one), [1, 2]);
    assert_eq!(one.append_message(b"no message").unwrap_err().code(), "not_a_message");

    // A writer that does not ask for the lock is noticed.
    let mut appender = one.appender(&AppendOptions::default()).unwrap();
    std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"rude").unwrap();
    let error = appender.append_message(&message(3, 10)).unwrap_err();
    assert!(error.to_string().contains("has"), "{error}");
    drop(appender);
}

#[test]
fn a_message_can_be_streamed_behind_the_others() {
    let folder = Folder::new();
    let file = TensogramFile::create(folder.at("streamed.tgm")).unwrap();
    file.append_message(&message(1, 10)).unwrap();
    let mut appender = file.appender(&AppendOptions::default()).unwrap();
    let metadata = GlobalMetadata { extra: [("n".to_owned(), Value::from(2u64))].into(), ..Default::default() };
    let mut encoder = StreamingEncoder::new(&mut appender, &metadata, &EncodeOptions::default()).unwrap();
    let descriptor = DataObjectDescriptor::new(DType::UInt8, &[4]).unwrap();
    encoder.write_object(&descriptor, &[1, 2, 3, 4]).unwrap();
    assert_eq!(file.message_count().unwrap(), 1, "an unfinished message is none");
    encoder.finish().unwrap();
    appender.append_message(&message(3, 10)).unwrap();
    assert_eq!(numbers(&file), [1, 2, 3]);
    assert_eq!(file.decode_object(1, 0, &DecodeOptions::default()).unwrap().bytes, [1, 2, 3, 4]);
}

#[test]
fn creating_replaces_and_leaves_readers_their_bytes() {
    let folder = Folder::new();
    let path = folder.at("again.tgm");
    std::fs::write(&path, message(1, 10)).unwrap();
    let old = TensogramFile::open(&path).unwrap();
    assert_eq!(TensogramFile::create(&path).unwrap().message_count().unwrap(), 0);
    assert_eq!(numbers(&old), [1]);
}

/// A message of more than five gibibytes, of which the disk holds a few kilobytes.
#[cfg(unix)]
#[test]
fn files_may_be_larger_than_four_gibibytes() {
    use std::os::unix::fs::FileExt;
    let folder = Folder::new();
    let path = folder.at("sparse.tgm");
    let shape = [5u64 << 20, 1024];
    let payload_len = shape[0] * shape[1];
    let descriptor = DataObjectDescriptor::new(DType::UInt8, &shape).unwrap().to_cbor();
    let frame_len = 16 + payload_len + descriptor.len() as u64 + 20;
    let metadata = FrameHeader { frame_type: FrameType::HEADER_METADATA, version: 1, flags: FrameFlags(0), length: 29 };
    let object = FrameHeader {
        frame_type: FrameType::NTENSOR,
        version: 1,
        flags: FrameFlags::CBOR_AFTER_PAYLOAD,
        length: frame_len,
    };
    let object_at = 24 + 32u64;
    let postamble_at = (object_at + frame_len).next_multiple_of(8);
    let total_length = Some(postamble_at + 24);
    let preamble = Preamble { flags: MessageFlags::HEADER_METADATA, reserved: 0, total_length };
    let head = [&preamble.to_bytes()[..], &metadata.to_bytes(), &[0xa0], &[0; 8], b"ENDF", &[0; 3], &object.to_bytes()]
        .concat();
    let tail = [&descriptor[..], &(16 + payload_len).to_be_bytes(), &[0; 8], b"ENDF"].concat();
    let file = std::fs::File::create(&path).unwrap();
    let base = message(7, 5).len() as u64;
    file.write_all_at(&message(7, 5), 0).unwrap();
    file.write_all_at(&head, base).unwrap();
    file.write_all_at(&[42], base + object_at + 16 + payload_len - 3).unwrap();
    file.write_all_at(&tail, base + object_at + 16 + payload_len).unwrap();
    let postamble = Postamble { first_footer_offset: postamble_at, total_length }.to_bytes();
    file.write_all_at(&postamble, base + postamble_at).unwrap();
    file.write_all_at(&message(8, 5), base + postamble_at + 24).unwrap();
    drop(file);

    let file = TensogramFile::open(&path).unwrap();
    assert_eq!(file.message_count().unwrap(), 3);
    assert!(file.message_span(2).unwrap().start > 5 << 30);
    let options = DecodeOptions::default();
    assert_eq!(file.decode_range(1, 0, &[(payload_len - 4, 4)], &options).unwrap().parts, [[0, 42, 0, 0]]);
    let corner = Selection::new().axis(-2..).axis(1020..);
    assert_eq!(file.slice(1, 0, &corner, &options).unwrap().data(), [0, 0, 0, 0, 0, 42, 0, 0]);
    assert_eq!(file.decode_object(2, 0, &options).unwrap().bytes, [8; 5]);
    file.append_message(&message(9, 5)).unwrap();
    assert_eq!(file.metadata(3).unwrap().extra["n"], Value::from(9));
}

#[cfg(feature = "mmap")]
#[allow(unsafe_code, reason = "mapping a file takes a promise about it")]
#[test]
fn mapped_files_hand_out_their_bytes() {
    let folder = Folder::new();
    let path = folder.at("mapped.tgm");
    let values: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let one = MessageBuilder::new().extra("n", 1).tensor(&[10, 100], &values).unwrap().encode().unwrap();
    std::fs::write(&path, [&one[..], b"junk", &one].concat()).unwrap();
    // SAFETY: the file lives in this test's own directory; nothing changes it below, it is only unlinked.
    let promise = || unsafe { fw_source::LeftAlone::promised() };
    let file = TensogramFile::open_mmap(&path, promise()).unwrap();
    assert_eq!(file.message_count().unwrap(), 2);
    assert_eq!(numbers(&file), [1, 1]);
    let bytes = file.read_message(1).unwrap();
    let view = file.view(1).unwrap();
    assert_eq!(view.bytes().as_ptr(), bytes.as_ptr(), "the same memory");
    if let Some(found) = file.view(0).unwrap().object(0).unwrap().values::<f32>() {
        assert_eq!(found, values);
    }
    let options = DecodeOptions::default().with_verify_hash();
    let native: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    assert_eq!(file.decode_object(1, 0, &options).unwrap().bytes, native);
    let slice = file.slice(1, 0, Selection::new().axis(3).axis(7..9), &DecodeOptions::default()).unwrap();
    assert_eq!(slice.view().to_vec::<f32>().unwrap(), [307.0, 308.0]);
    let error = file.append_message(&one).unwrap_err();
    assert!(matches!(&error, TensogramError::Io(error) if error.kind() == std::io::ErrorKind::Unsupported), "{error}");
    assert_eq!(TensogramFile::open(&path).unwrap().view(0).unwrap_err().code(), "not_mapped");
    drop(file);
    assert_eq!(bytes, one, "the bytes outlive the file");
    std::fs::write(folder.at("empty.tgm"), b"").unwrap();
    assert_eq!(TensogramFile::open_mmap(folder.at("empty.tgm"), promise()).unwrap().message_count().unwrap(), 0);

    // What is open is mapped, whatever its name stands for by now.
    let open = TensogramFile::open(&path).unwrap();
    std::fs::rename(folder.at("empty.tgm"), &path).unwrap();
    let map = open.to_mapped(promise()).unwrap();
    assert_eq!(map.view(1).unwrap().bytes(), one);
    assert_eq!(
        map.to_mapped(promise()).unwrap().read_message(1).unwrap().as_ptr(),
        map.read_message(1).unwrap().as_ptr()
    );
}

#[test]
fn the_last_of_many_objects_costs_as_much_as_the_first() {
    let objects: Vec<_> = (0..5000).map(|i| common::object(DType::UInt8, &[64], i as u8)).collect();
    let pairs: Vec<_> = objects.iter().map(|(descriptor, data)| (descriptor, &data[..])).collect();
    let message = encode(&GlobalMetadata::default(), &pairs, &common::options()).unwrap();
    let at = fw_bytes::Span::new(0, message.len() as u64);
    let cost = |index| {
        let source = source::Counting::new(&message);
        fw_tensogram::access::run(
            &source,
            &mut fw_source::Buffers::new(),
            ReadHead::new(at, index, Default::default()),
        )
        .unwrap();
        (source.calls(), source.read())
    };
    let (first, last) = (cost(0), cost(4999));
    assert!(last.0 <= first.0 + 1 && last.1 <= first.1 + 4096, "{first:?} against {last:?}");
}

#[path = "common/source.rs"]
mod source;

#[test]
fn a_survey_of_a_file_reads_no_payloads_and_says_what_one_of_memory_says() {
    let folder = Folder::new();
    for (name, message) in common::ten_kinds() {
        let path = folder.at("kind.tgm");
        std::fs::write(&path, &message).unwrap();
        let (whole, exact) = (survey(&message), TensogramFile::open(&path).unwrap().survey(0).unwrap());
        assert_eq!(format!("{whole:?}"), format!("{exact:?}"), "{name}");
    }
    let values = vec![0u8; 1 << 20];
    let message = MessageBuilder::new().tensor(&[1 << 20], &values).unwrap().encode().unwrap();
    let source = source::Counting::new(&message);
    let found = survey_source(&source, fw_bytes::Span::new(0, message.len() as u64)).unwrap();
    assert!(found.report.findings().is_empty() && found.objects.len() == 1);
    assert!(source.read() < 20_000, "{} bytes were read", source.read());
}

#[test]
fn objects_behind_an_unreadable_one_keep_their_entries() {
    let message = MessageBuilder::new()
        .tensor(&[1], &[1u8])
        .unwrap()
        .base("name", "a")
        .tensor(&[1], &[2u8])
        .unwrap()
        .base("name", "b")
        .tensor(&[1], &[3u8])
        .unwrap()
        .base("name", "c")
        .encode()
        .unwrap();
    let slot = MessageView::open(&message).unwrap().object(1).unwrap().frame().cbor_offset_slot();
    let mut damaged = message;
    damaged[slot.start as usize] = 0xff;
    let survey = survey(&damaged);
    let metadata = survey.metadata.unwrap();
    let names: Vec<_> =
        survey.objects.iter().map(|object| (object.index, metadata.base[object.index]["name"].as_text())).collect();
    assert_eq!(names, [(0, Some("a")), (2, Some("c"))]);
}

#[test]
fn streams_are_listed_in_little_memory() {
    let (small, large) = (vec![1u8; 10], vec![2u8; 12 << 20]);
    let entry: MetadataMap = [("name".to_owned(), Value::from("big"))].into();
    let mut encoder = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &EncodeOptions::default()).unwrap();
    encoder.write_object(&DataObjectDescriptor::new(DType::UInt8, &[10]).unwrap(), &small).unwrap();
    encoder.write_preceder(&entry).unwrap();
    encoder.write_object(&DataObjectDescriptor::new(DType::UInt8, &[12 << 20]).unwrap(), &large).unwrap();
    let message = encoder.finish().unwrap();
    let file = [&b"junk"[..], &message, &self::message(3, 5)].concat();
    let mut listed = Vec::new();
    for event in StreamReader::without_payloads(&file[..], DecodeOptions::default()) {
        if let StreamEvent::Listed { index, descriptor, preceder, stored_len } = event.unwrap() {
            listed.push((index, descriptor.shape.clone(), preceder.contains_key("name"), stored_len));
        }
    }
    assert_eq!(listed[..2], [(0, vec![10], false, 10), (1, vec![12 << 20], true, 12 << 20)]);
    assert_eq!(listed[2..], [(0, vec![5], false, 5)]);
}
