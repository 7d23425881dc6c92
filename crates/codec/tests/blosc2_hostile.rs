//! Damaged Blosc2 frames by the hundred thousand: an answer for each, soon, and never more memory than the frame may need.
#![cfg(feature = "blosc2")]

use fw_codec::blosc2::{Blosc2, Blosc2Params, InnerCodec};
use fw_codec::{Codec, Window};
use peak_alloc::PeakAlloc;
use serde_json::Value;
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const ROUNDS: usize = 120_000;
/// One frame in so many has blocks enough for several threads.
const LARGE_EVERY: usize = 512;

/// One test only: the peak is that of the whole process.
#[test]
fn mutated_frames_are_read_or_refused() {
    let mut small = recorded();
    for codec in InnerCodec::ALL {
        for (level, typesize, len) in [(1, 8, 700), (5, 3, 2000), (9, 2, 300), (3, 1, 5000)] {
            small.push((frame(codec, level, typesize, len), len));
        }
    }
    let large: Vec<_> = InnerCodec::ALL.map(|codec| (frame(codec, 1, 8, 200_000), 200_000)).into();
    let any_codec = Blosc2::new(Blosc2Params::default()).unwrap();
    let mut random = SplitMix(2024);
    let (mut read, mut refused, mut slowest) = (0, 0, Duration::ZERO);
    let mut out = vec![0; 200_000];
    let start = Instant::now();
    for round in 0..ROUNDS {
        let (frames, threads) = match round {
            _ if round % LARGE_EVERY == 0 => (&large, 2 + random.below(3)),
            _ if round % 16 == 1 => (&small, 3),
            _ => (&small, 1),
        };
        let (frame, len) = &frames[random.below(frames.len())];
        let frame = mutate(frame, &mut random);
        let clock = Instant::now();
        MEMORY.reset_peak_usage();
        let held = MEMORY.current_usage();
        let outcome = if round % 8 == 0 {
            let start = random.below(*len);
            let count = random.below(*len - start + 1);
            any_codec.decode_range_into(Window::whole(&frame), *len as u64, start as u64, threads, &mut out[..count])
        } else {
            any_codec.decode_into(&frame, threads, &mut out[..*len])
        };
        let taken = MEMORY.peak_usage().saturating_sub(held);
        slowest = slowest.max(clock.elapsed());
        // Each thread holds a block as it was compressed and as it was shuffled, and tables of its inner codec.
        let allowed = threads * (2 * len + (256 << 10));
        assert!(taken <= allowed, "round {round}: {taken} bytes for {len} declared on {threads} threads");
        match outcome {
            Ok(()) => read += 1,
            Err(error) => {
                assert!(error.at.is_none_or(|at| at <= frame.len() as u64), "{error} lies outside the payload");
                refused += 1;
            }
        }
    }
    let message = "the damage should matter, but not always";
    assert!(refused > ROUNDS / 3 && read > ROUNDS / 25, "{message}: {refused} refused, {read} read");
    assert!(slowest < Duration::from_secs(5), "the slowest frame took {slowest:?}");
    assert!(start.elapsed() < Duration::from_secs(300), "{:?} for {ROUNDS} frames", start.elapsed());
}

/// The small frames of the reference that the project keeps.
fn recorded() -> Vec<(Vec<u8>, usize)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/blosc2");
    let index: Value = serde_json::from_slice(&std::fs::read(folder.join("index.json")).unwrap()).unwrap();
    let frames = index["valid"].as_array().unwrap().iter().filter_map(|case| {
        let len = case["decoded_len"].as_u64().unwrap() as usize;
        let name = case["name"].as_str().unwrap();
        (len < 40_000).then(|| (std::fs::read(folder.join(format!("{name}.b2frame"))).unwrap(), len))
    });
    let frames: Vec<_> = frames.collect();
    assert!(frames.len() > 20);
    frames
}

fn frame(codec: InnerCodec, level: i64, typesize: usize, len: usize) -> Vec<u8> {
    let mut frame = Vec::new();
    let blosc2 = Blosc2::new(Blosc2Params { codec, level, typesize, ..Blosc2Params::default() }).unwrap();
    blosc2.encode(&wave(len), 1, &mut frame).unwrap();
    frame
}

/// A smooth curve of doubles with a little noise, cut to `len` bytes.
fn wave(len: usize) -> Vec<u8> {
    let mut random = SplitMix(7);
    let values = (0..len.div_ceil(8)).flat_map(|i| {
        let noise = random.below(1000) as f64 * 1e-6;
        ((i as f64 / 300.0).sin() * 1000.0 + noise).to_le_bytes()
    });
    values.take(len).collect()
}

fn mutate(frame: &[u8], random: &mut SplitMix) -> Vec<u8> {
    let mut frame = frame.to_vec();
    for _ in 0..1 + random.below(3) {
        let len = frame.len();
        let at = match random.below(4) {
            0 => random.below(len.min(97)),
            1 => (97 + random.below(60)).min(len - 1),
            2 => len - 1 - random.below(len.min(80)),
            _ => random.below(len),
        };
        match random.below(4) {
            0 => frame[at] ^= 1 << random.below(8),
            1 => frame[at] = random.next() as u8,
            2 => {
                let value = [0xff, 0x7f, 0, 0x80][random.below(4)];
                let end = len.min(at + 4);
                frame[at..end].fill(value);
            }
            _ => {
                // A plausible small number where sizes stand.
                let end = len.min(at + 4);
                let number = (random.below(4096) as u32).to_le_bytes();
                frame[at..end].copy_from_slice(&number[..end - at]);
            }
        }
    }
    if random.below(16) == 0 {
        frame.truncate(random.below(frame.len()));
    }
    frame
}

struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}
