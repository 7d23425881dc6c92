//! Broken GGUF files: an answer or an error, never a panic, and no more memory than the bytes justify.

mod gguf {
    pub(crate) mod maker;
}

use fw_bintensors::ReadOptions;
use fw_convert::{Format, rows};
use fw_tensor::Selection;
use gguf::maker::sample;
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// A generator that needs nothing but a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// One test only: the counter is shared by the whole process.
#[test]
fn broken_files_are_errors() {
    let mut random = Random(14);
    let originals: Vec<Vec<u8>> = [(false, 3, 32), (true, 3, 32), (false, 2, 8)]
        .map(|(big, version, align)| sample(big, version, align).build())
        .into();
    let (mut good, mut bad) = (0, 0);
    for round in 0..24_000 {
        let mut bytes = originals[round % originals.len()].clone();
        for _ in 0..=random.below(3) {
            mutate(&mut bytes, &mut random);
        }
        // What is read of the file itself, and what is made of it: JSON takes a few times its bytes.
        let allowed = 64 * bytes.len() + (64 << 10);
        let before = HEAP.current_usage();
        HEAP.reset_peak_usage();
        match read(bytes) {
            Ok(()) => good += 1,
            Err(error) => {
                assert!(!error.code().is_empty() && error.code() != "io_error", "{error}");
                bad += 1;
            }
        }
        let held = HEAP.peak_usage().saturating_sub(before);
        assert!(held < allowed, "round {round}: {held} bytes, {allowed} are allowed");
    }
    assert!(good > 1000 && bad > 1000, "{good} good ones, {bad} bad ones");
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    // Most of what can be wrong stands in the header.
    let at = if random.below(4) > 0 { random.below(bytes.len().min(900)) } else { random.below(bytes.len()) };
    match random.below(6) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = random.next() as u8,
        2 => bytes.truncate(at.max(1)),
        3 => {
            let number = [0, 1, 31, 64, u64::from(u32::MAX), 1 << 40, 1 << 63, u64::MAX][random.below(8)];
            let end = (at + 8).min(bytes.len());
            bytes[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
        }
        4 => {
            let end = (at + random.below(40)).min(bytes.len());
            bytes.drain(at..end);
        }
        _ => {
            let from = random.below(bytes.len());
            let part = bytes[from..(from + random.below(40)).min(bytes.len())].to_vec();
            bytes.splice(at..at, part);
        }
    }
    if bytes.is_empty() {
        bytes.push(0);
    }
}

fn read(bytes: Vec<u8>) -> Result<(), fw_convert::ConvertError> {
    let file = Format::Gguf.open_source(bytes.into_boxed_slice(), "", &ReadOptions::default())?;
    rows(&*file)?;
    file.remarks();
    for (index, entry) in file.entries().iter().enumerate() {
        let mut len = 0;
        file.stream(index, &mut |piece| {
            len += piece.len() as u64;
            Ok(())
        })?;
        assert_eq!(len, entry.byte_len()?, "{}", entry.name);
        let last = entry.shape.iter().all(|length| *length > 0) && !entry.shape.is_empty();
        if last {
            file.slice(index, &Selection::new().axis(-1))?;
        }
    }
    Ok(())
}
