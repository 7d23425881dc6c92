//! The containers as serde sees them: text as text, arrays as sequences.

use super::{Bounded, Field, FixedText, Text, zeroed};
use core::fmt;
use core::marker::PhantomData;
use serde_core::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};
use serde_core::ser::{Error as _, Serialize, Serializer};

macro_rules! text {
    ($($name:ident),*) => {$(
        impl<const N: usize> Serialize for $name<N> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str().map_err(S::Error::custom)?)
            }
        }

        impl<'de, const N: usize> Deserialize<'de> for $name<N> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Words<const N: usize>;
                impl<const N: usize> Visitor<'_> for Words<N> {
                    type Value = $name<N>;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(f, "text of up to {N} bytes")
                    }
                    fn visit_str<E: serde_core::de::Error>(self, text: &str) -> Result<$name<N>, E> {
                        $name::new(text).map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Words::<N>)
            }
        }
    )*};
}

text!(Text, FixedText);

impl<T: Serialize, const N: usize> Serialize for Bounded<T, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_slice().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de> + Field, const N: usize> Deserialize<'de> for Bounded<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items<T, const N: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Field, const N: usize> Visitor<'de> for Items<T, N> {
            type Value = Bounded<T, N>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "up to {N} elements")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Bounded<T, N>, A::Error> {
                let mut all = Bounded::new();
                while let Some(item) = items.next_element()? {
                    all.push(item).map_err(|_| A::Error::invalid_length(N + 1, &self))?;
                }
                Ok(all)
            }
        }
        deserializer.deserialize_seq(Items(PhantomData))
    }
}

/// Arrays of any length, for `#[serde(with = "fw_structframe::field::array")]`: serde itself stops at 32 elements.
pub mod array {
    use super::{
        Deserialize, Deserializer, Field, PhantomData, SeqAccess, Serialize, Serializer, Visitor, fmt, zeroed,
    };
    use serde_core::de::Error as _;

    /// As a sequence.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<T: Serialize, S: Serializer, const N: usize>(
        array: &[T; N],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        array.as_slice().serialize(serializer)
    }

    /// From a sequence of exactly `N`.
    ///
    /// # Errors
    /// Those of the deserializer, and when there are fewer or more.
    pub fn deserialize<'de, T: Deserialize<'de> + Field, D: Deserializer<'de>, const N: usize>(
        deserializer: D,
    ) -> Result<[T; N], D::Error> {
        struct Items<T, const N: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Field, const N: usize> Visitor<'de> for Items<T, N> {
            type Value = [T; N];
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "exactly {N} elements")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<[T; N], A::Error> {
                let mut all: [T; N] = core::array::from_fn(|_| zeroed());
                for (at, slot) in all.iter_mut().enumerate() {
                    *slot = items.next_element()?.ok_or_else(|| A::Error::invalid_length(at, &self))?;
                }
                match items.next_element::<T>()? {
                    None => Ok(all),
                    Some(_) => Err(A::Error::invalid_length(N + 1, &self)),
                }
            }
        }
        deserializer.deserialize_seq(Items(PhantomData))
    }
}

/// Arrays of blobs, for `#[serde(with = "fw_structframe::field::blobs")]`.
pub mod blobs {
    use super::{Blob, Deserialize, Deserializer, Field, Serialize, Serializer, array};

