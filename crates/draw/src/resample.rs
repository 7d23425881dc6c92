//! A field on a grid of pixels: means or single values where it is larger, repeated values where it is smaller.

use crate::values::Field;

/// How a pixel gets its value where it covers several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Reduce {
    /// The mean of the values that are not missing; missing only where all of them are. An infinity stays one.
    #[default]
    Mean,
    /// The value nearest to the middle of the pixel.
    Nearest,
}

/// The field on `width` by `height` pixels, row by row. The field is read once and in order; it is not copied.
///
/// ```
/// use fw_draw::{Field, Reduce, resample};
///
/// let field = Field::new(2, 4, &[1.0f32, 3.0, 5.0, 7.0, 1.0, 3.0, f32::NAN, f32::NAN])?;
/// assert_eq!(resample(&field, 2, 1, Reduce::Mean), [2.0, 6.0]);
/// assert_eq!(resample(&field, 8, 1, Reduce::Nearest)[..4], [1.0, 1.0, 3.0, 3.0]);
/// # Ok::<(), fw_draw::DrawError>(())
/// ```
#[must_use]
pub fn resample(field: &Field<'_>, width: usize, height: usize, reduce: Reduce) -> Vec<f64> {
    let mut out = Vec::new();
    resample_rows(field, width, height, reduce, |_, row| out.extend_from_slice(row));
    out
}

/// As [`resample`], one row of pixels at a time.
pub(crate) fn resample_rows(
    field: &Field<'_>,
    width: usize,
    height: usize,
    reduce: Reduce,
    mut each: impl FnMut(usize, &[f64]),
) {
    let mut row = vec![f64::NAN; width];
    if field.rows() == 0 || field.columns() == 0 || width == 0 {
        (0..height).for_each(|y| each(y, &row));
        return;
    }
    let mut boxes = match reduce {
        Reduce::Mean => Some(Boxes::new(width, field.columns())),
        Reduce::Nearest => None,
    };
    let mut shown = None;
    for y in 0..height {
        let (first, last) = match reduce {
            Reduce::Mean => cover(y, height, field.rows()),
            Reduce::Nearest => {
                let middle = centre(y, height, field.rows());
                (middle, middle + 1)
            }
        };
        // Rows of pixels that repeat a row of the field are computed once.
        if shown != Some((first, last)) {
            match &mut boxes {
                Some(boxes) => boxes.mean(field, first, last, &mut row),
                None => {
                    for (x, pixel) in row.iter_mut().enumerate() {
                        *pixel = field.at(first, centre(x, width, field.columns()));
                    }
                }
            }
            shown = Some((first, last));
        }
        each(y, &row);
    }
}

/// The values that pixel `index` of `pixels` covers: at least one, and together all.
pub(crate) fn cover(index: usize, pixels: usize, values: usize) -> (usize, usize) {
    if values <= pixels {
        let only = centre(index, pixels, values);
        return (only, only + 1);
    }
    let border = |index: usize| (index as u128 * values as u128 / pixels as u128) as usize;
    (border(index), border(index + 1))
}

/// The value in the middle of pixel `index` of `pixels`.
fn centre(index: usize, pixels: usize, values: usize) -> usize {
    (((2 * index as u128 + 1) * values as u128) / (2 * pixels as u128)) as usize
}

/// Sums of one row of pixels.
struct Boxes {
    columns: Vec<(usize, usize)>,
    cells: Vec<Cell>,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    sum: f64,
    count: u64,
    infinity: f64,
}

impl Boxes {
    fn new(width: usize, columns: usize) -> Self {
        Self { columns: (0..width).map(|x| cover(x, width, columns)).collect(), cells: vec![Cell::default(); width] }
    }

    fn mean(&mut self, field: &Field<'_>, first: usize, last: usize, row: &mut [f64]) {
        self.cells.fill(Cell::default());
        let values = field.values();
        for y in first..last {
            let start = y * field.columns();
            for (cell, (from, to)) in self.cells.iter_mut().zip(&self.columns) {
                values.for_each(start + from..start + to, |value| cell.add(value));
            }
        }
        for (pixel, cell) in row.iter_mut().zip(&self.cells) {
            *pixel = cell.mean();
        }
    }
}

impl Cell {
    fn add(&mut self, value: f64) {
        if value.is_finite() {
            self.sum += value;
            self.count += 1;
        } else if !value.is_nan() && self.infinity <= 0.0 {
            self.infinity = value;
        }
    }

    fn mean(self) -> f64 {
        if self.infinity != 0.0 {
            self.infinity
        } else if self.count == 0 {
            f64::NAN
        } else {
            // A sum of finite values may overflow; their mean cannot.
            (self.sum / self.count as f64).clamp(f64::MIN, f64::MAX)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_fields() {
        let empty = Field::new(0, 5, &[0.0f32; 0]).unwrap();
        assert!(resample(&empty, 2, 2, Reduce::Mean).iter().all(|value| value.is_nan()));
        let one = Field::new(1, 1, &[7.0f32]).unwrap();
        assert_eq!(resample(&one, 3, 2, Reduce::Mean), [7.0; 6]);
        let large = Field::new(1, 4, &[f64::MAX; 4]).unwrap();
        assert_eq!(resample(&large, 1, 1, Reduce::Mean), [f64::MAX]);
        let mixed = Field::new(1, 4, &[f64::NEG_INFINITY, 1.0, f64::INFINITY, f64::NAN]).unwrap();
        assert_eq!(resample(&mixed, 1, 1, Reduce::Mean), [f64::INFINITY]);
        assert_eq!(resample(&mixed, 2, 1, Reduce::Mean), [f64::NEG_INFINITY, f64::INFINITY]);
    }

    #[test]
    fn a_huge_field_is_not_copied() {
        // 2^62 values: the centre of each pixel is all that is read.
        let value = |index: usize| (index >> 31) as f64;
        let field = Field::new(1 << 31, 1 << 31, crate::Values::by_index(1 << 62, &value)).unwrap();
        let out = resample(&field, 2, 2, Reduce::Nearest);
        assert_eq!(out[0], f64::from(1u32 << 29));
        assert_eq!(out[3], f64::from(3u32 << 29));
    }

    #[test]
    fn every_value_is_covered_once() {
        for (pixels, values) in [(3, 10), (7, 7), (1, 5), (4, 5), (640, 1440)] {
            let mut next = 0;
            for index in 0..pixels {
                let (from, to) = cover(index, pixels, values);
                assert_eq!(from, next);
                assert!(to > from);
                next = to;
            }
            assert_eq!(next, values);
        }
    }
}
