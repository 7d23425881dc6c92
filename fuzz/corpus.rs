//! A fuzz target as an ordinary test: on its seeds, on every file in `fuzz/seeds/TARGET`, and on many small changes of them.
//!
//! Tests include this file by its path. What the fuzzer finds is kept as a file there, so that it is tried for ever.

use std::path::{Path, PathBuf};

/// Runs a target. `made` are seeds that the test makes: `FW_BLESS=1` writes them, and they must be there. With `changes`, as many
/// variants of each are tried as well.
pub(crate) fn check(target: &str, made: &[(&str, Vec<u8>)], changes: usize, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    if std::env::var_os("FW_BLESS").is_some() {
        std::fs::create_dir_all(&folder).expect("a directory");
        made.iter().for_each(|(name, bytes)| std::fs::write(folder.join(name), bytes).expect("written"));
    }
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}; FW_BLESS=1 writes the seeds", folder.display()))
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    for (name, _) in made {
        assert!(paths.contains(&folder.join(name)), "fuzz/seeds/{target}/{name} is missing; FW_BLESS=1 writes it");
    }
    let kept = paths.iter().map(|path| (path.display().to_string(), std::fs::read(path).expect("read")));
    let mut inputs: Vec<(String, Vec<u8>)> = kept.collect();
    inputs.extend(made.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.clone())));
    for (name, bytes) in &inputs {
        Trying { target, name, bytes }.with(run);
    }
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for (name, bytes) in &inputs {
        for _ in 0..changes {
            let other = &inputs[dice.below(inputs.len())].1;
            let changed = changed(bytes, other, &mut dice);
            Trying { target, name: &format!("{name}, changed"), bytes: &changed }.with(run);
        }
    }
}

/// One to three changes as a fuzzer makes them.
fn changed(bytes: &[u8], other: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=dice.below(3) {
        let at = dice.below(bytes.len() + 1);
        match dice.below(7) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, dice.below(256) as u8),
            2 => drop(bytes.drain(at..(at + dice.below(9)).min(bytes.len()))),
            3 => {
                let begin = dice.below(other.len() + 1);
                let part = other[begin..(begin + dice.below(33)).min(other.len())].to_vec();
                drop(bytes.splice(at..at, part));
            }
            4 => {
                let number = [0, 1, 0x7f, 0x80, 0xff][dice.below(5)];
                bytes.iter_mut().skip(at).take(1 + dice.below(8)).for_each(|byte| *byte = number);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << dice.below(8);
                }
            }
        }
    }
    bytes
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end.max(1)
    }
}

/// An input that is being tried; one that makes a target panic is kept.
struct Trying<'a> {
    target: &'a str,
    name: &'a str,
    bytes: &'a [u8],
}

impl Trying<'_> {
    fn with(self, run: fn(&[u8])) {
        run(self.bytes);
    }
}

impl Drop for Trying<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{}", self.target));
        let kept = std::fs::write(&path, self.bytes);
        eprintln!("{} fails on {} ({kept:?}: {})", self.target, self.name, path.display());
    }
}