    /// As a sequence of sequences.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer, const E: usize, const N: usize>(
        blobs: &[[u8; E]; N],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        blobs.map(Blob).as_slice().serialize(serializer)
    }

    /// From a sequence of exactly `N` sequences of exactly `E` bytes.
    ///
    /// # Errors
    /// Those of the deserializer, and when there are fewer or more.
    pub fn deserialize<'de, D: Deserializer<'de>, const E: usize, const N: usize>(
        deserializer: D,
    ) -> Result<[[u8; E]; N], D::Error> {
        Ok(array::deserialize::<Blob<E>, D, N>(deserializer)?.map(|blob| blob.0))
    }

    impl<const E: usize> Serialize for Blob<E> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.0.as_slice().serialize(serializer)
        }
    }

    impl<'de, const E: usize> Deserialize<'de> for Blob<E> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            array::deserialize(deserializer).map(Self)
        }
    }

    impl<const E: usize> Field for Blob<E> {
        const SIZE: usize = E;

        fn put(&self, out: &mut [u8]) {
            self.0.put(out);
        }

        fn take(bytes: &[u8]) -> Self {
            Self(Field::take(bytes))
        }
    }
}

/// Bounded arrays of blobs, for `#[serde(with = "fw_structframe::field::bounded_blobs")]`.
pub mod bounded_blobs {
    use super::{Blob, Bounded, Deserialize, Deserializer, Serializer};

    /// As a sequence of sequences.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer, const E: usize, const N: usize>(
        blobs: &Bounded<[u8; E], N>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(blobs.iter().map(|blob| Blob(*blob)))
    }

    /// From a sequence of up to `N` sequences of exactly `E` bytes.
    ///
    /// # Errors
    /// Those of the deserializer, and when there are more, or other numbers of bytes.
    pub fn deserialize<'de, D: Deserializer<'de>, const E: usize, const N: usize>(
        deserializer: D,
    ) -> Result<Bounded<[u8; E], N>, D::Error> {
        let blobs = Bounded::<Blob<E>, N>::deserialize(deserializer)?;
        let mut all = Bounded::new();
        for blob in &blobs {
            // Both have the same bound.
            let _ = all.push(blob.0);
        }
        Ok(all)
    }
}

/// A blob of any length: serde itself stops at 32 bytes.
struct Blob<const E: usize>([u8; E]);

#[cfg(test)]
mod tests {
    use crate::{Bounded, FixedText, Text};
    use std::string::ToString;

    #[test]
    fn containers_there_and_back() {
        let text: Text<4> = serde_json::from_str("\"hä\"").unwrap();
        assert_eq!((text, serde_json::to_string(&text).unwrap().as_str()), (Text::literal("hä"), "\"hä\""));
        assert!(serde_json::from_str::<FixedText<4>>("\"12345\"").is_err());
        let some: Bounded<u16, 3> = serde_json::from_str("[1,2]").unwrap();
        assert_eq!(serde_json::to_string(&some).unwrap(), "[1,2]");
        let error = serde_json::from_str::<Bounded<u16, 3>>("[1,2,3,4]").unwrap_err();
        assert!(error.to_string().contains("up to 3 elements"), "{error}");
    }

    #[test]
    fn arrays_of_any_length() {
        let mut out = std::vec::Vec::new();
        super::array::serialize(&[7u8; 40], &mut serde_json::Serializer::new(&mut out)).unwrap();
        let back: [u8; 40] = super::array::deserialize(&mut serde_json::Deserializer::from_slice(&out)).unwrap();
        assert_eq!(back, [7; 40]);
        let short = super::array::deserialize::<u8, _, 41>(&mut serde_json::Deserializer::from_slice(&out));
        assert!(short.unwrap_err().to_string().contains("exactly 41 elements"));
        let blobs = Bounded::<[u8; 40], 2>::from_slice(&[[1; 40], [2; 40]]).unwrap();
        let mut out = std::vec::Vec::new();
        super::bounded_blobs::serialize(&blobs, &mut serde_json::Serializer::new(&mut out)).unwrap();
        let mut json = serde_json::Deserializer::from_slice(&out);
        assert_eq!(super::bounded_blobs::deserialize::<_, 40, 2>(&mut json).unwrap(), blobs);
        let fixed: [[u8; 40]; 2] = super::blobs::deserialize(&mut serde_json::Deserializer::from_slice(&out)).unwrap();
        assert_eq!(fixed, [[1; 40], [2; 40]]);
    }
}
