//! Borrowed views: fields are read from the payload when asked for.

use super::message::unions;
use super::types::{Context, docs, range, scalar_type};
use super::wire::is_trimmed;
use crate::text::Text;
use fw_schema::layout::{Element, Extent, Field, Message, MessageIndex, Type, Union, UnionWire};

pub(super) fn print(context: &Context<'_>, index: MessageIndex, text: &mut Text) {
    let message = &context.schema[index];
    if message.sizes.max == 0 {
        return;
    }
    text.gap();
    if is_variable(message) {
        sliced(context, message, text);
    } else {
        whole(context, message, text);
    }
    text.gap();
    item(context, message, text);
    for (at, union) in unions(message).filter(|(_, union)| !union.discriminator.is_empty()) {
        text.gap();
        union_view(context, message, at, union, text);
    }
}

/// A message whose fields have no constant place in the wire layout.
fn is_variable(message: &Message) -> bool {
    message.id.is_some() && is_trimmed(message)
}

/// A view of a message whose bytes have constant places.
fn whole(context: &Context<'_>, message: &Message, text: &mut Text) {
    let names = context.names.message(message.index);
    let size = message.sizes.max;
    head(context, message, text);
    text.line(format!("pub struct {}<'p>(&'p [u8; {size}]);", names.view)).gap();
    text.block(format!("impl<'p> {}<'p> {{", names.view), "}", |text| {
        if message.id.is_some() {
            read_docs(text);
            let head = "pub fn read(_: rt::Layout, payload: &'p [u8]) -> Result<Self, rt::MessageError> {";
            text.block(head, "}", |text| {
                text.line(format!("field::whole(payload, \"{}\").map(Self)", message.name));
            });
            text.gap();
        }
        let fields = message.fields.iter().zip(&names.methods).enumerate();
        for (at, (field, name)) in fields {
            if at > 0 {
                text.gap();
            }
            accessor(context, field, name, &format!("&self.0{}", range(field.offset, field.size)), text);
        }
        for (at, union) in unions(message) {
            if at > 0 || !message.fields.is_empty() {
                text.gap();
            }
            let name = &names.methods[message.fields.len() + at];
            let bytes = format!("&self.0{}", range(union.offset, union.discriminator.len() + union.region));
            docs(text, &union.docs, &format!("Union `{}`.", union.name));
            if union.discriminator.is_empty() {
                method(text, name, "&'p [u8]", &bytes);
            } else {
                let view = &names.unions[at].view;
                method(text, name, &format!("{view}<'p>"), &format!("{view}::fixed({bytes})"));
            }
        }
    });
}

/// A view of a variable message: a slice per field, found once.
fn sliced(context: &Context<'_>, message: &Message, text: &mut Text) {
    let names = context.names.message(message.index);
    let methods = &names.methods;
    let view = &names.view;
    let of_union = |at: usize, union: &Union| match union.discriminator.is_empty() {
        true => "&'p [u8]".to_owned(),
        false => format!("{}<'p>", names.unions[at].view),
    };
    head(context, message, text);
    text.block(format!("pub struct {view}<'p> {{"), "}", |text| {
        text.lines(message.fields.iter().zip(methods).map(|(_, name)| format!("{name}: &'p [u8],")));
        for (at, union) in unions(message) {
            text.line(format!("{}: {},", methods[message.fields.len() + at], of_union(at, union)));
        }
    });
    text.gap();
    text.block(format!("impl<'p> {view}<'p> {{"), "}", |text| {
        read_docs(text);
        let head = "pub fn read(layout: rt::Layout, payload: &'p [u8]) -> Result<Self, rt::MessageError> {";
        text.block(head, "}", |text| {
            text.block("if layout == rt::Layout::Fixed {", "}", |text| {
                let size = message.sizes.max;
                text.line(format!("return field::whole::<{size}>(payload, \"{}\").map(Self::fixed);", message.name));
            });
            text.line("let mut payload = field::Reader::new(payload);");
            text.block("Ok(Self {", "})", |text| {
                for (field, name) in message.fields.iter().zip(methods) {
                    let bytes = match field.ty.extent().filter(|_| field.ty.prefix_len() > 0) {
                        Some(extent) => {
                            format!("counted({}, {}, \"{}\")", extent.limit(), field.unit, field.name)
                        }
                        None => format!("bytes({}, \"{}\")", field.size, field.name),
                    };
                    text.line(format!("{name}: payload.{bytes}?,"));
                }
                for (at, union) in unions(message) {
                    let name = &methods[message.fields.len() + at];
                    if union.discriminator.is_empty() {
                        text.line(format!("{name}: payload.bytes({}, \"{}\")?,", union.region, union.name));
                    } else {
                        text.line(format!("{name}: {}::read(&mut payload)?,", names.unions[at].view));
                    }
                }
            });
        });
        text.gap();
        text.block(format!("fn fixed(bytes: &'p [u8; {}]) -> Self {{", message.sizes.max), "}", |text| {
            text.block("Self {", "}", |text| {
                for (field, name) in message.fields.iter().zip(methods) {
                    text.line(format!("{name}: &bytes{},", range(field.offset, field.size)));
                }
                for (at, union) in unions(message) {
                    let name = &methods[message.fields.len() + at];
                    let bytes = format!("&bytes{}", range(union.offset, union.discriminator.len() + union.region));
                    match union.discriminator.is_empty() {
                        true => text.line(format!("{name}: {bytes},")),
                        false => text.line(format!("{name}: {}::fixed({bytes}),", names.unions[at].view)),
                    };
                }
            });
        });
        for (field, name) in message.fields.iter().zip(methods) {
            text.gap();
            accessor(context, field, name, &format!("self.{name}"), text);
        }
        for (at, union) in unions(message) {
            let name = &methods[message.fields.len() + at];
            text.gap();
            docs(text, &union.docs, &format!("Union `{}`.", union.name));
            method(text, name, &of_union(at, union), &format!("self.{name}"));
        }
    });
}

