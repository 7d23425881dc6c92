//! An array's bytes as little-endian rows, whatever order the file keeps them in.

use super::NpyHeader;
use super::header::Layout;
use crate::ConvertError;
use crate::model::{PIECE, Pieces};
use fw_tensor::ByteOrder;
use std::io::Read;

/// Hands the data behind a header to `take`. Arrays stored by columns are turned in memory; all others pass through in
/// pieces.
pub(super) fn stream(
    header: &NpyHeader,
    input: &mut impl Read,
    name: &str,
    take: &mut Pieces<'_>,
) -> Result<(), ConvertError> {
    let len = fw_tensor::byte_len(header.dtype, &header.shape)?;
    let swap = header.order == ByteOrder::Big;
    let unit = header.dtype.swap_unit();
    if header.layout == Layout::Columns && header.shape.len() > 1 {
        let mut data = Vec::new();
        input.by_ref().take(len).read_to_end(&mut data)?;
        if data.len() as u64 != len {
            return Err(short(name, len, data.len() as u64));
        }
        let mut rows = by_rows(&data, &header.shape, header.dtype.byte_width().unwrap_or(1));
        if swap {
            fw_tensor::swap_in_place(&mut rows, unit);
        }
        return take(&rows);
    }
    let mut piece = vec![0u8; len.min(PIECE) as usize];
    let mut done = 0u64;
    while done < len {
        let part = piece.get_mut(..len.saturating_sub(done).min(PIECE) as usize).unwrap_or(&mut []);
        input.read_exact(part).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => short(name, len, done),
            _ => error.into(),
        })?;
        if swap {
            // Pieces are a multiple of every unit long.
            fw_tensor::swap_in_place(part, unit);
        }
        take(part)?;
        done = done.saturating_add(part.len() as u64);
    }
    Ok(())
}

/// Turns elements stored with the first axis fastest into rows.
fn by_rows(data: &[u8], shape: &[u64], width: usize) -> Vec<u8> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1usize;
    for dim in shape {
        strides.push(stride);
        stride = stride.saturating_mul(*dim as usize);
    }
    let mut rows = Vec::with_capacity(data.len());
    let mut counters = vec![0u64; shape.len()];
    let mut position = 0usize;
    for _ in 0..data.len() / width.max(1) {
        let from = position.saturating_mul(width);
        rows.extend_from_slice(data.get(from..from.saturating_add(width)).unwrap_or(&[]));
        for ((counter, dim), stride) in counters.iter_mut().zip(shape).zip(&strides).rev() {
            *counter += 1;
            position += stride;
            if *counter < *dim {
                break;
            }
            position -= stride * *dim as usize;
            *counter = 0;
        }
    }
    rows
}

fn short(name: &str, need: u64, have: u64) -> ConvertError {
    ConvertError::format("truncated", format!("{name}: need {need} bytes of data, have {have}"), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_become_rows() {
        // [[0, 1, 2], [3, 4, 5]] by columns is 0 3 1 4 2 5.
        assert_eq!(by_rows(&[0, 3, 1, 4, 2, 5], &[2, 3], 1), [0, 1, 2, 3, 4, 5]);
        assert_eq!(by_rows(&[0, 0, 3, 3, 1, 1, 4, 4, 2, 2, 5, 5], &[2, 3], 2), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
        assert_eq!(by_rows(&[], &[2, 0], 4), Vec::<u8>::new());
    }
}
