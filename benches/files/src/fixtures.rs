//! Files to measure on, written by our encoder; the reference reads them too.

use fw_tensogram::{DataObjectDescriptor, EncodeOptions, GlobalMetadata};
use fw_tensor::{ByteOrder, DType};
use std::io::Write;
use std::path::{Path, PathBuf};

/// One message of raw float32 objects of this shape each.
pub(crate) fn message(objects: usize, shape: &[u64]) -> Vec<u8> {
    let mut descriptor = DataObjectDescriptor::new(DType::Float32, shape).expect("small shapes");
    descriptor.byte_order = ByteOrder::Little;
    let count: u64 = shape.iter().product();
    let data: Vec<u8> = (0..count).flat_map(|at| (at as f32).to_le_bytes()).collect();
    let parts = vec![(&descriptor, data.as_slice()); objects];
    fw_tensogram::encode(&GlobalMetadata::default(), &parts, &EncodeOptions::default()).expect("encodes")
}

/// A file of `count` messages with one object of this shape each, written in large pieces.
pub(crate) fn many(folder: &Path, count: usize, shape: &[u64]) -> PathBuf {
    // Large writes make large folios in the page cache. In small ones every read of another message waits for memory several
    // times over, and that is nearly all that is measured then.
    repeated(&folder.join("many.tgm"), count, &message(1, shape), 4 << 20)
}

/// The same file, written one message at a time.
pub(crate) fn one_by_one(folder: &Path, count: usize, shape: &[u64]) -> PathBuf {
    repeated(&folder.join("one-by-one.tgm"), count, &message(1, shape), 0)
}

/// Writes are of `piece` bytes, or of one message where that is longer.
fn repeated(path: &Path, count: usize, message: &[u8], piece: usize) -> PathBuf {
    let mut file = std::io::BufWriter::with_capacity(piece, std::fs::File::create(path).expect("a file"));
    (0..count).for_each(|_| file.write_all(message).expect("written"));
    file.flush().expect("written");
    path.to_owned()
}

/// Two messages with `junk` bytes between them that are not a message.
pub(crate) fn gap(folder: &Path, junk: usize) -> PathBuf {
    let path = folder.join("gap.tgm");
    let one = message(1, &[16]);
    let noise: Vec<u8> = (0..junk).map(|at| ((at * 2_654_435_761) >> 7) as u8).collect();
    std::fs::write(&path, [one.as_slice(), &noise, &one].concat()).expect("written");
    path
}

/// A file of one message.
pub(crate) fn single(folder: &Path, objects: usize, shape: &[u64]) -> PathBuf {
    let path = folder.join(format!("single-{objects}-{}.tgm", shape.iter().product::<u64>()));
    std::fs::write(&path, message(objects, shape)).expect("written");
    path
}