fn head(context: &Context<'_>, message: &Message, text: &mut Text) {
    let ty = &context.names.message(message.index).ty;
    text.line(format!("/// A [`{ty}`] in a payload, read field by field without copying."));
    text.line("#[derive(Clone, Copy, Debug)]");
}

fn read_docs(text: &mut Text) {
    text.line("/// Looks at a payload.").line("///").line("/// # Errors");
    text.line("/// When bytes are missing, also those that decoding fills with defaults.");
}

/// A view as a nested message and as an element.
fn item(context: &Context<'_>, message: &Message, text: &mut Text) {
    let view = &context.names.message(message.index).view;
    let size = message.sizes.max;
    text.block(format!("impl<'p> field::Item<'p> for {view}<'p> {{"), "}", |text| {
        text.line("#[inline]").block("fn item(bytes: &'p [u8]) -> Self {", "}", |text| {
            let make = if is_variable(message) { "Self::fixed" } else { "Self" };
            text.line(format!("{make}(bytes.first_chunk().unwrap_or(&[0; {size}]))"));
        });
    });
}

fn accessor(context: &Context<'_>, field: &Field, name: &str, bytes: &str, text: &mut Text) {
    docs(text, &field.docs, &format!("{}.", context.described(field.ty)));
    let (ty, value) = match field.ty {
        Type::One(element) => one(context, element, bytes),
        Type::Array { element, extent } => {
            let content = match extent {
                Extent::Fixed(_) => bytes.to_owned(),
                Extent::Bounded(limit) => format!("field::content({bytes}, {limit}, {})", field.unit),
            };
            let ty = item_type(context, element);
            (format!("rt::ArrayView<'p, {ty}>"), format!("rt::ArrayView::new({content}, {})", field.unit))
        }
    };
    method(text, name, &ty, &value);
}

fn method(text: &mut Text, name: &str, ty: &str, body: &str) {
    text.block(format!("pub fn {name}(&self) -> {ty} {{"), "}", |text| {
        text.line(body);
    });
}

/// Type and value of one element in these bytes.
fn one(context: &Context<'_>, element: Element, bytes: &str) -> (String, String) {
    match element {
        Element::Scalar(scalar) => (scalar_type(scalar).to_owned(), format!("field::take({bytes})")),
        Element::Enum(index) => (context.enum_type(index), format!("field::take({bytes})")),
        Element::Message(index) => (format!("{}<'p>", context.view_type(index)), format!("field::item({bytes})")),
        Element::String(Extent::Fixed(_)) => ("rt::TextView<'p>".to_owned(), format!("field::item({bytes})")),
        Element::String(Extent::Bounded(limit)) => {
            ("rt::TextView<'p>".to_owned(), format!("rt::TextView::new(field::content({bytes}, {limit}, 1))"))
        }
        Element::Bytes(Extent::Fixed(_)) => ("&'p [u8]".to_owned(), bytes.to_owned()),
        Element::Bytes(Extent::Bounded(limit)) => {
            ("&'p [u8]".to_owned(), format!("field::content({bytes}, {limit}, 1)"))
        }
    }
}

