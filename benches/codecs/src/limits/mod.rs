//! What the machine allows: the part of an operation that nobody can leave out, done alone.
//!
//! For a compressor that is the codec in C or C++ on the same bytes, called directly and into warm memory; otherwise a copy of
//! the object, or the bare loop of 16-bit packing, into memory that is as warm as ours was.

mod bare; // the codecs as they are
mod packing; // the loops of 16-bit packing

use crate::ours::Ours;
use crate::rows::{Operation, Row, is_close, middle};
use bench_harness::{Best, Fresh, Least, copy, copy_fresh};
use packing::Packing;

/// The limits of one row on so many threads.
pub(crate) struct Limits<'a> {
    row: &'a Row,
    threads: usize,
    data: &'a [u8],
    /// What the compressor is given: the object after its encoding and filter.
    filtered: Vec<u8>,
    /// What our compressor makes of it, in huge pages, as our message is: reading from others takes up to twice the time.
    payload: Fresh,
    /// The object in huge pages likewise, for what reads it from a message.
    stored: Fresh,
}

impl<'a> Limits<'a> {
    /// For an object, and our message of it.
    pub(crate) fn new(row: &'a Row, threads: usize, data: &'a [u8], message: &[u8]) -> Self {
        let uncompressed = Ours::new(&Row { compression: "none", ..*row }, row.data.shape(), threads).encode(data);
        let (filtered, payload) = (Ours::payload(&uncompressed).to_vec(), copy_fresh(1, Ours::payload(message)));
        Self { row, threads, data, filtered, payload, stored: copy_fresh(1, data) }
    }

    /// The limit for an operation of which a call of ours is this one. A view has none: it moves no bytes.
    pub(crate) fn least(&self, operation: Operation, ours: Best) -> Option<Least<'_>> {
        match operation {
            Operation::View => None,
            Operation::Range => Some(self.range()),
            _ if self.row.compression != "none" => Some(self.codec(operation)),
            _ if self.row.is_packed_to(16) => Some(self.packing(operation, ours)),
            _ => Some(self.copy(operation, ours)),
        }
    }

    fn codec(&self, operation: Operation) -> Least<'_> {
        let mut codec = bare::codec(self.row, self.threads, &self.filtered);
        if operation == Operation::Encode {
            let mut out = room(self.filtered.len());
            let len = codec.encode(&mut out);
            codec.decode(&out[..len]);
            self.assert_like(&codec.decoded(), "what the bare codec encoded");
            return Least::warm(codec.name(), move || {
                codec.encode(&mut out);
            });
        }
        let coded = codec.within(self.payload.as_bytes());
        codec.decode(coded);
        self.assert_like(&codec.decoded(), "our payload, read by the bare codec");
        Least::warm(codec.name(), move || codec.decode(coded))
    }

    /// The codec's own range of our payload if it has such a thing, otherwise the codec on an object that has only the
    /// elements asked for.
    fn range(&self) -> Least<'_> {
        let shape = self.row.data.shape();
        let width = self.filtered.len() / (shape[0] * shape[1]) as usize;
        let (first, count) = middle(shape);
        let part = &self.filtered[first as usize * width..][..count as usize * width];
        let mut whole = bare::codec(self.row, self.threads, &self.filtered);
        let coded = whole.within(self.payload.as_bytes());
        if whole.decode_some(coded, first, count).is_some() {
            assert!(whole.decoded().starts_with(part), "{}: a range, read by the bare codec", self.row.name);
            return Least::warm(whole.name(), move || _ = whole.decode_some(coded, first, count));
        }
        let mut codec = bare::codec(self.row, self.threads, part);
        let mut out = room(part.len());
        let len = codec.encode(&mut out);
        Least::warm(codec.name(), move || codec.decode(&out[..len]))
    }

    fn packing(&self, operation: Operation, ours: Best) -> Least<'_> {
        let packing = Packing::of(self.data);
        let (threads, mut out) = (self.threads, vec![1; self.data.len()]);
        if operation == Operation::Encode {
            let mut packed = vec![1; self.filtered.len()];
            packing.encode(threads, self.data, &mut packed);
            packing.decode(threads, &packed, &mut out);
            self.assert_like(&out, "what the bare loop packed");
            return Least::warm("bare loop", move || packing.encode(threads, self.data, &mut packed));
        }
        packing.decode(threads, self.payload.as_bytes(), &mut out);
        self.assert_like(&out, "our payload, unpacked by the bare loop");
        if is_fresh(ours, out.len()) {
            return Least::fresh("bare loop, fresh pages", move || {
                let mut fresh = Fresh::new(self.data.len());
                packing.decode(threads, self.payload.as_bytes(), fresh.bytes());
                fresh
            });
        }
        Least::warm("bare loop", move || packing.decode(threads, self.payload.as_bytes(), &mut out))
    }

    fn copy(&self, operation: Operation, ours: Best) -> Least<'_> {
        let from = if operation == Operation::Encode { self.data } else { self.stored.as_bytes() };
        if is_fresh(ours, from.len()) {
            return Least::fresh("memcpy, fresh pages", move || copy_fresh(self.threads, from));
        }
        let mut out = vec![1; from.len()];
        Least::warm("memcpy", move || copy(self.threads, from, &mut out))
    }

    /// A limit counts only if the work was done.
    fn assert_like(&self, decoded: &[u8], what: &str) {
        let row = self.row;
        let is_whole = decoded.len() == self.data.len() && row.filter == "none";
        let same = if is_whole { is_close(row, self.data, decoded) } else { decoded == self.filtered };
        assert!(same, "{}: {what}", row.name);
    }
}

/// Warm memory for anything that a codec may make of so many bytes.
fn room(len: usize) -> Vec<u8> {
    vec![1; len * 2 + 65_536]
}

/// Whether output of this length was written to pages that the system had to make, be they of 2 MiB each. A few faults are
/// the stacks of threads.
fn is_fresh(ours: Best, len: usize) -> bool {
    ours.faults >= (len >> 21).max(16) as u64
}
