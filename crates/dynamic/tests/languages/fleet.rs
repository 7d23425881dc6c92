//! Two frames, written by the reference's generated Rust, to standard output.

extern crate struct_frame_sdk;

use std::io::Write;
use struct_frame_sdk::fleet::{Pose, Scan};
use struct_frame_sdk::frame_profiles::{PROFILE_STANDARD_CONFIG, encode_message};

fn main() {
    let mut out = [0; 128];
    let pose = Pose { stamp: 3_000_000_000, x: -1.5, ok: true, status: 513 };
    let scan = Scan { n: 2, v_count: 2, v: [258, 65535, 0, 0], s_length: 3, s: *b"hey\0\0" };
    let mut at = encode_message(&PROFILE_STANDARD_CONFIG, &mut out, &pose, 0);
    at += encode_message(&PROFILE_STANDARD_CONFIG, &mut out[at..], &scan, 0);
    std::io::stdout().write_all(&out[..at]).unwrap();
}
