//! Damaged payloads: an answer or an error, soon, and in no more memory than the declared size justifies.
#![cfg(feature = "szip")]

#[allow(dead_code)] // the other tests use more of it
#[path = "szip/corpus.rs"]
mod corpus;

use corpus::{Case, Random, corpora};
use fw_codec::szip::Szip;
use fw_codec::{Codec, Window};
use peak_alloc::PeakAlloc;
use std::time::{Duration, Instant};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const ROUNDS: u64 = 120_000;

/// Room for one segment, a thread or two and an error message.
const OVERHEAD: usize = 256 << 10;

// One test only: the peak is that of the whole process.
#[test]
fn damage_never_costs_more_than_an_error() {
    let mut cases: Vec<Case> = corpora().filter(|case| case.decoded_len <= 6000).collect();
    for case in &mut cases {
        case.payload.reserve(64);
    }
    let codecs: Vec<Szip> = cases.iter().map(|case| case.codec().unwrap()).collect();
    let mut random = Random(2026);
    let (mut accepted, mut refused) = (0u64, 0u64);
    let mut slowest = Duration::ZERO;
    for round in 0..ROUNDS {
        let pick = random.below(cases.len() as u64) as usize;
        let case = &cases[pick];
        let payload = damage(&case.payload, &mut random);
        let decoded_len = match random.below(8) {
            0 => random.below(12_000) * 12,
            _ => case.decoded_len,
        };
        let offsets = damage_offsets(&case.offsets, payload.len() as u64, &mut random);
        let codec = codecs[pick].clone().with_offsets(offsets);
        let threads = if round % 16 == 0 { 3 } else { 1 };
        let start = random.below(decoded_len.max(1));
        let len = random.below(decoded_len - start.min(decoded_len) + 1).min(4096);
        let mut out = vec![0; decoded_len.max(len) as usize];

        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage();
        let clock = Instant::now();
        let full = codec.decode_into(&payload, threads, &mut out[..decoded_len as usize]).is_ok();
        let part = &mut out[..len as usize];
        let window = Window::whole(&payload);
        let ranged = codec.decode_range_into(window, decoded_len, start, threads, part).is_ok();
        let span = codec.encoded_span(payload.len() as u64, decoded_len, start..start + len);
        if let Some(bytes) = span.and_then(|span| span.slice_of(&payload, 0)) {
            let start_byte = span.map_or(0, |span| span.start);
            let window = Window::part(bytes, start_byte, payload.len() as u64);
            let _ = codec.decode_range_into(window, decoded_len, start, 1, part);
        }
        slowest = slowest.max(clock.elapsed());
        let used = MEMORY.peak_usage().saturating_sub(before);
        assert!(used <= OVERHEAD, "{} round {round}: {used} bytes for {decoded_len} declared", case.id);
        accepted += u64::from(full) + u64::from(ranged);
        refused += u64::from(!full) + u64::from(!ranged);
    }
    assert!(slowest < Duration::from_secs(5), "the slowest round took {slowest:?}");
    // Both outcomes must really occur, or the damage does not reach the interesting code.
    assert!(accepted > ROUNDS / 10 && refused > ROUNDS / 10, "{accepted} accepted, {refused} refused");
}

fn damage(payload: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = payload.to_vec();
    for _ in 0..=random.below(3) {
        let len = bytes.len() as u64;
        let at = random.below(len) as usize;
        match random.below(8) {
            0 | 1 if len > 0 => bytes[at] ^= 1 << random.below(8),
            2 if len > 0 => bytes[at] = random.below(256) as u8,
            3 => bytes.truncate(at),
            4 => bytes.insert(at, random.below(256) as u8),
            5 if len > 0 => drop(bytes.remove(at)),
            6 => {
                let fill = [0x00, 0xff, 0x80, random.below(256) as u8][random.below(4) as usize];
                let end = bytes.len().min(at + random.below(200) as usize);
                bytes[at.min(end)..end].fill(fill);
            }
            _ => bytes.iter_mut().skip(at).take(16).for_each(|byte| *byte = random.below(256) as u8),
        }
    }
    bytes
}

fn damage_offsets(offsets: &[u64], payload_len: u64, random: &mut Random) -> Vec<u64> {
    let mut damaged = offsets.to_vec();
    match random.below(6) {
        0 => damaged.clear(),
        1 => damaged.iter_mut().for_each(|entry| *entry = random.below(payload_len * 9 + 1)),
        2 => damaged.iter_mut().for_each(|entry| *entry = entry.wrapping_sub(random.below(3))),
        3 => damaged.iter_mut().for_each(|entry| *entry = u64::MAX - random.below(70)),
        4 => damaged.reverse(),
        _ => {}
    }
    damaged
}
