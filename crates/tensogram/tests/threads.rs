//! The number of threads from the environment: asked when the options do not say, and only then.
//!
//! A process must not change its own environment while others may read it, so each question is a run of this program.

mod common;

use fw_tensogram::*;
use fw_tensor::{DType, select};
use std::process::Command;

const ASKED: &str = "FW_TEST_THREADS_ASKED";

#[test]
fn the_environment_decides_only_when_the_options_do_not() {
    if std::env::var_os(ASKED).is_some() {
        return answer();
    }
    assert_eq!(ask(&[]), OK);
    for number in ["1", "2", " 3 ", "0", ""] {
        assert_eq!(ask(&[("FW_THREADS", number)]), OK, "{number:?}");
        assert_eq!(ask(&[("TENSOGRAM_THREADS", number)]), OK, "{number:?}");
    }
    for junk in ["two", "-1", "1.5"] {
        assert_eq!(ask(&[("FW_THREADS", junk)]), REFUSED, "{junk:?}");
        assert_eq!(ask(&[("TENSOGRAM_THREADS", junk)]), REFUSED, "{junk:?}");
        // The first one counts, unless it is blank.
        assert_eq!(ask(&[("FW_THREADS", "2"), ("TENSOGRAM_THREADS", junk)]), OK, "{junk:?}");
        assert_eq!(ask(&[("FW_THREADS", " "), ("TENSOGRAM_THREADS", junk)]), REFUSED, "{junk:?}");
    }
}

/// Encoding, decoding, a range, a slice: as the environment says; then the same with threads in the options.
const OK: &str = "ok ok ok ok; ok ok ok ok";
const REFUSED: &str = "bad_thread_count bad_thread_count bad_thread_count bad_thread_count; ok ok ok ok";

fn ask(environment: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "the_environment_decides_only_when_the_options_do_not", "--nocapture"]);
    command.env_remove("FW_THREADS").env_remove("TENSOGRAM_THREADS").env(ASKED, "1");
    let output = command.envs(environment.iter().copied()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let answer = text.lines().find_map(|line| Some(line.split_once("answer: ")?.1));
    answer.unwrap_or_else(|| panic!("no answer in {text}")).to_owned()
}

fn answer() {
    let (descriptor, data) = common::object(DType::UInt8, &[400_000], 1);
    let write = |threads| {
        let options = EncodeOptions { threads, ..common::options() };
        encode(&GlobalMetadata::default(), &[(&descriptor, &data)], &options)
    };
    let message = write(1).unwrap();
    let view = MessageView::open(&message).unwrap();
    let object = view.object(0).unwrap();
    let word = |result: Result<bool>| match result {
        Ok(true) => "ok",
        Ok(false) => "other_bytes",
        Err(error) => error.code(),
    };
    let all = |threads| {
        let options = DecodeOptions::default().with_threads(threads);
        [
            word(write(threads).map(|written| written == message)),
            word(object.decode(&options).map(|found| found == data)),
            word(object.decode_range(&[(7, 300_000)], &options).map(|parts| parts[0] == data[7..300_007])),
            word(object.slice(select![3..200_000], &options).map(|part| part.data() == &data[3..200_000])),
        ]
        .join(" ")
    };
    println!("answer: {}; {}", all(0), all(2));
}
