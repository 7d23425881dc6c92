//! Messages: a struct, its new value, its fixed layout, and how it is framed.

use super::style::literal;
use super::types::{Context, docs, range};
use super::wire;
use crate::text::Text;
use fw_schema::layout::{Element, Extent, Message, MessageIndex, Scalar, Type, Union};

pub(super) fn print(context: &Context<'_>, index: MessageIndex, text: &mut Text) {
    let message = &context.schema[index];
    declare(context, message, text);
    if !derives_default(message) {
        text.gap();
        default(context, message, text);
    }
    text.gap();
    fixed(context, message, text);
    if message.envelope {
        text.gap();
        envelope(context, message, text);
    }
    if let Some(id) = message.id {
        text.gap();
        framed(context, message, id, text);
    }
}

/// Unions with members; an empty one contributes nothing (SF-7.1).
pub(super) fn unions(message: &Message) -> impl Iterator<Item = (usize, &Union)> {
    message.unions.iter().enumerate().filter(|(_, union)| !union.members.is_empty())
}

fn declare(context: &Context<'_>, message: &Message, text: &mut Text) {
    let names = context.names.message(message.index);
    docs(text, &message.docs, &format!("Message `{}`.", message.name));
    let default = if derives_default(message) { "Default, " } else { "" };
    text.line(format!("#[derive(Clone, Debug, {default}PartialEq)]"));
    context.serde_derive(text);
    if message.fields.is_empty() && unions(message).next().is_none() {
        text.line(format!("pub struct {} {{}}", names.ty));
        return;
    }
    text.block(format!("pub struct {} {{", names.ty), "}", |text| {
        for (field, name) in message.fields.iter().zip(&names.fields) {
            docs(text, &field.docs, &format!("{}.", context.described(field.ty)));
            context.serde_field(text, &field.name, name, field.ty);
            text.line(format!("pub {name}: {},", context.field(field.ty)));
        }
        for (at, union) in unions(message) {
            let names = &names.unions[at];
            docs(text, &union.docs, &format!("Union `{}`.", union.name));
            context.serde_field(text, &union.name, &names.field, Type::One(Element::Scalar(Scalar::Uint8)));
            text.line(format!("pub {}: {},", names.field, names.ty));
        }
    });
}

/// True when a new message is what `#[derive(Default)]` makes: no defaults, and no arrays of messages, whose slots are
/// zeros, or of more elements than the standard library cares for.
fn derives_default(message: &Message) -> bool {
    message.fields.iter().all(|field| {
        let derivable = match field.ty {
            Type::One(Element::Bytes(Extent::Fixed(size))) => size <= 32,
            Type::Array { element: Element::Message(_), extent: Extent::Fixed(_) } => false,
            Type::Array { element: Element::Bytes(Extent::Fixed(inner)), extent: Extent::Fixed(size) } => {
                size <= 32 && inner <= 32
            }
            Type::Array { extent: Extent::Fixed(size), .. } => size <= 32,
            Type::Array { .. } | Type::One(_) => true,
        };
        derivable && field.default.is_none()
    })
}

fn default(context: &Context<'_>, message: &Message, text: &mut Text) {
    let names = context.names.message(message.index);
    text.block(format!("impl Default for {} {{", names.ty), "}", |text| {
        text.block("fn default() -> Self {", "}", |text| {
            let fields = message.fields.iter().zip(&names.fields);
            let fields = fields.map(|(field, name)| format!("{name}: {}", context.initial(field)));
            let unions = unions(message).map(|(at, _)| format!("{}: Default::default()", names.unions[at].field));
            literal(text, "Self ", &fields.chain(unions).collect::<Vec<_>>(), "");
        });
    });
}