fn item_type(context: &Context<'_>, element: Element) -> String {
    match element {
        Element::Scalar(scalar) => scalar_type(scalar).to_owned(),
        Element::Enum(index) => context.enum_type(index),
        Element::Message(index) => format!("{}<'p>", context.view_type(index)),
        Element::String(_) => "rt::TextView<'p>".to_owned(),
        Element::Bytes(_) => "&'p [u8]".to_owned(),
    }
}

fn union_view(context: &Context<'_>, message: &Message, at: usize, union: &Union, text: &mut Text) {
    let names = &context.names.message(message.index).unions[at];
    let tag = union.discriminator.len();
    let tag_type = if tag == 1 { "u8" } else { "u16" };
    let members = || union.members.iter().zip(&names.members);
    text.line(format!("/// A [`{}`] in a payload.", names.ty)).line("#[derive(Clone, Copy, Debug)]");
    text.block(format!("pub enum {}<'p> {{", names.view), "}", |text| {
        text.line("/// Nothing.").line("Unset,");
        for (member, name) in members() {
            docs(text, &member.docs, &format!("Member `{}`.", member.name));
            let borrows = !matches!(member.element, Element::Scalar(_) | Element::Enum(_));
            let ty = if borrows { item_type(context, member.element) } else { one(context, member.element, "").0 };
            text.line(format!("{name}({ty}),"));
        }
        text.line("/// A tag that this schema does not know, and what stands in the union's place.");
        text.block("Unknown {", "},", |text| {
            text.line("/// The tag.").line(format!("tag: {tag_type},"));
            text.line("/// The bytes.").line("region: &'p [u8],");
        });
    });
    text.gap();
    text.block(format!("impl<'p> {}<'p> {{", names.view), "}", |text| {
        text.block("fn fixed(bytes: &'p [u8]) -> Self {", "}", |text| {
            text.line(format!("let (tag, region) = bytes.split_at_checked({tag}).unwrap_or_default();"));
            text.line("Self::of(field::take(tag), region)");
        });
        text.gap();
        text.block(format!("fn of(tag: {tag_type}, region: &'p [u8]) -> Self {{"), "}", |text| {
            text.block("match tag {", "}", |text| {
                text.line("0 => Self::Unset,");
                for (member, name) in members() {
                    let value = match one(context, member.element, "region").1 {
                        bytes if bytes == "region" => format!("region.get(..{}).unwrap_or(region)", member.size),
                        // Text ends with its field, not with the region.
                        value => value.replace("item(region)", &format!("item(field::part(region, {}))", member.size)),
                    };
                    text.line(format!("{} => Self::{name}({value}),", member.tag.unwrap_or_default()));
                }
                text.line("tag => Self::Unknown { tag, region },");
            });
        });
        if is_variable(message) {
            text.gap();
            read_union(message, at, union, text);
        }
    });
}

/// The union's bytes in the wire layout.
fn read_union(message: &Message, at: usize, union: &Union, text: &mut Text) {
    let name = &union.name;
    let last = at + 1 == message.unions.len();
    let wide = if union.discriminator.len() == 1 { "u16::from(tag)" } else { "tag" };
    let head = "fn read(payload: &mut field::Reader<'p>) -> Result<Self, rt::MessageError> {";
    text.block(head, "}", |text| {
        text.line(format!("let tag = payload.field(\"{name}\")?;"));
        let sizes = |text: &mut Text, otherwise: &str| {
            text.block("let size = match tag {", "};", |text| {
                text.line("0 => 0,");
                for member in &union.members {
                    text.line(format!("{} => {},", member.tag.unwrap_or_default(), member.size));
                }
                text.line(otherwise);
            });
        };
        match union.wire {
            UnionWire::Full => {
                text.line(format!("let region = payload.bytes({}, \"{name}\")?;", union.region));
            }
            UnionWire::Trimmed => {
                let unknown = match last {
                    true => "tag => return Ok(Self::of(tag, payload.rest())),".to_owned(),
                    false => format!("tag => return Err(payload.unknown_tag(\"{name}\", {wide})),"),
                };
                sizes(text, &unknown);
                let size = if union.min_size > 0 { format!("size.max({})", union.min_size) } else { "size".to_owned() };
                text.line(format!("let region = payload.bytes({size}, \"{name}\")?;"));
            }
            UnionWire::Prefixed => {
                sizes(text, "_ => 0,");
                text.line(format!("let region = payload.prefixed_of(size, \"{name}\")?;"));
            }
        }
        text.line("Ok(Self::of(tag, region))");
    });
}
