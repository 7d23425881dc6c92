//! Structs to payloads.

use super::Of;
use super::plain;
use super::types::{counter_max, plus, scalar_word};
use crate::text::Text;
use fw_schema::layout::{Discriminator, Element, Extent, Message, Scalar, Type, Union, UnionWire};

/// The fixed layout into `out`, which has `MAX_SIZE` zeroed bytes.
pub(super) fn store(of: Of<'_>, message: &Message, text: &mut Text) {
    let names = of.names.message(message.index);
    let mut names_left = names.fields.iter();
    for run in plain::runs(of, message) {
        let fields: Vec<_> = run.iter().zip(names_left.by_ref()).collect();
        let one_by_one = |text: &mut Text| {
            for (field, name) in &fields {
                store_type(of, field.ty, field.unit, &format!("message->{name}"), "out", field.offset, text);
            }
        };
        if plain::is_copied(of, run) {
            let (at, size) = (run[0].offset, plain::size(run));
            let copy = format!("memcpy({}, {}, {size});", plus("out", at), plus("(const uint8_t *)message", at));
            plain::either(text, |text| text.put(copy), one_by_one);
        } else {
            one_by_one(text);
        }
    }
    for (at, union) in message.unions.iter().enumerate().filter(|(_, union)| !union.members.is_empty()) {
        store_union(of, message, at, union, "out", union.offset, text);
    }
    text.line("return SF_OK;");
}

/// The wire layout of a variable message, through a writer.
pub(super) fn store_wire(of: Of<'_>, message: &Message, text: &mut Text) {
    let names = of.names.message(message.index);
    text.line("SfWriter writer = {out, capacity, 0};").line("uint8_t *place;");
    let mut names_left = names.fields.iter();
    for run in plain::runs(of, message) {
        let fields: Vec<_> = run.iter().zip(names_left.by_ref()).collect();
        if plain::is_copied(of, run) {
            let (at, size) = (run[0].offset, plain::size(run));
            text.line(format!("SF_TAKE(place, &writer, {size});"));
            let copy = format!("memcpy(place, {}, {size});", plus("(const uint8_t *)message", at));
            let one_by_one = |text: &mut Text| {
                for (field, name) in fields {
                    let value = format!("message->{name}");
                    store_checked(of, field.ty, field.unit, &value, "place", field.offset - at, text);
                }
            };
            plain::either(text, |text| text.put(copy), one_by_one);
            continue;
        }
        for (field, name) in fields {
            let value = format!("message->{name}");
            let prefix = field.ty.prefix_len();
            if prefix > 0 {
                let counted = counted(field.ty, &value);
                let extent = field.ty.extent().map_or(0, Extent::limit);
                check_count(&counted, prefix, extent, text);
                let times = if field.unit == 1 { String::new() } else { format!("{} * ", field.unit) };
                text.line(format!("SF_TAKE(place, &writer, {prefix} + {times}(size_t){counted});"));
            } else {
                text.line(format!("SF_TAKE(place, &writer, {});", field.size));
            }
            store_checked(of, field.ty, field.unit, &value, "place", 0, text);
        }
    }
    for (at, union) in message.unions.iter().enumerate().filter(|(_, union)| !union.members.is_empty()) {
        let tag_len = union.discriminator.len();
        if union.wire == UnionWire::Full {
            text.line(format!("SF_TAKE(place, &writer, {});", tag_len + union.region));
            store_union(of, message, at, union, "place", 0, text);
        } else {
            wire_union(of, message, at, union, text);
        }
    }
    text.line("*length = writer.length;").line("return SF_OK;");
}

/// One value, or an array, at `out + offset`, with checks of counts.
pub(super) fn store_type(of: Of<'_>, ty: Type, unit: usize, value: &str, out: &str, offset: usize, text: &mut Text) {
    if ty.prefix_len() > 0 {
        check_count(&counted(ty, value), ty.prefix_len(), ty.extent().map_or(0, Extent::limit), text);
    }
    store_checked(of, ty, unit, value, out, offset, text);
}

fn counted(ty: Type, value: &str) -> String {
    format!("{value}.{}", if ty.is_array() { "count" } else { "length" })
}

fn check_count(count: &str, prefix: usize, limit: usize, text: &mut Text) {
    // A comparison that is always false would be warned about.
    if limit < counter_max(prefix) {
        text.block(format!("if ({count} > {limit}) {{"), "}", |text| text.put("return SF_TOO_LONG;"));
    }
}

fn store_checked(of: Of<'_>, ty: Type, unit: usize, value: &str, out: &str, offset: usize, text: &mut Text) {
    let Type::Array { element, extent } = ty else { return store_element(of, ty.element(), value, out, offset, text) };
    let prefix = extent.prefix_len();
    let (items, count) = match extent {
        Extent::Fixed(count) => (value.to_owned(), count.to_string()),
        Extent::Bounded(_) => {
            let count = format!("{value}.count");
            text.line(format!("sf_store_u{}({}, {count});", 8 * prefix, plus(out, offset)));
            (format!("{value}.items"), count)
        }
    };
    let begin = offset + prefix;
    if matches!(element, Element::Enum(_) | Element::Scalar(Scalar::Uint8)) {
        text.line(format!("memcpy({}, {items}, {count});", plus(out, begin)));
        return;
    }
    text.block(format!("for (size_t i = 0; i < {count}; i++) {{"), "}", |text| {
        let place = format!("{} + {unit} * i", plus(out, begin));
        let place = if unit == 1 { place.replace("1 * i", "i") } else { place };
        store_element(of, element, &format!("{items}[i]"), &place, 0, text);
    });
}

