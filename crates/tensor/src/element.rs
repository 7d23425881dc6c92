//! Rust types that are elements of tensors.

use crate::DType;
use half::{bf16, f16};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// A Rust type with the memory layout of one element. Complex numbers are pairs: real, imaginary.
pub trait Element: FromBytes + IntoBytes + Immutable + KnownLayout + Copy + Send + Sync + 'static {
    /// The element type it stands for.
    const DTYPE: DType;
}

macro_rules! elements {
    ($($type:ty => $dtype:ident;)*) => { $(impl Element for $type { const DTYPE: DType = DType::$dtype; })* };
}

elements! {
    f16 => Float16;
    bf16 => BFloat16;
    f32 => Float32;
    f64 => Float64;
    [f32; 2] => Complex64;
    [f64; 2] => Complex128;
    i8 => Int8;
    i16 => Int16;
    i32 => Int32;
    i64 => Int64;
    u8 => UInt8;
    u16 => UInt16;
    u32 => UInt32;
    u64 => UInt64;
}
