//! Element types: the union of what the formats know. Each format maps this to its own codes, and says what is missing.

use std::fmt;
use std::str::FromStr;

macro_rules! dtypes {
    ($($(#[$doc:meta])* $variant:ident, $name:literal, $bits:literal, $unit:literal;)*) => {
        /// The type of one element.
        ///
        /// Complete: a `match` on it has an arm for each type, so that the compiler names every place that a new type concerns.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum DType { $($(#[$doc])* $variant,)* }

        impl DType {
            /// Every element type.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Lower-case name, as Tensogram spells the ones it has.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Bits of one element.
            pub const fn bits(self) -> u64 {
                match self { $(Self::$variant => $bits,)* }
            }

            /// Bytes swapped as one unit when the byte order changes: the scalar, or each half of a complex number.
            pub const fn swap_unit(self) -> usize {
                match self { $(Self::$variant => $unit,)* }
            }
        }

        impl FromStr for DType {
            type Err = UnknownDType;
            fn from_str(name: &str) -> Result<Self, UnknownDType> {
                match name { $($name => Ok(Self::$variant),)* _ => Err(UnknownDType(name.to_owned())) }
            }
        }
    };
}

dtypes! {
    /// IEEE half.
    Float16, "float16", 16, 2;
    /// The upper half of a single.
    BFloat16, "bfloat16", 16, 2;
    /// IEEE single.
    Float32, "float32", 32, 4;
    /// IEEE double.
    Float64, "float64", 64, 8;
    /// Two singles: real, imaginary.
    Complex64, "complex64", 64, 4;
    /// Two doubles: real, imaginary.
    Complex128, "complex128", 128, 8;
    /// Signed, 8 bits.
    Int8, "int8", 8, 1;
    /// Signed, 16 bits.
    Int16, "int16", 16, 2;
    /// Signed, 32 bits.
    Int32, "int32", 32, 4;
    /// Signed, 64 bits.
    Int64, "int64", 64, 8;
    /// Unsigned, 8 bits.
    UInt8, "uint8", 8, 1;
    /// Unsigned, 16 bits.
    UInt16, "uint16", 16, 2;
    /// Unsigned, 32 bits.
    UInt32, "uint32", 32, 4;
    /// Unsigned, 64 bits.
    UInt64, "uint64", 64, 8;
    /// One bit per element, the first in the most significant bit of the first byte.
    Bitmask, "bitmask", 1, 1;
    /// One byte per element, 0 or 1.
    Bool, "bool", 8, 1;
    /// 8-bit float, 4 exponent and 3 mantissa bits.
    Float8E4M3, "float8_e4m3", 8, 1;
    /// 8-bit float, 5 exponent and 2 mantissa bits.
    Float8E5M2, "float8_e5m2", 8, 1;
    /// 8-bit float without negative zero, 4 exponent and 3 mantissa bits.
    Float8E4M3Fnuz, "float8_e4m3fnuz", 8, 1;
    /// 8-bit float without negative zero, 5 exponent and 2 mantissa bits.
    Float8E5M2Fnuz, "float8_e5m2fnuz", 8, 1;
    /// 8-bit power of two.
    Float8E8M0, "float8_e8m0", 8, 1;
    /// 6-bit float, 2 exponent and 3 mantissa bits.
    Float6E2M3, "float6_e2m3", 6, 1;
    /// 6-bit float, 3 exponent and 2 mantissa bits.
    Float6E3M2, "float6_e3m2", 6, 1;
    /// 4-bit float.
    Float4, "float4", 4, 1;
}

impl DType {
    /// Whole bytes of one element, or `None` for elements smaller than a byte.
    pub const fn byte_width(self) -> Option<usize> {
        match self.bits() {
            bits if bits % 8 == 0 => Some((bits / 8) as usize),
            _ => None,
        }
    }

    /// True for types that can hold NaN or infinity in the IEEE way (complex numbers included).
    pub const fn has_non_finite(self) -> bool {
        match self {
            Self::Float16 | Self::BFloat16 | Self::Float32 | Self::Float64 | Self::Complex64 | Self::Complex128 => true,
            Self::Int8 | Self::Int16 | Self::Int32 | Self::Int64 => false,
            Self::UInt8 | Self::UInt16 | Self::UInt32 | Self::UInt64 => false,
            Self::Bitmask | Self::Bool => false,
            // Where these have NaN or infinities, they are stored as they are: no format sets them aside.
            Self::Float8E4M3 | Self::Float8E5M2 | Self::Float8E4M3Fnuz | Self::Float8E5M2Fnuz => false,
            Self::Float8E8M0 | Self::Float6E2M3 | Self::Float6E3M2 | Self::Float4 => false,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no element type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown element type {0:?}")]
pub struct UnknownDType(pub String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_units_divide_widths() {
        for dtype in DType::ALL {
            assert_eq!(dtype.name().parse::<DType>().as_ref(), Ok(dtype));
            if let Some(width) = dtype.byte_width() {
                assert_eq!(width % dtype.swap_unit(), 0, "{dtype}");
            }
        }
        assert!("Float32".parse::<DType>().is_err());
    }
}
