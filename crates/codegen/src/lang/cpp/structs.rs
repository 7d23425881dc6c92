//! Messages, unions and enums.

use super::Of;
use super::types::{comment, element_type, field_type, initial};
use crate::text::Text;
use fw_schema::layout::{Discriminator, EnumIndex, Message, Union};
use std::collections::BTreeSet;

pub(super) fn print_enum(of: Of<'_>, index: EnumIndex, text: &mut Text) {
    let (definition, names) = (&of.schema[index], of.names.of_enum(index));
    comment(text, &definition.docs);
    text.block(format!("enum class {} : std::uint8_t {{", names.ty), "};", |text| {
        for (value, name) in definition.values.iter().zip(&names.values) {
            comment(text, &value.docs);
            text.line(format!("{name} = {},", value.number));
        }
    });
}

pub(super) fn print_enum_names(of: Of<'_>, index: EnumIndex, text: &mut Text) {
    let (definition, names) = (&of.schema[index], of.names.of_enum(index));
    text.line("// The name of a value; \"?\" when it has none.");
    text.block(format!("constexpr structframe::TextView to_string({} value) {{", names.path), "}", |text| {
        let mut seen = BTreeSet::new();
        text.line("switch (static_cast<std::uint8_t>(value)) {");
        for value in definition.values.iter().filter(|value| seen.insert(value.number)) {
            text.line(format!("case {}:", value.number)).nest(|text| text.put(format!("return \"{}\";", value.name)));
        }
        text.line("default:").nest(|text| text.put("return \"?\";")).line("}");
    });
}

pub(super) fn print_message(of: Of<'_>, message: &Message, text: &mut Text) {
    let names = of.names.message(message.index);
    comment(text, &message.docs);
    text.block(format!("struct {} {{", names.ty), "};", |text| {
        for of_enum in &message.enums {
            print_enum(of, *of_enum, text);
            text.gap();
        }
        for (at, union) in message.unions.iter().enumerate().filter(|(_, union)| !union.members.is_empty()) {
            match union.discriminator {
                Discriminator::None => tagless(of, message, at, union, text),
                _ => tagged(of, message, at, union, text),
            }
            text.gap();
        }
        for (field, name) in message.fields.iter().zip(&names.fields) {
            comment(text, &field.docs);
            text.line(format!("{} {name}{};", field_type(of, message, field.ty), initial(of, message, field)));
        }
        for (_, union) in message.unions.iter().zip(&names.unions).filter(|(union, _)| !union.members.is_empty()) {
            text.line(format!("{} {}{{}};", union.ty, union.name));
        }
        let unions = message.unions.iter().zip(&names.unions).filter(|(union, _)| !union.members.is_empty());
        let all: Vec<String> =
            names.fields.iter().cloned().chain(unions.map(|(_, names)| names.name.clone())).collect();
        text.gap().line("// As `==` of each member: a NaN equals nothing.");
        comparison(&names.ty, &all, text);
    });
}

fn comparison(ty: &str, members: &[String], text: &mut Text) {
    if members.is_empty() {
        text.line(format!("friend bool operator==(const {ty}&, const {ty}&) {{ return true; }}"));
        text.line(format!("friend bool operator!=(const {ty}&, const {ty}&) {{ return false; }}"));
        return;
    }
    // A parameter must not shadow a member.
    let free = |name: &str| {
        let mut name = name.to_owned();
        while members.contains(&name) {
            name.push('_');
        }
        name
    };
    let (a, b) = (free("a"), free("b"));
    text.block(format!("friend bool operator==(const {ty}& {a}, const {ty}& {b}) {{"), "}", |text| {
        let last = members.len() - 1;
        for (at, name) in members.iter().enumerate() {
            let (begin, end) = (if at == 0 { "return " } else { "       " }, if at == last { ";" } else { " &&" });
            text.line(format!("{begin}{a}.{name} == {b}.{name}{end}"));
        }
    });
    text.line(format!("friend bool operator!=(const {ty}& {a}, const {ty}& {b}) {{ return !({a} == {b}); }}"));
}

