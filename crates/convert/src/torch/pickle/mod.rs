//! A pickle interpreter that knows tensors, storages and plain containers, and never calls anything else.

mod globals; // the names that it knows
mod machine; // opcodes to values
mod reader; // the checked way through a pickle
mod rebuild; // what the known functions make
mod value; // values and where they are kept

pub(super) use machine::run;
pub(super) use value::{Dict, Pickle, Ref, Storage, Tensor, Value};
