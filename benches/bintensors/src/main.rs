//! Opening, looking up, serialising and touching, beside the published crates, in one process.
//!
//! `cargo xtask bench bintensors`: sides take turns, the best call counts, *times* is the peer's time divided by ours. With
//! `--check` every row is held against its target; `--quick` takes a fraction of the time.

use bench_harness::{Check, Duel, Effort, duel};
use fw_bintensors as ours;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| words.iter().any(|found| found == word);
    let effort = if has("--quick") {
        Effort { rounds: 3, turn: Duration::from_millis(20) }
    } else {
        Effort { rounds: 7, turn: Duration::from_millis(60) }
    };
    let mut bench = Bench { effort, check: Check::default() };
    println!("| row | tensors | peer | ours µs | peer µs | times | median | target |");
    println!("|---|--:|---|--:|--:|--:|--:|--:|");
    for (count, open_target, serialise_target) in
        [(10, 4.0, None), (1_000, 7.0, Some(3.0)), (10_000, 8.0, None), (100_000, 12.0, Some(2.2))]
    {
        let model = Model::new(count);
        bench.open(&model, open_target);
        bench.lookup(&model);
        bench.serialise(&model, serialise_target);
    }
    bench.touch_mapped();
    if has("--check") { bench.check.exit() } else { ExitCode::SUCCESS }
}

/// Names and shapes of a gpt2-like model, with a few bytes of data each.
struct Model {
    tensors: Vec<(String, Vec<usize>, usize)>,
    bt: Vec<u8>,
    st: Vec<u8>,
    asked: Vec<usize>,
}

static ZEROS: [u8; 64] = [0; 64];

impl Model {
    fn new(count: usize) -> Self {
        const BLOCK: [(&str, &[usize]); 13] = [
            ("ln_1.weight", &[2]),
            ("ln_1.bias", &[2]),
            ("attn.bias", &[1, 1, 2, 2]),
            ("attn.c_attn.weight", &[2, 3]),
            ("attn.c_attn.bias", &[3]),
            ("attn.c_proj.weight", &[2, 2]),
            ("attn.c_proj.bias", &[2]),
            ("ln_2.weight", &[2]),
            ("ln_2.bias", &[2]),
            ("mlp.c_fc.weight", &[2, 4]),
            ("mlp.c_fc.bias", &[4]),
            ("mlp.c_proj.weight", &[4, 2]),
            ("mlp.c_proj.bias", &[2]),
        ];
        let tensors: Vec<_> = (0..count)
            .map(|place| {
                let (name, shape) = BLOCK[place % 13];
                (format!("h.{}.{name}", place / 13), shape.to_vec(), shape.iter().product::<usize>() * 4)
            })
            .collect();
        let mut model = Self { tensors, bt: Vec::new(), st: Vec::new(), asked: Vec::new() };
        model.bt = ours::serialize(model.ours(), &None).unwrap();
        model.st = safetensors::serialize(model.safetensors(), None).unwrap();
        model.asked = (0..10_000).map(|step| step * 7919 % count).collect();
        assert_eq!(model.bt, bintensors::serialize(model.bintensors(), &None).unwrap(), "byte for byte");
        model
    }

    fn ours(&self) -> Vec<(&str, ours::TensorView<'_>)> {
        let shape = |shape: &[usize]| shape.iter().map(|dim| *dim as u64).collect::<Vec<_>>();
        self.tensors
            .iter()
            .map(|(name, dims, len)| {
                (name.as_str(), ours::TensorView::new(ours::Dtype::F32, shape(dims), &ZEROS[..*len]).unwrap())
            })
            .collect()
    }

    fn bintensors(&self) -> Vec<(&str, bintensors::tensor::TensorView<'_>)> {
        let view = |dims: &[usize], len: usize| {
            bintensors::tensor::TensorView::new(bintensors::Dtype::F32, dims.to_vec(), &ZEROS[..len]).unwrap()
        };
        self.tensors.iter().map(|(name, dims, len)| (name.as_str(), view(dims, *len))).collect()
    }

    fn safetensors(&self) -> Vec<(&str, safetensors::tensor::TensorView<'_>)> {
        let view = |dims: &[usize], len: usize| {
            safetensors::tensor::TensorView::new(safetensors::Dtype::F32, dims.to_vec(), &ZEROS[..len]).unwrap()
        };
        self.tensors.iter().map(|(name, dims, len)| (name.as_str(), view(dims, *len))).collect()
    }
}

struct Bench {
    effort: Effort,
    check: Check,
}

