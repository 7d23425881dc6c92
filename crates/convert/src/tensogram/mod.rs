//! Tensogram messages as a file of named tensors: one object per tensor, its name in `base[i].name`, the text map in
//! `_extra_`.

mod bits; // what masks give back unchanged
mod copy; // messages to messages
mod carry; // types that Tensogram does not have
mod format; // as a format of tensor files
mod json; // values that JSON has a form for
mod message; // one message: frames, metadata, descriptors
mod named; // the objects of one message as named tensors
mod names; // a name for every object
mod object; // one object to a stream
mod read; // an open file
mod write; // a new file

pub(crate) use carry::stored_shape;
pub(crate) use copy::copy;
pub(crate) use format::Messages;
pub use named::{Named, named_objects};
pub use names::objects_named;
pub use object::cat_object;
pub(crate) use write::{Writer, described};

use fw_tensor::DType;

/// True when a descriptor can name this type.
pub(crate) const fn has(dtype: DType) -> bool {
    fw_tensogram::describe::is_tensogram_dtype(dtype)
}
