//! Our Tensogram pipelines beside the reference crate's, in one process, on the same data.
//!
//! `cargo xtask bench codecs` runs this; it prints a Markdown table. Before anything is timed, each side decodes what
//! the other encoded and the values are compared. With `--check` it fails when a row misses its target, is slower than the
//! peer, or writes a payload more than a twentieth larger; a row that seems to is measured again first.

// First, because crates are linked in the opposite order of their mention: of the two copies of zstd (blosc2 brings one that
// cannot do threads), the one made for Rust must come before the other.
extern crate tensogram;

mod limits; // what the machine allows
mod ours;
mod peer;
mod rows;

use bench_harness::{Best, Check, Duel, Effort, Least, Limit, Options, alone, copy_fresh, duel, reaches, rest};
use limits::Limits;
use ours::Ours;
use peer::Peer;
use rows::{Data, Operation, ROWS, Row, is_close, middle};
use std::hint::black_box;
use std::process::ExitCode;

const HEADER: &str = "| pipeline | data | operation | threads | ours µs | ours GB/s | tensogram GB/s | times | median | target | payload \
    | limit | limit GB/s | of limit | pages ours | pages tensogram |";

fn main() -> ExitCode {
    let options = match Options::from_env() {
        Ok(options) => options,
        Err(code) => return code,
    };
    let mut bench = Bench { effort: options.effort((3, 10), (7, 60)), again: options.again(), check: Check::default() };
    println!("{HEADER}");
    println!("|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|--:|---|---|");
    for row in ROWS {
        if !options.wants(row.name) {
            continue;
        }
        let data = row.data.bytes(row.data.shape());
        for &threads in row.threads {
            bench.run(&Table { row, threads, bytes: data.len() }, &data);
        }
    }
    println!();
    println!("{}", fresh_copies(bench.effort));
    bench.check.end(&options)
}

/// What is measured with, and what was found.
struct Bench {
    effort: Effort,
    /// How often a row that misses its target is measured again.
    again: usize,
    check: Check,
}

impl Bench {
    /// Both sides, and what the machine allows after every two of their rounds: it is not equally fast from second to second.
    fn measured<'a>(
        &self,
        target: Option<f64>,
        mut sides: impl FnMut(Effort) -> Duel,
        least: impl FnOnce(Best) -> Option<Least<'a>>,
    ) -> (Duel, Option<Limit>) {
        const PART: usize = 2;
        let part = |rounds: usize| Effort { rounds: rounds.min(PART), ..self.effort };
        let mut found = sides(part(self.effort.rounds));
        let mut least = least(found.ours);
        let mut limit = least.as_mut().map(|least| least.round(self.effort));
        let mut rounds = self.effort.rounds.saturating_sub(PART);
        let mut again = self.again;
        loop {
            while rounds > 0 {
                found = found.join(&sides(part(rounds)));
                let other = least.as_mut().map(|least| least.round(self.effort));
                limit = limit.zip(other).map(|(limit, other)| limit.join(other));
                rounds = rounds.saturating_sub(PART);
            }
            if again == 0 || reaches(found.speed(), target) {
                return (found, limit);
            }
            again -= 1;
            rest();
            rounds = self.effort.rounds;
        }
    }

    /// One row with one number of threads.
    fn run(&mut self, table: &Table<'_>, data: &[u8]) {
        let (row, shape) = (table.row, table.row.data.shape());
        let (ours, peer) = (Ours::new(row, shape, table.threads), Peer::new(row, shape, table.threads));
        let (message, theirs) = (ours.encode(data), peer.encode(data));
        assert!(is_close(row, data, &ours.decode(&theirs)), "{}: we decode theirs", row.name);
        assert!(is_close(row, data, &peer.decode(&message)), "{}: they decode ours", row.name);
        let size = Ours::payload_len(&message) as f64 / Ours::payload_len(&theirs) as f64;
        let mut out = vec![1; data.len()];
        let range = middle(shape);
        let limits = Limits::new(row, table.threads, data, &message);
        for &operation in row.operations {
            let sides = |effort| match operation {
                Operation::Encode => duel(effort, || ours.encode(data), || peer.encode(data)),
                Operation::Decode => duel(effort, || ours.decode(&message), || peer.decode(&theirs)),
                Operation::DecodeInto => duel(effort, || ours.decode_into(&message, &mut out), || peer.decode(&theirs)),
                Operation::View => duel(effort, || Ours::view(&message), || peer.decode(&theirs)),
                // Both read our message: the block offsets that the peer writes for szip are not always right.
                Operation::Range => {
                    duel(effort, || ours.decode_range(&message, range), || peer.decode_range(&message, range))
                }
            };
            let target = row.target(operation, table.threads);
            let (found, limit) = self.measured(target, sides, |ours| limits.least(operation, ours));
            let (mut note, mut bytes) = ("", table.bytes);
            if operation == Operation::Range {
                let part = ours.decode_range(&message, range);
                bytes = part.len();
                if part != peer.decode_range(&message, range) {
                    note = " (tensogram's values differ)";
                }
            }
            let name = format!("{}, {}, {}, {} threads", row.name, row.data.name(), operation.name(), table.threads);
            let size_counts = row.compression != "none";
            self.check.duel(&name, &found, target, size_counts.then_some(size));
            table.print(&Line { operation, note, bytes, size, target, limit }, &found);
        }
    }
}

struct Table<'a> {
    row: &'a Row,
    threads: usize,
    bytes: usize,
}

/// What a line says beside the figures of both sides.
struct Line {
    operation: Operation,
    note: &'static str,
    /// Bytes decoded or encoded.
    bytes: usize,
    /// Our payload as a part of the peer's.
    size: f64,
    target: Option<f64>,
    limit: Option<Limit>,
}

impl Table<'_> {
    fn print(&self, line: &Line, found: &Duel) {
        let (ours, peer, bytes) = (found.ours, found.peer, line.bytes);
        let rate =
            if line.operation == Operation::View { "–".to_owned() } else { format!("{:.2}", ours.rate(bytes)) };
        let limit = line.limit.map_or_else(
            || "– | – | –".to_owned(),
            |limit| format!("{} | {:.2} | {:.2}", limit.name, limit.best.rate(bytes), limit.reached(ours)),
        );
        println!(
            "| {} | {} | {}{} | {} | {:.1} | {rate} | {:.2} | {:.2} | {:.2} | {} | {:.3} | {limit} | {} | {} |",
            self.row.name,
            self.row.data.name(),
            line.operation.name(),
            line.note,
            self.threads,
            ours.micros(1),
            peer.rate(bytes),
            found.times(),
            found.median(),
            line.target.map_or_else(String::new, |target| target.to_string()),
            line.size,
            ours.pages(),
            peer.pages(),
        );
    }
}

/// How fast 64 MiB are copied into memory that the system has just handed out.
fn fresh_copies(effort: Effort) -> String {
    let data = Data::Large64.bytes(Data::Large64.shape());
    let huge = alone(effort, || copy_fresh(1, &data)).rate(data.len());
    let plain = alone(effort, || black_box(&data).to_vec()).rate(data.len());
    format!("A copy of 64 MiB into fresh pages: {huge:.1} GB/s in huge pages, {plain:.1} GB/s in a new `Vec`.")
}
