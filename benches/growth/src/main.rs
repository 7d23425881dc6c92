//! How opening, looking up and scanning grow, from ten to a million; and the memory they take. Drawn as SVG.
//!
//! `bench-growth OUT.svg`, which `cargo xtask bench files --update` calls. It counts every allocation, so the rows that are
//! held against peers are measured elsewhere.

#[path = "../../files/src/fixtures.rs"]
#[expect(dead_code, reason = "the rows of `bench-files` need more of them")]
mod fixtures; // files to measure on
mod plot; // the curves as SVG, and their units

use bench_harness::{Effort, alone};
use fw_bintensors::BinTensors;
use fw_tensogram::{MessageView, TensogramFile};
use peak_alloc::PeakAlloc;
use plot::{draw, duration, size};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// One curve.
struct Curve {
    name: &'static str,
    /// Count and nanoseconds.
    times: Vec<(usize, f64)>,
    /// Count and bytes held at most.
    memory: Vec<(usize, f64)>,
}

const COUNTS: [usize; 6] = [10, 100, 1_000, 10_000, 100_000, 1_000_000];

fn main() -> ExitCode {
    let Some(out) = std::env::args_os().nth(1) else {
        eprintln!("bench-growth OUT.svg");
        return ExitCode::FAILURE;
    };
    let folder = tempfile::tempdir().expect("a folder for the files");
    let files = BTreeMap::from(COUNTS.map(|count| (count, bintensors(count))));
    let curves = [
        curve("open a file and count its messages", |count| {
            let path = fixtures::many(folder.path(), count, &[16]);
            move || TensogramFile::open(&path).expect("opens").message_count().expect("counts")
        }),
        curve("one message of a file that is open", |count| {
            let path = fixtures::many(folder.path(), count, &[16]);
            let file = TensogramFile::open(&path).expect("opens");
            file.message_count().expect("counts");
            move || file.read_message(count / 2).expect("reads").len()
        }),
        curve("one object of a message, by its index", |count| {
            let message = fixtures::message(count, &[4]);
            move || {
                MessageView::open(&message)
                    .expect("opens")
                    .object(count - 1)
                    .expect("is there")
                    .bytes()
                    .map_or(0, <[u8]>::len)
            }
        }),
        curve("open BinTensors and look up one tensor", |count| {
            let (file, name) = (&files[&count], tensor(count / 2));
            move || BinTensors::deserialize(file).expect("opens").tensor(&name).expect("is there").data().len()
        }),
        lookups("one tensor of BinTensors that are open", &files),
    ];
    println!("| what | {} |", COUNTS.map(|count| count.to_string()).join(" | "));
    println!("|---|{}", "--:|".repeat(COUNTS.len()));
    for curve in &curves {
        let times: Vec<String> = curve.times.iter().map(|(_, time)| duration(*time)).collect();
        println!("| {}, time | {} |", curve.name, times.join(" | "));
        let memory: Vec<String> = curve.memory.iter().map(|(_, bytes)| size(*bytes)).collect();
        println!("| {}, peak memory | {} |", curve.name, memory.join(" | "));
    }
    std::fs::write(out, draw(&curves)).expect("the plot is written");
    ExitCode::SUCCESS
}

fn curve<W: FnMut() -> usize>(name: &'static str, prepare: impl Fn(usize) -> W) -> Curve {
    let effort = Effort { rounds: 3, turn: Duration::from_millis(40) };
    let mut curve = Curve { name, times: Vec::new(), memory: Vec::new() };
    for count in COUNTS {
        let mut work = prepare(count);
        let held = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        work();
        curve.memory.push((count, ALLOCATOR.peak_usage().saturating_sub(held) as f64));
        curve.times.push((count, alone(effort, work).time.as_nanos() as f64));
    }
    curve
}

/// Lookups by binary search. One takes hardly longer than the clock does, so a thousand are timed at once; and a file that many
/// have been made in builds a hash index, so each is asked for few and then opened anew, which is not timed.
fn lookups(name: &'static str, files: &BTreeMap<usize, Vec<u8>>) -> Curve {
    const LOOKUPS: usize = 1_000;
    let mut curve = Curve { name, times: Vec::new(), memory: Vec::new() };
    for (count, file) in files {
        // In no order, so that one lookup says nothing of the next.
        let names: Vec<String> = (1..=LOOKUPS).map(|step| tensor(((step * 2_654_435_761) >> 7) % count)).collect();
        let parts = names.chunks((count / 64).max(1));
        let mut best = Duration::MAX;
        for _ in 0..20 {
            let opened: Vec<_> =
                parts.clone().map(|part| (BinTensors::deserialize(file).expect("opens"), part)).collect();
            let held = ALLOCATOR.current_usage();
            ALLOCATOR.reset_peak_usage();
            let begin = Instant::now();
            for (file, names) in &opened {
                names.iter().for_each(|name| drop(black_box(file.tensor(name).expect("is there"))));
            }
            best = best.min(begin.elapsed());
            assert_eq!(ALLOCATOR.peak_usage(), held, "a search takes no memory");
        }
        curve.memory.push((*count, 0.0));
        curve.times.push((*count, best.as_nanos() as f64 / LOOKUPS as f64));
    }
    curve
}

fn bintensors(count: usize) -> Vec<u8> {
    let data = [0u8; 16];
    let names: Vec<String> = (0..count).map(tensor).collect();
    let view = || fw_bintensors::TensorView::new(fw_bintensors::Dtype::F32, vec![4], &data).expect("a view");
    fw_bintensors::serialize(names.iter().map(|name| (name, view())), &None).expect("serialises")
}

/// Names are as long as each other, so their order is that of their numbers.
fn tensor(place: usize) -> String {
    format!("tensor.{place:07}")
}
