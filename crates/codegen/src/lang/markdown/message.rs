//! The byte map of a message.

use super::{anchor, code, paragraph, table};
use crate::text::Text;
use fw_schema::Schema;
use fw_schema::layout::{DefaultValue, Element, Extent, Field, Message, Type, Union, UnionWire};

pub(super) fn section(text: &mut Text, schema: &Schema, message: &Message) {
    let name = schema.qualified(message);
    text.line(format!("### {name}")).gap();
    paragraph(text, &message.docs);
    text.line(facts(message)).gap();
    if message.fields.is_empty() && message.unions.is_empty() {
        text.line("It has no fields: its payload is empty.").gap();
        return;
    }
    let mut rows: Vec<Vec<String>> = message.fields.iter().map(|field| field_row(schema, message, field)).collect();
    for union in message.unions.iter().filter(|union| !union.members.is_empty()) {
        rows.extend(union_rows(schema, message, union));
    }
    if message.fixed_tail > 0 {
        let offset = message.sizes.max - message.fixed_tail;
        let tail = message.fixed_tail.to_string();
        let words = "zeros, at the end of the fixed layout only".to_owned();
        rows.push(vec![offset.to_string(), tail, String::new(), String::new(), words]);
    }
    table(text, &["offset", "bytes", "field", "type", "what"], rows);
}

fn facts(message: &Message) -> String {
    let sizes = &message.sizes;
    let mut facts = match message.id {
        Some(id) => format!("Message id {id} (0x{id:04x}). "),
        None => "Only part of other messages. ".to_owned(),
    };
    facts += &match sizes.min == sizes.max {
        true => format!("{} bytes.", sizes.max),
        false => format!("{} to {} bytes on the wire.", sizes.min, sizes.max),
    };
    if message.is_extended() {
        facts += &format!(" The first {} bytes are the base; peers of an older schema ignore the rest.", sizes.base);
    }
    if message.variable {
        facts += " Variable: on the wire text, blobs and arrays take only what they use, so offsets hold for the fixed layout.";
    }
    if message.envelope {
        facts += " An envelope: it carries one other message.";
    }
    facts
}

fn field_row(schema: &Schema, message: &Message, field: &Field) -> Vec<String> {
    let mut what = field.docs.clone();
    if let Some(default) = &field.default {
        what.push(format!("Default {}.", default_text(default)));
    }
    if field.extension {
        what.push("Extension.".to_owned());
    }
    let bytes = match field.ty.prefix_len() {
        0 => field.size.to_string(),
        prefix if message.variable => {
            let unit = if field.unit == 1 { "n".to_owned() } else { format!("{} n", field.unit) };
            format!("{prefix} + {unit}, at most {}", field.size)
        }
        prefix => format!("{prefix} + {}", field.size - prefix),
    };
    vec![field.offset.to_string(), bytes, code(&field.name), type_text(schema, field.ty), what.join(" ")]
}

fn union_rows(schema: &Schema, message: &Message, union: &Union) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let tag = union.discriminator.len();
    if tag > 0 {
        let kind = format!("tag ({})", union.discriminator.name());
        let mut what = union.docs.clone();
        what.push("Says which member follows; 0 is none.".to_owned());
        rows.push(vec![union.offset.to_string(), tag.to_string(), code(&union.name), kind, what.join(" ")]);
    }
    let wire = match union.wire {
        _ if !message.variable => "Zeros after the member.".to_owned(),
        UnionWire::Full => "At full width on the wire too.".to_owned(),
        UnionWire::Trimmed if union.min_size > 0 => {
            format!("On the wire the member, at least {} bytes.", union.min_size)
        }
        UnionWire::Trimmed => "On the wire the member alone.".to_owned(),
        UnionWire::Prefixed => "On the wire two bytes of length, then the member.".to_owned(),
    };
    let name = if tag > 0 { String::new() } else { code(&union.name) };
    rows.push(vec![union.region_offset().to_string(), union.region.to_string(), name, "one of".to_owned(), wire]);
    for member in &union.members {
        let tag = member.tag.map_or(String::new(), |tag| format!("Tag {tag}. "));
        let extension = if member.extension { " Extension." } else { "" };
        rows.push(vec![
            String::new(),
            member.size.to_string(),
            format!("{}.{}", code(&union.name), code(&member.name)),
            type_text(schema, Type::One(member.element)),
            format!("{tag}{}{extension}", member.docs.join(" ")).trim_end().to_owned(),
        ]);
    }
    rows
}

fn type_text(schema: &Schema, ty: Type) -> String {
    let count = |extent: Extent| match extent {
        Extent::Fixed(limit) => limit.to_string(),
        Extent::Bounded(limit) => format!("≤ {limit}"),
    };
    match ty {
        Type::Array { element, extent } => format!("{}[{}]", type_text(schema, Type::One(element)), count(extent)),
        Type::One(Element::Scalar(scalar)) => scalar.name().to_owned(),
        Type::One(Element::Enum(index)) => format!("enum {}", schema[index].name),
        Type::One(Element::Message(index)) => {
            let name = schema.qualified(&schema[index]);
            format!("[{name}](#{})", anchor(&name))
        }
        Type::One(Element::String(extent)) => format!("string({})", count(extent)),
        Type::One(Element::Bytes(extent)) => format!("bytes({})", count(extent)),
    }
}

fn default_text(default: &DefaultValue) -> String {
    match default {
        DefaultValue::Bool(value) => value.to_string(),
        DefaultValue::Integer(value) => value.to_string(),
        DefaultValue::Real(value) => value.to_string(),
        DefaultValue::Enum { name, .. } => code(name),
        DefaultValue::Text(text) => format!("\"{text}\""),
    }
}
