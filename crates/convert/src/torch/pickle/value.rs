//! Values of a pickle, kept side by side and named by their place: shared ones are there once, and nothing is ever recursive.

use super::globals::Global;
use fw_tensor::DType;

/// Everything that a pickle makes, and which of it is the result.
pub(in crate::torch) struct Pickle {
    values: Vec<Value>,
    pub(in crate::torch) root: Ref,
}

/// The place of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::torch) struct Ref(u32);

impl Ref {
    pub(in crate::torch) const fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Debug)]
pub(in crate::torch) enum Value {
    None,
    Bool(bool),
    Int(i128),
    Float(f64),
    Complex(f64, f64),
    Text(Box<str>),
    Bytes(Box<[u8]>),
    List(Vec<Ref>),
    Tuple(Vec<Ref>),
    Set(Vec<Ref>),
    Dict(Box<Dict>),
    Global(Global),
    Storage(Box<Storage>),
    Tensor(Box<Tensor>),
}

/// A dictionary: its items in the order in which they were set, and its own attributes.
#[derive(Debug, Default)]
pub(in crate::torch) struct Dict {
    pub(in crate::torch) items: Vec<(Ref, Ref)>,
    pub(in crate::torch) attributes: Option<Ref>,
}

/// Where the elements of tensors lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::torch) struct Storage {
    /// The entry of the archive that holds it.
    pub(in crate::torch) key: Box<str>,
    /// The type of its elements; bytes, where each tensor says.
    pub(in crate::torch) dtype: DType,
    /// How many of them there are.
    pub(in crate::torch) count: u64,
}

/// A view of a storage. Lengths and steps are in elements of the tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::torch) struct Tensor {
    pub(in crate::torch) storage: Ref,
    pub(in crate::torch) dtype: DType,
    pub(in crate::torch) offset: u64,
    pub(in crate::torch) shape: Vec<u64>,
    pub(in crate::torch) strides: Vec<u64>,
}

impl Pickle {
    pub(super) const fn new() -> Self {
        Self { values: Vec::new(), root: Ref(0) }
    }

    /// Keeps a value. A pickle is shorter than 2³² bytes and makes at most one value per byte.
    pub(super) fn keep(&mut self, value: Value) -> Ref {
        let place = Ref(self.values.len() as u32);
        self.values.push(value);
        place
    }

    pub(in crate::torch) fn get(&self, place: Ref) -> &Value {
        self.values.get(place.index()).unwrap_or(&Value::None)
    }

    pub(super) fn get_mut(&mut self, place: Ref) -> Option<&mut Value> {
        self.values.get_mut(place.index())
    }

    /// How many values there are.
    pub(in crate::torch) fn len(&self) -> usize {
        self.values.len()
    }
}

impl Value {
    /// What it is, for messages.
    pub(in crate::torch) const fn kind(&self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Bool(_) => "a bool",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Complex(..) => "a complex number",
            Self::Text(_) => "text",
            Self::Bytes(_) => "bytes",
            Self::List(_) => "a list",
            Self::Tuple(_) => "a tuple",
            Self::Set(_) => "a set",
            Self::Dict(_) => "a dictionary",
            Self::Global(_) => "a type or function",
            Self::Storage(_) => "a storage",
            Self::Tensor(_) => "a tensor",
        }
    }
}
