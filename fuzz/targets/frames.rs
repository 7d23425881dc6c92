#![no_main]

#[path = "../../crates/dynamic/fuzz/frames.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| entry::run(bytes));
