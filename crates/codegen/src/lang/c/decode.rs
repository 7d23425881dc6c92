//! Payloads to structs.

use super::Of;
use super::encode::{Which, cases};
use super::plain;
use super::types::{counter, counter_max, plus, scalar_word};
use crate::text::Text;
use fw_schema::layout::{Discriminator, Element, Extent, Field, Message, Scalar, Type, Union, UnionWire};

/// The fixed layout at `at` of a view into a zeroed struct.
pub(super) fn load(of: Of<'_>, message: &Message, text: &mut Text) {
    let names = of.names.message(message.index);
    let mut names_left = names.fields.iter();
    for run in plain::runs(of, message) {
        let fields: Vec<_> = run.iter().zip(names_left.by_ref()).collect();
        let one_by_one = |text: &mut Text| {
            for (field, name) in &fields {
                let place = Place::new("view", "at", field.offset);
                load_type(of, field.ty, field.unit, &format!("message->{name}"), &place, text);
            }
        };
        if plain::is_copied(of, run) {
            let place = Place::new("view", "at", run[0].offset);
            plain::either(text, |text| copy_run(of, message, run, &place, text), one_by_one);
        } else {
            one_by_one(text);
        }
    }
    for (at, union) in message.unions.iter().enumerate().filter(|(_, union)| !union.members.is_empty()) {
        load_union(of, message, at, union, &Place::new("view", "at", union.offset), text);
    }
}

/// Neighbouring fields from a view in one piece.
fn copy_run(of: Of<'_>, message: &Message, run: &[Field], place: &Place, text: &mut Text) {
    let target = plus("(uint8_t *)message", run[0].offset);
    text.line(format!("sf_view_bytes({}, {target}, {});", place.at(), plain::size(run)));
    plain::fix_bools(of, message, run, "message->", 0, text);
}

/// The wire layout of a variable message, field after field, into a struct that holds the defaults.
pub(super) fn load_wire(of: Of<'_>, message: &Message, text: &mut Text) {
    let names = of.names.message(message.index);
    text.line("SfView view = sf_view_of(payload, length, NULL, 0);").line("size_t at = 0;");
    let counts = message.fields.iter().any(|field| field.ty.prefix_len() > 0);
    let prefixed = message.unions.iter().any(|union| union.wire == UnionWire::Prefixed);
    if counts || prefixed {
        text.line("size_t size;");
    }
    let mut names_left = names.fields.iter();
    for run in plain::runs(of, message) {
        let fields: Vec<_> = run.iter().zip(names_left.by_ref()).collect();
        // An extension field that is not all there keeps its default: each is looked at on its own.
        if plain::is_copied(of, run) && run.iter().all(|field| !field.extension) {
            let size = plain::size(run);
            text.line(format!("SF_NEED(&view, at, {size});"));
            let one_by_one = |text: &mut Text| {
                for (field, name) in fields {
                    let value = format!("message->{name}");
                    clear_default(of, field, &value, text);
                    let place = Place::new("&view", "at", field.offset - run[0].offset);
                    load_type(of, field.ty, field.unit, &value, &place, text);
                }
            };
            let place = Place::new("&view", "at", 0);
            plain::either(text, |text| copy_run(of, message, run, &place, text), one_by_one);
            text.line(format!("at += {size};"));
            continue;
        }
        for (field, name) in fields {
            wire_field(of, field, &format!("message->{name}"), text);
        }
    }
    let count = message.unions.len();
    for (at, union) in message.unions.iter().enumerate().filter(|(_, union)| !union.members.is_empty()) {
        wire_union(of, message, at, union, at + 1 == count, text);
    }
    text.line("return SF_OK;");
}

/// Where bytes are read: `base + offset` of a view.
pub(super) struct Place {
    view: String,
    base: String,
    offset: usize,
}

impl Place {
    pub(super) fn new(view: &str, base: &str, offset: usize) -> Self {
        Self { view: view.to_owned(), base: base.to_owned(), offset }
    }

    fn after(&self, bytes: usize) -> Self {
        Self::new(&self.view, &self.base, self.offset + bytes)
    }

    fn at(&self) -> String {
        format!("{}, {}", self.view, plus(&self.base, self.offset))
    }
}

