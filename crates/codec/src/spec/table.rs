//! The table of codecs: every codec of every stage, one row each.
//!
//! A row is a variant with the settings of the codec. Everything else about it stands in the `spec.rs` of its folder,
//! which is part of every build, so that objects coded by a codec that is left out can still be listed and validated.

// The codecs themselves are modules of the crate only with their features; their specifications always are.
#[path = "../blosc2/spec.rs"]
mod blosc2;
#[path = "../lz4/spec.rs"]
mod lz4;
#[path = "../packing/spec.rs"]
mod packing;
#[path = "../rle/spec.rs"]
mod rle;
#[path = "../roaring/spec.rs"]
mod roaring;
#[path = "../shuffle/spec.rs"]
mod shuffle;
#[path = "../sz3/spec.rs"]
mod sz3;
#[path = "../szip/spec.rs"]
mod szip;
#[path = "../zfp/spec.rs"]
mod zfp;
#[path = "../zstd/spec.rs"]
mod zstd;

pub use blosc2::{Blosc2Codec, Blosc2Settings};
pub use lz4::Lz4Settings;
pub use packing::SimplePacking;
pub use rle::RleSettings;
pub use roaring::RoaringSettings;
pub use shuffle::ShuffleSettings;
pub use sz3::{Sz3Mode, Sz3Settings};
pub use szip::SzipSettings;
pub use zfp::ZfpSettings;
pub use zstd::ZstdSettings;

use super::{CodecInfo, CodecSpec, CompressorSpec, DerivesFrom, Key, Param, ParamError, ParamSource, Params};

/// The three stages of a pipeline, in the order of encoding.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stages {
    /// Values to bytes.
    pub encoding: Encoding,
    /// Bytes rearranged.
    pub filter: Filter,
    /// Bytes made fewer.
    pub compression: Compression,
}

impl Stages {
    /// True when the stages leave the bytes of the values as they are.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Calls `put` with every parameter that a descriptor states for these stages.
    pub fn write(&self, put: &mut dyn FnMut(&'static Key, Param<'_>)) {
        self.encoding.write(put);
        self.filter.write(put);
        self.compression.write(put);
    }
}

/// An enum of settings, one variant per codec of a stage, and everything that is the same for all of them.
macro_rules! stage {
    (
        $(#[$doc:meta])*
        $stage:ident named $field:literal {
            $(#[$none:meta])*
            None,
            $($(#[$row:meta])* $codec:ident($settings:ty),)+
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        #[non_exhaustive]
        pub enum $stage {
            $(#[$none])*
            #[default]
            None,
            $($(#[$row])* $codec($settings),)+
        }

        impl $stage {
            /// The field of a descriptor that names the codec of this stage.
            pub const FIELD: &'static str = $field;

            /// What each codec of this stage states about itself.
            pub const CODECS: &'static [&'static CodecInfo] = &[$(&<$settings as CodecSpec>::INFO),+];

            /// The names that a descriptor may state for this stage.
            pub const NAMES: &'static [&'static str] = &[NONE, $(<$settings as CodecSpec>::INFO.name),+];

            /// The name in descriptors.
            pub const fn name(&self) -> &'static str {
                match self {
                    Self::None => NONE,
                    $(Self::$codec(_) => <$settings as CodecSpec>::INFO.name,)+
                }
            }

            /// What the codec states about itself; `None` where there is none.
            pub const fn info(&self) -> Option<&'static CodecInfo> {
                match self {
                    Self::None => None,
                    $(Self::$codec(_) => Some(&<$settings as CodecSpec>::INFO),)+
                }
            }

            /// The codec of this exact name, with the settings that `params` state.
            ///
            /// # Errors
            /// An unknown name; a parameter that is missing, has the wrong type or is out of range.
            pub fn read(name: &str, params: &impl ParamSource) -> Result<Self, ParamError> {
                if name == NONE {
                    return Ok(Self::None);
                }
                $(if name == <$settings as CodecSpec>::INFO.name {
                    return <$settings as CodecSpec>::read(&Params(params)).map(Self::$codec);
                })+
                Err(ParamError::unknown($field, name))
            }

            /// Calls `put` with every parameter that a descriptor states for this stage.
            pub fn write(&self, put: &mut dyn FnMut(&'static Key, Param<'_>)) {
                match self {
                    Self::None => {}
                    $(Self::$codec(settings) => settings.write(put),)+
                }
            }
        }

        $(impl From<$settings> for $stage {
            fn from(settings: $settings) -> Self {
                Self::$codec(settings)
            }
        })+
    };
}

stage! {
    /// Values to bytes.
    Encoding named "encoding" {
        /// The bytes of the values.
        None,
        /// Doubles as integers of a fixed number of bits.
        SimplePacking(SimplePacking),
    }
}

impl Encoding {
    /// Which values of an object the parameters are derived from.
    pub const fn derives_from(&self) -> DerivesFrom {
        match self {
            Self::None => DerivesFrom::Nothing,
            Self::SimplePacking(packing) => packing.derives_from(),
        }
    }
}

stage! {
    /// Bytes rearranged.
    Filter named "filter" {
        /// Not at all.
        None,
        /// Bytes of equal significance side by side.
        Shuffle(ShuffleSettings),
    }
}

macro_rules! compressors {
    ($($(#[$row:meta])* $codec:ident($settings:ty),)+) => {
        stage! {
            /// Bytes made fewer.
            Compression named "compression" {
                /// Not at all.
                None,
                $($(#[$row])* $codec($settings),)+
            }
        }

        impl Compression {
            /// The codec, as the chain uses it.
            pub(crate) fn compressor(&self) -> Option<&dyn CompressorSpec> {
                match self {
                    Self::None => None,
                    $(Self::$codec(settings) => Some(settings),)+
                }
            }
        }
    };
}

compressors! {
    /// CCSDS 121 entropy coding.
    Szip(SzipSettings),
    /// Zstandard.
    Zstd(ZstdSettings),
    /// LZ4.
    Lz4(Lz4Settings),
    /// Blosc2 frames.
    Blosc2(Blosc2Settings),
    /// Lossy coding of doubles at a fixed rate, precision or accuracy.
    Zfp(ZfpSettings),
    /// Lossy coding of doubles within an error bound.
    Sz3(Sz3Settings),
    /// Run lengths of bit masks.
    Rle(RleSettings),
    /// Roaring bitmaps of bit masks.
    Roaring(RoaringSettings),
}

const NONE: &str = "none";
