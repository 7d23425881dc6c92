//! Our side of every row.

use fw_source::LeftAlone;
use fw_tensogram::{DecodeOptions, GlobalMetadata, MessageView, TensogramFile};
use fw_tensor::{Selection, TensorBuf};
use std::path::Path;

/// Opens a file and counts its messages.
pub(crate) fn count(path: &Path) -> usize {
    TensogramFile::open(path).expect("opens").message_count().expect("counts")
}

/// Opens a file and reads the metadata of its first message.
pub(crate) fn metadata(path: &Path) -> GlobalMetadata {
    TensogramFile::open(path).expect("opens").metadata(0).expect("metadata")
}

/// Decodes one object of a message in memory.
pub(crate) fn object(message: &[u8], index: usize, options: &DecodeOptions) -> Vec<u8> {
    let view = MessageView::open(message).expect("opens");
    view.object(index).expect("is there").decode(options).expect("decodes")
}

/// Maps a file and does something with the bytes of its first object.
pub(crate) fn mapped<A>(path: &Path, promise: LeftAlone, work: impl FnOnce(&[u8]) -> A) -> A {
    let file = TensogramFile::open_mmap(path, promise).expect("opens");
    let view = file.view(0).expect("is there");
    work(view.object(0).expect("is there").bytes().expect("raw"))
}

/// Copies the first object of a message in memory to where the caller wants it.
pub(crate) fn copied(message: &[u8], options: &DecodeOptions, out: &mut [u8]) {
    let view = MessageView::open(message).expect("opens");
    view.object(0).expect("is there").decode_into(options, out).expect("decodes");
}

/// Opens a file and reads a part of one object of its first message.
pub(crate) fn window(path: &Path, object: usize, selection: &Selection, options: &DecodeOptions) -> TensorBuf {
    TensogramFile::open(path).expect("opens").slice(0, object, selection, options).expect("slices")
}
