//! Throughput of szip on one and two threads, best of many runs.
//!
//!     cargo run --release -p fw-codec --example szip_throughput [FILE [BITS]]
//!
//! FILE holds big-endian packed samples of BITS (8, 16, 24, 32) bits; without it, a smooth 16-bit field with some noise.

use fw_codec::szip::{Szip, SzipFlags, SzipParams};
use fw_codec::{Codec, CodecError};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let samples = match arguments.next() {
        Some(path) => std::fs::read(path)?,
        None => field(),
    };
    let bits_per_sample = arguments.next().map_or(Ok(16), |bits| bits.parse())?;
    let flags = SzipFlags::PREPROCESS | SzipFlags::MSB;
    let szip = Szip::new(SzipParams { rsi: 128, block_size: 16, flags, bits_per_sample })?;
    let mut payload = Vec::new();
    let offsets = szip.encode_with_offsets(&samples, 1, &mut payload)?;
    let szip = szip.with_offsets(offsets);
    println!("{} bytes to {}", samples.len(), payload.len());

    let mut decoded = vec![0; samples.len()];
    for threads in [1, 2] {
        let encode = best(|| {
            payload.clear();
            szip.encode(&samples, threads, &mut payload)
        })?;
        let decode = best(|| szip.decode_into(&payload, threads, &mut decoded))?;
        assert!(decoded == samples);
        let rate = |seconds: f64| samples.len() as f64 / 1e6 / seconds;
        println!(
            "{threads} threads: encode {:6.2} ms {:5.0} MB/s, decode {:6.2} ms {:5.0} MB/s",
            encode * 1e3,
            rate(encode),
            decode * 1e3,
            rate(decode)
        );
    }
    Ok(())
}

/// Seconds of the fastest run.
fn best(mut run: impl FnMut() -> Result<(), CodecError>) -> Result<f64, CodecError> {
    let mut fastest = f64::INFINITY;
    for _ in 0..400 {
        let clock = Instant::now();
        run()?;
        fastest = fastest.min(clock.elapsed().as_secs_f64());
    }
    Ok(fastest)
}

fn field() -> Vec<u8> {
    let mut state = 1u64;
    (0..721 * 1440)
        .flat_map(|index| {
            let (row, column) = (f64::from(index / 1440), f64::from(index % 1440));
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let noise = (state >> 40) as f64 / (1u64 << 24) as f64 - 0.5;
            let value = 30000.0 + 20000.0 * (row / 130.0).sin() * (column / 110.0).cos() + 60.0 * noise;
            (value as u16).to_be_bytes()
        })
        .collect()
}
