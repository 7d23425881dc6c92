//! Protobuf messages to columns.
//!
//! A field of numbers is a column with one element per message. Fields of messages in messages line up with them: where the inner
//! message is absent, its columns hold zeros and its `@valid` is 0, as with fields that can be absent. A repeated field has a
//! `@count` per message, and a column with all elements one after the other; text and bytes have a `@len` and a column of bytes.

use super::wire::{Content, DEEPEST, Fault, Reader};
use crate::error::TelemetryError;
use fw_convert::ColumnSpool;
use fw_tensogram::Value;
use fw_tensor::DType;
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use std::collections::HashMap;

/// Where columns go, and how much may.
pub(super) struct Out<'o> {
    pub(super) spool: &'o mut ColumnSpool,
    /// Bytes that all columns may have.
    pub(super) room: u64,
    /// The record, for messages.
    pub(super) at: u64,
}

impl Out<'_> {
    pub(super) fn append(&mut self, column: usize, bytes: &[u8]) -> Result<(), TelemetryError> {
        self.check(bytes.len() as u64)?;
        Ok(self.spool.append(column, bytes)?)
    }

    fn zeros(&mut self, column: usize, len: u64) -> Result<(), TelemetryError> {
        self.check(len)?;
        Ok(self.spool.append_zeros(column, len)?)
    }

    fn check(&self, more: u64) -> Result<(), TelemetryError> {
        if self.spool.byte_len().saturating_add(more) <= self.room {
            return Ok(());
        }
        let message = format!("the messages so far expand to more than {} bytes of columns", self.room);
        Err(TelemetryError::format("expands_too_much", message, self.at))
    }

    fn column(
        &mut self,
        topic: &Topic,
        path: &str,
        dtype: DType,
        role: &str,
        kind: Option<&Kind>,
    ) -> Result<usize, TelemetryError> {
        if self.spool.count() >= MOST_COLUMNS {
            let message = format!("more than {MOST_COLUMNS} columns");
            return Err(TelemetryError::format("too_many_columns", message, self.at));
        }
        let mut about = vec![
            (Value::from("topic"), Value::from(topic.topic.as_str())),
            (Value::from("message"), Value::from(topic.message.as_str())),
            (Value::from("path"), Value::from(path)),
            (Value::from("role"), Value::from(role)),
        ];
        if let Some(Kind::Enum(kind)) = kind {
            let names = kind.values().map(|value| (Value::from(value.name()), Value::Integer(value.number().into())));
            about.push((Value::from("enum"), Value::Map(names.take(MOST_NAMES).collect())));
        }
        let joint = if path.starts_with('@') { "" } else { "." };
        Ok(self.spool.column(&format!("{}{joint}{path}", topic.name), dtype, Value::Map(about)))
    }
}

/// What the columns of a channel have in common.
pub(super) struct Topic {
    pub(super) topic: String,
    /// The first part of the names of its columns.
    pub(super) name: String,
    /// The message type.
    pub(super) message: String,
}

/// The columns of one channel.
pub(super) struct Shredder {
    topic: Topic,
    log_time: usize,
    publish_time: usize,
    sequence: usize,
    root: Node,
    /// Fields that the descriptor does not have.
    pub(super) unknown: u64,
}

impl Shredder {
    pub(super) fn new(topic: Topic, message: &MessageDescriptor, out: &mut Out<'_>) -> Result<Self, TelemetryError> {
        let log_time = out.column(&topic, "@log_time", DType::UInt64, "value", None)?;
        let publish_time = out.column(&topic, "@publish_time", DType::UInt64, "value", None)?;
        let sequence = out.column(&topic, "@sequence", DType::UInt32, "value", None)?;
        let root = Node::new(&topic, message, "", 0, out)?;
        Ok(Self { topic, log_time, publish_time, sequence, root, unknown: 0 })
    }

    pub(super) fn add(
        &mut self,
        (log_time, publish_time, sequence): (u64, u64, u32),
        message: &[u8],
        out: &mut Out<'_>,
    ) -> Result<(), TelemetryError> {
        out.append(self.log_time, &log_time.to_le_bytes())?;
        out.append(self.publish_time, &publish_time.to_le_bytes())?;
        out.append(self.sequence, &sequence.to_le_bytes())?;
        let mut state = State { topic: &self.topic, out, unknown: &mut self.unknown, depth: 0 };
        self.root.add(&[message], &mut state)
    }
}

/// What is the same at every depth of a message.
struct State<'a, 'o> {
    topic: &'a Topic,
    out: &'a mut Out<'o>,
    unknown: &'a mut u64,
    depth: usize,
}

