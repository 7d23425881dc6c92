//! The names that a checkpoint may refer to. One table: what is not in it is refused by name.

use fw_tensor::DType;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::torch) enum Global {
    /// A storage of elements of one type.
    Storage(DType),
    /// A storage of bytes.
    Untyped,
    /// An element type.
    Type(DType),
    /// Something that makes a value of plain arguments.
    Make(Make),
    /// The class of a tensor, an argument of [`Make::FromType`].
    TensorClass,
}

/// What is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::torch) enum Make {
    /// A tensor of a storage with a type.
    Tensor,
    /// A tensor that says its type itself.
    TensorOfType,
    /// A parameter: its tensor.
    Parameter,
    /// A tensor with Python attributes.
    FromType,
    OrderedDict,
    Counter,
    Set,
    Bytes,
    ByteArray,
    Complex,
    /// A tuple.
    Size,
    Device,
}

/// The table: module, name, what it is.
const GLOBALS: &[(&str, &str, Global)] = &[
    ("torch._utils", "_rebuild_tensor", Global::Make(Make::Tensor)),
    ("torch._utils", "_rebuild_tensor_v2", Global::Make(Make::Tensor)),
    ("torch._utils", "_rebuild_tensor_v3", Global::Make(Make::TensorOfType)),
    ("torch._utils", "_rebuild_parameter", Global::Make(Make::Parameter)),
    ("torch._utils", "_rebuild_parameter_with_state", Global::Make(Make::Parameter)),
    ("torch._tensor", "_rebuild_from_type_v2", Global::Make(Make::FromType)),
    ("torch", "Tensor", Global::TensorClass),
    ("torch.nn.parameter", "Parameter", Global::TensorClass),
    ("collections", "OrderedDict", Global::Make(Make::OrderedDict)),
    ("collections", "Counter", Global::Make(Make::Counter)),
    ("builtins", "set", Global::Make(Make::Set)),
    ("builtins", "frozenset", Global::Make(Make::Set)),
    ("builtins", "bytearray", Global::Make(Make::ByteArray)),
    ("builtins", "complex", Global::Make(Make::Complex)),
    ("_codecs", "encode", Global::Make(Make::Bytes)),
    ("torch", "Size", Global::Make(Make::Size)),
    ("torch", "device", Global::Make(Make::Device)),
    ("torch.storage", "UntypedStorage", Global::Untyped),
    ("torch", "UntypedStorage", Global::Untyped),
    ("torch", "DoubleStorage", Global::Storage(DType::Float64)),
    ("torch", "FloatStorage", Global::Storage(DType::Float32)),
    ("torch", "HalfStorage", Global::Storage(DType::Float16)),
    ("torch", "BFloat16Storage", Global::Storage(DType::BFloat16)),
    ("torch", "LongStorage", Global::Storage(DType::Int64)),
    ("torch", "IntStorage", Global::Storage(DType::Int32)),
    ("torch", "ShortStorage", Global::Storage(DType::Int16)),
    ("torch", "CharStorage", Global::Storage(DType::Int8)),
    ("torch", "ByteStorage", Global::Storage(DType::UInt8)),
    ("torch", "BoolStorage", Global::Storage(DType::Bool)),
    ("torch", "ComplexFloatStorage", Global::Storage(DType::Complex64)),
    ("torch", "ComplexDoubleStorage", Global::Storage(DType::Complex128)),
    ("torch", "float64", Global::Type(DType::Float64)),
    ("torch", "float32", Global::Type(DType::Float32)),
    ("torch", "float16", Global::Type(DType::Float16)),
    ("torch", "bfloat16", Global::Type(DType::BFloat16)),
    ("torch", "int64", Global::Type(DType::Int64)),
    ("torch", "int32", Global::Type(DType::Int32)),
    ("torch", "int16", Global::Type(DType::Int16)),
    ("torch", "int8", Global::Type(DType::Int8)),
    ("torch", "uint8", Global::Type(DType::UInt8)),
    ("torch", "uint16", Global::Type(DType::UInt16)),
    ("torch", "uint32", Global::Type(DType::UInt32)),
    ("torch", "uint64", Global::Type(DType::UInt64)),
    ("torch", "bool", Global::Type(DType::Bool)),
    ("torch", "complex64", Global::Type(DType::Complex64)),
    ("torch", "complex128", Global::Type(DType::Complex128)),
    ("torch", "float8_e4m3fn", Global::Type(DType::Float8E4M3)),
    ("torch", "float8_e5m2", Global::Type(DType::Float8E5M2)),
    ("torch", "float8_e4m3fnuz", Global::Type(DType::Float8E4M3Fnuz)),
    ("torch", "float8_e5m2fnuz", Global::Type(DType::Float8E5M2Fnuz)),
    ("torch", "float8_e8m0fnu", Global::Type(DType::Float8E8M0)),
];

/// What a name stands for, if it is known.
pub(super) fn global(module: &str, name: &str) -> Option<Global> {
    // Python 2 called it so, and protocol 2 still does.
    let module = if module == "__builtin__" { "builtins" } else { module };
    GLOBALS.iter().find(|row| (row.0, row.1) == (module, name)).map(|row| row.2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Calling any of these in Python makes a tensor, a container or a number. Nothing else may ever be in the table.
    #[test]
    fn nothing_in_the_table_runs_code() {
        let modules: HashSet<&str> = GLOBALS.iter().map(|row| row.0).collect();
        let known = [
            "torch",
            "torch._utils",
            "torch._tensor",
            "torch.nn.parameter",
            "torch.storage",
            "collections",
            "builtins",
            "_codecs",
        ];
        assert_eq!(modules, HashSet::from(known));
        for bad in ["eval", "exec", "getattr", "open", "__import__", "compile", "map", "apply"] {
            assert_eq!((global("builtins", bad), global("__builtin__", bad)), (None, None), "{bad}");
        }
        for (module, bad) in
            [("os", "system"), ("posix", "system"), ("torch", "load"), ("torch.hub", "load"), ("_codecs", "decode")]
        {
            assert_eq!(global(module, bad), None);
        }
        let names: HashSet<(&str, &str)> = GLOBALS.iter().map(|row| (row.0, row.1)).collect();
        assert_eq!(names.len(), GLOBALS.len(), "each once");
    }
}
