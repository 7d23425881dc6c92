//! Opening, looking up, serialising and touching, beside the published crates, in one process.
//!
//! `cargo run --release` in this folder; the best of many runs is shown, in microseconds, and how many times longer the
//! peers take.

use fw_bintensors as ours;
use std::hint::black_box;
use std::time::{Duration, Instant};

fn main() {
    println!(
        "{:<28} {:>12} {:>12} {:>8} {:>12} {:>8}",
        "µs, best of many", "ours", "bintensors", "times", "safetensors", "times"
    );
    for count in [10, 1_000, 10_000, 100_000] {
        let model = Model::new(count);
        open(&model);
        lookup(&model);
        serialise(&model);
    }
    touch_mapped();
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

/// Parse, check, and find one tensor.
fn open(model: &Model) {
    let asked = &model.tensors[model.tensors.len() / 2].0;
    let ours =
        best(|| drop(black_box(ours::BinTensors::deserialize(black_box(&model.bt)).unwrap().tensor(asked).unwrap())));
    let theirs = best(|| {
        drop(black_box(bintensors::BinTensors::deserialize(black_box(&model.bt)).unwrap().tensor(asked).unwrap()))
    });
    let ancestor = best(|| {
        drop(black_box(safetensors::SafeTensors::deserialize(black_box(&model.st)).unwrap().tensor(asked).unwrap()))
    });
    row(&format!("open/{}", model.tensors.len()), ours, theirs, Some(ancestor));
}

/// Ten thousand lookups by name; the first ones pay for the index.
fn lookup(model: &Model) {
    let names: Vec<&str> = model.asked.iter().map(|place| model.tensors[*place].0.as_str()).collect();
    let (a, b, c) = (
        ours::BinTensors::deserialize(&model.bt).unwrap(),
        bintensors::BinTensors::deserialize(&model.bt).unwrap(),
        safetensors::SafeTensors::deserialize(&model.st).unwrap(),
    );
    let ours = best(|| names.iter().for_each(|name| drop(black_box(a.tensor(name).unwrap()))));
    let theirs = best(|| names.iter().for_each(|name| drop(black_box(b.tensor(name).unwrap()))));
    let ancestor = best(|| names.iter().for_each(|name| drop(black_box(c.tensor(name).unwrap()))));
    row(&format!("10000 lookups/{}", model.tensors.len()), ours, theirs, Some(ancestor));
}

fn serialise(model: &Model) {
    let (a, b, c) = (model.ours(), model.bintensors(), model.safetensors());
    let ours = best(|| drop(black_box(ours::serialize(a.iter().map(|(name, view)| (*name, view)), &None).unwrap())));
    let theirs =
        best(|| drop(black_box(bintensors::serialize(b.iter().map(|(name, view)| (*name, view)), &None).unwrap())));
    let ancestor =
        best(|| drop(black_box(safetensors::serialize(c.iter().map(|(name, view)| (*name, view)), None).unwrap())));
    row(&format!("serialise/{}", model.tensors.len()), ours, theirs, Some(ancestor));
}

/// Map 1 GiB, open it, touch one tensor of 4 MiB in place, unmap.
fn touch_mapped() {
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
    let ours = best(|| touch(ours::BinTensors::deserialize(&map()).unwrap().tensor("layer.77.weight").unwrap().data()));
    let theirs = best(|| {
        touch(bintensors::BinTensors::deserialize(&map()).unwrap().tensor("layer.77.weight").unwrap().data());
    });
    row("mapped 1 GiB, touch 4 MiB", ours, theirs, None);
}

fn best(mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut best = Duration::MAX;
    let mut runs = 0;
    while runs < 5 || start.elapsed() < Duration::from_millis(400) {
        let run = Instant::now();
        work();
        best = best.min(run.elapsed());
        runs += 1;
    }
    best.as_nanos() as f64 / 1000.0
}

fn row(name: &str, ours: f64, theirs: f64, ancestor: Option<f64>) {
    let rest = ancestor.map_or_else(String::new, |time| format!("{time:>12.2} {:>8.1}", time / ours));
    println!("{name:<28} {ours:>12.2} {theirs:>12.2} {:>8.1} {rest}", theirs / ours);
}
