//! A value of a tensor: an exact integer or a float.

use std::fmt;

/// An integer, exactly, or a float. Shown in decimal, floats in their shortest form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// Of an integer tensor.
    Integer(i128),
    /// Of a floating-point tensor; for complex numbers the modulus.
    Float(f64),
}

impl Scalar {
    /// The nearest float.
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
        }
    }
}
