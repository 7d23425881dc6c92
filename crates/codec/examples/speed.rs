//! Prints how fast each room runs on this machine, in GB/s of raw data, next to a plain copy of the same bytes.
//!
//! `cargo run --release -p fw-codec --example speed [name-filter]`

use std::hint::black_box;
use std::time::Instant;

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    for len in [256 << 10, 8 << 20, 64 << 20] {
        let field = field(len / 8);
        let bytes: Vec<u8> = field.iter().flat_map(|value| value.to_le_bytes()).collect();
        let mut out = vec![0u8; len];
        let bench = Bench { filter: &filter, len };
        bench.row("copy", || out.copy_from_slice(black_box(&bytes)));
        shuffle(&bench, &bytes, &mut out);
        scans(&bench, &bytes, &mut out);
        packing(&bench, &bytes, &mut out);
    }
}

fn shuffle(bench: &Bench<'_>, bytes: &[u8], out: &mut [u8]) {
    for size in [2, 4, 8, 16, 3] {
        for threads in [1, 2] {
            bench.row(&format!("shuffle/{size}/t{threads}"), || {
                fw_codec::shuffle::shuffle_threaded(black_box(bytes), size, threads, out);
            });
            bench.row(&format!("unshuffle/{size}/t{threads}"), || {
                fw_codec::shuffle::unshuffle_threaded(black_box(bytes), size, threads, out);
            });
        }
    }
}

fn scans(bench: &Bench<'_>, bytes: &[u8], out: &mut [u8]) {
    use fw_codec::{finite, swap};
    use fw_tensor::{ByteOrder, DType};
    for threads in [1, 2] {
        for dtype in [DType::Float16, DType::Float32, DType::Float64] {
            // Finite in every type.
            let ones = vec![0x3fu8; bytes.len()];
            bench.row(&format!("finite/{dtype}/t{threads}"), || {
                assert!(finite::check_finite(black_box(&ones), dtype, ByteOrder::Little, threads).is_ok());
            });
        }
        bench.row(&format!("extrema/t{threads}"), || {
            black_box(finite::extrema(black_box(bytes), ByteOrder::Little, threads)).unwrap();
        });
        for unit in [2, 4, 8] {
            bench.row(&format!("swap/{unit}/t{threads}"), || {
                swap::copy_swapped(black_box(bytes), unit, threads, out);
            });
        }
    }
}

fn packing(bench: &Bench<'_>, bytes: &[u8], out: &mut [u8]) {
    use fw_codec::packing::{Packing, Request};
    use fw_tensor::ByteOrder::Little;
    for bits in [8, 12, 16, 20, 24, 28, 32, 48] {
        for threads in [1, 2] {
            let mut packed = Vec::with_capacity(bytes.len() / 64 * bits);
            let mut packing = None;
            bench.row(&format!("pack/{bits}/t{threads}"), || {
                packed.clear();
                let request = Request::bits(bits as u64);
                packing = Some(Packing::encode(request, black_box(bytes), Little, threads, &mut packed).unwrap());
            });
            if let Some(packing) = packing {
                bench.row(&format!("unpack/{bits}/t{threads} (pack)"), || {
                    packing.unpack(black_box(&packed), Little, threads, out).unwrap();
                });
            }
        }
    }
}

struct Bench<'a> {
    filter: &'a str,
    len: usize,
}

impl Bench<'_> {
    /// Times `work` on warm memory and prints the best of several runs.
    fn row(&self, name: &str, mut work: impl FnMut()) {
        if !name.contains(self.filter) {
            return;
        }
        let mut best = f64::MAX;
        let begin = Instant::now();
        for run in 0..400 {
            let start = Instant::now();
            work();
            best = best.min(start.elapsed().as_secs_f64());
            if run > 5 && begin.elapsed().as_secs_f64() > 0.3 {
                break;
            }
        }
        println!("{:>5} KiB  {name:<28} {:>7.2} GB/s", self.len >> 10, self.len as f64 / best / 1e9);
    }
}

/// A smooth field with a little noise, like a temperature grid.
fn field(count: usize) -> Vec<f64> {
    let mut state = 1u64;
    (0..count)
        .map(|i| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let noise = (state >> 40) as f64 / f64::from(1u32 << 24);
            270.0 + 25.0 * (i as f64 * 0.0007).sin() + 8.0 * (i as f64 * 0.013).cos() + 0.05 * noise
        })
        .collect()
}
