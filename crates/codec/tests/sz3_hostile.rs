//! Damaged `sz3` payloads by the hundred thousand: no panic, no hang, no memory beyond what is declared.
#![cfg(feature = "sz3")]

use fw_codec::{
    Codec, CodecErrorKind,
    sz3::{Sz3, Sz3Bound},
};
use fw_tensor::ByteOrder;
use peak_alloc::PeakAlloc;
use std::time::{Duration, Instant};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Damage done to the payload itself, and to the part inside the zstd frame.
const OUTER_ROUNDS: usize = 60_000;
const INNER_ROUNDS: usize = 60_000;

/// One test, since memory is counted for the whole process.
#[test]
fn hostile_payloads() {
    claims_are_checked_before_memory_is_taken();
    damaged_payloads_neither_panic_nor_hang_nor_grow();
}

fn damaged_payloads_neither_panic_nor_hang_nor_grow() {
    let payloads = payloads();
    let before = peak_memory();
    let mut random = Random(7);
    let (mut refused, mut slowest) = (0, Duration::ZERO);
    let mut feed = |payload: &[u8], decoded_len: usize| {
        let mut out = vec![0; decoded_len];
        let start = Instant::now();
        let held = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let result = Sz3::reader(ByteOrder::Little).decode_into(payload, 0, &mut out);
        let taken = MEMORY.peak_usage().saturating_sub(held);
        // What the documentation promises; the tables of the Huffman decoder are most of the constant.
        assert!(taken <= 2 * decoded_len + (1 << 20), "{taken} bytes for {decoded_len} decoded");
        if let Err(error) = result {
            assert_ne!(error.kind, CodecErrorKind::Misuse, "{error}");
            assert!(!error.code.is_empty() && !error.message.is_empty());
            refused += 1;
        }
        slowest = slowest.max(start.elapsed());
    };
    for round in 0..OUTER_ROUNDS {
        let (payload, decoded_len) = &payloads[round % payloads.len()];
        feed(&random.damage(payload), *decoded_len);
    }
    for round in 0..INNER_ROUNDS {
        let (payload, decoded_len) = &payloads[round % payloads.len()];
        let unpacked = random.damage(&unpack(payload));
        feed(&repack(payload, &unpacked), *decoded_len);
    }
    println!("{refused} refused, slowest {slowest:?}");
    // Most damage is noticed; what is not (a stored double, a code) decodes to some other numbers.
    assert!(refused > OUTER_ROUNDS / 2, "{refused}");
    assert!(slowest < Duration::from_secs(5), "{slowest:?}");
    if let (Some(before), Some(after)) = (before, peak_memory()) {
        // 24 kB are declared at most; zstd's own tables and the allocator's slack are the rest.
        assert!(after - before < 16 << 20, "grew by {} bytes", after - before);
    }
}

fn claims_are_checked_before_memory_is_taken() {
    let decode = |payload: &[u8], len| Sz3::reader(ByteOrder::Little).decode_into(payload, 0, &mut vec![0; len]);
    // One that interpolates: 32 strides per block stand at byte 8, the number of stored values at byte 57.
    let (payload, len) = payloads().into_iter().find(|(payload, _)| unpack(payload)[8..12] == [32, 0, 0, 0]).unwrap();
    decode(&payload, len).unwrap();
    for claim in [1u64 << 30, 1 << 40, u64::MAX, u64::MAX / 8] {
        // The length of the packed part, and its length unpacked.
        for at in [8, 16] {
            let mut payload = payload.clone();
            payload[at..at + 8].copy_from_slice(&claim.to_le_bytes());
            decode(&payload, len).unwrap_err();
        }
        let mut unpacked = unpack(&payload);
        unpacked[57..65].copy_from_slice(&claim.to_le_bytes());
        assert_eq!(decode(&repack(&payload, &unpacked), len).unwrap_err().code, "truncated");
    }
    // A small frame of many zeros, told honestly and not.
    let mut bomb = repack(&payload, &vec![0; 4 << 20]);
    assert_eq!(decode(&bomb, len).unwrap_err().code, "bad_unpacked_length");
    bomb[16..24].copy_from_slice(&2000u64.to_le_bytes());
    assert_eq!(decode(&bomb, len).unwrap_err().code, "bad_zstd_frame");
}

