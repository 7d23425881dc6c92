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

/// A file of `count` messages with one object of `elements` values each.
pub(crate) fn many(folder: &Path, count: usize, elements: u64) -> PathBuf {
    let path = folder.join(format!("many-{count}-{elements}.tgm"));
    let one = message(1, &[elements]);
    // Large writes make large folios in the page cache. In small ones every read of another message waits for memory several
    // times over, and that is all that is measured then.
    let mut file = std::io::BufWriter::with_capacity(4 << 20, std::fs::File::create(&path).expect("a file"));
    (0..count).for_each(|_| file.write_all(&one).expect("written"));
    file.flush().expect("written");
    path
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
