//! A first look at a message: the values of chosen keys, found in the header without reading all of the metadata.

use crate::describe::cbor::Plain;
use crate::describe::{Index, Value};
use crate::frame::FrameRef;
use crate::wire::{FRAME_END, FRAME_HEADER_LEN, FrameHeader, FrameType, MessageFlags, PREAMBLE_LEN, Preamble};
use fw_bytes::{Limits, Span};

/// The metadata of the objects of a message as they stand in its header.
///
/// Selecting a few of many messages needs one or two keys of each. A glance finds them among the bytes; nothing else of the
/// message is read or checked. It exists for messages in their usual form only: metadata and index in the header, an entry for
/// each object. Of all others, and of metadata that is damaged, there is none, and the message has to be read.
///
/// ```
/// use fw_tensogram::access::Glance;
/// use fw_tensogram::{MessageBuilder, Value, value};
///
/// let mars = value!({ "param": "2t", "step": 6 });
/// let message = MessageBuilder::new().tensor(&[2], &[1.0f32, 2.0])?.base("mars", mars).encode()?;
/// let glance = Glance::of(&message).expect("the usual form");
/// assert_eq!(glance.object_count(), 1);
/// assert_eq!(glance.value(0, &["mars", "step"]), Some(Value::from(6)));
/// assert_eq!(glance.value(0, &["mars", "levelist"]), None);
/// # Ok::<(), fw_tensogram::TensogramError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Glance<'b> {
    /// The CBOR of each entry.
    entries: Vec<&'b [u8]>,
}

impl<'b> Glance<'b> {
    /// Looks at the first bytes of a message; all of its metadata and its index must be among them.
    pub fn of(beginning: &'b [u8]) -> Option<Self> {
        let preamble = Preamble::read(beginning, 0).ok()?;
        let elsewhere = MessageFlags::FOOTER_METADATA | MessageFlags::PRECEDER_METADATA;
        if preamble.flags.0 & elsewhere.0 != 0 {
            return None;
        }
        let (metadata, next) = frame(beginning, PREAMBLE_LEN, FrameType::HEADER_METADATA)?;
        let (index, _) = frame(beginning, next, FrameType::HEADER_INDEX)?;
        let entries = base_entries(metadata)?;
        let objects = Index::spans(index, 0, &Limits::default()).ok()?.len();
        (entries.len() == objects).then_some(Self { entries })
    }

    /// Number of objects.
    pub fn object_count(&self) -> usize {
        self.entries.len()
    }

    /// The value at a path of keys in the metadata of one object; `None` when there is none, or it is not in its usual form.
    pub fn value(&self, object: usize, keys: &[&str]) -> Option<Value> {
        let mut at = Plain::new(self.entries.get(object)?);
        for key in keys {
            at = at.member(key)?;
        }
        at.value(MOST_DEPTH)
    }
}

/// The body of the frame of this type at `start`, and where the next one begins.
fn frame(bytes: &[u8], start: u64, wanted: FrameType) -> Option<(&[u8], u64)> {
    let head = Span::sized(start, FRAME_HEADER_LEN)?.slice_of(bytes, 0)?;
    let header = FrameHeader::read(head, start).ok().filter(|header| header.frame_type == wanted)?;
    if header.length < wanted.min_len() {
        return None;
    }
    let frame = FrameRef::of(start, header);
    let end = frame.end_marker().slice_of(bytes, 0)?;
    let body = frame.body().slice_of(bytes, 0).filter(|_| end == FRAME_END)?;
    Some((body, frame.next_start()?))
}

/// The entries of the objects in the body of a metadata frame, all of which is in its usual form.
fn base_entries(metadata: &[u8]) -> Option<Vec<&[u8]>> {
    let mut cbor = Plain::new(metadata);
    let mut entries = None;
    for _ in 0..cbor.map()? {
        if cbor.text()? != "base" {
            cbor.skip(MOST_DEPTH)?;
            continue;
        }
        let count = cbor.array()?;
        let list = (0..count).map(|_| cbor.item(MOST_DEPTH)).collect::<Option<Vec<_>>>()?;
        // A key that comes twice is for the reader that knows what that means.
        if entries.replace(list).is_some() {
            return None;
        }
    }
    entries.filter(|_| cbor.is_empty())
}

/// Deeper metadata is read in full.
const MOST_DEPTH: u32 = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::MessageBuilder;
    use crate::{EncodeOptions, GlobalMetadata, StreamingEncoder, value};

    fn message() -> Vec<u8> {
        let mars =
            value!({ "param": "2t", "step": 6, "number": null, "area": [1.5, -2], "deep": { "er": { "x": true } } });
        let values = [1.0f32, 2.0];
        let builder = MessageBuilder::new().extra("run", "00Z").tensor(&[2], &values).unwrap().base("mars", mars);
        builder.tensor(&[2], &values).unwrap().base("name", "b").encode().unwrap()
    }

    #[test]
    fn values_are_those_of_the_metadata() {
        let message = message();
        let glance = Glance::of(&message).unwrap();
        let metadata = crate::decode_metadata(&message).unwrap();
        assert_eq!(glance.object_count(), 2);
        for (object, path) in [
            (0, "mars"),
            (0, "mars.param"),
            (0, "mars.step"),
            (0, "mars.number"),
            (0, "mars.area"),
            (0, "mars.deep.er.x"),
            (0, "name"),
            (1, "name"),
            (1, "mars"),
            (0, "run"),
            (2, "name"),
            (0, "mars.param.x"),
        ] {
            let keys: Vec<&str> = path.split('.').collect();
            let expected = metadata.base.get(object).and_then(|entry| {
                let (first, rest) = keys.split_first()?;
                rest.iter().try_fold(entry.get(*first)?, |value, key| value.member(key)).cloned()
            });
            assert_eq!(glance.value(object, &keys), expected, "{object} {path}");
        }
    }

    /// No damage makes a glance panic, and what it then finds was found in well-formed metadata.
    #[test]
    fn damage_and_unusual_messages_have_none() {
        let whole = message();
        assert!((0..300).all(|len| Glance::of(&whole[..len]).is_none()));
        for at in 0..whole.len().min(800) {
            for change in [0x01, 0x20, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] ^= change;
                if let Some(glance) = Glance::of(&damaged) {
                    let _ = (glance.value(0, &["mars", "param"]), glance.value(1, &["name"]));
                }
            }
        }
        let encoder = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &EncodeOptions::default());
        assert!(Glance::of(&encoder.unwrap().finish().unwrap()).is_none());
    }
}
