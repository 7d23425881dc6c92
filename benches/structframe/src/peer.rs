//! The reference's generated code: Rust as a crate, C and C++ through a C interface.

extern crate struct_frame_sdk;

use crate::ours::{Large, Small, ends};
pub(crate) use struct_frame_sdk::bench::{Large as RustLarge, Small as RustSmall};
use struct_frame_sdk::frame_profiles::{
    AccumulatingReader, BufferReader, PROFILE_BULK_CONFIG, PROFILE_STANDARD_CONFIG, ProfileConfig, encode_message,
};
use struct_frame_sdk::get_message_info;

pub(crate) fn rust_small(messages: &[Small]) -> Vec<RustSmall> {
    messages
        .iter()
        .map(|m| RustSmall { stamp: m.stamp, x: m.x, y: m.y, z: m.z, status: m.status, mode: m.mode, ok: m.ok })
        .collect()
}

pub(crate) fn rust_large(messages: &[Large]) -> Vec<RustLarge> {
    messages.iter().map(|m| RustLarge { stamp: m.stamp, frame: m.frame, flags: m.flags, body: m.body }).collect()
}

pub(crate) fn rust_encode_small(messages: &[RustSmall], out: &mut [u8]) -> usize {
    let mut at = 0;
    for message in messages {
        at += encode_message(&PROFILE_STANDARD_CONFIG, &mut out[at..], message, 0);
    }
    at
}

pub(crate) fn rust_encode_large(messages: &[RustLarge], out: &mut [u8]) -> usize {
    let mut at = 0;
    for message in messages {
        at += encode_message(&PROFILE_BULK_CONFIG, &mut out[at..], message, 0);
    }
    at
}

fn rust_parse(config: ProfileConfig, bytes: &[u8], mut take: impl FnMut(&[u8])) {
    let mut reader = BufferReader::new(config, bytes.to_vec());
    while let Some(info) = reader.try_next(&get_message_info) {
        if info.valid {
            take(info.get_payload_span());
        }
    }
}

pub(crate) fn rust_parse_small(bytes: &[u8]) -> u64 {
    let mut sum = 0;
    rust_parse(PROFILE_STANDARD_CONFIG, bytes, |payload| {
        sum += RustSmall::unpack(payload).map_or(0, |message| u64::from(message.stamp) + u64::from(message.status));
    });
    sum
}

pub(crate) fn rust_frames_large(bytes: &[u8]) -> u64 {
    let mut sum = 0;
    rust_parse(PROFILE_BULK_CONFIG, bytes, |payload| sum += ends(payload));
    sum
}

pub(crate) fn rust_parse_large(bytes: &[u8]) -> u64 {
    let mut sum = 0;
    rust_parse(PROFILE_BULK_CONFIG, bytes, |payload| {
        sum += RustLarge::unpack(payload).map_or(0, |message| u64::from(message.stamp) + u64::from(message.body[2047]));
    });
    sum
}

pub(crate) fn rust_structs_small(bytes: &[u8]) -> Vec<RustSmall> {
    let mut messages = Vec::new();
    rust_parse(PROFILE_STANDARD_CONFIG, bytes, |payload| messages.extend(RustSmall::unpack(payload)));
    messages
}

pub(crate) fn rust_structs_large(bytes: &[u8]) -> Vec<RustLarge> {
    let mut messages = Vec::new();
    rust_parse(PROFILE_BULK_CONFIG, bytes, |payload| messages.extend(RustLarge::unpack(payload)));
    messages
}

pub(crate) fn rust_bytewise_small(bytes: &[u8]) -> u64 {
    let mut reader = AccumulatingReader::new(PROFILE_STANDARD_CONFIG, 1024);
    let mut sum = 0;
    for byte in bytes {
        if let Some(info) = reader.push_byte(*byte, &get_message_info)
            && info.valid
        {
            let message = RustSmall::unpack(info.get_payload_span());
            sum += message.map_or(0, |message| u64::from(message.stamp) + u64::from(message.status));
        }
    }
    sum
}

unsafe extern "C" {
    fn c_encode_small(messages: *const u8, count: usize, out: *mut u8, room: usize) -> usize;
    fn c_encode_large(messages: *const u8, count: usize, out: *mut u8, room: usize) -> usize;
    fn c_parse_small(bytes: *const u8, len: usize) -> u64;
    fn c_frames_large(bytes: *const u8, len: usize) -> u64;
    fn c_parse_large(bytes: *const u8, len: usize) -> u64;
    fn c_bytewise_small(bytes: *const u8, len: usize) -> u64;
    fn c_chunked_small(bytes: *const u8, len: usize, chunk: usize) -> u64;
    fn cpp_encode_small(messages: *const u8, count: usize, out: *mut u8, room: usize) -> usize;
    fn cpp_encode_large(messages: *const u8, count: usize, out: *mut u8, room: usize) -> usize;
    fn cpp_parse_small(bytes: *const u8, len: usize) -> u64;
    fn cpp_frames_large(bytes: *const u8, len: usize) -> u64;
    fn cpp_parse_large(bytes: *const u8, len: usize) -> u64;
    fn cpp_bytewise_small(bytes: *const u8, len: usize) -> u64;
    fn cpp_chunked_small(bytes: *const u8, len: usize, chunk: usize) -> u64;
}

/// Packed structs of C and C++ are the payloads one after the other.
pub(crate) struct Images<'a>(pub(crate) &'a [u8], pub(crate) usize);

macro_rules! wrap {
    ($($encode:ident = $raw_encode:ident;)* | $($parse:ident = $raw_parse:ident;)*) => {
        $(pub(crate) fn $encode(images: &Images<'_>, out: &mut [u8]) -> usize {
            // SAFETY: both ranges are given with their lengths, and the structs are packed, so any alignment will do.
            unsafe { $raw_encode(images.0.as_ptr(), images.1, out.as_mut_ptr(), out.len()) }
        })*
        $(pub(crate) fn $parse(bytes: &[u8]) -> u64 {
            // SAFETY: the range is given with its length, and is only read.
            unsafe { $raw_parse(bytes.as_ptr(), bytes.len()) }
        })*
    };
}

wrap! {
    encode_small_c = c_encode_small;
    encode_large_c = c_encode_large;
    encode_small_cpp = cpp_encode_small;
    encode_large_cpp = cpp_encode_large;
    |
    parse_small_c = c_parse_small;
    frames_large_c = c_frames_large;
    parse_large_c = c_parse_large;
    bytewise_small_c = c_bytewise_small;
    parse_small_cpp = cpp_parse_small;
    frames_large_cpp = cpp_frames_large;
    parse_large_cpp = cpp_parse_large;
    bytewise_small_cpp = cpp_bytewise_small;
}

pub(crate) fn chunked_small_c(bytes: &[u8], chunk: usize) -> u64 {
    // SAFETY: the range is given with its length, and is only read.
    unsafe { c_chunked_small(bytes.as_ptr(), bytes.len(), chunk) }
}

pub(crate) fn chunked_small_cpp(bytes: &[u8], chunk: usize) -> u64 {
    // SAFETY: the range is given with its length, and is only read.
    unsafe { cpp_chunked_small(bytes.as_ptr(), bytes.len(), chunk) }
}
