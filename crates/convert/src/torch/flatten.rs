//! A tree of containers as named tensors and metadata: `a.b.0` is item 0 of `b` of `a`.

use super::pickle::{Dict, Pickle, Ref, Tensor, Value};
use crate::ConvertError;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What a checkpoint holds.
#[derive(Default)]
pub(super) struct Flat<'a> {
    /// In the order of the file.
    pub(super) tensors: Vec<(String, &'a Tensor)>,
    pub(super) metadata: BTreeMap<String, String>,
    /// Keys whose texts are the JSON of a value.
    pub(super) json_keys: BTreeSet<String>,
    /// Keys whose texts do not give the value back.
    pub(super) lossy_keys: Vec<String>,
}

/// Names everything in a pickle of `len` bytes.
///
/// # Errors
/// When two tensors have the same name, or the tree is too deep or too often shared.
pub(super) fn flatten(pickle: &Pickle, len: usize) -> Result<Flat<'_>, ConvertError> {
    let mut walk = Walk {
        pickle,
        holds: vec![Holds::Unknown; pickle.len()],
        left: len.saturating_mul(16).saturating_add(1 << 20),
        names: HashSet::new(),
        flat: Flat::default(),
    };
    match pickle.get(pickle.root) {
        Value::Tensor(tensor) => walk.flat.tensors.push((LONE.to_owned(), tensor)),
        Value::Storage(_) => return Err(unsupported("the file is a storage without a tensor")),
        _ => walk.value("", pickle.root, 0)?,
    }
    Ok(walk.flat)
}

struct Walk<'a> {
    pickle: &'a Pickle,
    holds: Vec<Holds>,
    /// How much may still be named or written down: values that are shared stand in many places.
    left: usize,
    names: HashSet<String>,
    flat: Flat<'a>,
}

/// Whether there are tensors in a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Unknown,
    Asked,
    Tensors,
    Nothing,
}

impl<'a> Walk<'a> {
    fn value(&mut self, name: &str, place: Ref, depth: usize) -> Result<(), ConvertError> {
        self.spend(name.len().saturating_add(1))?;
        let pickle = self.pickle;
        match pickle.get(place) {
            Value::Tensor(tensor) => {
                if !self.names.insert(name.to_owned()) {
                    let message = format!("tensor {name:?} appears twice: keys with dots lead to the same name");
                    return Err(ConvertError::format("duplicate_tensor_name", message, None));
                }
                self.flat.tensors.push((name.to_owned(), tensor));
            }
            Value::Storage(_) => return Err(unsupported(&format!("{name:?} is a storage without a tensor"))),
            Value::Dict(dict) if depth == 0 || self.has_tensors(place, depth)? => {
                self.dict(name, dict, depth)?;
            }
            Value::List(items) | Value::Tuple(items) if self.has_tensors(place, depth)? => {
                for (index, item) in items.iter().enumerate() {
                    self.value(&joined(name, &index.to_string()), *item, depth.saturating_add(1))?;
                }
            }
            Value::Set(_) if self.has_tensors(place, depth)? => {
                return Err(unsupported(&format!("{name:?} is a set of tensors: they have no names")));
            }
            _ => self.metadata(if name.is_empty() { LONE } else { name }, place, depth)?,
        }
        Ok(())
    }

    fn dict(&mut self, name: &str, dict: &'a Dict, depth: usize) -> Result<(), ConvertError> {
        for (key, value) in items(self.pickle, dict)? {
            self.value(&joined(name, &key), value, depth.saturating_add(1))?;
        }
        if let Some(Value::Dict(attributes)) = dict.attributes.map(|place| self.pickle.get(place)) {
            self.dict(name, attributes, depth.saturating_add(1))?;
        }
        Ok(())
    }

    /// Whether a container has tensors in it, however deep. Each is asked once.
    fn has_tensors(&mut self, place: Ref, depth: usize) -> Result<bool, ConvertError> {
        check_depth(depth)?;
        let pickle = self.pickle;
        match self.holds.get(place.index()) {
            Some(Holds::Tensors) => return Ok(true),
            Some(Holds::Nothing) => return Ok(false),
            Some(Holds::Asked) => return Err(unsupported("a container that contains itself")),
            _ => {}
        }
        let mut found = false;
        let mut ask = |walk: &mut Self, item: Ref| {
            found |= match pickle.get(item) {
                Value::Tensor(_) | Value::Storage(_) => true,
                Value::Dict(_) | Value::List(_) | Value::Tuple(_) | Value::Set(_) => {
                    walk.has_tensors(item, depth.saturating_add(1))?
                }
                _ => false,
            };
            Ok::<_, ConvertError>(())
        };
        self.mark(place, Holds::Asked);
        match pickle.get(place) {
            Value::Dict(dict) => {
                for (_, value) in &dict.items {
                    ask(self, *value)?;
                }
                if let Some(attributes) = dict.attributes {
                    ask(self, attributes)?;
                }
            }
            Value::List(items) | Value::Tuple(items) | Value::Set(items) => {
                for item in items {
                    ask(self, *item)?;
                }
            }
            _ => {}
        }
        self.mark(place, if found { Holds::Tensors } else { Holds::Nothing });
        Ok(found)
    }

    fn mark(&mut self, place: Ref, holds: Holds) {
        if let Some(held) = self.holds.get_mut(place.index()) {
            *held = holds;
        }
    }

