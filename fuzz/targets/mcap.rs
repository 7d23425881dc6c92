#![no_main]

#[path = "../../crates/telemetry/fuzz/mcap.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| entry::run(bytes));
