//! `fwright.open`: files of named tensors of any format, read as far as they are asked for.

mod selection; // indices as NumPy writes them
mod source; // where bytes come from
mod html; // what notebooks show
mod file; // TensorFile: names and tensors
mod tensor; // Tensor: one of them, lazily

pub(crate) use file::{PyTensorFile, open, tensor_file};
pub(crate) use selection::selection;
pub(crate) use tensor::PyTensor;