    /// A value without tensors: text as it is, everything else as JSON.
    fn metadata(&mut self, key: &str, place: Ref, depth: usize) -> Result<(), ConvertError> {
        let (text, is_json, is_exact) = match self.pickle.get(place) {
            Value::Text(text) => {
                self.spend(text.len())?;
                (text.to_string(), false, true)
            }
            _ => {
                let mut exact = true;
                let json = self.json(place, depth, &mut exact)?;
                (json.to_string(), true, exact)
            }
        };
        if is_json && is_exact {
            self.flat.json_keys.insert(key.to_owned());
        }
        if self.flat.metadata.insert(key.to_owned(), text).is_some() || !is_exact {
            self.flat.lossy_keys.push(key.to_owned());
        }
        Ok(())
    }

    fn json(&mut self, place: Ref, depth: usize, exact: &mut bool) -> Result<Json, ConvertError> {
        check_depth(depth)?;
        self.spend(8)?;
        let pickle = self.pickle;
        let mut list = |walk: &mut Self, items: &[Ref]| {
            items.iter().map(|item| walk.json(*item, depth.saturating_add(1), exact)).collect::<Result<Json, _>>()
        };
        Ok(match pickle.get(place) {
            Value::None => Json::Null,
            Value::Bool(value) => Json::from(*value),
            Value::Int(value) => match (i64::try_from(*value), u64::try_from(*value)) {
                (Ok(value), _) => Json::from(value),
                (_, Ok(value)) => Json::from(value),
                _ => {
                    *exact = false;
                    Json::from(value.to_string())
                }
            },
            Value::Float(value) if value.is_finite() => Json::from(*value),
            Value::Float(value) => {
                *exact = false;
                Json::from(value.to_string())
            }
            Value::Complex(re, im) => {
                *exact = false;
                Json::from(format!("{re}{im:+}j"))
            }
            Value::Text(text) => {
                self.spend(text.len())?;
                Json::from(&**text)
            }
            Value::Bytes(bytes) => {
                self.spend(bytes.len().saturating_mul(2))?;
                *exact = false;
                Json::from(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
            }
            Value::List(items) | Value::Tuple(items) => list(self, items)?,
            Value::Set(items) => {
                let items = list(self, items)?;
                *exact = false;
                items
            }
            Value::Dict(dict) => {
                let mut map = serde_json::Map::new();
                let mut entries = items(pickle, dict)?;
                if let Some(Value::Dict(attributes)) = dict.attributes.map(|place| pickle.get(place)) {
                    entries.extend(items(pickle, attributes)?);
                }
                for (key, value) in entries {
                    self.spend(key.len())?;
                    let value = self.json(value, depth.saturating_add(1), exact)?;
                    *exact &= map.insert(key, value).is_none();
                }
                Json::Object(map)
            }
            // A type by itself, as in a list of what was saved.
            Value::Global(global) => {
                *exact = false;
                Json::from(format!("{global:?}"))
            }
            Value::Storage(_) | Value::Tensor(_) => {
                return Err(unsupported("a tensor where plain values are expected"));
            }
        })
    }

    fn spend(&mut self, len: usize) -> Result<(), ConvertError> {
        let wasted =
            || ConvertError::format("too_many_copies", "the pickle has large values in very many places", None);
        self.left = self.left.checked_sub(len).ok_or_else(wasted)?;
        Ok(())
    }
}

/// The items of a dictionary by the text of their keys. A key that is set again has its last value.
fn items(pickle: &Pickle, dict: &Dict) -> Result<Vec<(String, Ref)>, ConvertError> {
    let mut places: HashMap<Key<'_>, usize> = HashMap::with_capacity(dict.items.len());
    let mut items: Vec<(String, Ref)> = Vec::with_capacity(dict.items.len());
    for (key, value) in &dict.items {
        let key = Key::of(pickle.get(*key))?;
        match places.get(&key).and_then(|place| items.get_mut(*place)) {
            Some(item) => item.1 = *value,
            None => {
                places.insert(key, items.len());
                items.push((key.to_string(), *value));
            }
        }
    }
    Ok(items)
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key<'a> {
    Text(&'a str),
    Int(i128),
    Bool(bool),
    None,
}

impl<'a> Key<'a> {
    fn of(value: &'a Value) -> Result<Self, ConvertError> {
        Ok(match value {
            Value::Text(text) => Self::Text(text),
            Value::Int(number) => Self::Int(*number),
            Value::Bool(value) => Self::Bool(*value),
            Value::None => Self::None,
            other => return Err(unsupported(&format!("a dictionary with {} as a key", other.kind()))),
        })
    }
}

impl std::fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Int(number) => write!(f, "{number}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::None => f.write_str("None"),
        }
    }
}

fn joined(name: &str, key: &str) -> String {
    if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") }
}

fn check_depth(depth: usize) -> Result<(), ConvertError> {
    if depth < MAX_DEPTH {
        return Ok(());
    }
    let message = format!("containers nested deeper than {MAX_DEPTH} levels are unsupported");
    Err(ConvertError::format("nesting_too_deep", message, None))
}

fn unsupported(what: &str) -> ConvertError {
    ConvertError::unsupported("unsupported_checkpoint", format!("the checkpoint cannot be read: {what}"))
}

/// What a tensor is called that is all there is in a file.
const LONE: &str = "tensor";
/// Real checkpoints nest a few levels.
const MAX_DEPTH: usize = 64;