fn load_type(of: Of<'_>, ty: Type, unit: usize, value: &str, place: &Place, text: &mut Text) {
    let Type::Array { element, extent } = ty else { return load_element(of, ty.element(), value, place, text) };
    let prefix = extent.prefix_len();
    let (items, count) = match extent {
        Extent::Fixed(count) => (value.to_owned(), count.to_string()),
        Extent::Bounded(max) => {
            let cast = counter(prefix);
            text.line(format!("{value}.count = ({cast})sf_view_count({}, {prefix}, {max});", place.at()));
            (format!("{value}.items"), format!("{value}.count"))
        }
    };
    let body = place.after(prefix);
    if matches!(element, Element::Enum(_) | Element::Scalar(Scalar::Uint8)) {
        text.line(format!("sf_view_bytes({}, {items}, {count});", body.at()));
        return;
    }
    text.block(format!("for (size_t i = 0; i < {count}; i++) {{"), "}", |text| {
        let step = if unit == 1 { "i".to_owned() } else { format!("{unit} * i") };
        let base = plus(&body.base, body.offset);
        let place = Place::new(&body.view, &format!("{base} + {step}"), 0);
        load_element(of, element, &format!("{items}[i]"), &place, text);
    });
}

pub(super) fn load_element(of: Of<'_>, element: Element, value: &str, place: &Place, text: &mut Text) {
    let at = place.at();
    match element {
        Element::Scalar(scalar) => text.put(format!("{value} = sf_view_{}({at});", scalar_word(scalar))),
        Element::Enum(_) => text.put(format!("{value} = sf_view_u8({at});")),
        Element::Message(index) => text.put(format!("{}_load(&{value}, {at});", of.names.message(index).ty)),
        Element::String(Extent::Fixed(size)) => text.put(format!("sf_view_text({at}, {value}, {size});")),
        Element::Bytes(Extent::Fixed(size)) => text.put(format!("sf_view_bytes({at}, {value}, {size});")),
        Element::String(extent) | Element::Bytes(extent) => {
            let (prefix, max) = (extent.prefix_len(), extent.limit());
            text.line(format!("{value}.length = ({})sf_view_count({at}, {prefix}, {max});", counter(prefix)));
            text.line(format!("sf_view_bytes({}, {value}.data, {value}.length);", place.after(prefix).at()));
        }
    }
}

fn load_union(of: Of<'_>, message: &Message, at: usize, union: &Union, place: &Place, text: &mut Text) {
    let names = &of.names.message(message.index).unions[at];
    let value = format!("message->{}", names.name);
    if union.discriminator == Discriminator::None {
        text.line(format!("sf_view_bytes({}, {value}, {});", place.at(), union.region));
        return;
    }
    let tag_len = union.discriminator.len();
    text.line(format!("{value}.tag = sf_view_u{}({});", 8 * tag_len, place.at()));
    let region = place.after(tag_len);
    cases(of, message, at, union, text, |which, text| match which {
        Which::Member(member, element) => {
            load_element(of, element, &format!("{value}.as.{}", names.members[member]), &region, text);
        }
        Which::None => {}
        Which::Unknown => text.put(format!("sf_view_bytes({}, {value}.as.region, {});", region.at(), union.region)),
    });
}

fn wire_field(of: Of<'_>, field: &Field, value: &str, text: &mut Text) {
    let place = Place::new("&view", "at", 0);
    // An extension field that is not all there, and everything after it, keeps its default.
    let need = |size: &str, text: &mut Text| {
        if field.extension {
            text.block(format!("if (!sf_view_has(&view, at, {size})) {{"), "}", |text| text.put("return SF_OK;"));
        } else {
            text.line(format!("SF_NEED(&view, at, {size});"));
        }
    };
    let prefix = field.ty.prefix_len();
    if prefix == 0 {
        need(&field.size.to_string(), text);
    } else {
        let limit = field.ty.extent().map_or(0, Extent::limit);
        need(&prefix.to_string(), text);
        text.line(format!("size = sf_view_u{}(&view, at);", 8 * prefix));
        if limit < counter_max(prefix) {
            text.block(format!("if (size > {limit}) {{"), "}", |text| text.put("return SF_COUNT_EXCEEDS_BOUND;"));
        }
        let units = if field.unit == 1 { "size".to_owned() } else { format!("{} * size", field.unit) };
        text.line(format!("size = {prefix} + {units};"));
        need("size", text);
    }
    clear_default(of, field, value, text);
    load_type(of, field.ty, field.unit, value, &place, text);
    text.line(if prefix == 0 { format!("at += {};", field.size) } else { "at += size;".to_owned() });
}

