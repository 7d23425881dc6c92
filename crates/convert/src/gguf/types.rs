//! Element types of GGUF: code, name, and how many elements a block of how many bytes holds.

use super::blocks::{self, Decode};
use fw_tensor::DType;

/// An element type.
#[derive(Debug)]
pub(super) struct Kind {
    code: u32,
    pub(super) name: &'static str,
    /// Elements in a block.
    pub(super) block_count: u64,
    /// Bytes of a block.
    pub(super) block_len: u64,
    pub(super) form: Form,
}

/// What readers get.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// Elements as they are.
    Plain(DType),
    /// Blocks, decoded to `float32`.
    Decoded(Decode),
    /// Blocks as they are, as bytes.
    Blocks,
}

impl Kind {
    /// The type of a code.
    pub(super) fn of(code: u32) -> Option<&'static Self> {
        KINDS.iter().find(|kind| kind.code == code)
    }

    /// Bytes of so many elements, which fill whole blocks.
    pub(super) fn len_of(&self, count: u64) -> Option<u64> {
        (count / self.block_count).checked_mul(self.block_len)
    }
}

const fn plain(code: u32, name: &'static str, dtype: DType, len: u64) -> Kind {
    Kind { code, name, block_count: 1, block_len: len, form: Form::Plain(dtype) }
}

const fn decoded(code: u32, name: &'static str, block_len: u64, decode: Decode) -> Kind {
    Kind { code, name, block_count: blocks::COUNT as u64, block_len, form: Form::Decoded(decode) }
}

const fn raw(code: u32, name: &'static str, block_count: u64, block_len: u64) -> Kind {
    Kind { code, name, block_count, block_len, form: Form::Blocks }
}

const KINDS: &[Kind] = &[
    plain(0, "F32", DType::Float32, 4),
    plain(1, "F16", DType::Float16, 2),
    decoded(2, "Q4_0", 18, blocks::q4_0),
    raw(3, "Q4_1", 32, 20),
    raw(6, "Q5_0", 32, 22),
    raw(7, "Q5_1", 32, 24),
    decoded(8, "Q8_0", 34, blocks::q8_0),
    // Never met in files; the size is that of the Python package.
    raw(9, "Q8_1", 32, 40),
    raw(10, "Q2_K", 256, 84),
    raw(11, "Q3_K", 256, 110),
    raw(12, "Q4_K", 256, 144),
    raw(13, "Q5_K", 256, 176),
    raw(14, "Q6_K", 256, 210),
    raw(15, "Q8_K", 256, 292),
    raw(16, "IQ2_XXS", 256, 66),
    raw(17, "IQ2_XS", 256, 74),
    raw(18, "IQ3_XXS", 256, 98),
    raw(19, "IQ1_S", 256, 50),
    raw(20, "IQ4_NL", 32, 18),
    raw(21, "IQ3_S", 256, 110),
    raw(22, "IQ2_S", 256, 82),
    raw(23, "IQ4_XS", 256, 136),
    plain(24, "I8", DType::Int8, 1),
    plain(25, "I16", DType::Int16, 2),
    plain(26, "I32", DType::Int32, 4),
    plain(27, "I64", DType::Int64, 8),
    plain(28, "F64", DType::Float64, 8),
    raw(29, "IQ1_M", 256, 56),
    plain(30, "BF16", DType::BFloat16, 2),
    raw(34, "TQ1_0", 256, 54),
    raw(35, "TQ2_0", 256, 66),
    raw(39, "MXFP4", 32, 17),
    raw(40, "NVFP4", 64, 36),
    raw(41, "Q1_0", 128, 18),
];
