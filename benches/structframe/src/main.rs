//! Our struct-frame runtime, and the C and C++ that we generate, beside the code that the reference package generates, in one process, on the same data.
//!
//! `cargo xtask bench structframe` runs this; it prints a Markdown table. Before anything is timed, every side encodes to the
//! same bytes and reads the same values. With `--check` it fails when a row misses its target or is slower than the peer; a
//! row that seems to is measured again first.

mod ours;
mod own; // our generated C and C++
mod peer;
mod table; // rows, printed and checked

use bench_harness::{Check, Options, copy};
use fw_dynamic::Codec;
use fw_structframe::Profile;
use peer::Images;
use std::hint::black_box;
use std::process::ExitCode;
use table::{Aim, Row, Table};

const SMALL: usize = 4000;
const LARGE: usize = 64;

fn main() -> ExitCode {
    let options = match Options::from_env() {
        Ok(options) => options,
        Err(code) => return code,
    };
    let mut table = Table { effort: options.effort((5, 8), (15, 40)), options, check: Check::default() };
    Table::print_header();
    checksums(&mut table);
    small(&mut table);
    large(&mut table);
    table.check.end(&table.options)
}

/// The sums beside the loop that every peer has.
fn checksums(table: &mut Table) {
    let bytes: Vec<u8> = (0..2048_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
    for (len, target) in [(2048, 8.0), (64, 2.0)] {
        let bytes = &bytes[..len];
        assert_eq!(ours::fletcher(bytes), byte_loop(bytes));
        let calls = 100_000 / len;
        let mut out = vec![0; len];
        table.rows(
            Row { what: "checksum", bytes: len * calls, items: calls },
            || (0..calls).for_each(|_| sink(ours::fletcher(black_box(bytes)))),
            ("memcpy", &mut || (0..calls).for_each(|_| black_box(&mut out).copy_from_slice(black_box(bytes)))),
            vec![("byte loop", Aim::Times(target), &mut || {
                (0..calls).for_each(|_| sink(byte_loop(black_box(bytes))));
            })],
        );
    }
}

#[inline(never)]
fn byte_loop(bytes: &[u8]) -> [u8; 2] {
    let (mut a, mut b) = (0_u8, 0_u8);
    for byte in bytes {
        a = a.wrapping_add(*byte);
        b = b.wrapping_add(a);
    }
    [a, b]
}

/// The sums of every frame and nothing else: from behind its two start bytes to the two bytes that hold them.
fn sums(frames: &[u8], len: usize) {
    frames.chunks_exact(len).for_each(|frame| sink(ours::fletcher(&frame[2..len - 2])));
}

fn small(table: &mut Table) {
    let messages = ours::small_messages(SMALL);
    let theirs = peer::rust_small(&messages);
    let mut bytes = vec![0; SMALL * 26];
    assert_eq!(ours::encode_small(&messages, &mut bytes), bytes.len());
    let images: Vec<u8> = bytes.chunks(26).flat_map(|frame| frame[4..24].to_vec()).collect();
    let images = Images(&images, SMALL);
    let mut out = vec![0; bytes.len()];
    assert_eq!((peer::rust_encode_small(&theirs, &mut out), &out), (bytes.len(), &bytes));
    assert_eq!((peer::encode_small_c(&images, &mut out), &out), (bytes.len(), &bytes));
    assert_eq!((peer::encode_small_cpp(&images, &mut out), &out), (bytes.len(), &bytes));
    let (mut a, mut b, mut c, mut d, mut e) = (out.clone(), out.clone(), out.clone(), out.clone(), out);
    table.rows(
        Row { what: "encode small, Standard", bytes: bytes.len(), items: SMALL },
        || sink(ours::encode_small(black_box(&messages), &mut a)),
        ("memcpy", &mut || copy(1, &bytes, &mut e)),
        vec![
            ("generated Rust", Aim::Times(1.0), &mut || sink(peer::rust_encode_small(black_box(&theirs), &mut b))),
            ("generated C", Aim::Even, &mut || sink(peer::encode_small_c(black_box(&images), &mut c))),
            ("generated C++", Aim::Even, &mut || sink(peer::encode_small_cpp(black_box(&images), &mut d))),
        ],
    );
    let sum = ours::parse_small(&bytes);
    assert_eq!([peer::rust_parse_small(&bytes), peer::parse_small_c(&bytes), peer::parse_small_cpp(&bytes)], [sum; 3]);
    table.rows(
        Row { what: "parse small, Standard", bytes: bytes.len(), items: SMALL },
        || sink(ours::parse_small(black_box(&bytes))),
        ("the sums alone", &mut || sums(black_box(&bytes), 26)),
        vec![
            ("generated Rust", Aim::Times(5.0), &mut || sink(peer::rust_parse_small(black_box(&bytes)))),
            ("generated C", Aim::Even, &mut || sink(peer::parse_small_c(black_box(&bytes)))),
            ("generated C++", Aim::Times(1.2), &mut || sink(peer::parse_small_cpp(black_box(&bytes)))),
        ],
    );
    assert_eq!(
        [ours::bytewise_small(&bytes), peer::rust_bytewise_small(&bytes), peer::bytewise_small_c(&bytes)],
        [sum; 3]
    );
    table.rows(
        Row { what: "byte by byte small, Standard", bytes: bytes.len(), items: SMALL },
        || sink(ours::bytewise_small(black_box(&bytes))),
        ("byte loop", &mut || sink(byte_loop(black_box(&bytes)))),
        vec![
            ("generated Rust", Aim::Times(15.0), &mut || sink(peer::rust_bytewise_small(black_box(&bytes)))),
            ("generated C", Aim::Times(1.0), &mut || sink(peer::bytewise_small_c(black_box(&bytes)))),
        ],
    );
    small_in_c(table, &images, &bytes, sum);
    let schema = schema();
    let codec = Codec::new(&schema);
    let structs = peer::rust_structs_small(&bytes);
    assert_eq!(structs.len(), SMALL);
    let found = ours::columns(&codec, Profile::Standard, &bytes);
    assert_eq!(ours::column(&found, "stamp"), structs.iter().flat_map(|it| it.stamp.to_le_bytes()).collect::<Vec<_>>());
    assert_eq!(ours::column(&found, "x"), structs.iter().flat_map(|it| it.x.to_le_bytes()).collect::<Vec<_>>());
    assert_eq!(
        ours::column(&found, "status"),
        structs.iter().flat_map(|it| it.status.to_le_bytes()).collect::<Vec<_>>()
    );
    table.rows(
        Row { what: "columns of small, Standard", bytes: bytes.len(), items: SMALL },
        || sink(ours::columns(&codec, Profile::Standard, black_box(&bytes))),
        ("memcpy", &mut || copy(1, &bytes, &mut e)),
        vec![("generated Rust into structs", Aim::Times(1.0), &mut || {
            sink(peer::rust_structs_small(black_box(&bytes)));
        })],
    );
}

/// How many bytes come at once where frames come in chunks: what our clients ask a transport for.
const CHUNK: usize = 256;

/// Our generated C beside the reference's, and our C++ beside the reference's.
fn small_in_c(table: &mut Table, images: &Images<'_>, bytes: &[u8], sum: u64) {
    let messages = own::Messages::small(images);
    let mut out = vec![0; bytes.len()];
    assert_eq!((own::encode_small_c(images, &mut out), out.as_slice()), (bytes.len(), bytes));
    out.fill(0);
    assert_eq!((own::encode_small_cpp(&messages, &mut out), out.as_slice()), (bytes.len(), bytes));
    assert_eq!([own::parse_small_c(bytes), own::parse_small_cpp(bytes), peer::bytewise_small_cpp(bytes)], [sum; 3]);
    assert_eq!([own::chunked_small_c(bytes, CHUNK), own::chunked_small_cpp(bytes, CHUNK)], [sum; 2]);
    assert_eq!([own::bytewise_small_c(bytes), own::bytewise_small_cpp(bytes)], [sum; 2]);
    assert_eq!([peer::chunked_small_c(bytes, CHUNK), peer::chunked_small_cpp(bytes, CHUNK)], [sum; 2]);
    let (mut a, mut b, mut c) = (out.clone(), out.clone(), out);
    let row = |what| Row { what, bytes: bytes.len(), items: SMALL };
    let aim = Aim::Times(1.2);
    table.rows(
        row("encode small, Standard, our C"),
        || sink(own::encode_small_c(black_box(images), &mut a)),
        ("memcpy", &mut || copy(1, bytes, &mut c)),
        vec![("generated C", aim, &mut || sink(peer::encode_small_c(black_box(images), &mut b)))],
    );
    table.rows(
        row("encode small, Standard, our C++"),
        || sink(own::encode_small_cpp(black_box(&messages), &mut a)),
        ("memcpy", &mut || copy(1, bytes, &mut c)),
        vec![("generated C++", aim, &mut || sink(peer::encode_small_cpp(black_box(images), &mut b)))],
    );
    table.rows(
        row("parse small, Standard, our C"),
        || sink(own::parse_small_c(black_box(bytes))),
        ("the sums alone", &mut || sums(black_box(bytes), 26)),
        vec![("generated C", aim, &mut || sink(peer::parse_small_c(black_box(bytes))))],
    );
    table.rows(
        row("parse small, Standard, our C++"),
        || sink(own::parse_small_cpp(black_box(bytes))),
        ("the sums alone", &mut || sums(black_box(bytes), 26)),
        vec![("generated C++", aim, &mut || sink(peer::parse_small_cpp(black_box(bytes))))],
    );
    table.rows(
        row("chunks of 256 bytes, Standard, our C"),
        || sink(own::chunked_small_c(black_box(bytes), CHUNK)),
        ("the sums alone", &mut || sums(black_box(bytes), 26)),
        vec![("generated C", aim, &mut || sink(peer::chunked_small_c(black_box(bytes), CHUNK)))],
    );
    table.rows(
        row("chunks of 256 bytes, Standard, our C++"),
        || sink(own::chunked_small_cpp(black_box(bytes), CHUNK)),
        ("the sums alone", &mut || sums(black_box(bytes), 26)),
        vec![("generated C++", aim, &mut || sink(peer::chunked_small_cpp(black_box(bytes), CHUNK)))],
    );
    table.rows(
        row("byte by byte small, Standard, our C"),
        || sink(own::bytewise_small_c(black_box(bytes))),
        ("byte loop", &mut || sink(byte_loop(black_box(bytes)))),
        vec![("generated C", Aim::Even, &mut || sink(peer::bytewise_small_c(black_box(bytes))))],
    );
    table.rows(
        row("byte by byte small, Standard, our C++"),
        || sink(own::bytewise_small_cpp(black_box(bytes))),
        ("byte loop", &mut || sink(byte_loop(black_box(bytes)))),
        vec![("generated C++", Aim::Even, &mut || sink(peer::bytewise_small_cpp(black_box(bytes))))],
    );
}

/// The same for long frames.
fn large_in_c(table: &mut Table, images: &Images<'_>, bytes: &[u8]) {
    let messages = own::Messages::large(images);
    let mut out = vec![0; bytes.len()];
    assert_eq!(own::encode_large_c(images, &mut out), bytes.len());
    assert!(out == bytes);
    out.fill(0);
    assert_eq!(own::encode_large_cpp(&messages, &mut out), bytes.len());
    assert!(out == bytes);
    let frames = peer::frames_large_c(bytes);
    assert_eq!([own::frames_large_c(bytes), own::frames_large_cpp(bytes)], [frames; 2]);
    let parsed = peer::parse_large_c(bytes);
    assert_eq!([own::parse_large_c(bytes), own::parse_large_cpp(bytes)], [parsed; 2]);
    let (mut a, mut b, mut c) = (out.clone(), out.clone(), out);
    let row = |what| Row { what, bytes: bytes.len(), items: LARGE };
    let aim = Aim::Times(5.0);
    table.rows(
        row("encode 2 KiB, Bulk, our C"),
        || sink(own::encode_large_c(black_box(images), &mut a)),
        ("memcpy", &mut || copy(1, bytes, &mut c)),
        vec![("generated C", aim, &mut || sink(peer::encode_large_c(black_box(images), &mut b)))],
    );
    table.rows(
        row("encode 2 KiB, Bulk, our C++"),
        || sink(own::encode_large_cpp(black_box(&messages), &mut a)),
        ("memcpy", &mut || copy(1, bytes, &mut c)),
        vec![("generated C++", aim, &mut || sink(peer::encode_large_cpp(black_box(images), &mut b)))],
    );
    table.rows(
        row("parse 2 KiB, Bulk, our C"),
        || sink(own::frames_large_c(black_box(bytes))),
        ("the sums alone", &mut || sums(black_box(bytes), 2068)),
        vec![("generated C", aim, &mut || sink(peer::frames_large_c(black_box(bytes))))],
    );
    table.rows(
        row("parse 2 KiB, Bulk, our C++"),
        || sink(own::frames_large_cpp(black_box(bytes))),
        ("the sums alone", &mut || sums(black_box(bytes), 2068)),
        vec![("generated C++", aim, &mut || sink(peer::frames_large_cpp(black_box(bytes))))],
    );
    table.rows(
        row("parse 2 KiB into structs, Bulk, our C"),
        || sink(own::parse_large_c(black_box(bytes))),
        ("the sums alone", &mut || sums(black_box(bytes), 2068)),
        vec![("generated C", aim, &mut || sink(peer::parse_large_c(black_box(bytes))))],
    );
    table.rows(
        row("parse 2 KiB into structs, Bulk, our C++"),
        || sink(own::parse_large_cpp(black_box(bytes))),
        ("the sums alone", &mut || sums(black_box(bytes), 2068)),
        vec![("generated C++", aim, &mut || sink(peer::parse_large_cpp(black_box(bytes))))],
    );
}

fn large(table: &mut Table) {
    let messages = ours::large_messages(LARGE);
    let theirs = peer::rust_large(&messages);
    let mut bytes = vec![0; LARGE * 2068];
    assert_eq!(ours::encode_large(&messages, &mut bytes), bytes.len());
    let images: Vec<u8> = bytes.chunks(2068).flat_map(|frame| frame[6..2066].to_vec()).collect();
    let images = Images(&images, LARGE);
    let mut out = vec![0; bytes.len()];
    assert_eq!((peer::rust_encode_large(&theirs, &mut out), &out), (bytes.len(), &bytes));
    assert_eq!((peer::encode_large_c(&images, &mut out), &out), (bytes.len(), &bytes));
    assert_eq!((peer::encode_large_cpp(&images, &mut out), &out), (bytes.len(), &bytes));
    let (mut a, mut b, mut c, mut d, mut e) = (out.clone(), out.clone(), out.clone(), out.clone(), out);
    table.rows(
        Row { what: "encode 2 KiB, Bulk", bytes: bytes.len(), items: LARGE },
        || sink(ours::encode_large(black_box(&messages), &mut a)),
        ("memcpy", &mut || copy(1, &bytes, &mut e)),
        vec![
            ("generated Rust", Aim::Times(5.0), &mut || sink(peer::rust_encode_large(black_box(&theirs), &mut b))),
            ("generated C", Aim::Even, &mut || sink(peer::encode_large_c(black_box(&images), &mut c))),
            ("generated C++", Aim::Even, &mut || sink(peer::encode_large_cpp(black_box(&images), &mut d))),
        ],
    );
    let sum = ours::frames_large(&bytes);
    assert_eq!(
        [peer::rust_frames_large(&bytes), peer::frames_large_c(&bytes), peer::frames_large_cpp(&bytes)],
        [sum; 3]
    );
    // Payloads are borrowed on every side.
    table.rows(
        Row { what: "parse 2 KiB, Bulk", bytes: bytes.len(), items: LARGE },
        || sink(ours::frames_large(black_box(&bytes))),
        ("the sums alone", &mut || sums(black_box(&bytes), 2068)),
        vec![
            ("generated Rust", Aim::Times(20.0), &mut || sink(peer::rust_frames_large(black_box(&bytes)))),
            ("generated C", Aim::Times(5.0), &mut || sink(peer::frames_large_c(black_box(&bytes)))),
            ("generated C++", Aim::Even, &mut || sink(peer::frames_large_cpp(black_box(&bytes)))),
        ],
    );
    let sum = ours::parse_large(&bytes);
    assert_eq!([peer::rust_parse_large(&bytes), peer::parse_large_c(&bytes), peer::parse_large_cpp(&bytes)], [sum; 3]);
    table.rows(
        Row { what: "parse 2 KiB into structs, Bulk", bytes: bytes.len(), items: LARGE },
        || sink(ours::parse_large(black_box(&bytes))),
        ("the sums alone", &mut || sums(black_box(&bytes), 2068)),
        vec![
            ("generated Rust", Aim::Even, &mut || sink(peer::rust_parse_large(black_box(&bytes)))),
            ("generated C", Aim::Even, &mut || sink(peer::parse_large_c(black_box(&bytes)))),
            ("generated C++", Aim::Even, &mut || sink(peer::parse_large_cpp(black_box(&bytes)))),
        ],
    );
    large_in_c(table, &images, &bytes);
    let schema = schema();
    let codec = Codec::new(&schema);
    let structs = peer::rust_structs_large(&bytes);
    assert_eq!(structs.len(), LARGE);
    let found = ours::columns(&codec, Profile::Bulk, &bytes);
    assert_eq!(ours::column(&found, "stamp"), structs.iter().flat_map(|it| it.stamp.to_le_bytes()).collect::<Vec<_>>());
    assert!(ours::column(&found, "body") == structs.iter().flat_map(|it| it.body.to_vec()).collect::<Vec<_>>());
    table.rows(
        Row { what: "columns of 2 KiB, Bulk", bytes: bytes.len(), items: LARGE },
        || sink(ours::columns(&codec, Profile::Bulk, black_box(&bytes))),
        ("memcpy", &mut || copy(1, &bytes, &mut e)),
        vec![("generated Rust into structs", Aim::Times(1.0), &mut || {
            sink(peer::rust_structs_large(black_box(&bytes)));
        })],
    );
}

/// Keeps a result from being optimised away.
fn sink<T>(value: T) {
    black_box(value);
}

fn schema() -> fw_schema::Schema {
    fw_schema::check_text("bench.sf", include_str!("../bench.sf")).into_result().expect("it compiles")
}