/// What the default had beyond the new value must not stay.
fn clear_default(of: Of<'_>, field: &Field, value: &str, text: &mut Text) {
    let nested = matches!(field.ty, Type::One(Element::Message(index)) if has_defaults(of, &of.schema[index]));
    if nested || (field.default.is_some() && field.ty.extent().is_some()) {
        text.line(format!("memset(&{value}, 0, sizeof {value});"));
    }
}

fn wire_union(of: Of<'_>, message: &Message, at: usize, union: &Union, last: bool, text: &mut Text) {
    let names = &of.names.message(message.index).unions[at];
    let value = format!("message->{}", names.name);
    let tag_len = union.discriminator.len();
    let place = Place::new("&view", "at", 0);
    let read_tag = |text: &mut Text| text.put(format!("{value}.tag = sf_view_u{}(&view, at);", 8 * tag_len));
    match union.wire {
        UnionWire::Full => {
            // An older sender's region ends with its base.
            text.line(format!("SF_NEED(&view, at, {});", tag_len + union.base_region));
            load_union(of, message, at, union, &place, text);
            text.line(format!("at = view.length - at < {0} ? view.length : at + {0};", tag_len + union.region));
        }
        UnionWire::Trimmed => {
            text.line(format!("SF_NEED(&view, at, {tag_len});"));
            read_tag(text);
            text.line(format!("at += {tag_len};"));
            cases(of, message, at, union, text, |which, text| match which {
                Which::Member(member, element) => {
                    let size = union.members[member].size.max(union.min_size);
                    text.line(format!("SF_NEED(&view, at, {size});"));
                    load_element(of, element, &format!("{value}.as.{}", names.members[member]), &place, text);
                    text.line(format!("at += {size};"));
                }
                Which::None if union.min_size == 0 => {}
                Which::None => {
                    text.line(format!("SF_NEED(&view, at, {0});\nat += {0};", union.min_size));
                }
                Which::Unknown if last => {
                    let region = union.region;
                    text.line(format!(
                        "sf_view_bytes(&view, at, {value}.as.region, length - at < {region} ? length - at : {region});"
                    ));
                    text.line("at = length;");
                }
                Which::Unknown => text.put("return SF_UNKNOWN_TAG;"),
            });
        }
        UnionWire::Prefixed => {
            text.line(format!("SF_NEED(&view, at, {});", tag_len + 2));
            read_tag(text);
            text.line(format!("size = sf_view_u16(&view, at + {tag_len});"));
            text.line(format!("at += {};", tag_len + 2));
            text.line("SF_NEED(&view, at, size);");
            cases(of, message, at, union, text, |which, text| match which {
                Which::Member(member, element) => {
                    let full = union.members[member].size;
                    let fill = match element {
                        Element::Message(index) if has_defaults(of, &of.schema[index]) => {
                            let name = &of.names.message(index).ty;
                            format!("{name}_defaults, sizeof {name}_defaults")
                        }
                        _ => "NULL, 0".to_owned(),
                    };
                    text.line("{").nest(|text| {
                        text.line(format!(
                            "SfView part = sf_view_part(&view, at, size < {full} ? size : {full}, {fill});"
                        ));
                        let place = Place::new("&part", "", 0);
                        load_element(of, element, &format!("{value}.as.{}", names.members[member]), &place, text);
                    });
                    text.line("}");
                }
                Which::None => {}
                Which::Unknown => {
                    let region = union.region;
                    text.line(format!(
                        "sf_view_bytes(&view, at, {value}.as.region, size < {region} ? size : {region});"
                    ));
                }
            });
            text.line("at += size;");
        }
    }
}

/// True when some byte of the default image is not zero.
pub(super) fn has_defaults(of: Of<'_>, message: &Message) -> bool {
    of.schema.default_image(message).iter().any(|byte| *byte != 0)
}
