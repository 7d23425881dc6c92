//! Broken checkpoints: an answer or an error, never a panic, no code, and no more memory than the bytes justify.
//!
//! `FW_MUTATIONS=1000000 cargo test -p fw-convert --test torch_hostile` runs more of them than the suite does.

mod torch {
    pub(crate) mod maker;
}

use fw_bintensors::ReadOptions;
use fw_convert::{ConvertError, Format, rows};
use fw_tensor::Selection;
use peak_alloc::PeakAlloc;
use std::path::Path;
use torch::maker::{checkpoint, sample};

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
fn broken_checkpoints_are_errors() {
    let rounds = std::env::var("FW_MUTATIONS").map_or(100_000, |count| count.parse().expect("a count"));
    let given =
        |name: &str| std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/torch").join(name)).unwrap();
    let originals: Vec<Vec<u8>> = ["state.pt", "views.pt", "checkpoint.pt", "protocol4.pt"]
        .iter()
        .map(|name| given(name))
        .chain([sample()])
        .collect();
    // The pickles alone, in an archive that is as it should be: that is where most mistakes can be made.
    let pickles: Vec<Vec<u8>> = originals.iter().map(|bytes| pickle_of(bytes)).collect();
    let mut random = Random(18);
    let (mut good, mut bad) = (0, 0);
    for round in 0..rounds {
        let place = round % originals.len();
        let bytes = if random.below(3) > 0 {
            let mut pickle = pickles[place].clone();
            (0..=random.below(3)).for_each(|_| mutate(&mut pickle, &mut random));
            let zeros = [0; 96];
            let storages: Vec<(String, &[u8])> = (0..17).map(|key| (key.to_string(), &zeros[..])).collect();
            let storages: Vec<(&str, &[u8])> = storages.iter().map(|(key, bytes)| (key.as_str(), *bytes)).collect();
            checkpoint(&pickle, &storages)
        } else {
            let mut bytes = originals[place].clone();
            (0..=random.below(3)).for_each(|_| mutate(&mut bytes, &mut random));
            bytes
        };
        // Values take a few dozen bytes for each byte of a pickle; views may show sixteen megabytes, in pieces.
        let allowed = 128 * bytes.len() + (8 << 20);
        let before = HEAP.current_usage();
        HEAP.reset_peak_usage();
        match read(bytes) {
            Ok(()) => good += 1,
            Err(error) => {
                assert!(!error.code().is_empty(), "{error}");
                bad += 1;
            }
        }
        let held = HEAP.peak_usage().saturating_sub(before);
        assert!(held < allowed, "round {round}: {held} bytes, {allowed} are allowed");
    }
    assert!(good > rounds / 50 && bad > rounds / 4, "{good} good ones, {bad} bad ones");
    println!("{good} good ones, {bad} bad ones");
}

fn pickle_of(bytes: &[u8]) -> Vec<u8> {
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    let name = zip.file_names().map(|name| name.unwrap().into_owned()).find(|name| name.ends_with("data.pkl")).unwrap();
    let mut pickle = Vec::new();
    std::io::Read::read_to_end(&mut zip.by_name(&name).unwrap(), &mut pickle).unwrap();
    pickle
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len());
    match random.below(8) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = random.next() as u8,
        2 => bytes.truncate(at.max(1)),
        3 => {
            let number = [0, 1, 31, 64, u64::from(u32::MAX), 1 << 40, 1 << 63, u64::MAX][random.below(8)];
            let end = (at + [1, 2, 4, 8][random.below(4)]).min(bytes.len());
            bytes[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
        }
        4 => {
            let end = (at + random.below(40)).min(bytes.len());
            bytes.drain(at..end);
        }
        5 => {
            let opcodes = b"}])(NRQbsueatlh0126\x81\x85\x86\x87\x88\x89\x8f\x90\x91\x93\x94.";
            bytes[at] = opcodes[random.below(opcodes.len())];
        }
        6 => {
            let from = random.below(bytes.len());
            let part = bytes[from..(from + random.below(200)).min(bytes.len())].to_vec();
            (0..random.below(20)).for_each(|_| drop(bytes.splice(at..at, part.clone())));
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

fn read(bytes: Vec<u8>) -> Result<(), ConvertError> {
    let file = Format::Torch.open_source(bytes.into_boxed_slice(), "", &ReadOptions::default())?;
    rows(&*file)?;
    file.remarks();
    for (index, entry) in file.entries().iter().enumerate().take(40) {
        let mut len = 0;
        file.stream(index, &mut |piece| {
            len += piece.len() as u64;
            Ok(())
        })?;
        assert_eq!(len, entry.byte_len()?, "{}", entry.name);
        if len < 1 << 16 && entry.shape.iter().all(|length| *length > 0) && !entry.shape.is_empty() {
            file.slice(index, &Selection::new().axis(-1))?;
        }
    }
    Ok(())
}