impl State<'_, '_> {
    fn fault(&self, path: &str, fault: &Fault) -> TelemetryError {
        let place = if path.is_empty() { String::new() } else { format!(", in {path}") };
        let message = format!(
            "a message of topic {:?}{place}: {} (byte {} of it), in the record or chunk",
            self.topic.topic, fault.message, fault.at
        );
        TelemetryError::format("bad_message", message, self.out.at)
    }
}

/// The columns of a message type at a path.
struct Node {
    path: String,
    fields: Vec<Field>,
    by_number: HashMap<u32, usize>,
    /// Messages so far.
    rows: u64,
}

struct Field {
    path: String,
    kind: Kind,
    /// Which oneof it is a member of.
    oneof: Option<String>,
    shape: Shape,
}

enum Shape {
    Number { column: usize, width: usize, valid: Option<usize> },
    Text { len: usize, bytes: usize, valid: Option<usize> },
    Message { valid: usize, node: Option<Box<Node>> },
    Numbers { count: usize, column: usize },
    Texts { count: usize, len: usize, bytes: usize },
    Messages { count: usize, node: Option<Box<Node>> },
}

impl Node {
    /// The columns of a message type of which the rows before had none.
    fn new(
        topic: &Topic,
        message: &MessageDescriptor,
        path: &str,
        rows: u64,
        out: &mut Out<'_>,
    ) -> Result<Self, TelemetryError> {
        let mut node = Self { path: path.to_owned(), fields: Vec::new(), by_number: HashMap::new(), rows: 0 };
        for field in message.fields() {
            node.by_number.insert(field.number(), node.fields.len());
            node.fields.push(Field::new(topic, &field, path, out)?);
        }
        node.fill(rows, out)?;
        Ok(node)
    }

    /// Messages that are absent.
    fn fill(&mut self, rows: u64, out: &mut Out<'_>) -> Result<(), TelemetryError> {
        self.rows = self.rows.saturating_add(rows);
        if rows > 0 {
            self.fields.iter_mut().try_for_each(|field| field.fill(rows, out))?;
        }
        Ok(())
    }

    /// A message, in parts that are merged if it was sent so.
    fn add(&mut self, parts: &[&[u8]], state: &mut State<'_, '_>) -> Result<(), TelemetryError> {
        if state.depth > DEEPEST {
            let fault = Fault { message: format!("messages are nested more than {DEEPEST} deep"), at: 0 };
            return Err(state.fault(&self.path, &fault));
        }
        let mut found: Vec<(usize, Content<'_>)> = Vec::new();
        let mut members: HashMap<&str, usize> = HashMap::new();
        for part in parts {
            let mut reader = Reader::new(part);
            while let Some((number, content)) = reader.next_field().map_err(|fault| state.fault(&self.path, &fault))? {
                let Some((at, field)) = self.by_number.get(&number).and_then(|at| Some((*at, self.fields.get(*at)?)))
                else {
                    *state.unknown = state.unknown.saturating_add(1);
                    continue;
                };
                if let Some(oneof) = &field.oneof {
                    members.insert(oneof, at);
                }
                found.push((at, content));
            }
        }
        // Fields in the order of the descriptor; occurrences of one field stay in theirs.
        found.sort_by_key(|(at, _)| *at);
        let winners: Vec<usize> = members.into_values().collect();
        let mut rest = found.as_slice();
        for (at, field) in self.fields.iter_mut().enumerate() {
            let count = rest.iter().take_while(|(of, _)| *of == at).count();
            let (own, others) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            rest = others;
            // Of several members of a oneof the last is set.
            let beaten = field.oneof.is_some() && !winners.contains(&at);
            field.add(if beaten { &[] } else { own }, self.rows, state)?;
        }
        self.rows = self.rows.saturating_add(1);
        Ok(())
    }
}

impl Field {
    fn new(topic: &Topic, field: &FieldDescriptor, path: &str, out: &mut Out<'_>) -> Result<Self, TelemetryError> {
        let joint = if path.is_empty() { "" } else { "." };
        let path = format!("{path}{joint}{}", field.name());
        let kind = field.kind();
        let mut column = |suffix: &str, dtype: DType, role: &str| {
            out.column(topic, &format!("{path}{suffix}"), dtype, role, (suffix.is_empty()).then_some(&kind))
        };
        let valid = |column: &mut dyn FnMut(&str, DType, &str) -> Result<usize, TelemetryError>| {
            field.supports_presence().then(|| column("@valid", DType::UInt8, "valid")).transpose()
        };
        let many = field.is_list() || field.is_map();
        let shape = match (number_type(&kind), &kind, many) {
            (_, Kind::Message(_), false) => {
                Shape::Message { valid: column("@valid", DType::UInt8, "valid")?, node: None }
            }
            (_, Kind::Message(_), true) => {
                Shape::Messages { count: column("@count", DType::UInt32, "count")?, node: None }
            }
            (Some(dtype), _, false) => {
                let valid = valid(&mut column)?;
                Shape::Number { column: column("", dtype, "value")?, width: width(dtype), valid }
            }
            (Some(dtype), _, true) => {
                Shape::Numbers { count: column("@count", DType::UInt32, "count")?, column: column("", dtype, "value")? }
            }
            (None, _, false) => {
                let valid = valid(&mut column)?;
                let len = column("@len", DType::UInt32, "length")?;
                Shape::Text { len, bytes: column("", DType::UInt8, "value")?, valid }
            }
            (None, _, true) => Shape::Texts {
                count: column("@count", DType::UInt32, "count")?,
                len: column("@len", DType::UInt32, "length")?,
                bytes: column("", DType::UInt8, "value")?,
            },
        };
        let oneof = field.containing_oneof().map(|oneof| oneof.name().to_owned());
        Ok(Self { path, kind, oneof, shape })
    }

