//! Statistics of every field of every message type.

use super::FrameRow;
use fw_dynamic::{UnionValue, Value};
use fw_schema::Schema;
use fw_schema::layout::{Element, Message, Scalar, Type};
use fw_stats::{Stats, Summary};
use fw_tensor::DType;
use std::collections::BTreeMap;

/// Collects statistics row by row, in memory that depends on the schema alone.
#[derive(Clone, Debug, Default)]
pub struct FieldStats {
    messages: BTreeMap<u16, (String, u64, Node)>,
}

/// The fields of one message type.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MessageFields {
    /// Effective id.
    pub id: u16,
    /// The message's name.
    pub message: String,
    /// Rows.
    pub rows: u64,
    /// Its fields, nested ones included, in the order of the schema.
    pub fields: Vec<FieldSummary>,
}

/// One field. The elements of an array count together, so do those of all messages in an array of messages.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FieldSummary {
    /// Such as `position.x`.
    pub path: String,
    /// How many values there were.
    pub count: u64,
    /// What they were.
    pub kind: FieldKind,
}

/// What there is to say about values of a kind.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldKind {
    /// Numbers.
    Number(Summary),
    /// How often each value of a bool, an enum (by name, or by number where it has none) or a oneof (by member) came.
    Counts(BTreeMap<String, u64>),
    /// Text and bytes: the shortest and the longest, in bytes.
    Length {
        /// The shortest.
        min: Option<u64>,
        /// The longest.
        max: Option<u64>,
    },
}

#[derive(Clone, Debug)]
enum Node {
    /// Boxed: a tree has many nodes, and few of them are large.
    Number(Box<Stats>, u64),
    Bool([u64; 2]),
    Enum(BTreeMap<u8, (Option<String>, u64)>),
    Length(u64, Option<(u64, u64)>),
    Message(Vec<(String, Node)>),
    Union {
        unset: u64,
        unknown: u64,
        members: Vec<(String, u64, Node)>,
    },
    /// Nothing to say.
    Nothing,
}

impl FieldStats {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a row.
    pub fn add(&mut self, schema: &Schema, row: &FrameRow<'_, '_>) {
        let fresh = || (row.name.to_owned(), 0, Node::message(schema, row.message));
        let (_, rows, node) = self.messages.entry(row.id).or_insert_with(fresh);
        *rows = rows.saturating_add(1);
        node.add(&row.values);
    }

    /// The statistics of everything taken, by id.
    pub fn finish(self) -> Vec<MessageFields> {
        let messages = self.messages.into_iter().map(|(id, (message, rows, node))| {
            let mut fields = Vec::new();
            node.finish("", &mut fields);
            MessageFields { id, message, rows, fields }
        });
        messages.collect()
    }
}

impl Node {
    fn message(schema: &Schema, message: &Message) -> Self {
        let fields = message.fields.iter().map(|field| {
            let (Type::One(element) | Type::Array { element, .. }) = field.ty;
            (field.name.clone(), Self::element(schema, element))
        });
        let unions = message.unions.iter().map(|union| {
            let members = union.members.iter();
            let members = members.map(|one| (one.name.clone(), 0, Self::element(schema, one.element))).collect();
            let node = if union.discriminator.is_empty() {
                Self::Length(0, None)
            } else {
                Self::Union { unset: 0, unknown: 0, members }
            };
            (union.name.clone(), node)
        });
        Self::Message(fields.chain(unions).collect())
    }

    fn element(schema: &Schema, element: Element) -> Self {
        match element {
            Element::Scalar(Scalar::Bool) => Self::Bool([0; 2]),
            Element::Scalar(scalar) => {
                Stats::new(dtype(scalar)).map_or(Self::Nothing, |stats| Self::Number(Box::new(stats), 0))
            }
            Element::Enum(_) => Self::Enum(BTreeMap::new()),
            Element::Message(index) => Self::message(schema, &schema[index]),
            Element::String(_) | Element::Bytes(_) => Self::Length(0, None),
        }
    }

