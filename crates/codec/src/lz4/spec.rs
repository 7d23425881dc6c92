//! What `lz4` states about itself.

use crate::spec::{
    CodecInfo, CodecSpec, CompressorInput, CompressorSpec, Dtypes, Key, Param, ParamError, Params, if_built,
};
use crate::{Codec, CodecError};

/// Settings of `lz4`, which has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lz4Settings;

impl CodecSpec for Lz4Settings {
    const INFO: CodecInfo = CodecInfo {
        name: "lz4",
        feature: "lz4",
        summary: "The length in four bytes, then one LZ4 block.",
        keys: &[],
        dtypes: Dtypes::Any,
        rules: "Combines with every encoding and filter. At most 2 GiB enter it.",
        ranges: "None: the whole object is decoded.",
    };

    fn read(_params: &Params<'_>) -> Result<Self, ParamError> {
        Ok(Self)
    }

    fn write(&self, _put: &mut dyn FnMut(&'static Key, Param<'_>)) {}
}

impl CompressorSpec for Lz4Settings {
    fn encoder(&self, _input: &CompressorInput<'_>) -> Result<Box<dyn Codec>, CodecError> {
        if_built!("lz4", Self, (), Ok(Box::new(crate::lz4::Lz4)))
    }
}
