//! Our Tensogram pipelines beside the reference crate's, in one process, on the same data.
//!
//! `cargo xtask bench codecs` runs this; it prints a Markdown table. Before anything is timed, each side decodes what
//! the other encoded and the values are compared.

mod measure;
mod ours;
mod peer;
mod rows;

use measure::{Best, Effort, alone, duel};
use ours::Ours;
use peer::Peer;
use rows::{Data, Operation, ROWS, Row, is_close, middle};
use std::hint::black_box;
use std::time::Duration;

const HEADER: &str = "| pipeline | data | operation | threads | ours µs | ours GB/s | tensogram GB/s | times | payload \
    | memcpy GB/s | pages ours | pages tensogram |";

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let (rounds, turn) = if quick { (3, 10) } else { (7, 60) };
    let effort = Effort { rounds, turn: Duration::from_millis(turn) };
    println!("{HEADER}");
    println!("|---|---|---|--:|--:|--:|--:|--:|--:|--:|---|---|");
    let mut lost = Vec::new();
    for row in ROWS {
        let data = row.data.bytes(row.data.shape());
        let limit = memcpy(effort, &data);
        // In this process the peer's zstd fails when a number of threads is given; see `Peer::new`.
        let counts: &[usize] = if row.compression == "zstd" { &[1] } else { &[1, 2] };
        for &threads in counts {
            let table = Table { row, threads, limit, bytes: data.len() };
            run(&table, effort, &data, &mut lost);
        }
    }
    println!();
    println!("Copies into fresh pages: {:.1} GB/s (f64 64 MiB, a new `Vec` each time).", fresh_copy(effort));
    println!();
    match lost.as_slice() {
        [] => println!("No row is lost."),
        lost => println!("Rows where tensogram is ahead: {}.", lost.join("; ")),
    }
}

/// One row with one number of threads.
fn run(table: &Table<'_>, effort: Effort, data: &[u8], lost: &mut Vec<String>) {
    let (row, shape) = (table.row, table.row.data.shape());
    let (ours, peer) = (Ours::new(row, shape, table.threads), Peer::new(row, shape, table.threads));
    let (message, theirs) = (ours.encode(data), peer.encode(data));
    assert!(is_close(row, data, &ours.decode(&theirs)), "{}: we decode theirs", row.name);
    assert!(is_close(row, data, &peer.decode(&message)), "{}: they decode ours", row.name);
    let size = Ours::payload_len(&message) as f64 / Ours::payload_len(&theirs) as f64;
    for operation in row.operations {
        let mut note = "";
        let mut bytes = table.bytes;
        let (left, right) = match operation {
            Operation::Encode => duel(effort, || ours.encode(data), || peer.encode(data)),
            Operation::Decode => duel(effort, || ours.decode(&message), || peer.decode(&theirs)),
            Operation::DecodeInto => {
                let mut out = vec![1; data.len()];
                duel(effort, || ours.decode_into(&message, &mut out), || peer.decode(&theirs))
            }
            Operation::View => duel(effort, || Ours::view(&message), || peer.decode(&theirs)),
            Operation::Range => {
                // Both read our message: the block offsets that the peer writes for szip are not always right.
                let range = middle(shape);
                let found = ours.decode_range(&message, range);
                if found != peer.decode_range(&message, range) {
                    note = " (tensogram's values differ)";
                }
                bytes = found.len();
                duel(effort, || ours.decode_range(&message, range), || peer.decode_range(&message, range))
            }
        };
        table.print(*operation, note, bytes, size, left, right);
        if right.time < left.time {
            lost.push(format!("{}, {}, {}, {} threads", row.name, row.data.name(), operation.name(), table.threads));
        }
    }
}

struct Table<'a> {
    row: &'a Row,
    threads: usize,
    limit: f64,
    bytes: usize,
}

impl Table<'_> {
    fn print(&self, operation: Operation, note: &str, bytes: usize, size: f64, ours: Best, peer: Best) {
        let (row, threads, limit) = (self.row, self.threads, self.limit);
        let micros = ours.time.as_nanos() as f64 / 1e3;
        let times = peer.time.as_nanos() as f64 / ours.time.as_nanos().max(1) as f64;
        let rate = if operation == Operation::View { "–".to_owned() } else { format!("{:.2}", ours.rate(bytes)) };
        println!(
            "| {} | {} | {}{note} | {threads} | {micros:.1} | {rate} | {:.2} | {times:.2} | {size:.3} | {limit:.1} | {} | {} |",
            row.name,
            row.data.name(),
            operation.name(),
            peer.rate(bytes),
            ours.pages(),
            peer.pages(),
        );
    }
}

/// Copying the object into warm memory.
fn memcpy(effort: Effort, data: &[u8]) -> f64 {
    let mut out = vec![1; data.len()];
    alone(effort, || black_box(&mut out).copy_from_slice(black_box(data))).rate(data.len())
}

/// Copying 64 MiB into memory that the system has just handed out.
fn fresh_copy(effort: Effort) -> f64 {
    let data = Data::Large64.bytes(Data::Large64.shape());
    alone(effort, || black_box(&data).to_vec()).rate(data.len())
}
