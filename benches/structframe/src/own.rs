//! Our generated C and C++, through a C interface.

use crate::peer::Images;
use std::ffi::c_void;

unsafe extern "C" {
    fn our_c_encode_small(messages: *const u8, count: usize, out: *mut u8, room: usize) -> usize;
    fn our_c_encode_large(messages: *const u8, count: usize, out: *mut u8, room: usize) -> usize;
    fn our_c_parse_small(bytes: *const u8, len: usize) -> u64;
    fn our_c_frames_large(bytes: *const u8, len: usize) -> u64;
    fn our_c_parse_large(bytes: *const u8, len: usize) -> u64;
    fn our_c_bytewise_small(bytes: *const u8, len: usize) -> u64;
    fn our_c_chunked_small(bytes: *const u8, len: usize, chunk: usize) -> u64;
    fn our_cpp_small_messages(images: *const u8, count: usize) -> *const c_void;
    fn our_cpp_large_messages(images: *const u8, count: usize) -> *const c_void;
    fn our_cpp_encode_small(messages: *const c_void, out: *mut u8, room: usize) -> usize;
    fn our_cpp_encode_large(messages: *const c_void, out: *mut u8, room: usize) -> usize;
    fn our_cpp_parse_small(bytes: *const u8, len: usize) -> u64;
    fn our_cpp_frames_large(bytes: *const u8, len: usize) -> u64;
    fn our_cpp_parse_large(bytes: *const u8, len: usize) -> u64;
    fn our_cpp_bytewise_small(bytes: *const u8, len: usize) -> u64;
    fn our_cpp_chunked_small(bytes: *const u8, len: usize, chunk: usize) -> u64;
}

/// Messages of our C++, which are not packed; never freed, as the process ends soon.
pub(crate) struct Messages(*const c_void);

impl Messages {
    pub(crate) fn small(images: &Images<'_>) -> Self {
        // SAFETY: the range is given with its length, and is only read.
        Self(unsafe { our_cpp_small_messages(images.0.as_ptr(), images.1) })
    }

    pub(crate) fn large(images: &Images<'_>) -> Self {
        // SAFETY: the range is given with its length, and is only read.
        Self(unsafe { our_cpp_large_messages(images.0.as_ptr(), images.1) })
    }
}

pub(crate) fn encode_small_cpp(messages: &Messages, out: &mut [u8]) -> usize {
    // SAFETY: made by `small`, and the output is given with its length.
    unsafe { our_cpp_encode_small(messages.0, out.as_mut_ptr(), out.len()) }
}

pub(crate) fn encode_large_cpp(messages: &Messages, out: &mut [u8]) -> usize {
    // SAFETY: made by `large`, and the output is given with its length.
    unsafe { our_cpp_encode_large(messages.0, out.as_mut_ptr(), out.len()) }
}

macro_rules! wrap {
    ($($encode:ident = $raw_encode:ident;)* | $($parse:ident = $raw_parse:ident;)* | $($chunked:ident = $raw_chunked:ident;)*) => {
        $(pub(crate) fn $encode(images: &Images<'_>, out: &mut [u8]) -> usize {
            // SAFETY: both ranges are given with their lengths, and the structs are packed, so any alignment will do.
            unsafe { $raw_encode(images.0.as_ptr(), images.1, out.as_mut_ptr(), out.len()) }
        })*
        $(pub(crate) fn $parse(bytes: &[u8]) -> u64 {
            // SAFETY: the range is given with its length, and is only read.
            unsafe { $raw_parse(bytes.as_ptr(), bytes.len()) }
        })*
        $(pub(crate) fn $chunked(bytes: &[u8], chunk: usize) -> u64 {
            // SAFETY: the range is given with its length, and is only read.
            unsafe { $raw_chunked(bytes.as_ptr(), bytes.len(), chunk) }
        })*
    };
}

wrap! {
    encode_small_c = our_c_encode_small;
    encode_large_c = our_c_encode_large;
    |
    parse_small_c = our_c_parse_small;
    frames_large_c = our_c_frames_large;
    parse_large_c = our_c_parse_large;
    parse_small_cpp = our_cpp_parse_small;
    frames_large_cpp = our_cpp_frames_large;
    parse_large_cpp = our_cpp_parse_large;
    bytewise_small_c = our_c_bytewise_small;
    bytewise_small_cpp = our_cpp_bytewise_small;
    |
    chunked_small_c = our_c_chunked_small;
    chunked_small_cpp = our_cpp_chunked_small;
}
