//! Where a tensor's elements lie in its storage, and how they are brought into rows.

use crate::ConvertError;
use crate::model::{PIECE, Pieces};
use fw_bytes::Span;
use fw_source::ReadAt;
use fw_tensor::ByteOrder;

/// A view of a storage, proved to lie inside of it.
#[derive(Debug)]
pub(super) struct Placed {
    /// Where its first element lies in the file.
    pub(super) start: u64,
    /// Its bytes, as rows.
    pub(super) len: u64,
    pub(super) shape: Vec<u64>,
    /// In bytes.
    pub(super) strides: Vec<u64>,
    /// Bytes of an element, and those of one that are swapped together.
    pub(super) width: u64,
    pub(super) unit: usize,
    pub(super) order: ByteOrder,
}

impl Placed {
    /// Its bytes in the file, where they lie there in rows.
    pub(super) fn rows(&self) -> Option<Span> {
        let mut expected = self.width;
        let in_rows = self.shape.iter().zip(&self.strides).rev().all(|(length, stride)| {
            let fits = *length <= 1 || *stride == expected;
            expected = expected.saturating_mul(*length);
            fits
        });
        (in_rows || self.len == 0).then(|| Span::sized(self.start, self.len)).flatten()
    }

    /// True when elements have their bytes in the order that is handed out.
    pub(super) const fn is_little(&self) -> bool {
        matches!(self.order, ByteOrder::Little) || self.unit == 1
    }

    /// From the first byte of any element to the last one.
    fn extent(&self) -> u64 {
        let steps = self.shape.iter().zip(&self.strides);
        let reach = steps
            .fold(0u64, |sum, (length, stride)| sum.saturating_add(length.saturating_sub(1).saturating_mul(*stride)));
        reach.saturating_add(self.width)
    }

    /// Hands the elements to `take` as little-endian rows.
    pub(super) fn stream(&self, source: &dyn ReadAt, take: &mut Pieces<'_>) -> Result<(), ConvertError> {
        let mut turned = Vec::new();
        let mut put = |piece: &[u8]| {
            if self.is_little() {
                return take(piece);
            }
            turned.clear();
            turned.extend_from_slice(piece);
            fw_tensor::swap_in_place(&mut turned, self.unit);
            take(&turned)
        };
        if self.len == 0 {
            return Ok(());
        }
        if let Some(rows) = self.rows() {
            // Pieces are a multiple of every unit long.
            return fw_source::stream(&Shared(source), rows, put);
        }
        let extent = self.extent();
        // A view of most of its storage is read with it; one of few elements, element by element.
        if extent <= self.len.saturating_mul(DENSE).max(PIECE) {
            let mut held = vec![0; usize::try_from(extent).map_err(std::io::Error::other)?];
            source.read_exact_at(self.start, &mut held)?;
            let mut rows = Vec::with_capacity(PIECE as usize);
            for place in self.places() {
                let at = place as usize;
                rows.extend_from_slice(held.get(at..at + self.width as usize).unwrap_or_default());
                if rows.len() as u64 >= PIECE {
                    fw_bytes::interrupt::check();
                    put(&rows)?;
                    rows.clear();
                }
            }
            return if rows.is_empty() { Ok(()) } else { put(&rows) };
        }
        let mut places = self.places().map(|place| self.start.saturating_add(place));
        let mut left = self.len;
        while left > 0 {
            let part = left.min(PIECE / self.width * self.width);
            let mut rows = vec![0; part as usize];
            let some = places.by_ref().take((part / self.width) as usize);
            fw_source::read_runs(&Shared(source), some, self.width as usize, &mut rows)?;
            put(&rows)?;
            left -= part;
        }
        Ok(())
    }

    /// Where each element lies after the first one, in the order of rows.
    fn places(&self) -> impl Iterator<Item = u64> + '_ {
        let (mut counters, mut at) = (vec![0u64; self.shape.len()], 0u64);
        (0..self.len / self.width).map(move |_| {
            let place = at;
            for ((counter, length), stride) in counters.iter_mut().zip(&self.shape).zip(&self.strides).rev() {
                *counter += 1;
                at = at.wrapping_add(*stride);
                if *counter < *length {
                    break;
                }
                at = at.wrapping_sub(stride.wrapping_mul(*length));
                *counter = 0;
            }
            place
        })
    }
}

/// A source behind a reference of any kind.
struct Shared<'a>(&'a dyn ReadAt);

impl ReadAt for Shared<'_> {
    fn len(&self) -> std::io::Result<u64> {
        self.0.len()
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
        self.0.read_exact_at(offset, buffer)
    }

    fn cost(&self) -> fw_source::plan::Cost {
        self.0.cost()
    }

    fn read_many(&self, spans: &[Span]) -> std::io::Result<Vec<(u64, Vec<u8>)>> {
        self.0.read_many(spans)
    }
}

/// So many times its own bytes may be read for a view.
const DENSE: u64 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(start: u64, shape: &[u64], strides: &[u64], order: ByteOrder) -> Placed {
        let len = shape.iter().product::<u64>() * 2;
        let strides = strides.iter().map(|stride| stride * 2).collect();
        Placed { start, len, shape: shape.to_vec(), strides, width: 2, unit: 2, order }
    }

    /// However far apart the elements lie, they come as a plain loop over the indices finds them.
    #[test]
    fn views_are_brought_into_rows() {
        let source: Vec<u8> = (0..400_000u32).flat_map(|number| (number as u16).to_le_bytes()).collect();
        let source = source.into_boxed_slice();
        for (start, shape, strides) in [
            (0, &[3u64, 4][..], &[4u64, 1][..]),
            (2, &[4, 3], &[1, 4]),
            (4, &[2, 3, 4], &[1, 8, 2]),
            (0, &[5], &[0]),
            (0, &[2, 2, 3], &[0, 3, 1]),
            // Far apart: read element by element.
            (6, &[3, 2], &[100_000, 60_000]),
            (0, &[2, 100_000], &[1, 2]),
            (0, &[700, 500], &[1, 700]),
            (8, &[], &[]),
            (0, &[0, 3], &[3, 1]),
        ] {
            for order in [ByteOrder::Little, ByteOrder::Big] {
                let placed = placed(start, shape, strides, order);
                let mut found = Vec::new();
                let mut take = |piece: &[u8]| {
                    found.extend_from_slice(piece);
                    Ok(())
                };
                placed.stream(&source, &mut take).unwrap();
                let mut expected = Vec::new();
                for element in 0..shape.iter().product::<u64>() {
                    let (mut rest, mut place) = (element, start / 2);
                    for (length, stride) in shape.iter().zip(strides).rev() {
                        place += rest % length * stride;
                        rest /= length;
                    }
                    let value = place as u16;
                    expected.extend(if order == ByteOrder::Little { value.to_le_bytes() } else { value.to_be_bytes() });
                }
                assert!(found == expected, "{shape:?} {strides:?} {order}");
            }
        }
    }
}