    fn add(&mut self, value: &Value<'_>) {
        match (self, value) {
            (node, Value::List(list)) => list.iter().for_each(|value| node.add(value)),
            (Self::Number(stats, count), value) => {
                *count = count.saturating_add(1);
                feed(stats, value);
            }
            (Self::Bool(counts), Value::Bool(value)) => {
                let [no, yes] = counts;
                let count = if *value { yes } else { no };
                *count = count.saturating_add(1);
            }
            (Self::Enum(counts), Value::Enum(number, name)) => {
                let (_, count) = counts.entry(*number).or_insert_with(|| (name.map(str::to_owned), 0));
                *count = count.saturating_add(1);
            }
            (Self::Length(count, range), value) => {
                let len = match value {
                    Value::Text(text) => text.len() as u64,
                    Value::Bytes(bytes) => bytes.len() as u64,
                    Value::Union(union) => match &**union {
                        UnionValue::Untagged(bytes) => bytes.len() as u64,
                        _ => return,
                    },
                    _ => return,
                };
                *count = count.saturating_add(1);
                let (low, high) = range.unwrap_or((len, len));
                *range = Some((low.min(len), high.max(len)));
            }
            (Self::Message(nodes), Value::Message(entries)) => {
                // Both are in the order of the schema.
                for ((_, node), (_, value)) in nodes.iter_mut().zip(entries) {
                    node.add(value);
                }
            }
            (Self::Union { unset, unknown, members }, Value::Union(union)) => match &**union {
                UnionValue::Unset => *unset = unset.saturating_add(1),
                UnionValue::Member { name, value } => {
                    if let Some((_, count, node)) = members.iter_mut().find(|(known, ..)| known == name) {
                        *count = count.saturating_add(1);
                        node.add(value);
                    }
                }
                _ => *unknown = unknown.saturating_add(1),
            },
            _ => {}
        }
    }

    fn finish(self, path: &str, out: &mut Vec<FieldSummary>) {
        let mut put = |count: u64, kind: FieldKind| out.push(FieldSummary { path: path.to_owned(), count, kind });
        let joined = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        match self {
            Self::Number(stats, count) => {
                if let Ok(summary) = stats.finish() {
                    put(count, FieldKind::Number(summary));
                }
            }
            Self::Bool([no, yes]) => {
                let counts = [("false", no), ("true", yes)].into_iter().filter(|(_, count)| *count > 0);
                let counts = counts.map(|(name, count)| (name.to_owned(), count)).collect();
                put(no.saturating_add(yes), FieldKind::Counts(counts));
            }
            Self::Enum(counts) => {
                let sum = counts.values().fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
                let named = counts
                    .into_iter()
                    .map(|(number, (name, count))| (name.unwrap_or_else(|| number.to_string()), count));
                put(sum, FieldKind::Counts(named.collect()));
            }
            Self::Length(count, range) => {
                put(count, FieldKind::Length { min: range.map(|(min, _)| min), max: range.map(|(_, max)| max) });
            }
            Self::Message(nodes) => nodes.into_iter().for_each(|(name, node)| node.finish(&joined(&name), out)),
            Self::Union { unset, unknown, members } => {
                let own = [("(unset)", unset), ("(unknown)", unknown)].map(|(name, count)| (name.to_owned(), count));
                let named = members.iter().map(|(name, count, _)| (name.clone(), *count));
                let counts: BTreeMap<_, _> = named.chain(own).filter(|(_, count)| *count > 0).collect();
                let sum = counts.values().fold(0u64, |sum, count| sum.saturating_add(*count));
                put(sum, FieldKind::Counts(counts));
                for (name, count, node) in members {
                    if count > 0 {
                        node.finish(&joined(&name), out);
                    }
                }
            }
            Self::Nothing => {}
        }
    }
}

fn feed(stats: &mut Stats, value: &Value<'_>) {
    // A value has the type of its field: what does not fit was checked when it was decoded.
    match value {
        Value::Float(value) => stats.update(&value.to_ne_bytes()),
        Value::Double(value) => stats.update(&value.to_ne_bytes()),
        Value::Unsigned(value) | Value::Unsigned64(value) => stats.update(&value.to_ne_bytes()),
        Value::Signed(value) | Value::Signed64(value) => stats.update(&value.to_ne_bytes()),
        _ => {}
    }
}

/// Integers are counted in 64 bits, which hold them all exactly.
const fn dtype(scalar: Scalar) -> DType {
    match scalar {
        Scalar::Uint8 | Scalar::Uint16 | Scalar::Uint32 | Scalar::Uint64 => DType::UInt64,
        Scalar::Int8 | Scalar::Int16 | Scalar::Int32 | Scalar::Int64 => DType::Int64,
        Scalar::Float => DType::Float32,
        Scalar::Double => DType::Float64,
        Scalar::Bool => DType::Bool,
    }
}
