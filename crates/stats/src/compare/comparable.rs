//! Types whose values are compared with one another.

use crate::Scalar;

/// A value of one tensor beside one of the other.
pub(super) trait Comparable: Copy + PartialEq {
    /// Doubles hold the values, so that equal rounded distances are equal or of floats.
    const SHORT: bool;

    /// The nearest double.
    fn near(self) -> f64;

    /// `self - other`, rounded: zero only where they are equal, and never smaller for a greater distance.
    fn minus(self, other: Self) -> f64;

    /// The distance, exact between integers.
    fn distance(self, other: Self) -> Scalar;
}

/// Doubles hold these exactly.
macro_rules! short {
    ($scalar:ident: $($type:ty)*) => { $(impl Comparable for $type {
        const SHORT: bool = true;

        #[inline(always)]
        fn near(self) -> f64 { f64::from(self) }

        #[inline(always)]
        fn minus(self, other: Self) -> f64 { f64::from(self) - f64::from(other) }

        fn distance(self, other: Self) -> Scalar { short!(@ $scalar (f64::from(self) - f64::from(other)).abs()) }
    })* };
    (@ Float $distance:expr) => { Scalar::Float($distance) };
    (@ Integer $distance:expr) => { Scalar::Integer($distance as i128) };
}
short!(Float: f32 f64);
short!(Integer: i8 i16 i32 u8 u16 u32);

macro_rules! long {
    ($($type:ty)*) => { $(impl Comparable for $type {
        const SHORT: bool = false;

        #[inline(always)]
        fn near(self) -> f64 { self as f64 }

        #[inline(always)]
        fn minus(self, other: Self) -> f64 {
            let distance = self.abs_diff(other) as f64;
            if self < other { -distance } else { distance }
        }

        // The widest distance is that of the least signed from the greatest unsigned 64-bit integer.
        fn distance(self, other: Self) -> Scalar { Scalar::Integer(self.abs_diff(other) as i128) }
    })* };
}
long!(i64 u64 i128);
