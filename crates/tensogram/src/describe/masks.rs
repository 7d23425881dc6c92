//! Where the masks of non-finite values stand behind a payload (TG-8.3).

use super::cbor::Value;
use super::metadata::{MetadataMap, mismatch, text_map};
use crate::error::Result;

/// What a mask marks.
pub use fw_codec::finite::Kind as MaskKind;

/// One mask blob.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MaskDescriptor {
    /// `none`, `rle`, `roaring`, `lz4`, `zstd` or `blosc2`.
    pub method: String,
    /// Where the blob begins, from the start of the payload region.
    pub offset: u64,
    /// Bytes of the blob.
    pub length: u64,
    /// How it was compressed, where the method has settings.
    pub params: MetadataMap,
}

/// The masks of one object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MasksMetadata {
    /// Elements that are not numbers.
    pub nan: Option<MaskDescriptor>,
    /// Elements that are positive infinity.
    pub pos_inf: Option<MaskDescriptor>,
    /// Elements that are negative infinity.
    pub neg_inf: Option<MaskDescriptor>,
}

impl MasksMetadata {
    /// The masks that are present, in the order they are applied.
    pub fn iter(&self) -> impl Iterator<Item = (MaskKind, &MaskDescriptor)> {
        MaskKind::ALL.into_iter().filter_map(|kind| self.kind(kind).map(|mask| (kind, mask)))
    }

    /// The mask of one kind.
    pub const fn kind(&self, kind: MaskKind) -> Option<&MaskDescriptor> {
        match kind {
            MaskKind::Nan => self.nan.as_ref(),
            MaskKind::PosInf => self.pos_inf.as_ref(),
            MaskKind::NegInf => self.neg_inf.as_ref(),
        }
    }

    /// Sets the mask of one kind.
    pub fn set(&mut self, kind: MaskKind, mask: MaskDescriptor) {
        *match kind {
            MaskKind::Nan => &mut self.nan,
            MaskKind::PosInf => &mut self.pos_inf,
            MaskKind::NegInf => &mut self.neg_inf,
        } = Some(mask);
    }

    /// True when there is no mask at all.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Where the first mask begins: the encoded payload ends there.
    pub fn first_offset(&self) -> Option<u64> {
        self.iter().map(|(_, mask)| mask.offset).min()
    }

    /// The same masks behind a payload that is so many bytes longer.
    pub(crate) fn shifted(&self, by: u64) -> Self {
        self.moved(|offset| offset.saturating_add(by))
    }

    /// The same masks, counted from `base` bytes into the payload region.
    pub(crate) fn rebased(&self, base: u64) -> Self {
        self.moved(|offset| offset.saturating_sub(base))
    }

    fn moved(&self, place: impl Fn(u64) -> u64) -> Self {
        let mut moved = Self::default();
        for (kind, mask) in self.iter() {
            moved.set(kind, MaskDescriptor { offset: place(mask.offset), ..mask.clone() });
        }
        moved
    }

    pub(super) fn from_value(value: Value, at: u64) -> Result<Self> {
        let mut map = text_map(value, "masks", at).map_err(|error| error.on("descriptor.masks"))?;
        let mut masks = Self::default();
        for kind in MaskKind::ALL {
            if let Some(value) = map.remove(kind.key()) {
                let path = || format!("descriptor.masks.{}", kind.key());
                masks.set(kind, mask_from_value(value, at).map_err(|error| error.on(path()))?);
            }
        }
        Ok(masks)
    }

    pub(super) fn to_value(&self) -> Value {
        self.iter().map(|(kind, mask)| (kind.key(), mask_to_value(mask))).collect()
    }
}

fn mask_from_value(value: Value, at: u64) -> Result<MaskDescriptor> {
    let mut map = text_map(value, "mask", at)?;
    let mut unsigned = |key: &str| match map.remove(key).as_ref().and_then(Value::as_integer).map(u64::try_from) {
        Some(Ok(number)) => Ok(number),
        _ => Err(mismatch(key, "an unsigned integer", at)),
    };
    let (offset, length) = (unsigned("offset")?, unsigned("length")?);
    let method = match map.remove("method") {
        Some(Value::Text(method)) => method,
        _ => return Err(mismatch("method", "text", at)),
    };
    let params = match map.remove("params") {
        Some(value @ Value::Map(_)) => text_map(value, "params", at)?,
        _ => MetadataMap::new(),
    };
    Ok(MaskDescriptor { method, offset, length, params })
}

fn mask_to_value(mask: &MaskDescriptor) -> Value {
    let mut entries = vec![
        ("method", Value::from(mask.method.as_str())),
        ("offset", Value::from(mask.offset)),
        ("length", Value::from(mask.length)),
    ];
    if !mask.params.is_empty() {
        entries.push(("params", mask.params.iter().map(|(key, value)| (key.as_str(), value.clone())).collect()));
    }
    entries.into_iter().collect()
}
