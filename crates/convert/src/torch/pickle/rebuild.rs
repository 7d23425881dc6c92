//! What the known functions make of their arguments.

use super::globals::{Global, Make};
use super::machine::Machine;
use super::value::{Dict, Ref, Tensor, Value};
use crate::ConvertError;
use fw_tensor::DType;

impl Machine<'_> {
    /// What a known function makes of a tuple.
    pub(super) fn call(&mut self, callable: Ref, arguments: Ref) -> Result<Ref, ConvertError> {
        let Value::Global(Global::Make(make)) = *self.pickle.get(callable) else {
            let what = format!("calls {}", self.pickle.get(callable).kind());
            return Err(self.unsafe_fault(&what));
        };
        let Value::Tuple(arguments) = self.pickle.get(arguments) else {
            return Err(self.fault("invalid_pickle", "calls something without a tuple of arguments"));
        };
        let arguments: Vec<Ref> = arguments.iter().copied().take(MOST_ARGUMENTS).collect();
        self.make(make, &arguments)
    }

    fn make(&mut self, make: Make, arguments: &[Ref]) -> Result<Ref, ConvertError> {
        let value = match (make, arguments) {
            // Later arguments tell whether it wants a gradient, and its hooks.
            (Make::Tensor, [storage, offset, shape, strides, rest @ ..]) => {
                self.plain_bits(rest.get(2).copied())?;
                let Value::Storage(held) = self.pickle.get(*storage) else { return Err(self.wrong("a tensor")) };
                self.tensor(*storage, held.dtype, [*offset, *shape, *strides])?
            }
            (Make::TensorOfType, [storage, offset, shape, strides, _, _, dtype, rest @ ..]) => {
                self.plain_bits(rest.first().copied())?;
                let Value::Global(Global::Type(dtype)) = *self.pickle.get(*dtype) else {
                    return Err(self.wrong("the type of a tensor"));
                };
                self.tensor(*storage, dtype, [*offset, *shape, *strides])?
            }
            (Make::Parameter, [tensor, ..]) if matches!(self.pickle.get(*tensor), Value::Tensor(_)) => {
                return Ok(*tensor);
            }
            (Make::FromType, [callable, class, arguments, _state]) => {
                let tensor = matches!(self.pickle.get(*class), Value::Global(Global::TensorClass));
                let inner = matches!(
                    self.pickle.get(*callable),
                    Value::Global(Global::Make(Make::Tensor | Make::TensorOfType | Make::Parameter))
                );
                if !tensor || !inner {
                    return Err(self.wrong("a tensor with attributes"));
                }
                return self.call(*callable, *arguments);
            }
            (Make::OrderedDict, []) => Value::Dict(Box::default()),
            (Make::OrderedDict, [pairs]) => Value::Dict(Box::new(self.dict_of_pairs(*pairs)?)),
            (Make::Counter, []) => Value::Dict(Box::default()),
            (Make::Counter, [dict]) if matches!(self.pickle.get(*dict), Value::Dict(_)) => return Ok(*dict),
            (Make::Set, []) => Value::Set(Vec::new()),
            (Make::Set, [items]) => {
                let (Value::List(items) | Value::Tuple(items)) = self.pickle.get(*items) else {
                    return Err(self.wrong("a set"));
                };
                let items = items.clone();
                self.copy(items.len().saturating_mul(size_of::<Ref>()))?;
                Value::Set(items)
            }
            (Make::Bytes | Make::ByteArray, [text, encoding]) => {
                if !matches!(self.words(*encoding)?, "latin1" | "latin-1") {
                    return Err(self.wrong("bytes"));
                }
                let text = self.words(*text)?;
                // At most as long as the text.
                let bytes: Option<Box<[u8]>> = text.chars().map(|one| u8::try_from(u32::from(one)).ok()).collect();
                let bytes = bytes.ok_or_else(|| self.wrong("bytes"))?;
                self.copy(bytes.len())?;
                Value::Bytes(bytes)
            }
            (Make::ByteArray | Make::Bytes, []) => Value::Bytes(Box::default()),
            (Make::ByteArray, [bytes]) if matches!(self.pickle.get(*bytes), Value::Bytes(_)) => return Ok(*bytes),
            (Make::Complex, [re, im]) => match (self.pickle.get(*re), self.pickle.get(*im)) {
                (Value::Float(re), Value::Float(im)) => Value::Complex(*re, *im),
                _ => return Err(self.wrong("a complex number")),
            },
            (Make::Size, [tuple]) if matches!(self.pickle.get(*tuple), Value::Tuple(_) | Value::List(_)) => {
                return Ok(*tuple);
            }
            (Make::Device, [name, rest @ ..]) => {
                let name = self.words(*name)?.to_owned();
                self.copy(name.len())?;
                let text = match rest.first().map(|number| self.pickle.get(*number)) {
                    Some(Value::Int(number)) => format!("{name}:{number}"),
                    _ => name,
                };
                Value::Text(text.into())
            }
            (make, _) => {
                let what = format!("calls {make:?} with {} arguments that do not fit", arguments.len());
                return Err(self.fault("invalid_pickle", what));
            }
        };
        Ok(self.pickle.keep(value))
    }

    fn tensor(
        &mut self,
        storage: Ref,
        dtype: DType,
        [offset, shape, strides]: [Ref; 3],
    ) -> Result<Value, ConvertError> {
        let Value::Storage(_) = self.pickle.get(storage) else { return Err(self.wrong("a tensor")) };
        let (shape, strides) = (self.numbers(shape)?, self.numbers(strides)?);
        if shape.len() != strides.len() {
            return Err(self.wrong("a tensor"));
        }
        self.copy(shape.len().saturating_mul(2 * size_of::<u64>()))?;
        let offset = self.number_of(offset)?;
        Ok(Value::Tensor(Box::new(Tensor { storage, dtype, offset, shape, strides })))
    }

    /// Views that PyTorch conjugates or negates when it reads them have other values than their bytes.
    fn plain_bits(&self, metadata: Option<Ref>) -> Result<(), ConvertError> {
        let Some(Value::Dict(dict)) = metadata.map(|place| self.pickle.get(place)) else { return Ok(()) };
        for (key, value) in &dict.items {
            if let (Value::Text(key), Value::Bool(true)) = (self.pickle.get(*key), self.pickle.get(*value)) {
                let what = format!(
                    "has a tensor with the lazy operation {:?} pending: save it again after resolve_{}()",
                    key.escape_debug().to_string(),
                    key.escape_debug()
                );
                return Err(self.fault("lazy_tensor", what));
            }
        }
        Ok(())
    }

    fn numbers(&self, place: Ref) -> Result<Vec<u64>, ConvertError> {
        let (Value::Tuple(items) | Value::List(items)) = self.pickle.get(place) else {
            return Err(self.wrong("the shape of a tensor"));
        };
        if items.len() > MOST_AXES {
            let what = format!("has a tensor of {} axes, at most {MOST_AXES} are read", items.len());
            return Err(self.fault("too_many_axes", what));
        }
        items.iter().map(|item| self.number_of(*item)).collect()
    }

    fn number_of(&self, place: Ref) -> Result<u64, ConvertError> {
        match self.pickle.get(place) {
            Value::Int(number) => u64::try_from(*number).map_err(|_| self.wrong("a count")),
            _ => Err(self.wrong("a count")),
        }
    }

    /// `[(key, value), …]`, as old versions of Python wrote ordered dictionaries.
    fn dict_of_pairs(&mut self, pairs: Ref) -> Result<Dict, ConvertError> {
        let (Value::List(pairs) | Value::Tuple(pairs)) = self.pickle.get(pairs) else {
            return Err(self.wrong("a dictionary"));
        };
        let mut items = Vec::new();
        for pair in pairs {
            match self.pickle.get(*pair) {
                Value::List(pair) | Value::Tuple(pair) => match pair[..] {
                    [key, value] => items.push((key, value)),
                    _ => return Err(self.wrong("a dictionary")),
                },
                _ => return Err(self.wrong("a dictionary")),
            }
        }
        self.copy(items.len().saturating_mul(2 * size_of::<Ref>()))?;
        Ok(Dict { items, attributes: None })
    }

    fn wrong(&self, what: &str) -> ConvertError {
        self.fault("invalid_pickle", format_args!("makes {what} of something else"))
    }
}

/// No known function takes more.
const MOST_ARGUMENTS: usize = 16;
/// PyTorch itself has a limit of 64.
const MOST_AXES: usize = 64;
