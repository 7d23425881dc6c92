//! Byte maps: where everything stands in a payload, for people.

use crate::layout::{Element, Extent, Field, Message, Schema, Type, Union, UnionWire};
use std::fmt::Write as _;

/// The byte map of every message, in declaration order.
pub fn layout_text(schema: &Schema) -> String {
    let mut out = String::new();
    for (index, message) in schema.messages().iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        out.push_str(&layout_text_of(schema, message));
    }
    out
}

/// The byte map of one message of the schema.
pub fn layout_text_of(schema: &Schema, message: &Message) -> String {
    let mut rows: Vec<[String; 4]> = vec![["offset", "size", "name", "type"].map(str::to_owned)];
    let mut base_ended = false;
    for field in &message.fields {
        if field.extension && !base_ended {
            base_ended = true;
            rows.push(split(message));
        }
        rows.push([
            field.offset.to_string(),
            size_text(message, field),
            field.name.clone(),
            type_text(schema, field.ty),
        ]);
    }
    for union in &message.unions {
        union_rows(schema, message, union, &mut rows);
    }
    if message.fixed_tail > 0 {
        let offset = message.sizes.max - message.fixed_tail;
        let words = "zero at the end of the fixed layout only".to_owned();
        rows.push([offset.to_string(), message.fixed_tail.to_string(), "(padding)".to_owned(), words]);
    }

    let mut out = head(schema, message);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    for [offset, size, name, ty] in &rows {
        let line = format!("  {offset:>0$}  {size:>1$}  {name:<2$}  {ty}", widths[0], widths[1], widths[2]);
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn head(schema: &Schema, message: &Message) -> String {
    let mut out = schema.qualified(message);
    if let Some(id) = message.id {
        let _ = write!(out, "  id {id} (0x{id:04x})");
    }
    let _ = write!(out, "  max {}  base {}  min {}", message.sizes.max, message.sizes.base, message.sizes.min);
    if message.id.is_some() {
        let _ = write!(out, "  magic {:02x} {:02x}", message.magic[0], message.magic[1]);
    }
    for (set, word) in [(message.variable, "variable"), (message.envelope, "envelope")] {
        if set {
            let _ = write!(out, "  {word}");
        }
    }
    out.push('\n');
    out
}

fn split(message: &Message) -> [String; 4] {
    [message.sizes.base.to_string(), String::new(), "-- extensions".to_owned(), "the checksum is split here".to_owned()]
}

/// Bytes of a field; in a variable message, what the wire carries.
fn size_text(message: &Message, field: &Field) -> String {
    match field.ty.prefix_len() {
        prefix if prefix > 0 && message.variable => match field.unit {
            1 => format!("{prefix}+n, max {}", field.size),
            unit => format!("{prefix}+{unit}n, max {}", field.size),
        },
        _ => field.size.to_string(),
    }
}

fn union_rows(schema: &Schema, message: &Message, union: &Union, rows: &mut Vec<[String; 4]>) {
    if union.members.is_empty() {
        return;
    }
    let tag_len = union.discriminator.len();
    if tag_len > 0 {
        let words = format!("tag, {}; 0 is unset", union.discriminator.name());
        rows.push([union.offset.to_string(), tag_len.to_string(), union.name.clone(), words]);
    }
    let words = match union.wire {
        _ if !message.variable => "union".to_owned(),
        UnionWire::Full => "union, at full width".to_owned(),
        UnionWire::Trimmed if union.min_size > 0 => format!("union; wire: the member, at least {}", union.min_size),
        UnionWire::Trimmed => "union; wire: the member alone".to_owned(),
        UnionWire::Prefixed if union.min_size > 0 => {
            format!("union; wire: length (2), the member, at least {}", union.min_size)
        }
        UnionWire::Prefixed => "union; wire: length (2), the member".to_owned(),
    };
    let name = if tag_len > 0 { String::new() } else { union.name.clone() };
    rows.push([union.region_offset().to_string(), union.region.to_string(), name, words]);
    for member in &union.members {
        let tag = member.tag.map(|tag| format!("{tag}: ")).unwrap_or_default();
        let mark = if member.extension { ", extension" } else { "" };
        let name = format!("  {tag}{}", member.name);
        let ty = format!("{}{mark}", type_text(schema, Type::One(member.element)));
        rows.push([String::new(), member.size.to_string(), name, ty]);
    }
}

/// A type in the words of the schema, with its sizes.
pub(crate) fn type_text(schema: &Schema, ty: Type) -> String {
    let count = |extent: Extent| match extent {
        Extent::Fixed(limit) => limit.to_string(),
        Extent::Bounded(limit) => format!("<={limit}"),
    };
    match ty {
        Type::Array { element, extent } => format!("{}[{}]", type_text(schema, Type::One(element)), count(extent)),
        Type::One(Element::Scalar(scalar)) => scalar.name().to_owned(),
        Type::One(Element::Enum(index)) => format!("enum {}", schema[index].name),
        Type::One(Element::Message(index)) => schema[index].name.clone(),
        Type::One(Element::String(extent)) => format!("string({})", count(extent)),
        Type::One(Element::Bytes(extent)) => format!("bytes({})", count(extent)),
    }
}
