//! Selections from plain Rust values: one index or range, tuples of up to eight, lists.

use crate::{AxisSlice, Selection};

/// One index or range selects along the first axis.
///
/// ```
/// use fw_tensor::Selection;
///
/// assert_eq!(Selection::from(3), Selection::new().axis(3));
/// assert_eq!(Selection::from(1..4).plan(&[10, 2]).unwrap().shape(), [3, 2]);
/// ```
impl<S: Into<AxisSlice>> From<S> for Selection {
    fn from(slice: S) -> Self {
        Self::new().axis(slice)
    }
}

impl From<&[AxisSlice]> for Selection {
    fn from(slices: &[AxisSlice]) -> Self {
        slices.iter().copied().collect()
    }
}

impl From<Vec<AxisSlice>> for Selection {
    fn from(slices: Vec<AxisSlice>) -> Self {
        slices.into_iter().collect()
    }
}

/// A tuple selects axis by axis; each part may be of another kind.
macro_rules! from_tuples {
    ($(($($part:ident $value:ident),+))*) => {$(
        impl<$($part: Into<AxisSlice>),+> From<($($part,)+)> for Selection {
            fn from(($($value,)+): ($($part,)+)) -> Self {
                Self::new()$(.axis($value))+
            }
        }
    )*};
}

from_tuples! {
    (A a)
    (A a, B b)
    (A a, B b, C c)
    (A a, B b, C c, D d)
    (A a, B b, C c, D d, E e)
    (A a, B b, C c, D d, E e, F f)
    (A a, B b, C c, D d, E e, F f, G g)
    (A a, B b, C c, D d, E e, F f, G g, H h)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select;
    use std::ops::Range;

    #[test]
    fn tuples_are_what_the_macro_writes() {
        assert_eq!(Selection::from((0..2, 3, ..)), select![0..2, 3, ..]);
        assert_eq!(Selection::from((1u64,)), select![1]);
        assert_eq!(Selection::from((.., -1, 2..=4, ..=5)), select![.., -1, 2..=4, ..=5]);
        let eight = (0, 1, 2, 3, 4, 5, 6, 7);
        assert_eq!(Selection::from(eight).plan(&[8; 8]).unwrap().shape(), [0u64; 0]);
        assert_eq!(Selection::from((AxisSlice::Ellipsis, 0)), select![AxisSlice::Ellipsis, 0]);
        assert_eq!(Selection::from((AxisSlice::stepped(.., -1), 1)), select![..; -1, 1]);
    }

    #[test]
    fn one_value_needs_no_tuple() {
        assert_eq!(Selection::from(5usize), select![5]);
        assert_eq!(Selection::from(..=2), select![..3]);
        assert_eq!(Selection::from(..), select![..]);
        assert_eq!(Selection::from(vec![AxisSlice::Index(1), AxisSlice::FULL]), select![1, ..]);
        assert_eq!(Selection::from(&[AxisSlice::Index(1)][..]), select![1]);
        assert_eq!(Selection::from(&select![1, 2]), select![1, 2]);
    }

    #[test]
    fn what_does_not_fit_the_shape_is_an_error() {
        assert!(Selection::from((0, 0, 0)).plan(&[4, 4]).is_err());
        assert!(Selection::from((0..2, 4)).plan(&[4, 4]).is_err());
        assert!(Selection::from((AxisSlice::Ellipsis, AxisSlice::Ellipsis)).plan(&[4, 4]).is_err());
        assert!(Selection::from(u64::MAX).plan(&[4]).is_err());
        // Ranges are clamped, even reversed ones: the result is empty.
        let reversed = Range { start: 3, end: 1 };
        assert_eq!(Selection::from((reversed, ..100)).plan(&[4, 4]).unwrap().shape(), [0, 4]);
    }
}
