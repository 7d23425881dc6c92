//! Comma-separated values (RFC 4180), a line per frame.
//!
//! Nested messages are flattened (`position.x`). An array of up to [64](EXPANDED) elements has a column for each (`v[0]`); cells past
//! the end of a shorter one are empty. Longer arrays are one cell of JSON. A oneof has a column with the name of its member,
//! and columns for each member, empty unless it is the one. Bytes are hexadecimal.

use super::{FrameRow, TableFormat, TableLayout, TableWriter};
use crate::{ConvertError, Loss};
use fw_dynamic::{EnumStyle, UnionValue, Value};
use fw_schema::Schema;
use fw_schema::layout::{Element, Message, Type};
use fw_source::AtomicFile;
use std::io::{BufWriter, Write};

/// Comma-separated values.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Csv;

impl TableFormat for Csv {
    fn create<'t>(
        &'t self,
        file: AtomicFile,
        layout: TableLayout<'t>,
    ) -> Result<Box<dyn TableWriter + 't>, ConvertError> {
        let columns = Columns::message(layout.schema, layout.message);
        let count = columns.count();
        if count > MOST_COLUMNS {
            let message =
                format!("{}: {count} columns are more than the {MOST_COLUMNS} that CSV tables may have", layout.name);
            return Err(ConvertError::unsupported("too_many_columns", message));
        }
        let mut writer = Writer { out: BufWriter::with_capacity(1 << 16, file), layout, columns, line: Vec::new() };
        writer.header()?;
        Ok(Box::new(writer))
    }
}

struct Writer<'t> {
    out: BufWriter<AtomicFile>,
    layout: TableLayout<'t>,
    columns: Columns<'t>,
    line: Vec<u8>,
}

impl Writer<'_> {
    fn header(&mut self) -> Result<(), ConvertError> {
        let mut names = vec!["at".to_owned()];
        let framing = self.layout.framing;
        let own = [
            ("time", self.layout.timed),
            ("sequence", framing.has_sequence()),
            ("system", framing.has_system()),
            ("component", framing.has_system()),
        ];
        names.extend(own.into_iter().filter(|(_, there)| *there).map(|(name, _)| format!("@{name}")));
        if let Some(at) = names.first_mut() {
            at.insert(0, '@');
        }
        self.columns.names("", &mut names);
        let mut line = Vec::new();
        for name in names {
            cell(&mut line, &name);
        }
        self.write_line(&line)
    }

    fn write_line(&mut self, line: &[u8]) -> Result<(), ConvertError> {
        // Every cell ends with a comma; the last one's becomes the end of the line.
        self.out.write_all(line.strip_suffix(b",").unwrap_or(line))?;
        self.out.write_all(b"\r\n")?;
        Ok(())
    }
}

impl TableWriter for Writer<'_> {
    fn row(&mut self, row: &FrameRow<'_, '_>) -> Result<(), ConvertError> {
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        number(&mut line, row.at);
        if self.layout.timed {
            match row.time {
                Some(time) => number(&mut line, time),
                None => line.push(b','),
            }
        }
        if row.framing.has_sequence() {
            number(&mut line, row.header.sequence);
        }
        if row.framing.has_system() {
            number(&mut line, row.header.system);
            number(&mut line, row.header.component);
        }
        self.columns.cells(Some(&row.values), self.layout.enums, &mut line);
        self.write_line(&line)?;
        self.line = line;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(AtomicFile, Vec<Loss>), ConvertError> {
        let file = self.out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        Ok((file, Vec::new()))
    }
}

/// The columns of a message, as a tree beside its values.
enum Columns<'t> {
    Leaf,
    Message(Vec<(&'t str, Columns<'t>)>),
    Array(usize, Box<Columns<'t>>),
    Union(Vec<(&'t str, Columns<'t>)>),
}

impl<'t> Columns<'t> {
    fn message(schema: &'t Schema, message: &'t Message) -> Self {
        let fields = message.fields.iter().map(|field| {
            let columns = match field.ty {
                Type::One(element) => Self::element(schema, element),
                Type::Array { element, extent } if extent.limit() <= EXPANDED => {
                    Self::Array(extent.limit(), Box::new(Self::element(schema, element)))
                }
                Type::Array { .. } => Self::Leaf,
            };
            (field.name.as_str(), columns)
        });
        let unions = message.unions.iter().map(|union| {
            let members = union.members.iter().map(|one| (one.name.as_str(), Self::element(schema, one.element)));
            let columns = if union.discriminator.is_empty() { Self::Leaf } else { Self::Union(members.collect()) };
            (union.name.as_str(), columns)
        });
        Self::Message(fields.chain(unions).collect())
    }

