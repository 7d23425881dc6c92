//! Opening, looking up, serialising and touching, beside the published crates, in one process.
//!
//! `cargo xtask bench bintensors`: sides take turns, the best call counts, *times* is the peer's time divided by ours. With
//! `--check` every row is held against its target.

mod heap; // what each side holds
mod limits; // what the machine allows
mod ours; // our side, which the tests of the crate run too

use bench_harness::{Best, Check, Duel, Effort, Limit, Options, duel, settled};
use fw_bintensors::{BinTensors, Dtype, Plan, WriteOptions};
use heap::{Counted, held};
use limits::touch;
use ours::{Model, ZEROS};
use std::hint::black_box;
use std::process::ExitCode;

#[global_allocator]
static HEAP: Counted = Counted;

const HEADER: &str = "| row | tensors | peer | ours µs | peer µs | times | median | target | limit | limit µs | of limit \
    | pages ours | pages peer |";

fn main() -> ExitCode {
    let options = match Options::from_env() {
        Ok(options) => options,
        Err(code) => return code,
    };
    let mut bench = Bench { effort: options.effort((3, 20), (7, 60)), options, check: Check::default() };
    println!("{HEADER}");
    println!("|---|--:|---|--:|--:|--:|--:|--:|---|--:|--:|---|---|");
    for (count, open_target, serialise_target) in
        [(10, 4.0, None), (1_000, 7.0, Some(3.0)), (10_000, 8.0, None), (100_000, 12.0, Some(2.2))]
    {
        let model = Model::new(count);
        let peers = Peers::new(&model);
        bench.open(&peers, open_target);
        bench.lookup(&peers);
        bench.serialise(&peers, serialise_target);
    }
    bench.touch_mapped();
    if bench.options.wants(HEAP_ROW) {
        println!("\n| {HEAP_ROW} | tensors | ours bytes | allocations | bintensors bytes | allocations | target |");
        println!("|---|--:|--:|--:|--:|--:|--:|");
        [10, 1_000, 10_000, 100_000].into_iter().for_each(|count| bench.heap(&Model::new(count)));
    }
    bench.check.end(&bench.options)
}

/// The same model as the peers hold it.
struct Peers<'a> {
    model: &'a Model,
    safetensors: Vec<u8>,
}

impl<'a> Peers<'a> {
    fn new(model: &'a Model) -> Self {
        let mut peers = Self { model, safetensors: Vec::new() };
        peers.safetensors = safetensors::serialize(peers.safetensors(), None).unwrap();
        assert_eq!(model.file, bintensors::serialize(peers.bintensors(), &None).unwrap(), "byte for byte");
        peers
    }

    fn bintensors(&self) -> Vec<(&str, bintensors::tensor::TensorView<'_>)> {
        let view = |dims: &[usize], len: usize| {
            bintensors::tensor::TensorView::new(bintensors::Dtype::F32, dims.to_vec(), &ZEROS[..len]).unwrap()
        };
        self.model.tensors.iter().map(|(name, dims, len)| (name.as_str(), view(dims, *len))).collect()
    }

    fn safetensors(&self) -> Vec<(&str, safetensors::tensor::TensorView<'_>)> {
        let view = |dims: &[usize], len: usize| {
            safetensors::tensor::TensorView::new(safetensors::Dtype::F32, dims.to_vec(), &ZEROS[..len]).unwrap()
        };
        self.model.tensors.iter().map(|(name, dims, len)| (name.as_str(), view(dims, *len))).collect()
    }
}

struct Bench {
    effort: Effort,
    options: Options,
    check: Check,
}

impl Bench {
    /// Measures and prints a row; `calls` is how often the work is done in one measured call.
    fn row<A, B>(
        &mut self,
        (what, count, peer): (&str, usize, &str),
        (calls, target): (u32, Option<f64>),
        limit: impl FnOnce(Effort, Best) -> Limit,
        mut ours: impl FnMut() -> A,
        mut theirs: impl FnMut() -> B,
    ) {
        if !self.options.wants(what) {
            return;
        }
        let found: Duel = settled(self.options.again(), target, || duel(self.effort, &mut ours, &mut theirs));
        let limit = limit(self.effort, found.ours);
        let wanted = target.map_or_else(|| "–".to_owned(), |target| format!("{target}"));
        println!(
            "| {what} | {count} | {peer} | {:.2} | {:.2} | {:.1} | {:.1} | {wanted} | {} | {:.2} | {:.2} | {} | {} |",
            found.ours.micros(calls),
            found.peer.micros(calls),
            found.times(),
            found.median(),
            limit.name,
            limit.best.micros(calls),
            limit.reached(found.ours),
            found.ours.pages(),
            found.peer.pages(),
        );
        self.check.duel(&format!("{what}, {count} tensors, {peer}"), &found, target, None);
    }

    /// Parse, check, and find one tensor. Small headers are opened many times over, so that the clock does not count.
    fn open(&mut self, peers: &Peers<'_>, target: f64) {
        let model = peers.model;
        let (count, asked) = (model.tensors.len(), model.middle());
        let calls = (10_000 / count as u32).clamp(1, 100);
        let ours = || {
            for _ in 0..calls {
                ours::open(&model.file, asked);
            }
        };
        let limit = |effort, _| limits::walk(effort, model, calls);
        self.row(("open and one lookup", count, "bintensors"), (calls, Some(target)), limit, ours, || {
            for _ in 0..calls {
                let file = bintensors::BinTensors::deserialize(black_box(&model.file)).unwrap();
                black_box(file.tensor(asked).unwrap());
            }
        });
        self.row(("open and one lookup", count, "safetensors"), (calls, Some(25.0)), limit, ours, || {
            for _ in 0..calls {
                let file = safetensors::SafeTensors::deserialize(black_box(&peers.safetensors)).unwrap();
                black_box(file.tensor(asked).unwrap());
            }
        });
    }

