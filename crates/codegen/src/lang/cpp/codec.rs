//! What is known of a message's bytes, and the lookup of a package.

use super::Of;
use crate::text::Text;
use fw_schema::layout::{Discriminator, Element, Extent, Message, PackageIndex, Type, UnionWire};

pub(super) fn print(of: Of<'_>, message: &Message, text: &mut Text) {
    let names = of.names.message(message.index);
    let path = format!("{}::{}", of.names.package(message.package), names.ty);
    text.line("template <>");
    text.block(format!("struct Codec<{path}> {{"), "};", |text| {
        let sizes = message.sizes;
        let [first, second] = message.magic;
        text.line(format!("static constexpr bool has_id = {};", message.id.is_some()));
        text.line(format!("static constexpr bool is_variable = {};", message.variable));
        text.line(format!("static constexpr bool is_plain = {};", is_plain(of, message)));
        text.line(format!(
            "static constexpr MessageInfo info{{{}, {}, {}, {}, {{{{0x{first:02x}, 0x{second:02x}}}}}, STRUCTFRAME_NAME(\"{}\")}};",
            message.id.unwrap_or_default(),
            sizes.max,
            sizes.base,
            sizes.min,
            of.schema.qualified(message)
        ));
        defaults(of, message, text);
        for (at, (union, union_names)) in message.unions.iter().zip(&names.unions).enumerate() {
            if union.discriminator != Discriminator::None && !union.members.is_empty() {
                text.line(format!(
                    "using Shape{at} = detail::Shape<{path}::{}, {}, {}, {}, {}>;",
                    union_names.ty,
                    union.discriminator.len(),
                    union.region,
                    union.base_region,
                    union.min_size
                ));
            }
        }
        store(of, message, &path, text.gap());
        load(of, message, &path, text.gap());
        if message.variable {
            store_wire(of, message, &path, text.gap());
            load_wire(of, message, &path, text.gap());
        }
    });
}

/// True when a message is made of numbers, bools, enums and blobs of fixed size alone, which fill all its bytes.
fn is_plain(of: Of<'_>, message: &Message) -> bool {
    let plain = |ty: Type| {
        !matches!(ty.extent(), Some(Extent::Bounded(_)))
            && match ty.element() {
                Element::Scalar(_) | Element::Enum(_) | Element::Bytes(Extent::Fixed(_)) => true,
                Element::Message(index) => is_plain(of, &of.schema[index]),
                Element::String(_) | Element::Bytes(_) => false,
            }
    };
    message.unions.is_empty() && message.fixed_tail == 0 && message.fields.iter().all(|field| plain(field.ty))
}

fn defaults(of: Of<'_>, message: &Message, text: &mut Text) {
    let image = of.schema.default_image(message);
    let len = image.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    if len == 0 {
        text.line("static constexpr Array<std::uint8_t, 0> defaults{};");
        return;
    }
    text.block(format!("static constexpr Array<std::uint8_t, {len}> defaults{{{{"), "}};", |text| {
        for row in image[..len].chunks(16) {
            text.line(row.iter().map(|byte| format!("0x{byte:02x},")).collect::<Vec<_>>().join(" "));
        }
    });
}

/// What each line of a codec is about: a field, or a union that has members.
fn is_empty(message: &Message) -> bool {
    message.fields.is_empty() && message.unions.iter().all(|union| union.members.is_empty())
}

fn store(of: Of<'_>, message: &Message, path: &str, text: &mut Text) {
    if is_empty(message) {
        text.line(format!("static void store(const {path}&, std::uint8_t*) {{}}"));
        return;
    }
    let names = of.names.message(message.index);
    // Templates, as all of these, so that nothing of what a program does not call is compiled.
    let open = format!("static void store(const {path}& message, Byte* out) {{");
    text.line("template <class Byte>").block(open, "}", |text| {
        text.line("detail::Image image(out);");
        for (field, name) in message.fields.iter().zip(&names.fields) {
            text.line(format!("image.put<{}>({}, message.{name});", field.size, field.offset));
        }
        for (at, union) in message.unions.iter().enumerate().filter(|(_, union)| !union.members.is_empty()) {
            let call = match union.discriminator {
                Discriminator::None => "put_region".to_owned(),
                _ => format!("put_union<Shape{at}>"),
            };
            text.line(format!("image.{call}({}, message.{});", union.offset, names.unions[at].name));
        }
    });
}

fn load(of: Of<'_>, message: &Message, path: &str, text: &mut Text) {
    if is_empty(message) {
        text.line("template <class V>").line(format!("static void load({path}&, const V&, std::size_t) {{}}"));
        return;
    }
    let names = of.names.message(message.index);
    let open = format!("static void load({path}& message, const V& view, std::size_t at) {{");
    text.line("template <class V>").block(open, "}", |text| {
        text.line("const detail::ImageReader image(view, at);");
        for (field, name) in message.fields.iter().zip(&names.fields) {
            text.line(format!("image.get({}, message.{name});", field.offset));
        }
        for (at, union) in message.unions.iter().enumerate().filter(|(_, union)| !union.members.is_empty()) {
            let call = match union.discriminator {
                Discriminator::None => "get_region".to_owned(),
                _ => format!("template get_union<Shape{at}>"),
            };
            text.line(format!("image.{call}({}, message.{});", union.offset, names.unions[at].name));
        }
    });
}