    fn element(schema: &'t Schema, element: Element) -> Self {
        match element {
            Element::Message(index) => Self::message(schema, &schema[index]),
            Element::Scalar(_) | Element::Enum(_) | Element::String(_) | Element::Bytes(_) => Self::Leaf,
        }
    }

    fn count(&self) -> usize {
        let sum =
            |parts: &[(&str, Self)]| parts.iter().fold(0usize, |sum, (_, columns)| sum.saturating_add(columns.count()));
        match self {
            Self::Leaf => 1,
            Self::Message(fields) => sum(fields),
            Self::Array(len, element) => element.count().saturating_mul(*len),
            Self::Union(members) => sum(members).saturating_add(1),
        }
    }

    fn names(&self, path: &str, names: &mut Vec<String>) {
        let joint = if path.is_empty() { "" } else { "." };
        match self {
            Self::Leaf => names.push(path.to_owned()),
            Self::Message(fields) => {
                fields.iter().for_each(|(name, columns)| columns.names(&format!("{path}{joint}{name}"), names));
            }
            Self::Array(len, element) => (0..*len).for_each(|at| element.names(&format!("{path}[{at}]"), names)),
            Self::Union(members) => {
                names.push(path.to_owned());
                members.iter().for_each(|(name, columns)| columns.names(&format!("{path}{joint}{name}"), names));
            }
        }
    }

    /// The cells of a value; those of one that is not there are empty.
    fn cells(&self, value: Option<&Value<'_>>, enums: EnumStyle, line: &mut Vec<u8>) {
        match self {
            Self::Leaf => match value {
                Some(value) => leaf(value, enums, line),
                None => line.push(b','),
            },
            Self::Message(fields) => {
                let entries = match value {
                    Some(Value::Message(entries)) => entries.as_slice(),
                    _ => &[],
                };
                for (at, (_, columns)) in fields.iter().enumerate() {
                    columns.cells(entries.get(at).map(|(_, value)| value), enums, line);
                }
            }
            Self::Array(len, element) => {
                let list = match value {
                    Some(Value::List(list)) => list.as_slice(),
                    _ => &[],
                };
                (0..*len).for_each(|at| element.cells(list.get(at), enums, line));
            }
            Self::Union(members) => {
                let union = match value {
                    Some(Value::Union(union)) => Some(&**union),
                    _ => None,
                };
                match union {
                    Some(UnionValue::Member { name, .. }) => cell(line, name),
                    Some(UnionValue::Unknown { tag, .. }) => cell(line, &format!("unknown {tag}")),
                    _ => line.push(b','),
                }
                for (name, columns) in members {
                    let held = match union {
                        Some(UnionValue::Member { name: set, value }) if set == name => Some(value),
                        _ => None,
                    };
                    columns.cells(held, enums, line);
                }
            }
        }
    }
}

fn leaf(value: &Value<'_>, enums: EnumStyle, line: &mut Vec<u8>) {
    match value {
        Value::Bool(value) => number(line, value),
        Value::Unsigned(value) | Value::Unsigned64(value) => number(line, value),
        Value::Signed(value) | Value::Signed64(value) => number(line, value),
        Value::Float(value) => number(line, value),
        Value::Double(value) => number(line, value),
        Value::Enum(_, Some(name)) if enums == EnumStyle::Names => cell(line, name),
        Value::Enum(byte, _) => number(line, byte),
        Value::Text(text) => cell(line, text),
        Value::Bytes(bytes) => hex(line, bytes),
        Value::Union(union) => match &**union {
            UnionValue::Untagged(bytes) => hex(line, bytes),
            _ => line.push(b','),
        },
        other => cell(line, &serde_json::to_string(&other.shown(enums)).unwrap_or_default()),
    }
}

fn number(line: &mut Vec<u8>, value: impl std::fmt::Display) {
    // Writing to memory cannot fail.
    let _ = write!(line, "{value},");
}

fn hex(line: &mut Vec<u8>, bytes: &[u8]) {
    for byte in bytes {
        let _ = write!(line, "{byte:02x}");
    }
    line.push(b',');
}

/// A cell of text, in quotes where it needs them.
fn cell(line: &mut Vec<u8>, text: &str) {
    if text.bytes().any(|byte| matches!(byte, b'"' | b',' | b'\r' | b'\n')) {
        line.push(b'"');
        line.extend_from_slice(text.replace('"', "\"\"").as_bytes());
        line.push(b'"');
    } else {
        line.extend_from_slice(text.as_bytes());
    }
    line.push(b',');
}

/// Arrays of up to so many elements have a column for each.
const EXPANDED: usize = 64;

/// More than spreadsheets take.
const MOST_COLUMNS: usize = 16_384;