fn tagged(of: Of<'_>, message: &Message, at: usize, union: &Union, text: &mut Text) {
    let names = &of.names.message(message.index).unions[at];
    comment(text, &union.docs);
    text.block(format!("struct {} {{", names.ty), "};", |text| {
        text.block("enum class Tag : std::uint16_t {", "};", |text| {
            text.line("None = 0,");
            for (member, name) in union.members.iter().zip(&names.tags) {
                comment(text, &member.docs);
                text.line(format!("{name} = {},", member.tag.unwrap_or_default()));
            }
        });
        let tags: Vec<String> = union.members.iter().map(|member| member.tag.unwrap_or_default().to_string()).collect();
        let count = tags.len();
        text.line(format!(
            "static constexpr structframe::Array<std::uint16_t, {count}> tags{{{{{}}}}};",
            tags.join(", ")
        ));
        let types: Vec<String> = union.members.iter().map(|member| element_type(of, message, member.element)).collect();
        text.gap().line("// Nothing, a member, or what has a tag that this schema does not know.");
        let region = union.region;
        text.line(format!("structframe::OneOf<{}, structframe::Unknown<{region}>> value{{}};", types.join(", ")));
        text.gap().line("bool is_set() const { return value.index() != 0; }");
        text.block("Tag tag() const {", "}", |text| {
            text.line("const auto index = value.index();");
            text.line(format!(
                "const auto unknown = index > {count} ? value.get<{}>()->tag : std::uint16_t{{0}};",
                count + 1
            ));
            text.line(format!("return static_cast<Tag>(index == 0 || index > {count} ? unknown : tags[index - 1]);"));
        });
        for (place, (ty, name)) in types.iter().zip(&names.members).enumerate() {
            let index = place + 1;
            text.gap().line(format!("const {ty}* as_{name}() const {{ return value.get<{index}>(); }}"));
            text.line(format!("{ty}* as_{name}() {{ return value.get<{index}>(); }}"));
            text.line(format!("{ty}& set_{name}({ty} member = {{}}) {{ return value.set<{index}>() = member; }}"));
        }
        text.gap();
        comparison(&names.ty, &["value".to_owned()], text);
    });
}

/// A union without a tag; what its accessors do comes after the codecs that they need.
fn tagless(of: Of<'_>, message: &Message, at: usize, union: &Union, text: &mut Text) {
    let names = &of.names.message(message.index).unions[at];
    comment(text, &union.docs);
    text.line("// Without a tag: the application knows which member the bytes are.");
    text.block(format!("struct {} : structframe::detail::Region<{}> {{", names.ty, union.region), "};", |text| {
        for (member, name) in union.members.iter().zip(&names.members) {
            let ty = element_type(of, message, member.element);
            comment(text, &member.docs);
            text.line(format!("{ty} as_{name}() const;\nvoid set_{name}(const {ty}& member);"));
        }
    });
}

pub(super) fn print_tagless(of: Of<'_>, message: &Message, text: &mut Text) {
    let names = of.names.message(message.index);
    for (union, union_names) in message.unions.iter().zip(&names.unions) {
        if union.discriminator != Discriminator::None {
            continue;
        }
        let path = format!("{}::{}", names.ty, union_names.ty);
        for (member, name) in union.members.iter().zip(&union_names.members) {
            // A nested enum is named from outside here.
            let ty = match member.element {
                fw_schema::layout::Element::Enum(index) if of.schema[index].parent == Some(message.index) => {
                    of.names.of_enum(index).path.clone()
                }
                element => element_type(of, message, element),
            };
            text.gap().block(format!("inline {ty} {path}::as_{name}() const {{"), "}", |text| {
                text.line(format!("return structframe::detail::load_from<{ty}>(*this);"));
            });
            text.gap().block(format!("inline void {path}::set_{name}(const {ty}& member) {{"), "}", |text| {
                text.line("structframe::detail::store_into(*this, member);");
            });
        }
    }
}
