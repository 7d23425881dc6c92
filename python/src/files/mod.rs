//! `fwright.open`: files of named tensors of any format, read as far as they are asked for.

mod file; // TensorFile: names and tensors
mod selection; // indices as NumPy writes them
mod tensor; // Tensor: one of them, lazily

pub(crate) use file::{PyTensorFile, open};
pub(crate) use tensor::PyTensor;
