#![no_main]

#[path = "../../crates/recording/fuzz/recording.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| entry::run(bytes));
