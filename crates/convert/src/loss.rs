//! What a conversion could not keep.

use serde::Serialize;
use std::collections::HashMap;
use std::fmt;

/// One thing that is in the source and not in the target, or is there in another form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Loss {
    /// What kind of thing.
    pub feature: Feature,
    /// Which tensor, when it is about one.
    pub tensor: Option<String>,
    /// In words.
    pub what: String,
}

impl Loss {
    /// A loss, or a note, in words.
    pub const fn new(feature: Feature, tensor: Option<String>, what: String) -> Self {
        Self { feature, tensor, what }
    }

    /// Elements that went through `stages`, which the target does not have.
    pub(crate) fn decoded(stages: &str, tensor: &str) -> Self {
        let what = format!("{stages} is not kept: elements are written decoded");
        Self::new(Feature::Encoding, Some(tensor.to_owned()), what)
    }

    /// The same thing lost by many tensors is one line: losses alike in feature and words, in the order they came up.
    pub fn grouped(losses: &[Self]) -> Vec<LossGroup> {
        let mut places = HashMap::new();
        let mut groups: Vec<LossGroup> = Vec::new();
        for loss in losses {
            let place = *places.entry((loss.feature, loss.what.as_str())).or_insert_with(|| {
                groups.push(LossGroup {
                    feature: loss.feature,
                    what: loss.what.clone(),
                    count: 0,
                    tensors: Vec::new(),
                });
                groups.len().saturating_sub(1)
            });
            if let Some(group) = groups.get_mut(place) {
                group.count = group.count.saturating_add(1);
                group.tensors.extend(loss.tensor.clone());
            }
        }
        groups
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.feature.title())?;
        match &self.tensor {
            Some(tensor) => write!(f, "{} ({tensor:?})", self.what),
            None => f.write_str(&self.what),
        }
    }
}

/// Losses alike in feature and words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LossGroup {
    /// What kind of thing.
    pub feature: Feature,
    /// In words.
    pub what: String,
    /// How often.
    pub count: usize,
    /// Which tensors, when it is about some.
    pub tensors: Vec<String>,
}

impl fmt::Display for LossGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.feature.title(), self.what)?;
        let named: Vec<String> = self.tensors.iter().take(NAMES_SHOWN).map(|name| format!("{name:?}")).collect();
        match self.tensors.len() {
            0 => Ok(()),
            1 => write!(f, " ({})", named.join(", ")),
            count if count > NAMES_SHOWN => write!(f, " ({count} tensors: {}, …)", named.join(", ")),
            count => write!(f, " ({count} tensors: {})", named.join(", ")),
        }
    }
}

/// Names in a line; JSON has them all.
const NAMES_SHOWN: usize = 3;

/// Kinds of things that can be lost or change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Feature {
    /// The file's own text map.
    Metadata,
    /// A value of the metadata is there as JSON text, and a value again in the next Tensogram file. A note, no loss.
    MetadataForm,
    /// What a file says about one tensor beside its name, type and shape.
    TensorMetadata,
    /// The bounds of messages in a file of several: tensors are named by the number of their message. A note, no loss.
    Messages,
    /// The stages that an object went through, or the compression of an array: its elements are written as they decode. A note,
    /// no loss.
    Encoding,
    /// A tensor that shares its bytes with another one: each is written with its own. A note, no loss.
    SharedStorage,
    /// A shard that is larger than was asked for, because one tensor alone is: tensors are not split. A note, no loss.
    ShardSize,
    /// Bytes that belong to no readable message.
    UnreadableBytes,
    /// The name of a tensor.
    Name,
    /// The order of tensors in the file, where the target sorts and the source did not.
    Order,
    /// The element type: the bits are kept under another type.
    Dtype,
    /// The bits of NaN, or the finite half of a complex number.
    NanBits,
    /// A whole tensor, left out on request.
    Tensor,
    /// Something in a zip that is no array.
    Member,
    /// What an index says beside the map of tensors.
    IndexMetadata,
    /// Bytes of a capture that are no good frame.
    Bytes,
}

impl Feature {
    /// Stable snake_case code.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Metadata => "metadata",
            Self::MetadataForm => "metadata_form",
            Self::TensorMetadata => "tensor_metadata",
            Self::Messages => "messages",
            Self::Encoding => "encoding",
            Self::SharedStorage => "shared_storage",
            Self::ShardSize => "shard_size",
            Self::UnreadableBytes => "unreadable_bytes",
            Self::Name => "name",
            Self::Order => "order",
            Self::Dtype => "dtype",
            Self::NanBits => "nan_bits",
            Self::Tensor => "tensor",
            Self::Member => "member",
            Self::IndexMetadata => "index_metadata",
            Self::Bytes => "bytes",
        }
    }

    /// True for changes of form that take nothing away: they are told, and do not count as losses.
    pub const fn is_note(self) -> bool {
        match self {
            Self::MetadataForm | Self::Messages | Self::Encoding | Self::SharedStorage | Self::ShardSize => true,
            Self::Metadata | Self::TensorMetadata | Self::UnreadableBytes | Self::Name | Self::Order => false,
            Self::Dtype | Self::NanBits | Self::Tensor | Self::Member | Self::IndexMetadata | Self::Bytes => false,
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Metadata => "lost metadata",
            Self::MetadataForm => "note, metadata",
            Self::TensorMetadata => "lost tensor metadata",
            Self::Messages => "note, messages",
            Self::Encoding => "note, encoding",
            Self::SharedStorage => "note, shared storage",
            Self::ShardSize => "note, shard size",
            Self::UnreadableBytes => "lost bytes",
            Self::Name => "lost name",
            Self::Order => "lost order",
            Self::Dtype => "lost type",
            Self::NanBits => "lost bits",
            Self::Tensor => "lost tensor",
            Self::Member => "lost zip entry",
            Self::IndexMetadata => "lost index metadata",
            Self::Bytes => "lost bytes",
        }
    }
}

/// What targets treat differently, beside element types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Names,
    Metadata,
    EmptyMetadata,
    /// Metadata that is no text.
    MetadataValues,
    MetadataBeyondJson,
    TensorMetadata,
    Order,
    NanBits,
    HalfFinite,
}

impl Item {
    pub(crate) const ALL: [Self; 9] = [
        Self::Names,
        Self::Metadata,
        Self::EmptyMetadata,
        Self::MetadataValues,
        Self::MetadataBeyondJson,
        Self::TensorMetadata,
        Self::Order,
        Self::NanBits,
        Self::HalfFinite,
    ];

    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Names => "tensor names",
            Self::Metadata => "metadata map",
            Self::EmptyMetadata => "empty metadata map",
            Self::MetadataValues => "metadata that is not text",
            Self::MetadataBeyondJson => "metadata that JSON cannot express",
            Self::TensorMetadata => "metadata of one tensor",
            Self::Order => "order of tensors",
            Self::NanBits => "NaN with payload bits",
            Self::HalfFinite => "half-finite complex numbers",
        }
    }
}
