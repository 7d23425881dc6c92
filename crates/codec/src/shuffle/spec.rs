//! What `shuffle` states about itself.

use crate::CodecError;
use crate::spec::{CodecInfo, CodecSpec, Dtypes, Key, KeyKind, Need, Param, ParamError, Params};

/// Settings of `shuffle`. The fields are named like the keys of descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShuffleSettings {
    /// Bytes per element; divides the bytes that enter the filter.
    pub shuffle_element_size: u64,
}

impl ShuffleSettings {
    /// Refuses a size that does not divide the `len` bytes that enter the filter.
    pub(crate) fn check(&self, len: u64) -> Result<(), CodecError> {
        let size = self.shuffle_element_size;
        if size > 0 && len.is_multiple_of(size) {
            return Ok(());
        }
        let message = format!("shuffle_element_size {size} does not divide the {len} bytes to shuffle");
        Err(CodecError::parameter(Self::INFO.name, "shuffle_element_size_mismatch", message))
    }
}

impl CodecSpec for ShuffleSettings {
    const INFO: CodecInfo = CodecInfo {
        name: "shuffle",
        feature: "shuffle",
        summary: "Puts bytes of equal significance side by side, so that a compressor finds their likeness.",
        keys: &[SIZE],
        dtypes: Dtypes::Any,
        rules: "zfp and sz3 take no filter.",
        ranges: "Any range of an object that is neither packed nor compressed, once the whole payload is at hand.",
    };

    fn read(params: &Params<'_>) -> Result<Self, ParamError> {
        Ok(Self { shuffle_element_size: params.required(&SIZE, params.integer(&SIZE)?)? })
    }

    fn write(&self, put: &mut dyn FnMut(&'static Key, Param<'_>)) {
        put(&SIZE, Param::Integer(self.shuffle_element_size.into()));
    }
}

const SIZE: Key = Key::new(
    "shuffle_element_size",
    KeyKind::Unsigned,
    Need::Required,
    "Bytes per element, 1 or greater; divides the bytes that enter the filter. Normally the width of the element type.",
);
