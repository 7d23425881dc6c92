//! What a conversion could not keep, and the table of what each target keeps.

use crate::Format;
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
    pub(crate) const fn new(feature: Feature, tensor: Option<String>, what: String) -> Self {
        Self { feature, tensor, what }
    }

    /// Elements that went through `stages`, which the target does not have.
    pub(crate) fn decoded(stages: &str, tensor: &str) -> Self {
        let what = format!("{stages} is not kept: elements are written as they decode");
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
        matches!(self, Self::MetadataForm | Self::Messages | Self::Encoding | Self::ShardSize)
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Metadata => "lost metadata",
            Self::MetadataForm => "note, metadata",
            Self::TensorMetadata => "lost tensor metadata",
            Self::Messages => "note, messages",
            Self::Encoding => "note, encoding",
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

/// What becomes of one type or feature in each target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossRow {
    /// The element type or feature.
    pub what: &'static str,
    /// In a BinTensors file.
    pub bintensors: &'static str,
    /// In a safetensors file.
    pub safetensors: &'static str,
    /// In npy and npz files.
    pub numpy: &'static str,
    /// In a Tensogram file.
    pub tensogram: &'static str,
}

impl LossRow {
    /// The word for a target.
    pub const fn of(&self, format: Format) -> &'static str {
        match format {
            Format::BinTensors => self.bintensors,
            Format::SafeTensors => self.safetensors,
            Format::Tensogram => self.tensogram,
            Format::Npy | Format::Npz | Format::ShardIndex => self.numpy,
        }
    }
}

const fn row(
    what: &'static str,
    bintensors: &'static str,
    safetensors: &'static str,
    numpy: &'static str,
    tensogram: &'static str,
) -> LossRow {
    LossRow { what, bintensors, safetensors, numpy, tensogram }
}

/// The table of the documentation. `kept`: as it is. `carried`: as bytes with metadata that our readers undo.
/// `refused`: an error, unless raw bits or leaving out is asked for. `lost`: not written, and listed.
pub const LOSS_TABLE: &[LossRow] = &[
    row("bool", "kept", "kept", "kept", "carried"),
    row("int8", "kept", "kept", "kept", "kept"),
    row("int16", "kept", "kept", "kept", "kept"),
    row("int32", "kept", "kept", "kept", "kept"),
    row("int64", "kept", "kept", "kept", "kept"),
    row("uint8", "kept", "kept", "kept", "kept"),
    row("uint16", "kept", "kept", "kept", "kept"),
    row("uint32", "kept", "kept", "kept", "kept"),
    row("uint64", "kept", "kept", "kept", "kept"),
    row("float16", "kept", "kept", "kept", "kept"),
    row("bfloat16", "kept", "kept", "refused", "kept"),
    row("float32", "kept", "kept", "kept", "kept"),
    row("float64", "kept", "kept", "kept", "kept"),
    row("complex64", "carried", "kept", "kept", "kept"),
    row("complex128", "carried", "refused", "kept", "kept"),
    row("bitmask", "carried", "refused", "refused", "kept"),
    row("float8_e4m3", "kept", "kept", "refused", "carried"),
    row("float8_e5m2", "kept", "kept", "refused", "carried"),
    row("float8_e4m3fnuz", "carried", "kept", "refused", "carried"),
    row("float8_e5m2fnuz", "carried", "kept", "refused", "carried"),
    row("float8_e8m0", "carried", "kept", "refused", "carried"),
    row("float6_e2m3", "carried", "kept", "refused", "carried"),
    row("float6_e3m2", "carried", "kept", "refused", "carried"),
    row("float4", "carried", "kept", "refused", "carried"),
    row("tensor names", "kept", "kept", "kept in npz, lost in npy", "kept"),
    row("metadata map", "kept", "kept", "lost", "kept"),
    row("empty metadata map", "kept", "kept", "dropped", "dropped"),
    row("metadata that is no text", "carried", "carried", "lost", "kept"),
    row("metadata that JSON has no form for", "as text, type lost", "as text, type lost", "lost", "as text, type lost"),
    row("metadata of one tensor", "carried", "carried", "lost", "kept"),
    row("order of tensors", "lost", "lost", "kept", "kept"),
    row("big-endian data", "as little endian", "as little endian", "as little endian", "as little endian"),
    row("column-major data", "as rows", "as rows", "as rows", "as rows"),
    row("infinities and plain NaN", "kept", "kept", "kept", "kept"),
    row("NaN with bits of its own", "kept", "kept", "kept", "lost, or kept on request"),
    row("half-finite complex numbers", "kept", "kept", "kept", "lost, or kept on request"),
    row("compressed or packed elements", "as decoded", "as decoded", "as decoded", "as decoded"),
    row("bounds of messages", "in the names", "in the names", "in the names", "in the names"),
    row("text, object, date and structured arrays", "refused", "refused", "refused", "refused"),
    row("zip entries that are no arrays", "lost", "lost", "lost", "lost"),
    row("index metadata of a checkpoint", "lost", "lost", "lost", "lost"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use fw_tensor::DType;

    #[test]
    fn every_type_has_a_row_that_the_code_agrees_with() {
        for dtype in DType::ALL {
            let row = LOSS_TABLE.iter().find(|row| row.what == dtype.name()).unwrap_or_else(|| panic!("{dtype}"));
            let native = fw_bintensors::Dtype::from_common(*dtype).is_some();
            assert_eq!(row.bintensors, if native { "kept" } else { "carried" }, "{dtype}");
            let named = crate::safetensors::type_name(*dtype).is_some();
            assert_eq!(row.safetensors, if named { "kept" } else { "refused" }, "{dtype}");
            let described = crate::numpy::descr(*dtype).is_some();
            assert_eq!(row.numpy, if described { "kept" } else { "refused" }, "{dtype}");
            assert_eq!(row.tensogram, if crate::tensogram::has(*dtype) { "kept" } else { "carried" }, "{dtype}");
        }
    }

    #[test]
    fn the_documentation_shows_this_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/conversions.md");
        let text = std::fs::read_to_string(path).unwrap();
        for row in LOSS_TABLE {
            let cells = [row.what, row.bintensors, row.safetensors, row.numpy, row.tensogram];
            let line = format!("| {} |", cells.join(" | "));
            assert!(text.contains(&line), "docs/conversions.md lacks: {line}");
        }
    }
}
