//! What is measured, and what was promised.

use crate::{fixtures, ours, peer};
use bench_harness::{Duel, Effort, duel, pass};
use fw_source::LeftAlone;
use fw_tensogram::DecodeOptions;
use fw_tensor::Selection;
use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::rc::Rc;

/// A row: how its files are made and what is timed on them.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) prepare: fn(&Path) -> Run,
}

/// A row with its files.
pub(crate) struct Run {
    pub(crate) against: Vec<Against<'static>>,
}

/// Something that our side is held against.
pub(crate) struct Against<'a> {
    pub(crate) name: &'static str,
    /// How many times as fast we must be; a limit that is only shown has none.
    pub(crate) target: Option<f64>,
    pub(crate) measure: Box<dyn FnMut(Effort) -> Duel + 'a>,
}

impl<'a> Against<'a> {
    fn new(name: &'static str, target: f64, measure: impl FnMut(Effort) -> Duel + 'a) -> Self {
        Self { name, target: Some(target), measure: Box::new(measure) }
    }

    /// Whether it is the reference, and no limit.
    pub(crate) fn is_peer(&self) -> bool {
        self.name.starts_with("tensogram")
    }

    /// What is only shown: the part of the work that nobody can leave out, or a peer that nothing was promised beside.
    fn limit(name: &'static str, measure: impl FnMut(Effort) -> Duel + 'a) -> Self {
        Self { name, target: None, measure: Box::new(measure) }
    }
}

pub(crate) const ROWS: &[Row] = &[
    Row { name: "open and count, 20 000 messages of 0.5 kB", prepare: short },
    Row { name: "open and count, 20 000 messages of 33 kB", prepare: long },
    Row { name: "open and count, 20 000 messages of 33 kB, written one by one", prepare: long_one_by_one },
    Row { name: "open and count, 4 MiB of junk between two messages", prepare: junk },
    Row { name: "metadata of a message of 64 MiB, from a file", prepare: metadata },
    Row { name: "object 4 999 of 5 000, from memory", prepare: late_object },
    Row { name: "a raw object of 64 MiB, mapped, first element touched", prepare: mapped },
    Row { name: "a raw object of 64 MiB into the caller's buffer", prepare: copied },
    Row { name: "16×16 of 4096×4096 values in a message of 1 GiB, from a file", prepare: window },
];

const COUNT: usize = 20_000;

/// As short as messages of one object are.
fn short(folder: &Path) -> Run {
    let path = fixtures::many(folder, COUNT, &[]);
    assert_eq!(path.metadata().expect("is there").len(), 544 * COUNT as u64);
    let limit = Against::limit("reading the file", read_whole(&path));
    Run { against: vec![Against::new("tensogram", 10.0, count(&path)), limit] }
}

fn long(folder: &Path) -> Run {
    let path = fixtures::many(folder, COUNT, &[8_192]);
    let limit = Against::new("a bare `pread` per message", 0.8, read_ends(&path));
    Run { against: vec![Against::new("tensogram", 2.0, count(&path)), limit] }
}

/// What the reads cost when the page cache holds the file in small pieces; there is nothing in it that could be promised.
fn long_one_by_one(folder: &Path) -> Run {
    let path = fixtures::one_by_one(folder, COUNT, &[8_192]);
    let limit = Against::limit("a bare `pread` per message", read_ends(&path));
    Run { against: vec![Against::limit("tensogram", count(&path)), limit] }
}

fn count(path: &Path) -> impl FnMut(Effort) -> Duel + 'static {
    let path = path.to_owned();
    assert_eq!((ours::count(&path), peer::count(&path)), (COUNT, COUNT));
    move |effort| duel(effort, || ours::count(&path), || peer::count(&path))
}

/// Counting beside one read per message, of the end of one and the beginning of the next.
fn read_ends(path: &Path) -> impl FnMut(Effort) -> Duel + 'static {
    let path = path.to_owned();
    move |effort| {
        let bare = || {
            let file = File::open(&path).expect("opens");
            let each = file.metadata().expect("has a length").len() / COUNT as u64;
            let mut ends = [0; 48];
            for place in 1..COUNT as u64 {
                file.read_exact_at(&mut ends, place * each - 24).expect("reads");
                black_box(&ends);
            }
        };
        duel(effort, || ours::count(&path), bare)
    }
}

/// Counting beside reading the whole file in pieces, which is what finding every message takes where they are short.
fn read_whole(path: &Path) -> impl FnMut(Effort) -> Duel + 'static {
    let path = path.to_owned();
    move |effort| {
        let mut piece = vec![1; 256 << 10];
        let mut bare = || {
            let mut file = File::open(&path).expect("opens");
            while file.read(&mut piece).expect("reads") > 0 {
                black_box(&piece);
            }
        };
        duel(effort, || ours::count(&path), &mut bare)
    }
}

