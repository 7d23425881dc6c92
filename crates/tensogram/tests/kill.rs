//! A writer that is killed at any moment leaves every earlier message as it was.
//!
//! The test starts itself as a child that appends as fast as it can, kills it for real, reads what is there, and lets the
//! next child go on.
#![cfg(unix)]

use fw_tensogram::*;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PATH: &str = "FW_KILL_TEST_FILE";

/// Message `number`: its size and values follow from it.
fn message(number: u64) -> Vec<u8> {
    let len = [100, 3_000, 70_000, 1_500_000][(number % 4) as usize];
    let values: Vec<u32> =
        (0..len as u32 / 4).map(|i| i.wrapping_mul(2_654_435_761).wrapping_add(number as u32)).collect();
    MessageBuilder::new()
        .extra("n", number)
        .tensor(&[values.len() as u64], &values)
        .unwrap()
        .options(EncodeOptions::default())
        .encode()
        .unwrap()
}

/// The child: not a test of its own.
#[test]
fn append_until_killed() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let file = TensogramFile::open(path).unwrap();
    let options = AppendOptions::default().with_tail(TailPolicy::Truncate);
    let mut next = file.message_count().unwrap() as u64;
    loop {
        file.appender(&options).unwrap().append_message(&message(next)).unwrap();
        next += 1;
    }
}

/// Every complete message is the one it should be; returns how many there are, and the bytes behind them.
fn check(path: &Path, from: usize) -> (usize, u64) {
    let file = TensogramFile::open(path).unwrap();
    let spans = file.message_layouts().unwrap();
    let mut position = spans.get(from).map_or(0, |span| span.start);
    for (index, span) in spans.iter().enumerate().skip(from) {
        assert_eq!(span.start, position, "no gaps");
        position = span.end;
        let options = DecodeOptions::default().with_verify_hash();
        let DecodedMessage { metadata, objects } = file.decode_message(index, &options).unwrap();
        assert_eq!(metadata.extra["n"], Value::from(index as u64));
        let expected = message(index as u64);
        let expected = decode(&expected, &options).unwrap().objects;
        assert!(objects == expected, "message {index}");
    }
    let len = std::fs::metadata(path).unwrap().len();
    (spans.len(), len - spans.last().map_or(0, |span| span.end))
}

#[test]
fn killed_writers_lose_nothing_that_was_there() {
    const ROUNDS: u32 = 210;
    let folder = tempfile::tempdir().unwrap();
    let mut path = folder.path().join("0.tgm");
    TensogramFile::create(&path).unwrap();
    let (mut known, mut torn, mut written) = (0, 0, 0);
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..ROUNDS {
        if round % 15 == 14 {
            // A fresh file keeps the test short.
            std::fs::remove_file(&path).unwrap();
            path = folder.path().join(format!("{round}.tgm"));
            TensogramFile::create(&path).unwrap();
            known = 0;
        }
        let before = std::fs::metadata(&path).unwrap().len();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "append_until_killed", "--test-threads=1"])
            .env(PATH, &path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // From the first new byte on, any moment.
        let started = Instant::now();
        while std::fs::metadata(&path).unwrap().len() <= before && started.elapsed() < Duration::from_secs(20) {
            std::thread::yield_now();
        }
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros(random >> 52));
        child.kill().unwrap();
        let status = child.wait().unwrap();
        assert!(!status.success(), "the child was killed, it did not end by itself");

        let (count, behind) = check(&path, known);
        assert!(count >= known, "{count} messages, there were {known}");
        written += count - known;
        known = count;
        torn += u32::from(behind > 0);
        let file = TensogramFile::open(&path).unwrap();
        if behind > 0 {
            let error = file.append_message(&message(0)).unwrap_err();
            assert_eq!(error.code(), "torn_tail");
        }
    }
    eprintln!("{ROUNDS} writers killed, {written} messages kept, {torn} torn tails");
    assert!(torn > 0 && written > 0, "no kill hit a write: {torn} torn, {written} written");
}
