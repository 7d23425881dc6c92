//! Length bombs: a few bytes that claim to be many.

use crate::{ALLOCATOR, class, file};
use fw_bintensors::{BinTensors, Dtype, HeaderLimits, Profile, ReadOptions, TensorView, serialize};
use stats_alloc::Region;
use std::sync::Mutex;

/// The allocator's counters are the process's: tests that read them take turns.
static ALONE: Mutex<()> = Mutex::new(());

/// What `measure` finds when no other thread allocates meanwhile: the least of tries spread over time, so that tests running
/// beside this one end before the tries do. The first that is good enough ends them.
fn least<T: Ord>(measure: impl Fn() -> T, good: impl Fn(&T) -> bool) -> T {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut best = measure();
    for _ in 0..3000 {
        if good(&best) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
        best = best.min(measure());
    }
    best
}

/// Bytes allocated while `work` runs; at most `allowed` of them are fine.
fn allocated(allowed: usize, work: impl Fn()) -> usize {
    let measure = || {
        let region = Region::new(ALLOCATOR);
        work();
        region.change().bytes_allocated
    };
    least(measure, |cost| *cost <= allowed)
}

fn huge() -> Vec<Vec<u8>> {
    let u64_max = [0xfd, 255, 255, 255, 255, 255, 255, 255, 255];
    let u32_max = [0xfc, 255, 255, 255, 255];
    let million = [0xfc, 64, 66, 15, 0];
    let mut files = Vec::new();
    for count in [&u64_max[..], &u32_max, &million] {
        files.push(file(&[&[0][..], count].concat(), &[])); // tensors
        files.push(file(&[&[1][..], count].concat(), &[])); // metadata entries
        files.push(file(&[&[1, 1][..], count].concat(), &[])); // a key
        files.push(file(&[&[1, 1, 1, b'k'][..], count].concat(), &[])); // a value
        files.push(file(&[&[0, 1][..], count].concat(), &[])); // a name
        files.push(file(&[&[0, 1, 1, b'x', 1][..], count].concat(), &[])); // dimensions
    }
    files
}

/// BT-7.9: counts and lengths are believed only as far as bytes follow them.
#[test]
fn claims_without_bytes_cost_nothing() {
    for bytes in huge() {
        assert_eq!(class(&bytes), "UnexpectedEnd", "{bytes:02x?}");
        let allowed = 64 * (bytes.len() / 5) + 512;
        let cost = allocated(allowed, || drop(BinTensors::deserialize(&bytes).unwrap_err()));
        assert!(cost <= allowed, "{cost} bytes for {bytes:02x?}");
    }
}

/// BT-7.9: with bytes behind the claim, at most 64 bytes per record that they could hold.
#[test]
fn claims_with_bytes_cost_what_the_bytes_justify() {
    for filler in [0u8, 1, 5, 0x20, 0x61] {
        let mut header = vec![0, 0xfc, 255, 255, 255, 255];
        header.resize(100_000, filler);
        let bytes = file(&header, &[]);
        let options = ReadOptions::new().with_profile(Profile::Compat);
        let allowed = 64 * (header.len() / 5) + 4096;
        let cost = allocated(allowed, || drop(BinTensors::deserialize_with(&bytes, &options)));
        assert!(cost <= allowed, "{cost} bytes for filler {filler}");
    }
}

/// Opening is a fixed number of allocations and a few bytes per tensor, whatever the number of tensors.
#[test]
fn opening_allocates_a_few_bytes_per_tensor() {
    for (count, sorted) in [(10usize, true), (20_000, true), (20_000, false)] {
        let names: Vec<String> = (0..count).map(|index| format!("model.layers.{index}.weight")).collect();
        let mut header = vec![0, 0xfb];
        header.extend((count as u16).to_le_bytes());
        let mut ordered = names.clone();
        ordered.sort();
        for name in if sorted { &ordered } else { &names } {
            header.push(name.len() as u8);
            header.extend(name.bytes());
            header.extend([1, 1, 0, 0, 0]);
        }
        let bytes = file(&header, &[]);
        let measure = || {
            let region = Region::new(ALLOCATOR);
            let opened = BinTensors::deserialize(&bytes).unwrap();
            let change = region.change();
            assert_eq!(opened.len(), count);
            (change.allocations, change.bytes_allocated)
        };
        let best = least(measure, |(allocations, bytes)| *allocations <= 4 && *bytes <= 48 * count + 1024);
        assert!(best.0 <= 4, "{} allocations for {count} tensors", best.0);
        assert!(best.1 <= 48 * count + 1024, "{} bytes for {count} tensors", best.1);
    }
}

/// BT-7.2: the cap is checked before anything else is looked at.
#[test]
fn a_header_above_the_cap_is_not_looked_at() {
    let mut bytes = 100_000_001u64.to_le_bytes().to_vec();
    bytes.push(0);
    assert_eq!(class(&bytes), "HeaderTooLarge");
    let within = [100_000_000u64.to_le_bytes().to_vec(), vec![0]].concat();
    assert_eq!(class(&within), "InvalidHeaderLength");
}

/// BT-8.9: limits of the caller refuse what the format allows.
#[test]
fn limits_refuse_what_the_format_allows() {
    let data = [0u8; 3];
    let user = Some([("key".to_owned(), "v".repeat(2 << 20))].into());
    let big = serialize([("x", TensorView::new(Dtype::U8, [3], &data).unwrap())], &user).unwrap();
    BinTensors::deserialize(&big).unwrap();
    let untrusted = ReadOptions::new().with_limits(HeaderLimits::untrusted());
    assert_eq!(BinTensors::deserialize_with(&big, &untrusted).unwrap_err().class(), "LimitExceeded");

    let long = "n".repeat(5000);
    let named = serialize([(&long, TensorView::new(Dtype::U8, [3], &data).unwrap())], &None).unwrap();
    assert_eq!(BinTensors::deserialize_with(&named, &untrusted).unwrap_err().class(), "LimitExceeded");
    let deep = serialize([("x", TensorView::new(Dtype::U8, vec![1u64; 65], &data[..1]).unwrap())], &None).unwrap();
    assert_eq!(BinTensors::deserialize_with(&deep, &untrusted).unwrap_err().class(), "LimitExceeded");
    let mut few = HeaderLimits::untrusted();
    few.tensor_count = 0;
    let options = ReadOptions::new().with_limits(few);
    assert_eq!(BinTensors::deserialize_with(&named, &options).unwrap_err().class(), "LimitExceeded");
    few.header_len = 8;
    let options = ReadOptions::new().with_limits(few);
    assert_eq!(BinTensors::deserialize_with(&named, &options).unwrap_err().class(), "HeaderTooLarge");
}

/// Names made to collide in an unkeyed table: the keyed index does not care.
#[test]
fn many_unsorted_names_stay_cheap() {
    let mut header = vec![0, 0xfc];
    let count = 200_000u32;
    header.extend(count.to_le_bytes());
    for index in (0..count).rev() {
        let name = format!("{:08x}", index.reverse_bits());
        header.push(8);
        header.extend(name.bytes());
        header.extend([1, 1, 0, 0, 0]);
    }
    let bytes = file(&header, &[]);
    let start = std::time::Instant::now();
    assert_eq!(BinTensors::deserialize(&bytes).unwrap().len(), count as usize);
    assert!(start.elapsed().as_secs() < 20, "took {:?}", start.elapsed());
}
