//! What the machine allows beside each row: the part of the work that nobody can leave out, done alone.

use crate::ours::Model;
use bench_harness::{Best, Effort, Limit, copy, copy_fresh, limit};
use fw_bintensors::BinTensors;
use std::collections::HashMap;
use std::hint::black_box;
use std::path::Path;

/// Stepping over the records of the header, as often as the row opens the file.
pub(crate) fn walk(effort: Effort, model: &Model, calls: u32) -> Limit {
    assert_eq!(records(&model.file), model.tensors.len(), "every record is seen");
    limit(effort, "a walk over the records", || (0..calls).map(|_| records(black_box(&model.file))).sum::<usize>())
}

/// Comparing every name that is asked for with the one in the file, knowing where it lies.
pub(crate) fn compare(effort: Effort, model: &Model) -> Limit {
    let file = BinTensors::deserialize(&model.file).unwrap();
    let places: HashMap<&str, &str> = file.names().map(|name| (name, name)).collect();
    let asked = model.asked.iter().map(|place| model.tensors[*place].0.as_str());
    let pairs: Vec<(&str, &str)> = asked.map(|name| (name, places[name])).collect();
    limit(effort, "comparing the names", || {
        pairs.iter().for_each(|(asked, found)| assert!(black_box(*asked) == black_box(*found)));
    })
}

/// Copying the file into memory as warm as ours was.
pub(crate) fn copied(effort: Effort, model: &Model, ours: Best) -> Limit {
    if ours.faults > 0 {
        return limit(effort, "memcpy, fresh pages", || copy_fresh(1, &model.file));
    }
    let mut out = vec![1; model.file.len()];
    limit(effort, "memcpy", || copy(1, &model.file, &mut out))
}

/// Mapping a file and reading a byte of every page of its last so many bytes.
pub(crate) fn mapped(effort: Effort, path: &Path, len: usize) -> Limit {
    limit(effort, "a bare map", || {
        let file = std::fs::File::open(path).unwrap();
        // SAFETY: the file lies in this process's own temporary folder, and nothing writes to it any more.
        let map = unsafe { memmap2::Mmap::map(&file) }.unwrap();
        touch(&map[map.len() - len..]);
    })
}

/// Reads a byte of every page.
pub(crate) fn touch(data: &[u8]) {
    black_box(data.iter().step_by(4096).map(|byte| u64::from(*byte)).sum::<u64>());
}

/// Counts the records of a file without user metadata, looking at nothing but how long they are: where one begins is known
/// only when the one before it has been stepped over.
fn records(file: &[u8]) -> usize {
    const HEAD: usize = 8;
    let mut at = HEAD + 1;
    let count = number(file, &mut at);
    for _ in 0..count {
        let name = number(file, &mut at);
        at += name;
        skip(file, &mut at);
        let dims = number(file, &mut at);
        (0..dims + 2).for_each(|_| skip(file, &mut at));
    }
    let header = u64::from_le_bytes(file[..HEAD].try_into().expect("eight bytes")) as usize;
    assert!(at <= HEAD + header && at + 8 > HEAD + header, "padding is all that is left");
    count
}

fn number(file: &[u8], at: &mut usize) -> usize {
    let rest = &file[*at..];
    skip(file, at);
    match rest[0] {
        251 => u16::from_le_bytes([rest[1], rest[2]]).into(),
        252 => u32::from_le_bytes([rest[1], rest[2], rest[3], rest[4]]) as usize,
        tag => tag.into(),
    }
}

fn skip(file: &[u8], at: &mut usize) {
    *at += match file[*at] {
        251 => 3,
        252 => 5,
        253 => 9,
        _ => 1,
    };
}