    /// Ten thousand lookups by name; the first ones pay for the index.
    fn lookup(&mut self, peers: &Peers<'_>) {
        let model = peers.model;
        let names: Vec<&str> = model.asked.iter().map(|place| model.tensors[*place].0.as_str()).collect();
        let (a, b, c) = (
            BinTensors::deserialize(&model.file).unwrap(),
            bintensors::BinTensors::deserialize(&model.file).unwrap(),
            safetensors::SafeTensors::deserialize(&peers.safetensors).unwrap(),
        );
        let count = model.tensors.len();
        for name in &names {
            let (a, b, c) = (a.tensor(name).unwrap(), b.tensor(name).unwrap(), c.tensor(name).unwrap());
            // All values are zero, so it is the place in the file that tells tensors apart.
            assert_eq!(a.data().as_ptr_range(), b.data().as_ptr_range(), "{name} is the same part of the same file");
            assert_eq!((b.shape(), b.data().len()), (c.shape(), c.data().len()), "{name}");
        }
        let ours = || names.iter().for_each(|name| drop(black_box(a.tensor(name).unwrap())));
        let limit = |effort, _| limits::compare(effort, model);
        self.row(("10 000 lookups", count, "bintensors"), (1, None), limit, ours, || {
            names.iter().for_each(|name| drop(black_box(b.tensor(name).unwrap())));
        });
        self.row(("10 000 lookups", count, "safetensors"), (1, None), limit, ours, || {
            names.iter().for_each(|name| drop(black_box(c.tensor(name).unwrap())));
        });
    }

    fn serialise(&mut self, peers: &Peers<'_>, target: Option<f64>) {
        let (a, b, c) = (peers.model.views(), peers.bintensors(), peers.safetensors());
        let count = peers.model.tensors.len();
        let ours = || ours::write(&a);
        let limit = |effort, ours| limits::copied(effort, peers.model, ours);
        self.row(("serialise", count, "bintensors"), (1, target), limit, ours, || {
            bintensors::serialize(b.iter().map(|(name, view)| (*name, view)), &None).unwrap()
        });
        self.row(("serialise", count, "safetensors"), (1, None), limit, ours, || {
            safetensors::serialize(c.iter().map(|(name, view)| (*name, view)), None).unwrap()
        });
    }

    /// At most 48 bytes per tensor, and a handful of allocations however many there are.
    fn heap(&mut self, model: &Model) {
        let (count, asked) = (model.tensors.len(), model.middle());
        let (_ours, ours) = held(|| {
            let file = BinTensors::deserialize(&model.file).unwrap();
            black_box(file.tensor(asked).unwrap());
            file
        });
        let (_peer, peer) = held(|| {
            let file = bintensors::BinTensors::deserialize(&model.file).unwrap();
            black_box(file.tensor(asked).unwrap());
            file
        });
        let each = |bytes: i64| bytes as f64 / count as f64;
        println!(
            "| per tensor | {count} | {:.1} | {} | {:.1} | {} | {MOST_HEAP} bytes, {MOST_ALLOCATIONS} allocations |",
            each(ours.bytes),
            ours.allocations,
            each(peer.bytes),
            peer.allocations
        );
        let name = format!("heap of {count} tensors");
        self.check.row(&format!("{name}, bytes"), MOST_HEAP / each(ours.bytes).max(1.0), Some(1.0), None);
        let allocations = MOST_ALLOCATIONS / ours.allocations.max(1) as f64;
        self.check.row(&format!("{name}, allocations"), allocations, Some(1.0), None);
    }

    /// Map 1 GiB, open it, touch one tensor of 4 MiB in place, unmap. Both sides pay the same page faults.
    fn touch_mapped(&mut self) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.bt");
        let infos = (0..256).map(|place| (format!("layer.{place}.weight"), Dtype::F32, vec![1024u64, 1024]));
        let plan = Plan::new(infos, &WriteOptions::new()).unwrap();
        let file = std::fs::File::create_new(&path).unwrap();
        std::io::Write::write_all(&mut &file, plan.head()).unwrap();
        file.set_len(plan.file_len()).unwrap();
        let map = || {
            let file = std::fs::File::open(&path).unwrap();
            // SAFETY: the file lies in this process's own temporary folder, and nothing writes to it any more.
            unsafe { memmap2::Mmap::map(&file) }.unwrap()
        };
        self.row(
            ("map 1 GiB, open, touch 4 MiB", 256, "bintensors"),
            (1, None),
            |effort, _| limits::mapped(effort, &path, 4 << 20),
            || touch(BinTensors::deserialize(&map()).unwrap().tensor("layer.77.weight").unwrap().data()),
            || touch(bintensors::BinTensors::deserialize(&map()).unwrap().tensor("layer.77.weight").unwrap().data()),
        );
    }
}

const HEAP_ROW: &str = "heap after opening and one lookup";
/// Bytes of heap per tensor of an open file.
const MOST_HEAP: f64 = 48.0;
/// Allocations of opening a file, whatever its number of tensors.
const MOST_ALLOCATIONS: f64 = 4.0;
