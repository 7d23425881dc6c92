//! Damaged zfp streams: whatever the bytes, decoding ends quickly with an error or exactly the declared size, in the
//! caller's memory alone. Overflow checks are on in this profile, so careless arithmetic would panic.
#![cfg(feature = "zfp")]

use fw_codec::zfp::{Zfp, ZfpMode};
use fw_codec::{Codec, Window};
use fw_tensor::ByteOrder;
use peak_alloc::PeakAlloc;
use std::time::{Duration, Instant};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const MUTATIONS: u32 = 150_000;
/// One stream in so many is long enough to be shared by threads.
const LARGE_EVERY: u32 = 512;
/// Room for threads and an error message; decoding itself takes none.
const OVERHEAD: usize = 256 << 10;

/// One test, since memory is counted for the whole process.
#[test]
fn hostile_streams() {
    claims_beyond_the_payload_are_refused_before_any_work();
    mutated_streams_never_panic_hang_or_grow();
}

fn mutated_streams_never_panic_hang_or_grow() {
    let modes = [
        ZfpMode::FixedRate(3.0),
        ZfpMode::FixedRate(16.0),
        ZfpMode::FixedRate(61.75),
        ZfpMode::FixedPrecision(17),
        ZfpMode::FixedPrecision(64),
        ZfpMode::FixedAccuracy(1e-4),
        ZfpMode::FixedAccuracy(1e200),
    ];
    let codecs = modes.map(|mode| Zfp::new(mode, ByteOrder::Little).unwrap());
    let mut random = Random(0x5eed);
    let mut encoded = |sizes: &mut dyn FnMut(&mut Random) -> usize, count: usize| -> Vec<(usize, usize, Vec<u8>)> {
        (0..count)
            .map(|index| {
                let len = sizes(&mut random);
                let source = values(len, &mut random);
                let mut encoded = Vec::new();
                codecs[index % codecs.len()].encode(&source, 1, &mut encoded).unwrap();
                (index % codecs.len(), source.len(), encoded)
            })
            .collect()
    };
    let small = encoded(&mut |random| random.below(101), 64);
    let large = encoded(&mut |_| 70_001, 7);

    let start = Instant::now();
    let (mut accepted, mut refused, mut slowest) = (0u32, 0u32, Duration::ZERO);
    for round in 0..MUTATIONS {
        let (streams, threads) = match round {
            _ if round % LARGE_EVERY == 0 => (&large, 2 + random.below(3)),
            _ if round % 16 == 1 => (&small, 3),
            _ => (&small, 1),
        };
        let (codec, decoded_len, stream) = &streams[random.below(streams.len())];
        let other = &streams[random.below(streams.len())].2;
        let mut bytes = stream.clone();
        for _ in 0..=random.below(3) {
            mutate(&mut bytes, other, &mut random);
        }
        // Now and then under another mode, or with another claimed size.
        let codec = &codecs[if random.below(8) == 0 { random.below(codecs.len()) } else { *codec }];
        let decoded_len = if random.below(8) == 0 { random.below(100) * 8 } else { *decoded_len };

        let mut out = vec![0xee; decoded_len];
        let (from, to) = (random.below(decoded_len + 1), random.below(decoded_len + 1));
        let (from, to) = (from.min(to), from.max(to));
        let mut part = vec![0xee; to - from];
        let clock = Instant::now();
        MEMORY.reset_peak_usage();
        let held = MEMORY.current_usage();
        let whole = codec.decode_into(&bytes, threads, &mut out);
        let range = codec.decode_range_into(Window::whole(&bytes), decoded_len as u64, from as u64, threads, &mut part);
        let taken = MEMORY.peak_usage().saturating_sub(held);
        slowest = slowest.max(clock.elapsed());
        assert!(taken <= OVERHEAD, "round {round}: {taken} bytes for {decoded_len} declared");
        match whole {
            Ok(()) => {
                accepted += 1;
                range.unwrap();
                assert!(part == out[from..to]);
            }
            Err(error) => {
                refused += 1;
                assert!(!error.code.is_empty() && !error.message.is_empty());
            }
        }
    }
    assert!(accepted > MUTATIONS / 20 && refused > MUTATIONS / 20, "{accepted} accepted, {refused} refused");
    assert!(slowest < Duration::from_secs(5), "the slowest stream took {slowest:?}");
    assert!(start.elapsed() < Duration::from_secs(300), "{:?} for {MUTATIONS} streams", start.elapsed());
}

fn claims_beyond_the_payload_are_refused_before_any_work() {
    let payload = [0u8; 64];
    for mode in [ZfpMode::FixedRate(3.0), ZfpMode::FixedPrecision(1), ZfpMode::FixedAccuracy(1.0)] {
        let codec = Zfp::new(mode, ByteOrder::Little).unwrap();
        for claimed in [1u64 << 20, 1 << 43, u64::MAX - 7] {
            let start = Instant::now();
            assert_eq!(codec.check_lengths(64, claimed).unwrap_err().code, "payload_too_short");
            let error =
                codec.decode_range_into(Window::whole(&payload), claimed, claimed - 8, 2, &mut [0; 8]).unwrap_err();
            assert_eq!(error.code, "payload_too_short");
            assert!(start.elapsed() < Duration::from_secs(1));
        }
    }
}

/// So many values: smooth, rough, zero, or of every size.
fn values(len: usize, random: &mut Random) -> Vec<u8> {
    let kind = random.below(4);
    let value = |i: usize, random: &mut Random| match kind {
        0 => (i as f64 * 0.1).cos() * 40.0,
        1 => random.next() as f64 / 1e16 - 900.0,
        2 if i % 16 < 8 => 0.0,
        _ => Some(f64::from_bits(random.next())).filter(|v| v.is_finite()).unwrap_or(1.0),
    };
    (0..len).flat_map(|i| value(i, random).to_le_bytes()).collect()
}

fn mutate(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let place = random.below(bytes.len().max(1));
    match random.below(8) {
        0 => bytes.truncate(place),
        1 => bytes.extend(std::iter::repeat_n(0, random.below(40))),
        2 => bytes.extend_from_slice(&other[..random.below(other.len() + 1)]),
        3 => {
            let from = &other[random.below(other.len() + 1)..];
            bytes.iter_mut().skip(place).zip(from).for_each(|(to, from)| *to = *from);
        }
        4 => bytes.iter_mut().skip(place).take(random.clone().below(32)).for_each(|byte| *byte = 0xff),
        5 => bytes.iter_mut().skip(place).for_each(|byte| *byte = random.next() as u8),
        _ => {
            if let Some(byte) = bytes.get_mut(place) {
                *byte ^= 1 << random.below(8);
            }
        }
    }
}

#[derive(Clone)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 20) as usize % bound
    }
}
