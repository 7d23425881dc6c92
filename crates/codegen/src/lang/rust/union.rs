//! Unions as enums; without a discriminator, as bytes with accessors.

use super::message::{unions, whole, whole_mut};
use super::names::UnionNames;
use super::style::{arm, literal};
use super::types::{Context, docs, range};
use super::wire::is_own_way;
use crate::text::Text;
use fw_schema::layout::{Element, Extent, Member, Message, MessageIndex, Type, Union, UnionWire};
use std::collections::BTreeMap;

pub(super) fn print(context: &Context<'_>, index: MessageIndex, text: &mut Text) {
    let message = &context.schema[index];
    for (at, union) in unions(message) {
        let names = &context.names.message(index).unions[at];
        let printer = Printer { context, message, union, names, last: at + 1 == message.unions.len() };
        text.gap();
        match union.discriminator.is_empty() {
            true => printer.bytes(text),
            false => printer.choice(text),
        }
    }
}

struct Printer<'s> {
    context: &'s Context<'s>,
    message: &'s Message,
    union: &'s Union,
    names: &'s UnionNames,
    last: bool,
}

impl Printer<'_> {
    fn members(&self) -> impl Iterator<Item = (&Member, &String)> {
        self.union.members.iter().zip(&self.names.members)
    }

    fn choice(&self, text: &mut Text) {
        let Self { message, union, names, .. } = self;
        docs(text, &[], &format!("What `{}.{}` holds.", message.name, union.name));
        text.line("#[allow(clippy::large_enum_variant, reason = \"no allocator\")]");
        text.line("#[derive(Clone, Debug, Default, PartialEq)]");
        self.context.serde_derive(text);
        text.block(format!("pub enum {} {{", names.ty), "}", |text| {
            text.line("/// Nothing.").line("#[default]").line("Unset,");
            for (member, name) in self.members() {
                docs(text, &member.docs, &format!("Member `{}`.", member.name));
                self.context.serde_field(text, "", "", Type::One(member.element));
                text.line(format!("{name}({}),", self.context.element(member.element)));
            }
            text.line("/// A tag that this schema does not know, and what stands in the union's place.");
            text.block("Unknown {", "},", |text| {
                text.line("/// The tag.").line(format!("tag: {},", self.tag_type()));
                text.line("/// The bytes.");
                self.context.serde_field(text, "", "", Type::One(Element::Bytes(Extent::Fixed(0))));
                text.line(format!("region: [u8; {}],", union.region));
            });
        });
        text.gap();
        text.block(format!("impl {} {{", names.ty), "}", |text| {
            text.line("/// The tag on the wire; 0 when nothing is set.");
            text.block(format!("pub const fn tag(&self) -> {} {{", self.tag_type()), "}", |text| {
                text.block("match self {", "}", |text| {
                    text.line("Self::Unset => 0,");
                    for (member, name) in self.members() {
                        text.line(format!("Self::{name}(_) => {},", member.tag.unwrap_or_default()));
                    }
                    text.line("Self::Unknown { tag, .. } => *tag,");
                });
            });
            if is_own_way(message, union) {
                text.gap();
                self.write(text);
                text.gap();
                self.read(text);
            }
        });
        text.gap();
        self.fixed(text);
        self.conversions(text);
    }

    fn tag_type(&self) -> &'static str {
        if self.union.discriminator.len() == 1 { "u8" } else { "u16" }
    }

    fn fixed(&self, text: &mut Text) {
        let Self { union, names, .. } = self;
        let tag = union.discriminator.len();
        let size = tag + union.region;
        text.block(format!("impl field::Field for {} {{", names.ty), "}", |text| {
            text.line(format!("const SIZE: usize = {size};")).gap().line("#[inline]");
            text.block("fn put(&self, out: &mut [u8]) {", "}", |text| {
                whole_mut(text, size);
                text.line(format!("self.tag().put(&mut out{});", range(0, tag)));
                text.line(format!("out[{tag}..].fill(0);"));
                text.block("match self {", "}", |text| {
                    text.line("Self::Unset => {}");
                    for (member, name) in self.members() {
                        let place = range(tag, member.size);
                        arm(text, 3, &format!("Self::{name}(value)"), &format!("value.put(&mut out{place})"));
                    }
                    text.line(format!("Self::Unknown {{ region, .. }} => region.put(&mut out[{tag}..]),"));
                });
            });
            text.gap().line("#[inline]").block("fn take(bytes: &[u8]) -> Self {", "}", |text| {
                whole(text, size);
                text.block(format!("match field::take(&bytes{}) {{", range(0, tag)), "}", |text| {
                    text.line("0 => Self::Unset,");
                    for (member, name) in self.members() {
                        let place = range(tag, member.size);
                        let tag = member.tag.unwrap_or_default();
                        arm(text, 3, &tag.to_string(), &format!("Self::{name}(field::take(&bytes{place}))"));
                    }
                    text.block("tag => Self::Unknown {", "},", |text| {
                        text.line("tag,").line(format!("region: field::take(&bytes[{tag}..]),"));
                    });
                });
            });
        });
    }

    /// The wire layout inside a variable message.
    fn write(&self, text: &mut Text) {
        let union = self.union;
        let min = union.min_size;
        let (member_verb, raw_verb) = match union.wire {
            UnionWire::Prefixed => ("prefixed", "raw_prefixed"),
            UnionWire::Trimmed | UnionWire::Full => ("member", "raw"),
        };
        text.block("fn write(&self, out: &mut field::Writer<'_>) -> Result<(), rt::MessageError> {", "}", |text| {
            if union.wire == UnionWire::Full {
                text.line("out.field(self)");
                return;
            }
            text.line("out.field(&self.tag())?;");
            text.block("match self {", "}", |text| {
                text.line(format!("Self::Unset => out.{raw_verb}(&[], {min}),"));
                for (_, name) in self.members() {
                    text.line(format!("Self::{name}(value) => out.{member_verb}(value, {min}),"));
                }
                text.line(format!("Self::Unknown {{ region, .. }} => out.{raw_verb}(region, {min}),"));
            });
        });
    }

    fn read(&self, text: &mut Text) {
        let union = self.union;
        let name = &union.name;
        let (region, min) = (union.region, union.min_size);
        text.block("fn read(payload: &mut field::Reader<'_>) -> Result<Self, rt::MessageError> {", "}", |text| {
            match union.wire {
                UnionWire::Full => {
                    let (tag, base) = (union.discriminator.len(), union.base_region);
                    text.line(format!("let bytes = payload.region({}, {}, \"{name}\")?;", tag + region, tag + base));
                    text.line("Ok(field::take(bytes))");
                }
                UnionWire::Trimmed => {
                    text.block(
                        format!("Ok(match payload.field::<{}>(\"{name}\")? {{", self.tag_type()),
                        "})",
                        |text| {
                            if min == 0 {
                                text.line("0 => Self::Unset,");
                            } else {
                                text.block("0 => {", "}", |text| {
                                    text.line(format!("payload.bytes({min}, \"{name}\")?;")).line("Self::Unset");
                                });
                            }
                            for (member, variant) in self.members() {
                                let tag = member.tag.unwrap_or_default();
                                let body = format!("Self::{variant}(payload.member(\"{name}\", {min})?)");
                                arm(text, 3, &tag.to_string(), &body);
                            }
                            if self.last {
                                text.block("tag => Self::Unknown {", "},", |text| {
                                    text.line("tag,").line("region: field::padded(payload.rest()),");
                                });
                            } else {
                                let wide = if self.tag_type() == "u8" { "u16::from(tag)" } else { "tag" };
                                text.line(format!("tag => return Err(payload.unknown_tag(\"{name}\", {wide})),"));
                            }
                        },
                    );
                }
                UnionWire::Prefixed => {
                    text.line(format!("let tag = payload.field(\"{name}\")?;"));
                    text.line(format!("let bytes = payload.prefixed(\"{name}\")?;"));
                    text.block("Ok(match tag {", "})", |text| {
                        text.line("0 => Self::Unset,");
                        for (member, variant) in self.members() {
                            let tag = member.tag.unwrap_or_default();
                            let value = match member.element {
                                // A shorter member is completed with its defaults (SF-8.3).
                                Element::Message(_) => format!("field::read_fixed::<_, {}>(bytes)", member.size),
                                _ => "field::take(bytes)".to_owned(),
                            };
                            arm(text, 3, &tag.to_string(), &format!("Self::{variant}({value})"));
                        }
                        text.block("tag => Self::Unknown {", "},", |text| {
                            text.line("tag,").line("region: field::padded(bytes),");
                        });
                    });
                }
            }
        });
    }

    /// A message that only one member has says by its type which one.
    fn conversions(&self, text: &mut Text) {
        let mut counts: BTreeMap<usize, u32> = BTreeMap::new();
        for member in &self.union.members {
            if let Element::Message(index) = member.element {
                *counts.entry(index.get()).or_default() += 1;
            }
        }
        for (member, variant) in self.members() {
            let Element::Message(index) = member.element else { continue };
            if counts.get(&index.get()) != Some(&1) {
                continue;
            }
            let from = self.context.message_type(index);
            text.gap().block(format!("impl From<{from}> for {} {{", self.names.ty), "}", |text| {
                text.block(format!("fn from(value: {from}) -> Self {{"), "}", |text| {
                    text.line(format!("Self::{variant}(value)"));
                });
            });
        }
    }

    /// Without a discriminator only the application knows what the bytes are (SF-7.5).
    fn bytes(&self, text: &mut Text) {
        let Self { context, message, union, names, .. } = self;
        let size = union.region;
        docs(text, &[], &format!("What `{}.{}` holds: the application knows which member.", message.name, union.name));
        let default = if size <= 32 { "Default, " } else { "" };
        text.line(format!("#[derive(Clone, Debug, {default}PartialEq, Eq)]"));
        context.serde_derive(text);
        text.block(format!("pub struct {} {{", names.ty), "}", |text| {
            text.line("/// The bytes of the member, with zeros behind them.");
            self.context.serde_field(text, "", "", Type::One(Element::Bytes(Extent::Fixed(0))));
            text.line(format!("pub region: [u8; {size}],"));
        });
        text.gap().block(format!("impl {} {{", names.ty), "}", |text| {
            for (at, (member, name)) in self.members().enumerate() {
                let ty = context.element(member.element);
                if at > 0 {
                    text.gap();
                }
                text.line(format!("/// The bytes of member `{}`.", member.name));
                text.block(format!("pub fn from_{name}(value: &{ty}) -> Self {{"), "}", |text| {
                    text.line(format!("let mut region = [0; {size}];"));
                    text.line(format!("field::Field::put(value, &mut region{});", range(0, member.size)));
                    text.line("Self { region }");
                });
                text.gap().line(format!("/// The bytes read as member `{}`.", member.name));
                text.block(format!("pub fn as_{name}(&self) -> {ty} {{"), "}", |text| {
                    text.line(format!("field::take(&self.region{})", range(0, member.size)));
                });
            }
            if is_own_way(message, union) {
                text.gap();
                self.write(text);
                text.gap();
                self.read(text);
            }
        });
        if size > 32 {
            text.gap().block(format!("impl Default for {} {{", names.ty), "}", |text| {
                text.block("fn default() -> Self {", "}", |text| {
                    literal(text, "Self ", &[format!("region: [0; {size}]")], "");
                });
            });
        }
        text.gap().block(format!("impl field::Field for {} {{", names.ty), "}", |text| {
            text.line(format!("const SIZE: usize = {size};")).gap().line("#[inline]");
            text.block("fn put(&self, out: &mut [u8]) {", "}", |text| {
                text.line("self.region.put(out);");
            });
            text.gap().line("#[inline]").block("fn take(bytes: &[u8]) -> Self {", "}", |text| {
                text.block("Self {", "}", |text| {
                    text.line("region: field::take(bytes),");
                });
            });
        });
    }
}
