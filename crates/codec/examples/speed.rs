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
        masks(&bench, &bytes);
        chains(&bench, &bytes, &mut out);
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

fn masks(bench: &Bench<'_>, bytes: &[u8]) {
    use fw_codec::mask::{Options, separate};
    use fw_tensor::{ByteOrder::Little, DType};
    let options = Options { allow_nan: true, allow_inf: true, ..Options::default() };
    for every in [10, 10_000] {
        let mut bytes = bytes.to_vec();
        bytes.chunks_exact_mut(8).step_by(every).for_each(|value| value.copy_from_slice(&f64::NAN.to_le_bytes()));
        let mut separated = None;
        bench.row(&format!("mask/1 in {every}"), || {
            separated = separate(black_box(&bytes), DType::Float64, Little, &options, 1).unwrap();
        });
        let Some(separated) = separated else { continue };
        let mut blobs = Vec::new();
        bench.row(&format!("mask/1 in {every}/roaring"), || {
            blobs.clear();
            separated.masks.append(&options, &mut blobs).unwrap();
        });
        let mut out = separated.bytes.clone();
        bench.row(&format!("mask/1 in {every}/restore"), || {
            separated.masks.restore(black_box(&mut out), DType::Float64, Little, 0);
        });
    }
}

fn chains(bench: &Bench<'_>, bytes: &[u8], out: &mut [u8]) {
    use fw_codec::chain::{
        Blosc2Settings, Compression, DecodeOptions, Encoding, Filter, Lz4Settings, Pipeline, ShuffleSettings,
        SimplePacking, Stages, ZstdSettings,
    };
    use fw_tensor::{ByteOrder::Little, DType};
    let shuffle = || Filter::Shuffle(ShuffleSettings { shuffle_element_size: 8 });
    let zstd = || Compression::Zstd(ZstdSettings { zstd_level: None });
    let blosc2 = || Compression::Blosc2(Blosc2Settings { blosc2_codec: None, blosc2_clevel: None });
    let packing = || Encoding::SimplePacking(SimplePacking::bits(16));
    let chains = [
        ("none", Encoding::None, Filter::None, Compression::None),
        ("shuffle", Encoding::None, shuffle(), Compression::None),
        ("zstd", Encoding::None, Filter::None, zstd()),
        ("shuffle+zstd", Encoding::None, shuffle(), zstd()),
        ("lz4", Encoding::None, Filter::None, Compression::Lz4(Lz4Settings)),
        ("shuffle+lz4", Encoding::None, shuffle(), Compression::Lz4(Lz4Settings)),
        ("blosc2", Encoding::None, Filter::None, blosc2()),
        ("sp16", packing(), Filter::None, Compression::None),
        ("sp16+zstd", packing(), Filter::None, zstd()),
    ];
    for (name, encoding, filter, compression) in chains {
        let stages = Stages { encoding, filter, compression };
        let count = bytes.len() as u64 / 8;
        for threads in [1, 2] {
            let pipeline = Pipeline::new(stages.clone(), DType::Float64, count, Little).unwrap();
            let mut encoded = None;
            // A fresh payload every time, as a writer makes it.
            bench.row(&format!("chain/{name}/t{threads}/encode"), || {
                encoded = Some(pipeline.encode(black_box(bytes), threads).unwrap());
            });
            let Some(encoded) = encoded else { continue };
            let mut stages = stages.clone();
            if let Some(encoding) = encoded.derived.encoding {
                stages.encoding = encoding;
            }
            let pipeline = Pipeline::new(stages, DType::Float64, count, Little).unwrap();
            let options = DecodeOptions::default().with_threads(threads);
            bench.row(&format!("chain/{name}/t{threads}/decode warm"), || {
                pipeline.decode_into(black_box(&encoded.payload), &options, out).unwrap();
            });
            bench.row(&format!("chain/{name}/t{threads}/decode fresh"), || {
                black_box(pipeline.decode(black_box(&encoded.payload), &options).unwrap());
            });
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
        println!("{:>5} KiB  {name:<36} {:>7.2} GB/s", self.len >> 10, self.len as f64 / best / 1e9);
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