fn store_wire(of: Of<'_>, message: &Message, path: &str, text: &mut Text) {
    if is_empty(message) {
        text.line(format!("static void store_wire(const {path}&, detail::Writer&) {{}}"));
        return;
    }
    let names = of.names.message(message.index);
    let open = format!("static void store_wire(const {path}& message, Writer& writer) {{");
    text.line("template <class Writer>").block(open, "}", |text| {
        for name in &names.fields {
            text.line(format!("writer.put(message.{name});"));
        }
        for (at, union) in message.unions.iter().enumerate().filter(|(_, union)| !union.members.is_empty()) {
            let call = match (union.discriminator, union.wire) {
                (Discriminator::None, _) => "put_region".to_owned(),
                (_, UnionWire::Full) => format!("template put_full<Shape{at}>"),
                (_, UnionWire::Trimmed) => format!("template put_trimmed<Shape{at}>"),
                (_, UnionWire::Prefixed) => format!("template put_prefixed<Shape{at}>"),
            };
            text.line(format!("writer.{call}(message.{});", names.unions[at].name));
        }
    });
}

fn load_wire(of: Of<'_>, message: &Message, path: &str, text: &mut Text) {
    if is_empty(message) {
        text.line(format!("static void load_wire({path}&, detail::Reader&) {{}}"));
        return;
    }
    let names = of.names.message(message.index);
    let open = format!("static void load_wire({path}& message, Reader& reader) {{");
    text.line("template <class Reader>").block(open, "}", |text| {
        for (field, name) in message.fields.iter().zip(&names.fields) {
            if field.extension {
                text.block(format!("if (!reader.take_extension(message.{name})) {{"), "}", |text| text.put("return;"));
            } else {
                text.line(format!("reader.take(message.{name});"));
            }
        }
        let count = message.unions.len();
        for (at, union) in message.unions.iter().enumerate().filter(|(_, union)| !union.members.is_empty()) {
            let call = match (union.discriminator, union.wire) {
                (Discriminator::None, _) => format!("template take_region<{}>", union.base_region),
                (_, UnionWire::Full) => format!("template take_full<Shape{at}>"),
                (_, UnionWire::Trimmed) => format!("template take_trimmed<Shape{at}, {}>", at + 1 == count),
                (_, UnionWire::Prefixed) => format!("template take_prefixed<Shape{at}>"),
            };
            text.line(format!("reader.{call}(message.{});", names.unions[at].name));
        }
    });
}

pub(super) fn print_lookup(of: Of<'_>, index: PackageIndex, behind: &[PackageIndex], text: &mut Text) {
    let package = &of.schema[index];
    let all = package.messages.iter().map(|index| &of.schema[*index]);
    let mut messages: Vec<&Message> = all.filter(|message| message.id.is_some()).collect();
    messages.sort_by_key(|message| message.id);
    let name = |message: &Message| of.names.message(message.index).ty.clone();
    text.line("// The messages of this package that can be framed, by id.");
    let count = messages.len();
    if messages.is_empty() {
        text.line("inline constexpr structframe::Array<structframe::MessageInfo, 0> messages{};");
    } else {
        text.block(
            format!("inline constexpr structframe::Array<structframe::MessageInfo, {count}> messages{{{{"),
            "}};",
            |text| {
                text.lines(messages.iter().map(|message| format!("structframe::Codec<{}>::info,", name(message))));
            },
        );
    }
    text.line(format!(
        "inline constexpr structframe::Package package{{messages.data(), messages.size(), STRUCTFRAME_NAME(\"{}\")}};",
        package.name
    ));
    text.gap().line("// This package and those it imports; its own messages win when ids meet.");
    let others = behind.iter().map(|other| format!(", &structframe::{}::package", of.names.package(*other)));
    let list: String = others.collect();
    text.line(format!(
        "inline constexpr structframe::Array<const structframe::Package*, {}> packages{{{{&package{list}}}}};",
        behind.len() + 1
    ));
    text.line("inline constexpr structframe::Lookup lookup{packages.data(), packages.size()};");
    text.gap().line(
        "// Decodes the message in a good frame and calls `visit` with it; OtherMessage for an id of another package.",
    );
    text.line("template <class Visit>");
    text.block(
        "structframe::Status dispatch(structframe::Framing framing, const structframe::Event& frame, Visit&& visit) {",
        "}",
        |text| {
            if messages.is_empty() {
                text.line("static_cast<void>(framing);\nstatic_cast<void>(frame);\nstatic_cast<void>(visit);");
                text.line("return structframe::Status::OtherMessage;");
                return;
            }
            text.line("switch (frame.id) {");
            for message in &messages {
                let id = message.id.unwrap_or_default();
                text.line(format!("case {id}:"));
                text.nest(|text| {
                    text.put(format!(
                        "return structframe::detail::visit_as<{}>(framing, frame, visit);",
                        name(message)
                    ));
                });
            }
            text.line("default:").nest(|text| text.put("return structframe::Status::OtherMessage;")).line("}");
        },
    );
}
