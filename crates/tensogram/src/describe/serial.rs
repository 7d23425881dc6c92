//! Descriptions as serde sees them (feature `serde`): the maps that stand in a message, with values as [`Value`] shows them.
//! Reading is as strict as reading a message.

use super::{DataObjectDescriptor, GlobalMetadata, MasksMetadata, MetadataMap, Value};
use crate::error::TensogramError;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One map: the fields under their names on the wire (`type`, `ndim`, `shape`, …), and the parameters beside them.
impl Serialize for DataObjectDescriptor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_map().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for DataObjectDescriptor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_map(MetadataMap::deserialize(deserializer)?, 0).map_err(without_position)
    }
}

/// `base`, `_extra_` and `_reserved_`; empty ones are left out.
impl Serialize for GlobalMetadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for GlobalMetadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_value(Value::deserialize(deserializer)?, 0).map_err(without_position)
    }
}

/// The masks that are present, by the names of their kinds.
impl Serialize for MasksMetadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for MasksMetadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_value(Value::deserialize(deserializer)?, 0).map_err(without_position)
    }
}

/// The error without a byte position: the bytes are not those of a message.
fn without_position<E: Error>(error: TensogramError) -> E {
    match error.fault() {
        Some(fault) if fault.path().is_empty() => E::custom(fault.message()),
        Some(fault) => E::custom(format_args!("{}: {}", fault.path(), fault.message())),
        None => E::custom(error),
    }
}
