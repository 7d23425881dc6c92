//! What combines with what (TG-C3). Each codec states its own rules.

use super::{Encoding, Filter, Pipeline};
use crate::{CodecError, CodecErrorKind};

/// Refuses combinations that the format cannot hold, and those that a reader would return garbage for.
pub(super) fn check(pipeline: &Pipeline) -> Result<(), CodecError> {
    let Pipeline { stages, dtype, stage_len, .. } = pipeline;
    match &stages.encoding {
        Encoding::None => {}
        Encoding::SimplePacking(packing) => packing.check(*dtype)?,
    }
    match &stages.filter {
        Filter::None => {}
        Filter::Shuffle(shuffle) => shuffle.check(*stage_len)?,
    }
    if let Some(compressor) = stages.compression.compressor() {
        compressor.check(&pipeline.compressor_input())?;
    }
    // Let each codec check its own parameters; one that is not built in cannot.
    match pipeline.decompressor(pipeline.byte_order) {
        Err(error) if error.kind != CodecErrorKind::Unsupported => Err(error),
        _ => Ok(()),
    }
}
