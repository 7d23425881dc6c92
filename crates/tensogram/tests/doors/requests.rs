//! What is asked of a message.

use super::answer::Answer;
use super::door::{Door, Slice};
use fw_tensogram::{DecodeOptions, MessageIndex};
use fw_tensor::Selection;
use std::fmt;

#[derive(Clone, Debug)]
pub(crate) enum Request {
    Metadata,
    FirstMetadata,
    Descriptors,
    ObjectCount,
    Survey,
    Message,
    Head(usize),
    Object(usize),
    Masked(usize),
    Into(usize, usize),
    Floats(usize),
    Bytes(usize),
    Ranges(usize, Vec<(u64, u64)>),
    Slice(usize, Selection),
}

/// Every request that makes sense for a message, and some that do not: objects it lacks, runs past the end.
pub(crate) fn all(message: &Slice<'_>) -> Vec<Request> {
    let index = MessageIndex::from(0);
    let options = DecodeOptions::default();
    // Many objects are alike; the first few, and one past the last.
    let count = message.object_count(index, &options).unwrap_or(1);
    let mut requests = vec![
        Request::Metadata,
        Request::FirstMetadata,
        Request::Descriptors,
        Request::ObjectCount,
        Request::Survey,
        Request::Message,
    ];
    for object in (0..count.min(3)).chain([count]) {
        let head = message.object_head(index, object, &options).ok();
        let descriptor = head.as_ref().map(|head| &head.descriptor);
        let elements = descriptor.and_then(|descriptor| descriptor.element_count().ok()).unwrap_or(4);
        let len = descriptor.and_then(|descriptor| descriptor.decoded_len().ok()).filter(|len| *len < 1 << 20);
        let first = Selection::new().axis(0..1);
        let beyond = Selection::new().axis(0..1).axis(0..1).axis(0..1).axis(0..1).axis(0..1);
        let strided = fw_tensor::select![..; 2];
        requests.extend([
            Request::Head(object),
            Request::Object(object),
            Request::Masked(object),
            Request::Into(object, len.unwrap_or(8) as usize),
            Request::Into(object, 3),
            Request::Floats(object),
            Request::Bytes(object),
            Request::Ranges(object, vec![(0, elements.min(2)), (elements / 2, elements.min(1))]),
            Request::Ranges(object, vec![(0, elements.saturating_add(1))]),
            Request::Ranges(object, Vec::new()),
            Request::Slice(object, Selection::new()),
            Request::Slice(object, first),
            Request::Slice(object, strided),
            Request::Slice(object, beyond),
        ]);
    }
    requests
}

impl Request {
    pub(crate) fn put(&self, door: &dyn Door, message: MessageIndex, options: &DecodeOptions) -> Answer {
        match self {
            Self::Metadata => Answer::of(door.metadata(message, options)),
            Self::FirstMetadata => Answer::of(door.first_metadata(message, options)),
            Self::Descriptors => Answer::of(door.descriptors(message, options)),
            Self::ObjectCount => Answer::of(door.object_count(message, options)),
            Self::Survey => Answer::of(door.survey(message, options)),
            Self::Message => Answer::of(door.decode(message, options)),
            Self::Head(object) => Answer::of(door.object_head(message, *object, options)),
            Self::Object(object) => Answer::of(door.object(message, *object, options)),
            Self::Masked(object) => {
                let options = DecodeOptions { restore_non_finite: false, ..options.clone() };
                Answer::of(door.object(message, *object, &options))
            }
            Self::Into(object, len) => {
                let mut out = vec![0; *len];
                let descriptor = door.object_into(message, *object, options, &mut out);
                Answer::of(descriptor.map(|descriptor| (descriptor, out)))
            }
            Self::Floats(object) => Answer::of(door.floats(message, *object, options)),
            Self::Bytes(object) => Answer::of(door.bytes(message, *object, options)),
            Self::Ranges(object, ranges) => Answer::of(door.ranges(message, *object, ranges, options)),
            Self::Slice(object, selection) => Answer::of(door.slice(message, *object, selection, options)),
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FirstMetadata => f.write_str("first metadata"),
            other => write!(f, "{other:?}"),
        }
    }
}