    fn fill(&mut self, rows: u64, out: &mut Out<'_>) -> Result<(), TelemetryError> {
        let many = |width: u64| rows.saturating_mul(width);
        match &mut self.shape {
            Shape::Number { column, width, valid } => {
                out.zeros(*column, many(*width as u64))?;
                valid.map_or(Ok(()), |valid| out.zeros(valid, rows))
            }
            Shape::Text { len, valid, .. } => {
                out.zeros(*len, many(COUNT))?;
                valid.map_or(Ok(()), |valid| out.zeros(valid, rows))
            }
            Shape::Message { valid, node } => {
                out.zeros(*valid, rows)?;
                node.as_mut().map_or(Ok(()), |node| node.fill(rows, out))
            }
            Shape::Numbers { count, .. } | Shape::Texts { count, .. } | Shape::Messages { count, .. } => {
                out.zeros(*count, many(COUNT))
            }
        }
    }

    fn add(
        &mut self,
        found: &[(usize, Content<'_>)],
        rows: u64,
        state: &mut State<'_, '_>,
    ) -> Result<(), TelemetryError> {
        let found = found.iter().map(|(_, content)| *content);
        let (path, kind) = (&self.path, &self.kind);
        match &mut self.shape {
            Shape::Number { column, width, valid } => {
                let last = found.filter_map(|content| number(kind, content)).next_back();
                if let Some(valid) = valid {
                    state.out.append(*valid, &[u8::from(last.is_some())])?;
                }
                let bytes = last.unwrap_or_default();
                state.out.append(*column, bytes.get(..*width).unwrap_or_default())
            }
            Shape::Text { len, bytes, valid } => {
                let last = found.filter_map(delimited).next_back();
                if let Some(valid) = valid {
                    state.out.append(*valid, &[u8::from(last.is_some())])?;
                }
                text(last.unwrap_or_default(), *len, *bytes, state)
            }
            Shape::Message { valid, node } => {
                let parts: Vec<&[u8]> = found.filter_map(nested).collect();
                state.out.append(*valid, &[u8::from(!parts.is_empty())])?;
                if parts.is_empty() {
                    return node.as_mut().map_or(Ok(()), |node| node.fill(1, state.out));
                }
                descend(node, kind, path, rows, &parts, state)
            }
            Shape::Numbers { count, column } => {
                let mut elements = 0u32;
                for content in found {
                    elements = elements.saturating_add(numbers(kind, content, path, *column, state)?);
                }
                state.out.append(*count, &elements.to_le_bytes())
            }
            Shape::Texts { count, len, bytes } => {
                let mut elements = 0u32;
                for content in found.filter_map(delimited) {
                    text(content, *len, *bytes, state)?;
                    elements = elements.saturating_add(1);
                }
                state.out.append(*count, &elements.to_le_bytes())
            }
            Shape::Messages { count, node } => {
                let mut elements = 0u32;
                for content in found.filter_map(nested) {
                    descend(node, kind, path, 0, &[content], state)?;
                    elements = elements.saturating_add(1);
                }
                state.out.append(*count, &elements.to_le_bytes())
            }
        }
    }
}

/// Adds a message to columns that are there from the first such message on.
fn descend(
    node: &mut Option<Box<Node>>,
    kind: &Kind,
    path: &str,
    rows: u64,
    parts: &[&[u8]],
    state: &mut State<'_, '_>,
) -> Result<(), TelemetryError> {
    let Kind::Message(message) = kind else { return Ok(()) };
    let node = match node {
        Some(node) => node,
        none => none.insert(Box::new(Node::new(state.topic, message, path, rows, state.out)?)),
    };
    state.depth = state.depth.saturating_add(1);
    let done = node.add(parts, state);
    state.depth = state.depth.saturating_sub(1);
    done
}

fn text(content: &[u8], len: usize, bytes: usize, state: &mut State<'_, '_>) -> Result<(), TelemetryError> {
    // Records have at most 256 MiB.
    let count = u32::try_from(content.len()).unwrap_or(u32::MAX);
    state.out.append(len, &count.to_le_bytes())?;
    state.out.append(bytes, content)
}

/// One number, or a packed run of them; how many.
fn numbers(
    kind: &Kind,
    content: Content<'_>,
    path: &str,
    column: usize,
    state: &mut State<'_, '_>,
) -> Result<u32, TelemetryError> {
    let width = number_type(kind).map_or(0, width);
    let put =
        |bytes: [u8; 8], state: &mut State<'_, '_>| state.out.append(column, bytes.get(..width).unwrap_or_default());
    let Content::Delimited(packed) = content else {
        let Some(bytes) = number(kind, content) else {
            *state.unknown = state.unknown.saturating_add(1);
            return Ok(0);
        };
        put(bytes, state)?;
        return Ok(1);
    };
    let mut reader = Reader::new(packed);
    let mut count = 0u32;
    while !reader.is_empty() {
        let content = match kind {
            Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => reader.array().map(Content::Fixed64),
            Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => reader.array().map(Content::Fixed32),
            _ => reader.varint().map(Content::Varint),
        };
        let content = content.map_err(|fault| state.fault(path, &fault))?;
        put(number(kind, content).unwrap_or_default(), state)?;
        count = count.saturating_add(1);
    }
    Ok(count)
}

/// A number in little endian, in its first bytes; `None` when the wire type is another.
fn number(kind: &Kind, content: Content<'_>) -> Option<[u8; 8]> {
    Some(match (kind, content) {
        (Kind::Double | Kind::Fixed64 | Kind::Sfixed64, Content::Fixed64(bytes)) => bytes,
        (Kind::Float | Kind::Fixed32 | Kind::Sfixed32, Content::Fixed32([a, b, c, d])) => [a, b, c, d, 0, 0, 0, 0],
        // Narrower types take the low bits.
        (Kind::Int32 | Kind::Int64 | Kind::Uint32 | Kind::Uint64 | Kind::Enum(_), Content::Varint(value)) => {
            value.to_le_bytes()
        }
        (Kind::Sint32, Content::Varint(value)) => {
            let value = value & 0xffff_ffff;
            ((value >> 1) ^ (value & 1).wrapping_neg()).to_le_bytes()
        }
        (Kind::Sint64, Content::Varint(value)) => ((value >> 1) ^ (value & 1).wrapping_neg()).to_le_bytes(),
        (Kind::Bool, Content::Varint(value)) => u64::from(value != 0).to_le_bytes(),
        _ => return None,
    })
}

const fn delimited(content: Content<'_>) -> Option<&[u8]> {
    match content {
        Content::Delimited(bytes) => Some(bytes),
        _ => None,
    }
}

const fn nested(content: Content<'_>) -> Option<&[u8]> {
    match content {
        Content::Delimited(bytes) | Content::Group(bytes) => Some(bytes),
        _ => None,
    }
}

/// The element type of a column of such numbers; `None` for text, bytes and messages.
const fn number_type(kind: &Kind) -> Option<DType> {
    Some(match kind {
        Kind::Double => DType::Float64,
        Kind::Float => DType::Float32,
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 | Kind::Enum(_) => DType::Int32,
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => DType::Int64,
        Kind::Uint32 | Kind::Fixed32 => DType::UInt32,
        Kind::Uint64 | Kind::Fixed64 => DType::UInt64,
        Kind::Bool => DType::Bool,
        Kind::String | Kind::Bytes | Kind::Message(_) => return None,
    })
}

fn width(dtype: DType) -> usize {
    dtype.byte_width().unwrap_or(0)
}

/// Bytes of a count or a length.
const COUNT: u64 = 4;

/// More than any plotting tool shows.
const MOST_COLUMNS: usize = 65_536;

/// Names of an enum that a column's metadata lists.
const MOST_NAMES: usize = 1024;
