//! What reads hand out.

use crate::describe::{DataObjectDescriptor, GlobalMetadata};
use fw_codec::mask::Masks;

/// A whole message: its metadata and every object, decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodedMessage {
    /// The metadata, with one base entry per object.
    pub metadata: GlobalMetadata,
    /// The objects, in order.
    pub objects: Vec<DecodedObject>,
}

/// One object, decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodedObject {
    /// What it is.
    pub descriptor: DataObjectDescriptor,
    /// Its elements, in the byte order that the options ask for.
    pub bytes: Vec<u8>,
}

/// Runs of elements of one object, decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodedRanges {
    /// What the object is.
    pub descriptor: DataObjectDescriptor,
    /// The elements of each run, in the order the runs were asked for.
    pub parts: Vec<Vec<u8>>,
}

/// A whole message with zeros for its NaN and infinities.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskedMessage {
    /// The metadata, with one base entry per object.
    pub metadata: GlobalMetadata,
    /// The objects, in order.
    pub objects: Vec<MaskedObject>,
}

/// An object with zeros for its NaN and infinities, and the masks that say where they were.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskedObject {
    /// What it is.
    pub descriptor: DataObjectDescriptor,
    /// Its elements, in the byte order that the options ask for.
    pub bytes: Vec<u8>,
    /// Where NaN and infinities were.
    pub masks: Masks,
}

/// What a message says about itself: metadata and descriptors, no values.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageDescription {
    /// The metadata, with one base entry per object.
    pub metadata: GlobalMetadata,
    /// What the objects are, in order.
    pub descriptors: Vec<DataObjectDescriptor>,
}