fn junk(folder: &Path) -> Run {
    let path = fixtures::gap(folder, 4 << 20);
    let whole = read_whole(&path);
    assert_eq!((ours::count(&path), peer::count(&path)), (2, 2));
    // The peer takes seconds: once is enough.
    let once = |effort| Effort { rounds: 1, ..effort };
    let measure = move |effort| duel(once(effort), || ours::count(&path), || peer::count(&path));
    Run { against: vec![Against::new("tensogram", 1_000.0, measure), Against::limit("reading the file", whole)] }
}

fn metadata(folder: &Path) -> Run {
    let path = fixtures::single(folder, 1, &[16 << 20]);
    let by_calls = path.clone();
    assert_eq!(ours::metadata(&path), peer::as_ours(&peer::metadata(&path)));
    let measure = move |effort| duel(effort, || ours::metadata(&path), || peer::metadata(&path));
    let calls = move |effort| {
        let bare = || {
            let file = File::open(&by_calls).expect("opens");
            let mut head = [0; 256];
            file.read_exact_at(&mut head, 0).expect("reads");
            head
        };
        duel(effort, || ours::metadata(&by_calls), bare)
    };
    Run { against: vec![Against::new("tensogram", 3_000.0, measure), Against::limit("one `pread` call", calls)] }
}

fn late_object(_: &Path) -> Run {
    let message = Rc::<[u8]>::from(fixtures::message(5_000, &[16]));
    let options = DecodeOptions::default();
    let (again, same) = (Rc::clone(&message), options.clone());
    assert_eq!(ours::object(&message, 4_999, &options), peer::object(&message, 4_999));
    let measure =
        move |effort| duel(effort, || ours::object(&message, 4_999, &options), || peer::object(&message, 4_999));
    // Where every object begins and how long it is, as the index says it.
    let index = vec![1; 5_000 * 2 * 8];
    let numbers = move |effort| duel(effort, || ours::object(&again, 4_999, &same), || pass(&index));
    let limit = Against::limit("reading 80 kB once", numbers);
    Run { against: vec![Against::new("tensogram `decode_object`", 500.0, measure), limit] }
}

fn mapped(folder: &Path) -> Run {
    let path = fixtures::single(folder, 1, &[16 << 20]);
    // SAFETY: nobody else knows the file, which lies in our own temporary folder.
    let promise = unsafe { LeftAlone::promised() };
    let first = move |path: &Path| ours::mapped(path, promise, |bytes| bytes[0]);
    // The whole object, as its first element is zero.
    assert!(ours::mapped(&path, promise, <[u8]>::to_vec) == peer::first_mapped(&path), "objects differ");
    let (by_peer, by_map) = (path.clone(), path);
    let peer = move |effort| duel(effort, || first(&by_peer), || peer::first_mapped(&by_peer)[0]);
    let map = move |effort| {
        let bare = || {
            let file = File::open(&by_map).expect("opens");
            // SAFETY: as above.
            let map = unsafe { memmap2::Mmap::map(&file) }.expect("maps");
            black_box(map[4096])
        };
        duel(effort, || first(&by_map), bare)
    };
    Run { against: vec![Against::new("tensogram", 1_000.0, peer), Against::new("a bare map", 0.5, map)] }
}

fn copied(folder: &Path) -> Run {
    const LEN: usize = 64 << 20;
    let message = std::fs::read(fixtures::single(folder, 1, &[16 << 20])).expect("readable");
    let (mut out, mut other) = (vec![1u8; LEN], vec![1u8; LEN]);
    let options = DecodeOptions::default().with_threads(1);
    let source = peer::object(&message, 0);
    ours::copied(&message, &options, &mut out);
    assert!(out == source, "objects differ");
    let measure = move |effort| {
        let ours = || ours::copied(&message, &options, &mut out);
        duel(effort, ours, || black_box(&mut other).copy_from_slice(black_box(&source)))
    };
    Run { against: vec![Against::new("memcpy", 1.0 / 1.3, measure)] }
}

fn window(folder: &Path) -> Run {
    const SIDE: u64 = 4096;
    let path = fixtures::single(folder, 16, &[SIDE, SIDE]);
    let options = DecodeOptions::default();
    let selection = Selection::from([2000..2016, 1000..1016]);
    let ours = move |path: &Path| ours::window(path, 9, &selection, &options);
    let (by_peer, by_calls, again) = (path.clone(), path, ours.clone());
    let ranges: Vec<(u64, u64)> = (2000..2016).map(|row| (row * SIDE + 1000, 16)).collect();
    assert_eq!(ours(&by_peer).data(), peer::ranges(&by_peer, 9, &ranges).concat());
    let peer = move |effort| duel(effort, || ours(&by_peer), || peer::ranges(&by_peer, 9, &ranges));
    let calls = move |effort| {
        let bare = || {
            let file = File::open(&by_calls).expect("opens");
            let mut out = [0u8; 16 * 64];
            for (row, part) in out.chunks_mut(64).enumerate() {
                file.read_exact_at(part, (9 * SIDE + 2000 + row as u64) * SIDE * 4 + 4000).expect("reads");
            }
            out
        };
        duel(effort, || again(&by_calls), bare)
    };
    Run { against: vec![Against::new("tensogram", 1_000.0, peer), Against::new("16 `pread` calls", 0.5, calls)] }
}
