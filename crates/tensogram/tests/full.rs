//! A disk that fills up while messages are appended: nothing that was there is lost, and what did not fit is taken back.
//!
//! The test starts itself as a child whose files may not grow beyond a limit; writing past it fails as on a full disk, after
//! what fits was written.
#![cfg(unix)]

use fw_tensogram::*;
use fw_tensor::DType;
use std::process::{Command, Stdio};

const PATH: &str = "FW_FULL_TEST_FILE";

fn message(number: u64, len: usize) -> Vec<u8> {
    let values = vec![number as u8; len];
    MessageBuilder::new().extra("n", number).tensor(&[len as u64], &values).unwrap().encode().unwrap()
}

/// The child: not a test of its own.
#[test]
fn append_until_full() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let file = TensogramFile::open(&path).unwrap();
    let len = || std::fs::metadata(&path).unwrap().len();
    let mut count = 0;
    let mut appender = file.appender(&AppendOptions::default()).unwrap();
    let error = loop {
        match appender.append_message(&message(count, 5000)) {
            Ok(()) => count += 1,
            Err(error) => break error,
        }
        assert!(count < 1000, "there is no limit");
    };
    assert_eq!(error.class(), "Io", "{error}");
    assert!(error.to_string().contains("full.tgm"), "{error}");
    assert!(count > 1, "{count} messages fit");
    assert_eq!(len(), count * message(0, 5000).len() as u64, "what did not fit was taken back");
    assert_eq!(appender.end(), len());
    // What fits is still written, by the same writer.
    appender.append_message(&message(count, 10)).unwrap();
    let whole = len();
    assert_eq!(file.message_count().unwrap() as u64, count + 1);

    // Piece by piece, a message stays unfinished: it is not written behind.
    let mut encoder =
        StreamingEncoder::new(&mut appender, &GlobalMetadata::default(), &EncodeOptions::default()).unwrap();
    let descriptor = DataObjectDescriptor::new(DType::UInt8, &[100_000]).unwrap();
    let error = encoder.write_object(&descriptor, &[7; 100_000]).unwrap_err();
    assert_eq!(error.class(), "Io", "{error}");
    drop(encoder);
    let error = appender.append_message(&message(9, 10)).unwrap_err();
    assert_eq!((error.code(), error.offset()), ("torn_tail", Some(whole)), "{error}");
    drop(appender);
    let error = file.append_message(&message(9, 10)).unwrap_err();
    assert_eq!((error.code(), error.offset()), ("torn_tail", Some(whole)), "{error}");
    let cut = AppendOptions::default().with_tail(TailPolicy::Truncate);
    file.appender(&cut).unwrap().append_message(&message(9, 10)).unwrap();
    assert_eq!(file.message_count().unwrap() as u64, count + 2);
    println!("the end was reached");
}

#[test]
fn a_full_disk_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("full.tgm");
    TensogramFile::create(&path).unwrap();
    // Blocks of 512 bytes, or of 1024, as the shell has it. The signal would end the process, as no full disk does.
    let child = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 100; exec \"$0\" --exact append_until_full --nocapture"])
        .arg(std::env::current_exe().unwrap())
        .env(PATH, &path)
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && said.contains("the end was reached"), "{said}");
    let file = TensogramFile::open(&path).unwrap();
    let count = file.message_count().unwrap();
    assert!(count > 3);
    for index in 0..count {
        let DecodedMessage { metadata, objects } =
            file.decode_message(index, &DecodeOptions::default().with_verify_hash()).unwrap();
        let number = metadata.extra["n"].as_integer().unwrap() as u8;
        assert!(objects[0].bytes.iter().all(|byte| *byte == number), "message {index}");
    }
    assert!(validate_file(&path, &ValidateOptions::default()).unwrap().is_ok());
}

/// A writer that gives up in the middle of a message and goes on with the next one.
#[test]
fn nothing_is_written_behind_a_message_that_was_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let file = TensogramFile::create(folder.path().join("given-up.tgm")).unwrap();
    let mut appender = file.appender(&AppendOptions::default()).unwrap();
    appender.append_message(&message(1, 10)).unwrap();
    let descriptor = DataObjectDescriptor::new(DType::UInt8, &[4]).unwrap();
    let metadata = GlobalMetadata { extra: [("n".to_owned(), Value::from(2u64))].into(), ..Default::default() };
    let mut encoder = StreamingEncoder::new(&mut appender, &metadata, &EncodeOptions::default()).unwrap();
    encoder.write_object(&descriptor, &[1, 2, 3, 4]).unwrap();
    encoder.finish().unwrap();
    appender.append_message(&message(3, 10)).unwrap();
    let mut encoder = StreamingEncoder::new(&mut appender, &metadata, &EncodeOptions::default()).unwrap();
    encoder.write_object(&descriptor, &[1, 2, 3, 4]).unwrap();
    drop(encoder);
    let before = file.message_layouts().unwrap();
    let error = appender.append_message(&message(4, 10)).unwrap_err();
    assert_eq!((error.code(), error.offset()), ("torn_tail", Some(before[2].end)), "{error}");
    assert_eq!(file.message_layouts().unwrap(), before);
}
