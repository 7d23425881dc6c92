//! What `roaring` states about itself.

use crate::spec::{
    CodecInfo, CodecSpec, CompressorInput, CompressorSpec, Dtypes, Key, Param, ParamError, Params, if_built,
};
use crate::{Codec, CodecError};
use fw_tensor::DType;

/// Settings of `roaring`, which has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoaringSettings;

impl CodecSpec for RoaringSettings {
    const INFO: CodecInfo = CodecInfo {
        name: "roaring",
        feature: "roaring",
        summary: "A bit mask as a Roaring bitmap in the portable format.",
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

impl CompressorSpec for RoaringSettings {
    fn check(&self, input: &CompressorInput<'_>) -> Result<(), CodecError> {
        input.only_bitmasks()
    }

    fn encoder(&self, _input: &CompressorInput<'_>) -> Result<Box<dyn Codec>, CodecError> {
        if_built!("roaring", Self, (), Ok(Box::new(crate::roaring::Roaring)))
    }
}
