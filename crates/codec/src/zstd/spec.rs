//! What `zstd` states about itself.

use crate::spec::{
    CodecInfo, CodecSpec, CompressorInput, CompressorSpec, Dtypes, Key, KeyKind, Need, Param, ParamError, Params,
    if_built,
};
use crate::{Codec, CodecError};

/// Settings of `zstd`. The fields are named like the keys of descriptors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZstdSettings {
    /// Level; 3 unless given.
    pub zstd_level: Option<i32>,
}

impl CodecSpec for ZstdSettings {
    const INFO: CodecInfo = CodecInfo {
        name: "zstd",
        feature: "zstd",
        summary: "One Zstandard frame (RFC 8878).",
        keys: &[LEVEL],
        dtypes: Dtypes::Any,
        rules: "Combines with every encoding and filter.",
        ranges: "None: the whole object is decoded.",
    };

    fn read(params: &Params<'_>) -> Result<Self, ParamError> {
        Ok(Self { zstd_level: params.integer(&LEVEL)? })
    }

    fn write(&self, put: &mut dyn FnMut(&'static Key, Param<'_>)) {
        if let Some(level) = self.zstd_level {
            put(&LEVEL, Param::Integer(level.into()));
        }
    }
}

impl CompressorSpec for ZstdSettings {
    fn encoder(&self, input: &CompressorInput<'_>) -> Result<Box<dyn Codec>, CodecError> {
        if_built!("zstd", Self, (input), {
            let codec = self.zstd_level.map_or_else(Default::default, crate::zstd::Zstd::new);
            let planes = input.shuffled().is_some_and(|size| size > 1);
            Ok(Box::new(if planes { codec.for_planes() } else { codec }))
        })
    }
}

const LEVEL: Key = Key::new(
    "zstd_level",
    KeyKind::Integer,
    Need::Default("3"),
    "Level, fast (negative) to small (22); the library clamps it, 0 means 3.",
);
