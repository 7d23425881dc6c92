//! Comparing messages, and the values of a new one.

use super::Of;
use super::decode::has_defaults;
use super::encode::{Which, cases};
use super::types::{default_literal, text_literal};
use crate::text::Text;
use fw_schema::layout::{DefaultValue, Discriminator, Element, Extent, Message, Scalar, Type};

/// Sets a zeroed struct to its defaults.
pub(super) fn defaults(of: Of<'_>, message: &Message, text: &mut Text) {
    let names = of.names.message(message.index);
    for (field, name) in message.fields.iter().zip(&names.fields) {
        let value = format!("message->{name}");
        match (&field.default, field.ty) {
            (Some(DefaultValue::Text(content)), Type::One(element)) => {
                let target = match element {
                    Element::String(Extent::Fixed(_)) | Element::Bytes(Extent::Fixed(_)) => value,
                    _ => {
                        text.line(format!("{value}.length = {};", content.len()));
                        format!("{value}.data")
                    }
                };
                if !content.is_empty() {
                    text.line(format!("memcpy({target}, {}, {});", text_literal(content.as_bytes()), content.len()));
                }
            }
            (Some(_), _) => {
                if let Some(literal) = default_literal(of, field) {
                    text.line(format!("{value} = {literal};"));
                }
            }
            (None, Type::One(Element::Message(index))) if has_defaults(of, &of.schema[index]) => {
                text.line(format!("{}_init(&{value});", of.names.message(index).ty));
            }
            (None, _) => {}
        }
    }
}

/// Compares `message` with `other`: what counts and nothing else.
pub(super) fn equals(of: Of<'_>, message: &Message, text: &mut Text) {
    let names = of.names.message(message.index);
    for (field, name) in message.fields.iter().zip(&names.fields) {
        let (a, b) = (format!("message->{name}"), format!("other->{name}"));
        let Type::Array { element, extent } = field.ty else {
            differ(of, field.ty.element(), &a, &b, text);
            continue;
        };
        let (a, b, count) = match extent {
            Extent::Fixed(count) => (a, b, count.to_string()),
            Extent::Bounded(_) => {
                unequal(&format!("{a}.count != {b}.count"), text);
                (format!("{a}.items"), format!("{b}.items"), format!("{a}.count"))
            }
        };
        if matches!(element, Element::Enum(_) | Element::Scalar(Scalar::Uint8)) {
            unequal(&format!("memcmp({a}, {b}, {count}) != 0"), text);
            continue;
        }
        text.block(format!("for (size_t i = 0; i < {count}; i++) {{"), "}", |text| {
            differ(of, element, &format!("{a}[i]"), &format!("{b}[i]"), text);
        });
    }
    for (at, union) in message.unions.iter().enumerate().filter(|(_, union)| !union.members.is_empty()) {
        let union_names = &names.unions[at];
        let (a, b) = (format!("message->{}", union_names.name), format!("other->{}", union_names.name));
        if union.discriminator == Discriminator::None {
            unequal(&format!("memcmp({a}, {b}, {}) != 0", union.region), text);
            continue;
        }
        unequal(&format!("{a}.tag != {b}.tag"), text);
        cases(of, message, at, union, text, |which, text| match which {
            Which::Member(place, element) => {
                let name = &union_names.members[place];
                differ(of, element, &format!("{a}.as.{name}"), &format!("{b}.as.{name}"), text);
            }
            Which::None => {}
            Which::Unknown => unequal(&format!("memcmp({a}.as.region, {b}.as.region, {}) != 0", union.region), text),
        });
    }
    text.line("return true;");
}

fn differ(of: Of<'_>, element: Element, a: &str, b: &str, text: &mut Text) {
    let condition = match element {
        Element::Scalar(_) | Element::Enum(_) => format!("{a} != {b}"),
        Element::Message(index) => format!("!{}_equals(&{a}, &{b})", of.names.message(index).ty),
        Element::String(Extent::Fixed(size)) => format!("!sf_text_equals({a}, {b}, {size})"),
        Element::Bytes(Extent::Fixed(size)) => format!("memcmp({a}, {b}, {size}) != 0"),
        Element::String(_) | Element::Bytes(_) => {
            format!("{a}.length != {b}.length || memcmp({a}.data, {b}.data, {a}.length) != 0")
        }
    };
    unequal(&condition, text);
}

fn unequal(condition: &str, text: &mut Text) {
    text.block(format!("if ({condition}) {{"), "}", |text| text.put("return false;"));
}
