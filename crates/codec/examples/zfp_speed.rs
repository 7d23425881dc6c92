//! Speed of zfp on a smooth field of 721 × 1440 float64 values (8.3 MB): best of several runs, in MB/s of values.
//!
//! `cargo run --release -p fw-codec --example zfp_speed [FILE.f64]`

use fw_codec::zfp::{Zfp, ZfpMode};
use fw_codec::{Codec, Window};
use fw_tensor::ByteOrder;
use std::f64::consts::{PI, TAU};
use std::time::Instant;

fn main() {
    let values = match std::env::args().nth(1) {
        Some(path) => std::fs::read(&path).expect("readable file of float64 values"),
        None => smooth_field(),
    };
    let modes = [
        ("rate 8", ZfpMode::FixedRate(8.0)),
        ("rate 16", ZfpMode::FixedRate(16.0)),
        ("rate 32", ZfpMode::FixedRate(32.0)),
        ("precision 20", ZfpMode::FixedPrecision(20)),
        ("accuracy 1e-3", ZfpMode::FixedAccuracy(1e-3)),
    ];
    println!(
        "{:14} {:>10} {:>8} {:>8} {:>8} {:>8} {:>12}",
        "mode", "bytes", "enc 1", "enc 2", "dec 1", "dec 2", "1000 values"
    );
    for (name, mode) in modes {
        let zfp = Zfp::new(mode, ByteOrder::Little).expect("sound parameters");
        let mut encoded = Vec::new();
        let mut decoded = vec![0; values.len()];
        let [encode_1, encode_2] = [1, 2].map(|threads| {
            best(|| {
                encoded.clear();
                zfp.encode(&values, threads, &mut encoded).expect("finite values");
            })
        });
        let [decode_1, decode_2] =
            [1, 2].map(|threads| best(|| zfp.decode_into(&encoded, threads, &mut decoded).expect("sound stream")));
        let mut part = vec![0; 8000];
        let start = values.len() as u64 / 16 * 8;
        let range = best(|| {
            let (whole, len) = (Window::whole(&encoded), values.len() as u64);
            zfp.decode_range_into(whole, len, start, 1, &mut part).expect("range inside");
        });
        let speed = |seconds: f64| values.len() as f64 / seconds / 1e6;
        println!(
            "{name:14} {:>10} {:>8.0} {:>8.0} {:>8.0} {:>8.0} {:>9.1} µs",
            encoded.len(),
            speed(encode_1),
            speed(encode_2),
            speed(decode_1),
            speed(decode_2),
            range * 1e6
        );
    }
}

fn best(mut run: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..15 {
        let start = Instant::now();
        run();
        least = least.min(start.elapsed().as_secs_f64());
    }
    least
}

fn smooth_field() -> Vec<u8> {
    let value = |index: u32| {
        let (latitude, longitude) = (f64::from(index / 1440) / 720.0 * PI, f64::from(index % 1440) / 1440.0 * TAU);
        280.0
            + 20.0 * latitude.sin() * (2.0 * longitude).cos()
            + 5.0 * (5.0 * latitude + 3.0 * longitude).sin()
            + 0.3 * (31.0 * longitude + 17.0 * latitude).cos()
    };
    (0..721 * 1440).flat_map(|index| value(index).to_le_bytes()).collect()
}