/// Small payloads of every algorithm and interpolator, with their decoded length.
fn payloads() -> Vec<(Vec<u8>, usize)> {
    let smooth = |i: usize| (i as f64 / 20.0).sin() * 10.0 + (i as f64 / 3.0).cos() * 0.05;
    let rough = |i: usize| ((i * i * 7919) % 1009) as f64 / 10.0;
    let steps = |i: usize| ((i / 11 * 7919) % 64) as f64 / 8.0 + (i as f64) * 1e-3;
    let make = |value: &dyn Fn(usize) -> f64, len: usize, bound: f64| {
        let bytes: Vec<u8> = (0..len).flat_map(|i| value(i).to_le_bytes()).collect();
        let mut out = Vec::new();
        Sz3::new(Sz3Bound::Abs(bound), ByteOrder::Little).unwrap().encode(&bytes, 0, &mut out).unwrap();
        (out, bytes.len())
    };
    let mut payloads = vec![
        make(&smooth, 400, 0.01),
        make(&smooth, 90, 0.5),
        make(&rough, 300, 2.0),
        make(&steps, 700, 0.01),
        make(&|i| i as f64 * 0.5, 1000, 0.1),
        make(&|_| 4.5, 50, 0.0),
        make(&|i| if i % 40 == 3 { 1e9 } else { smooth(i) }, 260, 1e-3),
    ];
    for id in ["sz3-abs0.25-walk", "sz3-psnr60.0-walk", "sz3-abs0.001-walk", "sz3-n100", "sz3-n7"] {
        let path = format!("{}/tests/data/sz3/{id}.payload", env!("CARGO_MANIFEST_DIR"));
        let payload = std::fs::read(path).unwrap();
        let decoded_len = match id {
            "sz3-n100" => 800,
            "sz3-n7" => 56,
            _ => 24_000,
        };
        payloads.push((payload, decoded_len));
    }
    payloads
}

fn packed_end(payload: &[u8]) -> usize {
    16 + u64::from_le_bytes(payload[8..16].try_into().unwrap()) as usize
}

fn unpack(payload: &[u8]) -> Vec<u8> {
    let len = u64::from_le_bytes(payload[16..24].try_into().unwrap()) as usize;
    let mut unpacked = Vec::with_capacity(len);
    zstd_safe::decompress(&mut unpacked, &payload[24..packed_end(payload)]).unwrap();
    unpacked
}

fn repack(payload: &[u8], unpacked: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(zstd_safe::compress_bound(unpacked.len()));
    zstd_safe::compress(&mut frame, unpacked, -5).unwrap();
    let mut out = payload[..8].to_vec();
    out.extend((8 + frame.len() as u64).to_le_bytes());
    out.extend((unpacked.len() as u64).to_le_bytes());
    out.extend(frame);
    out.extend(&payload[packed_end(payload)..]);
    out
}

struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below.max(1)
    }

    /// One to three flips, overwrites, cuts, insertions or moves, more often near the start, where lengths stand.
    fn damage(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..1 + self.next(3) {
            let reach = if self.next(2) == 0 { bytes.len().min(160) } else { bytes.len() };
            let at = self.next(reach);
            match self.next(9) {
                0 | 1 => {
                    let bit = 1 << self.next(8);
                    bytes.get_mut(at).into_iter().for_each(|byte| *byte ^= bit);
                }
                2 | 3 => {
                    let value = [0, 1, 2, 0x7f, 0x80, 0xff][self.next(6)];
                    bytes.get_mut(at).into_iter().for_each(|byte| *byte = value);
                }
                4 => {
                    let value = self.next(256) as u8;
                    let len = 1 + self.next(8);
                    bytes.iter_mut().skip(at).take(len).for_each(|byte| *byte = value);
                }
                5 => bytes.truncate(at),
                6 => {
                    let value = self.next(256) as u8;
                    bytes.insert(at.min(bytes.len()), value);
                }
                7 => {
                    let (from, len) = (self.next(bytes.len()), self.next(16));
                    let copy: Vec<u8> = bytes.iter().skip(from).take(len).copied().collect();
                    bytes.iter_mut().skip(at).zip(copy).for_each(|(to, from)| *to = from);
                }
                _ => {
                    let end = (at + 1 + self.next(8)).min(bytes.len());
                    bytes.drain(at.min(end)..end);
                }
            }
        }
        bytes
    }
}

/// The most memory this process has held, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}
