//! Unions as classes that know what they hold; without a discriminator, as bytes with accessors.

use super::message::unions;
use super::names::UnionNames;
use super::types::{Context, braced, docs};
use crate::text::Text;
use fw_schema::layout::{Element, Member, Message, MessageIndex, Union, UnionWire};
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

    fn tag_type(&self) -> (&'static str, &'static str) {
        if self.union.discriminator.len() == 1 { ("byte", "UInt8") } else { ("ushort", "UInt16") }
    }

    /// The class of the message in `element`, as a type.
    fn ty(&self, element: Element) -> String {
        self.context.element(element)
    }

    fn choice(&self, text: &mut Text) {
        let Self { message, union, names, .. } = self;
        let ty = &names.ty;
        let (tag, _) = self.tag_type();
        docs(text, &[], &format!("What `{}.{}` holds. Does not change.", message.name, union.name));
        braced(text, format!("public sealed class {ty} : IEquatable<{ty}>"), |text| {
            text.line("/// <summary>Nothing.</summary>");
            text.line(format!("public static readonly {ty} Unset = new {ty}(Kinds.Unset, 0, null);")).gap();
            self.spec(text);
            text.gap();
            braced(text, format!("private {ty}(Kinds kind, {tag} tag, object value)"), |text| {
                text.lines(["Kind = kind;", "Tag = tag;", "Value = value;"]);
            });
            text.gap().line("/// <summary>What it can hold.</summary>");
            braced(text, "public enum Kinds", |text| {
                text.line("/// <summary>Nothing.</summary>").line("Unset,");
                for (member, name) in self.members() {
                    docs(text, &member.docs, &format!("Member `{}`.", member.name));
                    text.line(format!("{name},"));
                }
                text.line("/// <summary>A tag that this schema does not know.</summary>").line("Unknown,");
            });
            text.gap().line("/// <summary>What it holds.</summary>").line("public Kinds Kind { get; }");
            text.gap().line("/// <summary>The tag on the wire; 0 when nothing is set.</summary>");
            text.line(format!("public {tag} Tag {{ get; }}"));
            text.gap()
                .line("/// <summary>The member; null when nothing is set, the bytes of an unknown one.</summary>");
            text.line("public object Value { get; }").gap();
            for (member, name) in self.members() {
                self.member(member, name, text);
            }
            text.line("/// <summary>Something that this schema does not know.</summary>");
            braced(text, format!("public static {ty} FromUnknown({tag} tag, byte[] region)"), |text| {
                text.line(format!("return new {ty}(Kinds.Unknown, tag, region);"));
            });
            text.gap();
            self.read(text);
            text.gap();
            self.write(text);
            text.gap();
            self.equality(text);
        });
    }

    fn spec(&self, text: &mut Text) {
        let union = self.union;
        let wire = match union.wire {
            UnionWire::Full => "Full",
            UnionWire::Trimmed => "Trimmed",
            UnionWire::Prefixed => "Prefixed",
        };
        text.line("private static readonly Rt::UnionSpec Spec = new Rt::UnionSpec(").nest(|text| {
            text.line(format!("\"{}\",", union.name)).line(format!("Rt::UnionWire.{wire},"));
            text.line(format!("region: {},", union.region)).line(format!("baseRegion: {},", union.base_region));
            text.line(format!("minSize: {},", union.min_size)).line(format!("last: {});", self.last));
        });
    }

    fn member(&self, member: &Member, name: &str, text: &mut Text) {
        let (union, of) = (&self.names.ty, self.ty(member.element));
        let tag = member.tag.unwrap_or_default();
        text.line(format!("/// <summary>Member `{}`.</summary>", member.name));
        braced(text, format!("public static {union} From{name}({of} value)"), |text| {
            text.line(format!("return new {union}(Kinds.{name}, {tag}, value);"));
        });
        text.gap().line(format!("/// <summary>Member `{}`, if that is what it holds.</summary>", member.name));
        braced(text, format!("public bool TryGet{name}(out {of} value)"), |text| {
            text.line(format!("bool held = Kind == Kinds.{name};"));
            text.line(format!("value = held ? ({of})Value : default({of});")).line("return held;");
        });
        text.gap();
        if self.is_only(member) {
            text.line("/// <summary>A message that only one member has says by its class which one.</summary>");
            braced(text, format!("public static implicit operator {union}({of} value)"), |text| {
                text.line(format!("return From{name}(value);"));
            });
            text.gap();
        }
    }

    fn is_only(&self, member: &Member) -> bool {
        let mut counts: BTreeMap<usize, u32> = BTreeMap::new();
        for member in &self.union.members {
            if let Element::Message(index) = member.element {
                *counts.entry(index.get()).or_default() += 1;
            }
        }
        matches!(member.element, Element::Message(index) if counts.get(&index.get()) == Some(&1))
    }

    fn read(&self, text: &mut Text) {
        let (tag, method) = self.tag_type();
        let union = self.union;
        text.line("/// <summary>Reads tag and member.</summary>");
        braced(text, format!("public static {} ReadFrom(Rt::PayloadReader from)", self.names.ty), |text| {
            text.line(format!("{tag} tag = from.{method}(\"{}\");", union.name));
            braced(text, "switch (tag)", |text| {
                text.line("case 0:").nest(|text| {
                    text.line("from.Member(Spec, 0);").line("return Unset;");
                });
                for (member, name) in self.members() {
                    text.line(format!("case {}:", member.tag.unwrap_or_default())).nest(|text| {
                        let inside = self.inside(member);
                        let value = self.context.read(member.element, &inside, &format!("\"{}\"", union.name));
                        text.line(format!("return From{name}({value});"));
                    });
                }
                text.line("default:").nest(|text| {
                    text.line("return FromUnknown(tag, from.Unknown(Spec, tag));");
                });
            });
        });
    }

    /// A reader for the bytes of a member; a shorter message is completed with its defaults (SF-8.3).
    fn inside(&self, member: &Member) -> String {
        match member.element {
            Element::Message(index) if self.union.wire == UnionWire::Prefixed => {
                format!("from.Member(Spec, {}, {}.DefaultBytes)", member.size, self.context.message_class(index))
            }
            _ => format!("from.Member(Spec, {})", member.size),
        }
    }

    fn write(&self, text: &mut Text) {
        let (_, method) = self.tag_type();
        text.line("/// <summary>Writes tag and member.</summary>");
        braced(text, "public void WriteTo(Rt::PayloadWriter to)", |text| {
            text.line(format!("to.{method}(Tag);")).line("int begin = to.OpenUnion(Spec);");
            braced(text, "switch (Kind)", |text| {
                for (member, name) in self.members() {
                    let value = format!("({})Value", self.ty(member.element));
                    // The enum is boxed as itself.
                    let value = if matches!(member.element, Element::Enum(_)) { format!("({value})") } else { value };
                    text.line(format!("case Kinds.{name}:")).nest(|text| {
                        let name = &self.union.name;
                        text.line(format!("{};", self.context.write(member.element, &value, name)));
                        text.line("break;");
                    });
                }
                text.line("case Kinds.Unknown:").nest(|text| {
                    text.line("to.Unknown(Spec, (byte[])Value);").line("break;");
                });
            });
            text.line("to.CloseUnion(Spec, begin);");
        });
    }

    fn equality(&self, text: &mut Text) {
        let ty = &self.names.ty;
        text.line("/// <summary>The same member with the same value; a NaN equals itself.</summary>");
        braced(text, format!("public bool Equals({ty} other)"), |text| {
            text.line("return other != null && Tag == other.Tag && Rt::Values.Same(Value, other.Value);");
        });
        text.gap().line("/// <inheritdoc/>");
        braced(text, "public override bool Equals(object obj)", |text| {
            text.line(format!("return Equals(obj as {ty});"));
        });
        text.gap().line("/// <inheritdoc/>");
        braced(text, "public override int GetHashCode()", |text| {
            text.line("return Rt::Values.Hash(Tag, Value);");
        });
        text.gap().line("/// <inheritdoc/>");
        braced(text, "public override string ToString()", |text| {
            text.line("return Kind == Kinds.Unset ? \"Unset\" : Kind + \" \" + Rt::Values.Show(Value);");
        });
    }

    /// Without a discriminator only the application knows what the bytes are (SF-7.5).
    fn bytes(&self, text: &mut Text) {
        let Self { context, message, union, names, .. } = self;
        let (ty, size) = (&names.ty, union.region);
        docs(text, &[], &format!("What `{}.{}` holds: the application knows which member.", message.name, union.name));
        braced(text, format!("public sealed class {ty} : IEquatable<{ty}>"), |text| {
            self.spec(text);
            text.gap().line("/// <summary>The bytes of the member, with zeros behind them.</summary>");
            text.line(format!("public byte[] Region {{ get; set; }} = new byte[{size}];")).gap();
            for (member, name) in self.members() {
                let of = self.ty(member.element);
                text.line(format!("/// <summary>The bytes of member `{}`.</summary>", member.name));
                braced(text, format!("public static {ty} From{name}({of} value)"), |text| {
                    text.line(format!("var to = new Rt::PayloadWriter({size}, Rt::Layout.Fixed);"));
                    text.line(format!("{};", context.write(member.element, "value", &union.name)));
                    text.line(format!("to.Zeros({size} - to.Length);"));
                    text.line(format!("return new {ty} {{ Region = to.ToArray() }};"));
                });
                text.gap().line(format!("/// <summary>The bytes read as member `{}`.</summary>", member.name));
                braced(text, format!("public {of} As{name}()"), |text| {
                    text.line(format!("var from = new Rt::PayloadReader(Region, 0, {size}, Rt::Layout.Fixed);"));
                    let value = context.read(member.element, "from", &format!("\"{}\"", union.name));
                    text.line(format!("return {value};"));
                });
                text.gap();
            }
            text.line("/// <summary>Reads the bytes.</summary>");
            braced(text, format!("public static {ty} ReadFrom(Rt::PayloadReader from)"), |text| {
                text.line(format!("return new {ty} {{ Region = from.Unknown(Spec, 0) }};"));
            });
            text.gap().line("/// <summary>Writes the bytes.</summary>");
            braced(text, "public void WriteTo(Rt::PayloadWriter to)", |text| {
                text.line(format!("to.FixedBlob(Region, {size}, \"{}\");", union.name));
            });
            text.gap().line("/// <summary>The same bytes.</summary>");
            braced(text, format!("public bool Equals({ty} other)"), |text| {
                text.line("return other != null && Rt::Values.Same<byte>(Region, other.Region);");
            });
            text.gap().line("/// <inheritdoc/>");
            braced(text, "public override bool Equals(object obj)", |text| {
                text.line(format!("return Equals(obj as {ty});"));
            });
            text.gap().line("/// <inheritdoc/>");
            braced(text, "public override int GetHashCode()", |text| {
                text.line("return Rt::Values.Hash<byte>(Region);");
            });
            text.gap().line("/// <inheritdoc/>");
            braced(text, "public override string ToString()", |text| {
                text.line("return Rt::Values.Show(Region);");
            });
        });
    }
}
