//! Trying, choosing, writing.

use super::huffman::{self, Count};
use super::interpolation::{self, Layout};
use super::lorenzo::{self, Before, Encoded};
use super::packed;
use super::stream::{self, Algorithm, DEFAULT_BLOCK_SIZE};
use super::tune::{Prediction, Sample};
use crate::CodecError;

/// Appends a stream of `values`, each kept within `error_bound`.
pub(super) fn encode(values: &[f64], error_bound: f64, threads: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
    let raw_len = size_of_val(values);
    // Without a usable bound there is nothing to round to. Below the smallest normal number its inverse overflows.
    let lossy = if (f64::MIN_POSITIVE..f64::INFINITY).contains(&error_bound) && values.len() >= MIN_VALUES {
        let sample = Sample::new(values);
        let (prediction, encoded) = sample.best(error_bound, threads)?;
        let (algorithm, unpacked) = predicted(values, error_bound, prediction, encoded)?;
        let frame = packed::pack(&unpacked)?;
        // Doubles with few distinct bits (small integers, repeats) can pack better than any prediction.
        let clear = frame.len() < raw_len / 20 || (frame.len() as f64) < 0.9 * sample.packed_len()?;
        if clear && frame.len() < raw_len {
            stream::write(algorithm, values.len() as u64, error_bound, unpacked.len() as u64, &frame, out);
            return Ok(());
        }
        Some((algorithm, unpacked.len(), frame))
    } else {
        None
    };
    let exact = packed::pack(&little_endian(values))?;
    let (algorithm, unpacked_len, frame) = match lossy {
        Some((algorithm, unpacked_len, frame)) if frame.len() <= exact.len() => (algorithm, unpacked_len, frame),
        _ => (Algorithm::Lossless, raw_len, exact),
    };
    stream::write(algorithm, values.len() as u64, error_bound, unpacked_len as u64, &frame, out);
    Ok(())
}

/// The part of a stream that zstd packs. What a trial on all the values already `encoded` is not done again.
fn predicted(
    values: &[f64],
    error_bound: f64,
    prediction: Prediction,
    encoded: Option<Encoded>,
) -> Result<(Algorithm, Vec<u8>), CodecError> {
    let encoded = encoded.unwrap_or_else(|| prediction.encode(Before::default(), values, error_bound));
    let mut out = Vec::new();
    let algorithm = match prediction {
        Prediction::Interpolation(tuning) => {
            interpolation::write_section(Layout::new(tuning, values.len()), &encoded.quantized, error_bound, &mut out);
            Algorithm::Interpolation
        }
        Prediction::Lorenzo(_) => {
            lorenzo::write_section(&encoded, error_bound, &mut out)?;
            Algorithm::Lorenzo { block_size: DEFAULT_BLOCK_SIZE }
        }
    };
    huffman::write_section(&encoded.quantized.codes, Count::Stored, &mut out)?;
    Ok((algorithm, out))
}

/// The bytes of `values` as streams store them.
pub(super) fn little_endian(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Fewer values than this are not worth a tree.
const MIN_VALUES: usize = 8;