fn fixed(context: &Context<'_>, message: &Message, text: &mut Text) {
    let names = context.names.message(message.index);
    let size = message.sizes.max;
    let mut parts: Vec<(&str, String)> = Vec::new();
    for (field, name) in message.fields.iter().zip(&names.fields) {
        parts.push((name, range(field.offset, field.size)));
    }
    for (at, union) in unions(message) {
        let len = union.discriminator.len() + union.region;
        parts.push((&names.unions[at].field, range(union.offset, len)));
    }
    text.block(format!("impl field::Field for {} {{", names.ty), "}", |text| {
        text.line(format!("const SIZE: usize = {size};")).gap();
        if parts.is_empty() {
            text.line("fn put(&self, _: &mut [u8]) {}").gap();
            text.block("fn take(_: &[u8]) -> Self {", "}", |text| {
                text.line("Self {}");
            });
            return;
        }
        text.line("#[inline]").block("fn put(&self, out: &mut [u8]) {", "}", |text| {
            whole_mut(text, size);
            for (name, place) in &parts {
                text.line(format!("self.{name}.put(&mut out{place});"));
            }
            if message.fixed_tail > 0 {
                text.line(format!("out[{}..].fill(0);", size - message.fixed_tail));
            }
        });
        text.gap().line("#[inline]").block("fn take(bytes: &[u8]) -> Self {", "}", |text| {
            whole(text, size);
            text.block("Self {", "}", |text| {
                for (name, place) in &parts {
                    text.line(format!("{name}: field::take(&bytes{place}),"));
                }
            });
        });
    });
}

/// `out` as an array, so that places in it need no checks.
pub(super) fn whole_mut(text: &mut Text, size: usize) {
    text.block(format!("let Some(out) = out.first_chunk_mut::<{size}>() else {{"), "};", |text| {
        text.line("return;");
    });
}

/// `bytes` as an array, so that places in it need no checks.
pub(super) fn whole(text: &mut Text, size: usize) {
    text.block(format!("let Some(bytes) = bytes.first_chunk::<{size}>() else {{"), "};", |text| {
        text.line(format!("return Self::take(&field::padded::<{size}>(bytes));"));
    });
}

/// SF-7.6: something that takes one of the members.
fn envelope(context: &Context<'_>, message: &Message, text: &mut Text) {
    let names = context.names.message(message.index);
    let Some((at, union)) = unions(message).next() else { return };
    let body = &names.unions[at];
    if union.discriminator.is_empty() {
        return;
    }
    text.block(format!("impl {} {{", names.ty), "}", |text| {
        text.line("/// An envelope around one of its members; everything else as in a new message.");
        text.block(format!("pub fn wrap(payload: impl Into<{}>) -> Self {{", body.ty), "}", |text| {
            text.block("Self {", "}", |text| {
                text.line(format!("{}: payload.into(),", body.field));
                if message.fields.is_empty() {
                    return;
                }
                text.line("..Self::default()");
            });
        });
    });
}

fn framed(context: &Context<'_>, message: &Message, id: u16, text: &mut Text) {
    let names = context.names.message(message.index);
    let [first, second] = message.magic;
    text.block(format!("impl rt::Message for {} {{", names.ty), "}", |text| {
        text.block("const INFO: rt::MessageInfo = rt::MessageInfo {", "};", |text| {
            text.line(format!("id: {id},"));
            text.line(format!("max_size: {},", message.sizes.max));
            text.line(format!("base_size: {},", message.sizes.base));
            text.line(format!("min_size: {},", message.sizes.min));
            text.line(format!("magic: [0x{first:02x}, 0x{second:02x}],"));
        });
        text.gap();
        if wire::is_trimmed(message) {
            wire::print(context, message, text);
            return;
        }
        text.line("#[inline]");
        text.block(
            "fn encode(&self, _: rt::Layout, out: &mut [u8]) -> Result<usize, rt::MessageError> {",
            "}",
            |text| {
                text.line("field::write_fixed(self, out)");
            },
        );
        text.gap().line("#[inline]");
        text.block("fn decode(_: rt::Layout, payload: &[u8]) -> Result<Self, rt::MessageError> {", "}", |text| {
            text.line(format!("Ok(field::read_fixed::<Self, {}>(payload))", message.sizes.max));
        });
    });
}
