#![no_main]

#[path = "../../crates/link/fuzz/websocket.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| entry::run(bytes));
