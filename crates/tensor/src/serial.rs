//! Element types and byte orders as serde sees them (feature `serde`): by name.

use crate::{ByteOrder, DType};
use core::fmt;
use serde_core::de::{Error, Visitor};
use serde_core::{Deserialize, Deserializer, Serialize, Serializer};

/// Reads a name and looks it up.
macro_rules! by_name {
    ($($type:ty, $expected:literal, $find:expr;)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Name;
                impl Visitor<'_> for Name {
                    type Value = $type;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expected)
                    }

                    fn visit_str<E: Error>(self, name: &str) -> Result<$type, E> {
                        let find: fn(&str) -> Option<$type> = $find;
                        find(name).ok_or_else(|| E::invalid_value(serde_core::de::Unexpected::Str(name), &self))
                    }
                }
                deserializer.deserialize_str(Name)
            }
        }
    )*};
}

by_name! {
    DType, "the name of an element type, such as \"float32\"", |name| name.parse().ok();
    ByteOrder, "\"little\" or \"big\"", ByteOrder::from_name;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_and_others_are_errors() {
        for dtype in DType::ALL {
            let text = serde_json::to_string(dtype).unwrap();
            assert_eq!(text, format!("\"{}\"", dtype.name()));
            assert_eq!(serde_json::from_str::<DType>(&text).unwrap(), *dtype);
        }
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let text = serde_json::to_string(&order).unwrap();
            assert_eq!(serde_json::from_str::<ByteOrder>(&text).unwrap(), order);
        }
        for wrong in ["\"Float32\"", "\"\"", "4", "null"] {
            let error = serde_json::from_str::<DType>(wrong).unwrap_err().to_string();
            assert!(error.contains("element type"), "{error}");
            assert!(serde_json::from_str::<ByteOrder>(wrong).is_err());
        }
    }
}