/// One element at `out + offset`; the length of bounded text was checked already.
pub(super) fn store_element(of: Of<'_>, element: Element, value: &str, out: &str, offset: usize, text: &mut Text) {
    let place = plus(out, offset);
    match element {
        Element::Scalar(scalar) => text.put(format!("sf_store_{}({place}, {value});", scalar_word(scalar))),
        Element::Enum(_) => text.put(format!("sf_store_u8({place}, {value});")),
        Element::Message(index) => {
            text.line(format!("SF_TRY({}_store(&{value}, {place}));", of.names.message(index).ty));
        }
        Element::String(Extent::Fixed(size)) => text.put(format!("sf_store_text({place}, {value}, {size});")),
        Element::Bytes(Extent::Fixed(size)) => text.put(format!("memcpy({place}, {value}, {size});")),
        Element::String(extent) | Element::Bytes(extent) => {
            let prefix = extent.prefix_len();
            text.line(format!("sf_store_u{}({place}, {value}.length);", 8 * prefix));
            text.line(format!("memcpy({}, {value}.data, {value}.length);", plus(out, offset + prefix)));
        }
    }
}

/// A member of a union, with the check of its length.
fn store_member(of: Of<'_>, element: Element, value: &str, out: &str, offset: usize, text: &mut Text) {
    store_type(of, Type::One(element), 1, value, out, offset, text);
}

/// Tag and region as in the fixed layout.
fn store_union(of: Of<'_>, message: &Message, at: usize, union: &Union, out: &str, offset: usize, text: &mut Text) {
    let names = &of.names.message(message.index).unions[at];
    let value = format!("message->{}", names.name);
    if union.discriminator == Discriminator::None {
        text.line(format!("memcpy({}, {value}, {});", plus(out, offset), union.region));
        return;
    }
    let tag_len = union.discriminator.len();
    text.line(format!("sf_store_u{}({}, {value}.tag);", 8 * tag_len, plus(out, offset)));
    let region = offset + tag_len;
    cases(of, message, at, union, text, |member, text| match member {
        Which::Member(place, element) => {
            let member = format!("{value}.as.{}", names.members[place]);
            store_member(of, element, &member, out, region, text);
        }
        Which::None => {}
        Which::Unknown => {
            text.line(format!("memcpy({}, {value}.as.region, {});", plus(out, region), union.region));
        }
    });
}

/// Tag, perhaps a length, and what the member needs.
fn wire_union(of: Of<'_>, message: &Message, at: usize, union: &Union, text: &mut Text) {
    let names = &of.names.message(message.index).unions[at];
    let value = format!("message->{}", names.name);
    let tag_len = union.discriminator.len();
    let prefix = if union.wire == UnionWire::Prefixed { 2 } else { 0 };
    text.line(format!("SF_TAKE(place, &writer, {tag_len});"));
    text.line(format!("sf_store_u{}(place, {value}.tag);", 8 * tag_len));
    cases(of, message, at, union, text, |member, text| match member {
        Which::Member(place, element) => {
            let size = union.members[place].size.max(union.min_size);
            text.line(format!("SF_TAKE(place, &writer, {});", prefix + size));
            if prefix > 0 {
                text.line(format!("sf_store_u16(place, {size});"));
            }
            store_member(of, element, &format!("{value}.as.{}", names.members[place]), "place", prefix, text);
        }
        Which::None => {
            if prefix + union.min_size > 0 {
                text.line(format!("SF_TAKE(place, &writer, {});", prefix + union.min_size));
            }
            if prefix > 0 && union.min_size > 0 {
                text.line(format!("sf_store_u16(place, {});", union.min_size));
            }
        }
        Which::Unknown => {
            // The length of what we do not know: up to its last byte that says something.
            text.line("{").nest(|text| {
                text.line(format!("size_t held = sf_region_length({value}.as.region, {});", union.region));
                let size = match union.min_size {
                    0 => "held".to_owned(),
                    min => {
                        text.line(format!("size_t size = held < {min} ? {min} : held;"));
                        "size".to_owned()
                    }
                };
                let taken = if prefix > 0 { format!("{prefix} + {size}") } else { size.clone() };
                text.line(format!("SF_TAKE(place, &writer, {taken});"));
                if prefix > 0 {
                    text.line(format!("sf_store_u16(place, (uint16_t){size});"));
                }
                text.line(format!("memcpy({}, {value}.as.region, held);", plus("place", prefix)));
            });
            text.line("}");
        }
    });
}

/// What a union may hold.
pub(super) enum Which {
    Member(usize, Element),
    None,
    Unknown,
}

/// A switch over the tag of a union.
pub(super) fn cases(
    of: Of<'_>,
    message: &Message,
    at: usize,
    union: &Union,
    text: &mut Text,
    mut fill: impl FnMut(Which, &mut Text),
) {
    let names = &of.names.message(message.index).unions[at];
    text.line(format!("switch (message->{}.tag) {{", names.name));
    let mut case = |label: String, which: Which, text: &mut Text| {
        text.line(label).nest(|text| {
            fill(which, text);
            text.line("break;");
        });
    };
    case(format!("case {}:", names.none), Which::None, text);
    for (place, member) in union.members.iter().enumerate() {
        case(format!("case {}:", names.tags[place]), Which::Member(place, member.element), text);
    }
    case("default:".to_owned(), Which::Unknown, text);
    text.line("}");
}
