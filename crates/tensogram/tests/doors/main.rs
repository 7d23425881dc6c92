//! One contract through every door: whatever a message is read through, a slice, an owned message, a file, a map, an awaited
//! file or a store, the same request gives the same values, or an error of the same class, code, kind, byte and path.

mod answer; // what came out, in a form that can be compared
mod door; // the ways in
mod large; // surveys of messages that are fetched in parts
mod owned; // what outlives the call
mod requests; // what is asked
#[path = "../common/source.rs"]
mod source; // a source that counts

use answer::Answer;
use door::{Door, Doors};
use fw_bytes::Limits;
use fw_tensogram::{DecodeOptions, MessageIndex, TensogramFile};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Answers that differ: how often each kind was met, and the first one.
type Differences = BTreeMap<String, (usize, String)>;

/// Where a door deliberately answers otherwise, and why.
const EXCEPTIONS: [(&str, &str, &str); 1] = [(
    "owned message",
    "first metadata",
    "a message is opened before anything of it is read, and opening finds faults that come after its first metadata",
)];

#[test]
fn vectors_read_the_same_through_every_door() {
    compare_all("tensogram", 219, &options());
}

#[test]
fn attacks_read_the_same_through_every_door() {
    compare_all("robustness", 13, &options());
}

#[test]
fn vectors_of_codecs_read_the_same_through_every_door() {
    // Framing is that of the other vectors: what matters here is what decoding does.
    let named = ["defaults", "digests", "object_len", "untrusted", "defaults again"];
    let options: Vec<_> = options().into_iter().filter(|(name, _)| named.contains(name)).collect();
    compare_all("tensogram-codecs", 415, &options);
}

fn compare_all(set: &str, expected: usize, options: &[(&str, DecodeOptions)]) {
    let paths = vectors(set);
    assert!(paths.len() >= expected, "{} vectors in {set}", paths.len());
    let mut compared = 0;
    let mut differences = Differences::new();
    for path in &paths {
        compared += compare(path, options, &mut differences);
    }
    let shown: Vec<_> = differences.iter().map(|(kind, (count, first))| format!("{count} x {kind}: {first}")).collect();
    assert!(differences.is_empty(), "{} kinds of differences:\n{}", differences.len(), shown.join("\n"));
    assert!(compared > 100 * expected, "{compared} answers");
}

/// Puts every request to every door; the slice is what the others are held to.
fn compare(path: &Path, options: &[(&str, DecodeOptions)], differences: &mut Differences) -> usize {
    let bytes = fs::read(path).unwrap();
    let name = path.file_stem().unwrap().to_str().unwrap();
    let doors = Doors::open(path, &bytes);
    let layouts = TensogramFile::open(path).unwrap().message_layouts().unwrap();
    let mut compared = 0;
    for door in doors.files() {
        assert_eq!(door.layouts().unwrap(), layouts, "{name}: {}", door.name());
        let beyond = door.metadata(MessageIndex::from(layouts.len()), &DecodeOptions::default()).unwrap_err();
        assert_eq!((beyond.class(), beyond.code()), ("Framing", "message_index_out_of_range"), "{name}");
    }
    for (number, span) in layouts.iter().enumerate() {
        let message = span.slice_of(&bytes, 0).unwrap();
        let slice = door::Slice { message, start: span.start };
        let index = match number % 2 {
            0 => MessageIndex::FromStart(number),
            _ => MessageIndex::FromEnd(layouts.len() - 1 - number),
        };
        // The same doors for all of them: what one request left behind must not change the answer to the next.
        for (which, options) in options {
            for request in requests::all(&slice) {
                let expected = request.put(&slice, index, options);
                for door in doors.all() {
                    let found = request.put(door, index, options);
                    compared += 1;
                    if found != expected && !excepted(door, &request, &found) {
                        let what = format!("{name}, message {number}, {which}, {request}");
                        let kind = format!("{}, {} not {}", door.name(), found.kind(), expected.kind());
                        let first = || format!("{what}:\n  slice: {expected:?}\n  {}: {found:?}", door.name());
                        differences.entry(kind).or_insert_with(|| (0, first())).0 += 1;
                    }
                }
            }
        }
    }
    compared
}

fn excepted(door: &dyn Door, request: &requests::Request, found: &Answer) -> bool {
    let listed = EXCEPTIONS.iter().any(|(name, asked, _)| *name == door.name() && *asked == request.to_string());
    listed && !found.is_value()
}

/// Intact and damaged input is read with defaults, with digests compared, and under limits that refuse most of it. The
/// defaults come again at the end, when everything is known already.
fn options() -> Vec<(&'static str, DecodeOptions)> {
    let limited = |set: &dyn Fn(&mut Limits)| {
        let mut limits = Limits::default();
        set(&mut limits);
        DecodeOptions::default().with_limits(limits)
    };
    vec![
        ("defaults", DecodeOptions::default()),
        ("digests", DecodeOptions::default().with_verify_hash()),
        ("message_len", limited(&|limits| limits.message_len = 600)),
        ("object_count", limited(&|limits| limits.object_count = 1)),
        ("metadata_len", limited(&|limits| limits.metadata_len = 120)),
        ("depth", limited(&|limits| limits.depth = 2)),
        ("object_len", limited(&|limits| limits.object_len = 20)),
        ("untrusted", DecodeOptions::untrusted()),
        ("wire order", DecodeOptions { native_byte_order: false, ..DecodeOptions::default() }),
        ("defaults again", DecodeOptions::default()),
    ]
}

fn vectors(set: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(set);
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "tgm")).collect();
    paths.sort();
    paths
}
