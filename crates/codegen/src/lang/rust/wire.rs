//! The wire layout of variable messages (SF-8).

use super::message::unions;
use super::types::Context;
use crate::text::Text;
use fw_schema::layout::{Field, Message, Union, UnionWire};

/// True when the wire layout is not simply the fixed one.
pub(super) fn is_trimmed(message: &Message) -> bool {
    message.variable && (!message.fields.is_empty() || unions(message).next().is_some())
}

/// True when a union needs to be written in a way of its own.
pub(super) fn is_own_way(message: &Message, union: &Union) -> bool {
    message.id.is_some() && is_trimmed(message) && !(union.wire == UnionWire::Full && union.base_region == union.region)
}

/// `encode` and `decode` of the message.
pub(super) fn print(context: &Context<'_>, message: &Message, text: &mut Text) {
    let names = context.names.message(message.index);
    text.block(
        "fn encode(&self, layout: rt::Layout, out: &mut [u8]) -> Result<usize, rt::MessageError> {",
        "}",
        |text| {
            text.block("if layout == rt::Layout::Fixed {", "}", |text| {
                text.line("return field::write_fixed(self, out);");
            });
            text.line("let mut out = field::Writer::new(out);");
            for (field, name) in message.fields.iter().zip(&names.fields) {
                text.line(format!("out.{}(&self.{name})?;", verb(field)));
            }
            for (at, union) in unions(message) {
                let name = &names.unions[at].field;
                match is_own_way(message, union) {
                    true => text.line(format!("self.{name}.write(&mut out)?;")),
                    false => text.line(format!("out.field(&self.{name})?;")),
                };
            }
            text.line("Ok(out.len())");
        },
    );
    text.gap();
    text.block("fn decode(layout: rt::Layout, payload: &[u8]) -> Result<Self, rt::MessageError> {", "}", |text| {
        text.block("if layout == rt::Layout::Fixed {", "}", |text| {
            text.line(format!("return Ok(field::read_fixed::<Self, {}>(payload));", message.sizes.max));
        });
        text.line("let mut payload = field::Reader::new(payload);");
        let (base, extensions): (Vec<_>, Vec<_>) =
            message.fields.iter().zip(&names.fields).partition(|(field, _)| !field.extension);
        let mut values: Vec<String> =
            base.iter().map(|(field, name)| format!("{name}: payload.{}(\"{}\")?,", verb(field), field.name)).collect();
        if extensions.is_empty() {
            values.extend(unions(message).map(|(at, union)| {
                let names = &names.unions[at];
                match is_own_way(message, union) {
                    true => format!("{}: {}::read(&mut payload)?,", names.field, names.ty),
                    false => format!("{}: payload.field(\"{}\")?,", names.field, union.name),
                }
            }));
            text.block("Ok(Self {", "})", |text| {
                text.lines(values);
            });
            return;
        }
        if values.is_empty() {
            text.line("let mut message = Self::default();");
        } else {
            text.block("let mut message = Self {", "};", |text| {
                text.lines(values).line("..Self::default()");
            });
        }
        for (field, name) in extensions {
            // What is not all there keeps its default, and so does everything behind it (SF-8.4).
            let read = match verb(field) {
                "trimmed" => format!("payload.trimmed_extension(\"{}\")?", field.name),
                _ => "payload.extension()".to_owned(),
            };
            text.block(format!("let Some({name}) = {read} else {{"), "};", |text| {
                text.line("return Ok(message);");
            });
            text.line(format!("message.{name} = {name};"));
        }
        text.line("Ok(message)");
    });
}

/// Which method of reader and writer handles the field.
fn verb(field: &Field) -> &'static str {
    if field.ty.prefix_len() > 0 { "trimmed" } else { "field" }
}