impl Bench {
    /// Prints a row; `calls` is how often the work was done in one measured call.
    fn row(&mut self, what: &str, count: usize, peer: &str, calls: u32, found: &Duel, target: Option<f64>) {
        let micros = |time: Duration| time.as_nanos() as f64 / 1000.0 / f64::from(calls);
        let wanted = target.map_or_else(|| "–".to_owned(), |target| format!("{target}"));
        println!(
            "| {what} | {count} | {peer} | {:.2} | {:.2} | {:.1} | {:.1} | {wanted} |",
            micros(found.ours.time),
            micros(found.peer.time),
            found.times(),
            found.median()
        );
        let times = found.times().max(found.median());
        self.check.row(&format!("{what}, {count} tensors, {peer}"), times, target, None);
    }

    /// Parse, check, and find one tensor. Small headers are opened many times over, so that the clock does not count.
    fn open(&mut self, model: &Model, target: f64) {
        let count = model.tensors.len();
        let asked = &model.tensors[count / 2].0;
        let calls = (10_000 / count as u32).clamp(1, 100);
        let ours = || {
            for _ in 0..calls {
                let file = ours::BinTensors::deserialize(black_box(&model.bt)).unwrap();
                black_box(file.tensor(asked).unwrap());
            }
        };
        let found = duel(self.effort, ours, || {
            for _ in 0..calls {
                let file = bintensors::BinTensors::deserialize(black_box(&model.bt)).unwrap();
                black_box(file.tensor(asked).unwrap());
            }
        });
        self.row("open and one lookup", count, "bintensors", calls, &found, Some(target));
        let found = duel(self.effort, ours, || {
            for _ in 0..calls {
                let file = safetensors::SafeTensors::deserialize(black_box(&model.st)).unwrap();
                black_box(file.tensor(asked).unwrap());
            }
        });
        self.row("open and one lookup", count, "safetensors", calls, &found, Some(25.0));
    }

    /// Ten thousand lookups by name; the first ones pay for the index.
    fn lookup(&mut self, model: &Model) {
        let names: Vec<&str> = model.asked.iter().map(|place| model.tensors[*place].0.as_str()).collect();
        let (a, b, c) = (
            ours::BinTensors::deserialize(&model.bt).unwrap(),
            bintensors::BinTensors::deserialize(&model.bt).unwrap(),
            safetensors::SafeTensors::deserialize(&model.st).unwrap(),
        );
        let count = model.tensors.len();
        let ours = || names.iter().for_each(|name| drop(black_box(a.tensor(name).unwrap())));
        let found = duel(self.effort, ours, || names.iter().for_each(|name| drop(black_box(b.tensor(name).unwrap()))));
        self.row("10 000 lookups", count, "bintensors", 1, &found, None);
        let found = duel(self.effort, ours, || names.iter().for_each(|name| drop(black_box(c.tensor(name).unwrap()))));
        self.row("10 000 lookups", count, "safetensors", 1, &found, None);
    }

    fn serialise(&mut self, model: &Model, target: Option<f64>) {
        let (a, b, c) = (model.ours(), model.bintensors(), model.safetensors());
        let count = model.tensors.len();
        let ours = || ours::serialize(a.iter().map(|(name, view)| (*name, view)), &None).unwrap();
        let found = duel(self.effort, ours, || {
            bintensors::serialize(b.iter().map(|(name, view)| (*name, view)), &None).unwrap()
        });
        self.row("serialise", count, "bintensors", 1, &found, target);
        let found = duel(self.effort, ours, || {
            safetensors::serialize(c.iter().map(|(name, view)| (*name, view)), None).unwrap()
        });
        self.row("serialise", count, "safetensors", 1, &found, None);
    }

    /// Map 1 GiB, open it, touch one tensor of 4 MiB in place, unmap. Both sides pay the same page faults.
    fn touch_mapped(&mut self) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.bt");
        let infos = (0..256).map(|place| (format!("layer.{place}.weight"), ours::Dtype::F32, vec![1024u64, 1024]));
        let plan = ours::Plan::new(infos, &ours::WriteOptions::new()).unwrap();
        let file = std::fs::File::create_new(&path).unwrap();
        std::io::Write::write_all(&mut &file, plan.head()).unwrap();
        file.set_len(plan.file_len()).unwrap();
        let map = || {
            let file = std::fs::File::open(&path).unwrap();
            // SAFETY: the file lies in this process's own temporary folder, and nothing writes to it any more.
            unsafe { memmap2::Mmap::map(&file) }.unwrap()
        };
        let touch = |data: &[u8]| {
            black_box(data.iter().step_by(4096).map(|byte| u64::from(*byte)).sum::<u64>());
        };
        let found = duel(
            self.effort,
            || touch(ours::BinTensors::deserialize(&map()).unwrap().tensor("layer.77.weight").unwrap().data()),
            || touch(bintensors::BinTensors::deserialize(&map()).unwrap().tensor("layer.77.weight").unwrap().data()),
        );
        self.row("map 1 GiB, open, touch 4 MiB", 256, "bintensors", 1, &found, None);
    }
}
