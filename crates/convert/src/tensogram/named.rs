//! The objects of one message as named tensors, from what its metadata says: for readers that have no file at hand.

use super::{carry, names};
use crate::ConvertError;
use crate::model::{Entry, cut};
use fw_tensogram::{DataObjectDescriptor, GlobalMetadata, MetadataMap};
use fw_tensor::{DType, Selection};

/// The names of the objects of a message, as a file of this one message has them; metadata as a full decode gives it,
/// with one base entry per object.
pub fn named_objects(metadata: &GlobalMetadata) -> Vec<String> {
    let name = |object| names::given(metadata, object).map(|(_, name)| name);
    let objects: Vec<_> = (0..metadata.base.len()).map(|object| (0, object, name(object))).collect();
    names::unique(&objects, 1)
}

/// What an object of a message is to its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Element type.
    pub dtype: DType,
    /// Shape.
    pub shape: Vec<u64>,
    /// Whether the object holds these elements as bytes, because Tensogram has no such type.
    pub carried: bool,
}

impl Named {
    /// By the object's descriptor, and its entry in the metadata of the message.
    pub fn new(descriptor: &DataObjectDescriptor, metadata: &GlobalMetadata, object: usize) -> Self {
        let empty = MetadataMap::new();
        match carry::logical(descriptor, metadata.base.get(object).unwrap_or(&empty)) {
            Some((dtype, shape)) => Self { dtype, shape, carried: true },
            None => Self::of(descriptor),
        }
    }

    /// By the descriptor alone: elements of a type that Tensogram does not have are bytes then.
    pub fn of(descriptor: &DataObjectDescriptor) -> Self {
        Self { dtype: descriptor.dtype, shape: descriptor.shape.clone(), carried: false }
    }

    /// Shape and elements of a part, out of all of them.
    ///
    /// # Errors
    /// A selection that does not fit; elements that are no whole bytes.
    pub fn cut(&self, data: &[u8], selection: &Selection) -> Result<(Vec<u64>, Vec<u8>), ConvertError> {
        cut(&Entry::new(String::new(), self.dtype, self.shape.clone(), None), data, selection)
    }
}
