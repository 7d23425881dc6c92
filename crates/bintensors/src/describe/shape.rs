//! Dimensions of a tensor, held in place for the ranks that occur and on the heap for the others.

use std::fmt;
use std::ops::Deref;

/// Dimensions, outermost first. Reads as `&[u64]`.
#[derive(Clone)]
pub struct Shape(Held);

#[derive(Clone)]
enum Held {
    Few { len: u8, dims: [u64; FEW] },
    Many(Box<[u64]>),
}

const FEW: usize = 6;

impl Shape {
    /// No dimensions: one element.
    pub const SCALAR: Self = Self(Held::Few { len: 0, dims: [0; FEW] });

    /// The dimensions.
    pub fn as_slice(&self) -> &[u64] {
        match &self.0 {
            Held::Few { len, dims } => dims.get(..usize::from(*len)).unwrap_or(dims),
            Held::Many(dims) => dims,
        }
    }

    /// Takes `rank` dimensions from `next`. The caller has already checked that so many exist.
    pub(crate) fn collect<E>(rank: usize, mut next: impl FnMut() -> Result<u64, E>) -> Result<Self, E> {
        if rank <= FEW {
            let mut dims = [0; FEW];
            for dim in dims.iter_mut().take(rank) {
                *dim = next()?;
            }
            return Ok(Self(Held::Few { len: rank as u8, dims }));
        }
        (0..rank).map(|_| next()).collect::<Result<_, E>>().map(|dims| Self(Held::Many(dims)))
    }
}

impl Deref for Shape {
    type Target = [u64];
    fn deref(&self) -> &[u64] {
        self.as_slice()
    }
}

impl From<&[u64]> for Shape {
    fn from(dims: &[u64]) -> Self {
        let mut dims = dims.iter().copied();
        let collected = Self::collect(dims.len(), || Ok::<_, std::convert::Infallible>(dims.next().unwrap_or(0)));
        let Ok(shape) = collected;
        shape
    }
}

impl<const N: usize> From<[u64; N]> for Shape {
    fn from(dims: [u64; N]) -> Self {
        Self::from(&dims[..])
    }
}

impl From<Vec<u64>> for Shape {
    fn from(dims: Vec<u64>) -> Self {
        Self::from(&dims[..])
    }
}

impl PartialEq for Shape {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Shape {}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_shapes_read_alike() {
        for rank in [0usize, 1, 6, 7, 300] {
            let dims: Vec<u64> = (0..rank as u64).collect();
            let shape = Shape::from(&dims[..]);
            assert_eq!(&*shape, &dims[..]);
            assert_eq!(shape, Shape::from(dims));
        }
        assert_eq!(Shape::SCALAR.len(), 0);
        assert_eq!(format!("{:?}", Shape::from([2, 3])), "[2, 3]");
    }
}
