//! Files made to hurt, one idea per file of this folder. Each must be refused, quickly, and with memory that its own
//! size justifies.

mod hidden; // bytes that only some readers see
mod layout; // ranges that overlap, leave holes, or leave the file
mod sizes; // claims of sizes and counts that are not there
mod writing; // damage done through a writer

use std::alloc::System;

/// Counts what the code under test allocates.
#[global_allocator]
static ALLOCATOR: &stats_alloc::StatsAlloc<System> = &stats_alloc::INSTRUMENTED_SYSTEM;

/// A header with its size field, and data behind it.
fn file(header: &[u8], data: &[u8]) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header);
    bytes.extend_from_slice(data);
    bytes
}

/// A record with one-byte numbers.
fn record(name: &str, dtype: u8, dims: &[u8], start: u8, end: u8) -> Vec<u8> {
    let mut bytes = vec![name.len() as u8];
    bytes.extend_from_slice(name.as_bytes());
    bytes.extend([dtype, dims.len() as u8]);
    bytes.extend_from_slice(dims);
    bytes.extend([start, end]);
    bytes
}

/// A header without metadata.
fn header(records: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = vec![0, records.len() as u8];
    records.iter().for_each(|record| bytes.extend_from_slice(record));
    bytes
}

/// The class each profile gives, which must be one.
fn class(bytes: &[u8]) -> &'static str {
    use fw_bintensors::{BinTensors, Profile, ReadOptions};
    let mut classes = Profile::ALL
        .into_iter()
        .map(|profile| BinTensors::deserialize_with(bytes, &ReadOptions::new().with_profile(profile)))
        .map(|result| result.map_or_else(|error| error.class(), |_| "ok"));
    let first = classes.next().unwrap();
    assert!(classes.all(|class| class == first));
    first
}
