//! Element types the format has (BT-4.1), in the order of their numbers, which is also the order of the writer's sort.

use fw_tensor::DType;
use std::fmt;
use std::str::FromStr;

macro_rules! dtypes {
    ($($number:literal $variant:ident $name:literal $size:literal $common:ident $numpy:literal;)*) => {
        /// The element type of a tensor. The order is that of the numbers in the file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        #[allow(non_camel_case_types, missing_docs, reason = "the names of the format")]
        #[repr(u8)]
        pub enum Dtype { $($variant = $number,)* }

        impl Dtype {
            /// Every element type, by number.
            pub const ALL: [Self; 15] = [$(Self::$variant,)*];

            /// Bytes of one element.
            pub const fn size(self) -> u64 {
                match self { $(Self::$variant => $size,)* }
            }

            /// The name of the format, such as `F8_E4M3`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The type shared with the other formats.
            pub const fn common(self) -> DType {
                match self { $(Self::$variant => DType::$common,)* }
            }

            /// The type of this format for a common one, or `None` when there is no counterpart.
            pub const fn from_common(dtype: DType) -> Option<Self> {
                match dtype { $(DType::$common => Some(Self::$variant),)* _ => None }
            }
        }

        impl FromStr for Dtype {
            type Err = UnknownDtype;
            /// Accepts the name of the format (`F32`) and NumPy's (`float32`).
            fn from_str(name: &str) -> Result<Self, UnknownDtype> {
                match name {
                    $($name | $numpy => Ok(Self::$variant),)*
                    _ => Err(UnknownDtype(name.to_owned())),
                }
            }
        }
    };
}

dtypes! {
    0  BOOL    "BOOL"    1 Bool       "bool";
    1  U8      "U8"      1 UInt8      "uint8";
    2  I8      "I8"      1 Int8       "int8";
    3  F8_E5M2 "F8_E5M2" 1 Float8E5M2 "float8_e5m2";
    4  F8_E4M3 "F8_E4M3" 1 Float8E4M3 "float8_e4m3fn";
    5  I16     "I16"     2 Int16      "int16";
    6  U16     "U16"     2 UInt16     "uint16";
    7  F16     "F16"     2 Float16    "float16";
    8  BF16    "BF16"    2 BFloat16   "bfloat16";
    9  I32     "I32"     4 Int32      "int32";
    10 U32     "U32"     4 UInt32     "uint32";
    11 F32     "F32"     4 Float32    "float32";
    12 F64     "F64"     8 Float64    "float64";
    13 I64     "I64"     8 Int64      "int64";
    14 U64     "U64"     8 UInt64     "uint64";
}

impl Dtype {
    /// Number in the file.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The type with this number, or `None` from 15 on.
    #[inline(always)]
    pub const fn from_number(number: u32) -> Option<Self> {
        if (number as usize) < Self::ALL.len() { Some(Self::ALL[number as usize]) } else { None }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no element type of this format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDtype(pub String);

impl fmt::Display for UnknownDtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dtype {} is not covered", self.0)
    }
}

impl std::error::Error for UnknownDtype {}

#[cfg(test)]
mod tests {
    use super::*;

    /// BT-4.1: numbers, names and widths agree, and the order inside the 8-byte group is F64 < I64 < U64.
    #[test]
    fn numbers_names_and_order() {
        for (number, dtype) in Dtype::ALL.into_iter().enumerate() {
            assert_eq!(dtype.number() as usize, number);
            assert_eq!(Dtype::from_number(number as u32), Some(dtype));
            assert_eq!(dtype.name().parse(), Ok(dtype));
            assert_eq!(Dtype::from_common(dtype.common()), Some(dtype));
            assert_eq!(dtype.common().byte_width(), Some(dtype.size() as usize));
        }
        assert_eq!(Dtype::from_number(15), None);
        assert!(Dtype::F64 < Dtype::I64 && Dtype::I64 < Dtype::U64);
        assert_eq!("float8_e4m3fn".parse(), Ok(Dtype::F8_E4M3));
        assert_eq!("complex64".parse::<Dtype>().unwrap_err().to_string(), "dtype complex64 is not covered");
        // Wide types never have a smaller number than narrow ones: that is why canonical files are aligned (BT-5.7).
        assert!(Dtype::ALL.windows(2).all(|pair| pair[0].size() <= pair[1].size()));
    }
}
