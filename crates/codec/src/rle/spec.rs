//! What `rle` states about itself.

use crate::spec::{
    CodecInfo, CodecSpec, CompressorInput, CompressorSpec, Dtypes, Key, Param, ParamError, Params, if_built,
};
use crate::{Codec, CodecError};
use fw_tensor::DType;

/// Settings of `rle`, which has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RleSettings;

impl CodecSpec for RleSettings {
    const INFO: CodecInfo = CodecInfo {
        name: "rle",
        feature: "rle",
        summary: "Run lengths of a bit mask.",
        keys: &[],
        dtypes: Dtypes::Only(&[DType::Bitmask]),
        rules: "Combines with shuffle.",
        ranges: "None: the whole object is decoded.",
    };

    fn read(_params: &Params<'_>) -> Result<Self, ParamError> {
        Ok(Self)
    }

    fn write(&self, _put: &mut dyn FnMut(&'static Key, Param<'_>)) {}
}

impl CompressorSpec for RleSettings {
    fn check(&self, input: &CompressorInput<'_>) -> Result<(), CodecError> {
        input.only_bitmasks()
    }

    fn encoder(&self, _input: &CompressorInput<'_>) -> Result<Box<dyn Codec>, CodecError> {
        if_built!("rle", Self, (), Ok(Box::new(crate::rle::Rle)))
    }
}
