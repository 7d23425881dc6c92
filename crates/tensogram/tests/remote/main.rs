//! Files in stores: real servers on loopback, with a proxy in front that counts, delays and breaks.
//!
//! `FW_PYTHON` names an interpreter with `rangehttpserver` and `moto[server]`; `cargo xtask test` sets it up.

mod azure; // a store that speaks as Azure's does
mod costs; // how many requests and bytes
mod emulator; // small stores on loopback
mod faults; // what breaks, and what is said then
mod gcs; // a store that speaks as Google's does
mod planned; // many parts by few requests
mod proxy; // counts, delays, breaks
mod runtime; // who is held up
mod s3; // an S3-compatible server
mod servers; // real servers, started and stopped
mod stores; // stores without a server
mod suite; // what every store must do
mod whole; // servers without ranges

use fw_source::remote::StoreOptions;
use fw_tensogram::MessageBuilder;
use std::time::Duration;

/// A message with one object of `values`.
fn message(number: u64, values: &[f32]) -> Vec<u8> {
    let shape = [values.len() as u64];
    MessageBuilder::new().extra("number", number).tensor(&shape, values).unwrap().encode().unwrap()
}

fn ramp(len: usize, from: f32) -> Vec<f32> {
    (0..len).map(|i| from + i as f32).collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|four| f32::from_ne_bytes(four.try_into().unwrap())).collect()
}

/// Retries that do not make tests wait.
fn quick() -> StoreOptions {
    StoreOptions::new().with_retries(2).with_backoff(Duration::from_millis(5), Duration::from_millis(20))
}
