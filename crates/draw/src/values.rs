//! Where numbers come from: slices, or a function for everything else.

use crate::error::{DrawError, Result};

/// A sequence of numbers that is read in place and never copied.
///
/// ```
/// use fw_draw::Values;
///
/// let packed = [2u8, 4, 6];
/// let scaled = |index: usize| f64::from(packed[index]) * 0.5;
/// let values = Values::by_index(packed.len(), &scaled);
/// assert_eq!(values.iter().sum::<f64>(), 6.0);
/// ```
#[derive(Clone, Copy)]
pub struct Values<'a>(Source<'a>);

#[derive(Clone, Copy)]
enum Source<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
    Index(usize, &'a (dyn Fn(usize) -> f64 + Sync)),
}

impl<'a> Values<'a> {
    /// Numbers that a function returns for the indices `0..len`: other element types, strides, scaled integers.
    #[must_use]
    pub fn by_index(len: usize, value: &'a (dyn Fn(usize) -> f64 + Sync)) -> Self {
        Self(Source::Index(len, value))
    }

    /// How many numbers there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.0 {
            Source::F32(values) => values.len(),
            Source::F64(values) => values.len(),
            Source::Index(len, _) => len,
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number at an index; NaN (missing) outside.
    #[must_use]
    pub fn at(&self, index: usize) -> f64 {
        match self.0 {
            Source::F32(values) => values.get(index).map_or(f64::NAN, |value| f64::from(*value)),
            Source::F64(values) => values.get(index).copied().unwrap_or(f64::NAN),
            Source::Index(len, value) if index < len => value(index),
            Source::Index(..) => f64::NAN,
        }
    }

    /// All numbers in order.
    pub fn iter(&self) -> impl Iterator<Item = f64> + 'a {
        let values = *self;
        (0..self.len()).map(move |index| values.at(index))
    }

    /// Calls `each` for the numbers of `range`, which is cut to the numbers there are. Faster than `at` one by one.
    pub(crate) fn for_each(&self, range: std::ops::Range<usize>, mut each: impl FnMut(f64)) {
        let end = range.end.min(self.len());
        let start = range.start.min(end);
        match self.0 {
            Source::F32(values) => values[start..end].iter().for_each(|value| each(f64::from(*value))),
            Source::F64(values) => values[start..end].iter().for_each(|value| each(*value)),
            Source::Index(_, value) => (start..end).for_each(|index| each(value(index))),
        }
    }
}

impl<'a> From<&'a [f32]> for Values<'a> {
    fn from(values: &'a [f32]) -> Self {
        Self(Source::F32(values))
    }
}

impl<'a> From<&'a [f64]> for Values<'a> {
    fn from(values: &'a [f64]) -> Self {
        Self(Source::F64(values))
    }
}

impl<'a> From<&'a Vec<f32>> for Values<'a> {
    fn from(values: &'a Vec<f32>) -> Self {
        Self(Source::F32(values))
    }
}

impl<'a> From<&'a Vec<f64>> for Values<'a> {
    fn from(values: &'a Vec<f64>) -> Self {
        Self(Source::F64(values))
    }
}

impl<'a, const N: usize> From<&'a [f32; N]> for Values<'a> {
    fn from(values: &'a [f32; N]) -> Self {
        Self(Source::F32(values))
    }
}

impl<'a, const N: usize> From<&'a [f64; N]> for Values<'a> {
    fn from(values: &'a [f64; N]) -> Self {
        Self(Source::F64(values))
    }
}

impl std::fmt::Debug for Values<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Values({})", self.len())
    }
}

/// A two-dimensional field in row-major order; NaN is a missing value.
///
/// ```
/// use fw_draw::Field;
///
/// let field = Field::new(2, 3, &[1.0f32, 2.0, 3.0, 4.0, f32::NAN, 6.0])?;
/// assert_eq!(field.at(0, 2), 3.0);
/// assert!(field.at(1, 1).is_nan());
/// assert!(Field::new(2, 2, &[0.0f64; 3]).is_err());
/// # Ok::<(), fw_draw::DrawError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    rows: usize,
    columns: usize,
    values: Values<'a>,
}

impl<'a> Field<'a> {
    /// A field over values that stay where they are.
    ///
    /// # Errors
    /// [`DrawError::Shape`] unless there are `rows * columns` values.
    pub fn new(rows: usize, columns: usize, values: impl Into<Values<'a>>) -> Result<Self> {
        let values = values.into();
        if rows.checked_mul(columns) != Some(values.len()) {
            let needed = rows.saturating_mul(columns);
            return Err(DrawError::Shape { rows, columns, needed, got: values.len() });
        }
        Ok(Self { rows, columns, values })
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The values, row by row.
    #[must_use]
    pub fn values(&self) -> Values<'a> {
        self.values
    }

    /// The value at a row and column; NaN outside.
    #[must_use]
    pub fn at(&self, row: usize, column: usize) -> f64 {
        if row < self.rows && column < self.columns { self.values.at(row * self.columns + column) } else { f64::NAN }
    }
}
