//! Messages as classes.

use super::types::{Context, braced, docs};
use crate::text::Text;
use fw_schema::layout::{Element, Extent, Field, Message, MessageIndex, Scalar, Type, Union};

pub(super) fn print(context: &Context<'_>, index: MessageIndex, text: &mut Text) {
    let message = &context.schema[index];
    let ty = &context.names.message(index).ty;
    docs(text, &message.docs, &format!("Message `{}`.", message.name));
    let framed = if message.id.is_some() { "Rt::IMessage, " } else { "" };
    braced(text, format!("public sealed class {ty} : {framed}IEquatable<{ty}>"), |text| {
        constants(context, message, text);
        properties(context, message, text);
        payload(context, message, text);
        envelope(context, message, text);
        equality(context, message, text);
        fields(context, message, text);
    });
}

/// Unions with members; an empty one contributes nothing (SF-7.1).
pub(super) fn unions(message: &Message) -> impl Iterator<Item = (usize, &Union)> {
    message.unions.iter().enumerate().filter(|(_, union)| !union.members.is_empty())
}

fn constants(context: &Context<'_>, message: &Message, text: &mut Text) {
    if let Some(id) = message.id {
        text.line("/// <summary>Effective id.</summary>").line(format!("public const ushort MsgId = {id};")).gap();
    }
    text.line("/// <summary>Bytes of the fixed layout, and the most that the wire layout can have.</summary>");
    text.line(format!("public const int MaxSize = {};", message.sizes.max)).gap();
    if message.id.is_none() {
        return;
    }
    text.line("/// <summary>Bytes without extensions.</summary>");
    text.line(format!("public const int BaseSize = {};", message.sizes.base)).gap();
    text.line("/// <summary>The shortest payload.</summary>");
    text.line(format!("public const int MinSize = {};", message.sizes.min)).gap();
    let [first, second] = message.magic;
    text.line("/// <summary>What readers look up by id.</summary>");
    text.line("public static readonly Rt::MessageInfo Descriptor = new Rt::MessageInfo(").nest(|text| {
        text.line(format!("typeof({}),", context.names.message(message.index).ty));
        text.line(format!("\"{}\",", context.schema.qualified(message)));
        text.lines(["MsgId,", "MaxSize,", "BaseSize,", "MinSize,"]);
        text.line(format!("0x{first:02x},")).line(format!("0x{second:02x},")).line("Decode);");
    });
    text.gap();
}

fn properties(context: &Context<'_>, message: &Message, text: &mut Text) {
    let names = context.names.message(message.index);
    for (field, name) in message.fields.iter().zip(&names.fields) {
        docs(text, &field.docs, &format!("`{}` in the schema.", field.name));
        let initial = context.initial(field);
        let initial = if initial.is_empty() { initial } else { format!(" = {initial};") };
        text.line(format!("public {} {name} {{ get; set; }}{initial}", context.field(field.ty))).gap();
    }
    for (at, union) in unions(message) {
        let own = &names.unions[at];
        docs(text, &union.docs, &format!("Union `{}` in the schema.", union.name));
        let ty = format!("global::{}.{}", context.names.namespace(message.package), own.ty);
        let initial = if union.discriminator.is_empty() { format!("new {}()", own.ty) } else { format!("{ty}.Unset") };
        text.line(format!("public {} {} {{ get; set; }} = {initial};", own.ty, own.field)).gap();
    }
    if message.id.is_some() {
        text.line("Rt::MessageInfo Rt::IMessage.Info => Descriptor;").gap();
    }
}

/// True when the wire layout is not simply the fixed one.
fn is_trimmed(message: &Message) -> bool {
    message.id.is_some() && message.variable
}

fn payload(context: &Context<'_>, message: &Message, text: &mut Text) {
    let ty = &context.names.message(message.index).ty;
    if message.id.is_some() {
        text.line("/// <summary>Reads a payload. Missing bytes are defaults where the format says so.</summary>");
        text.line("/// <exception cref=\"StructFrameRuntime.StructFrameException\">Bytes are missing that must be there.</exception>");
        braced(text, format!("public static {ty} Decode(Rt::Layout layout, byte[] payload)"), |text| {
            text.line("return Decode(layout, payload, 0, payload.Length);");
        });
        text.gap().line("/// <summary>Reads a payload within a buffer.</summary>");
        text.line("/// <exception cref=\"StructFrameRuntime.StructFrameException\">Bytes are missing that must be there.</exception>");
        let head = format!("public static {ty} Decode(Rt::Layout layout, byte[] buffer, int offset, int count)");
        braced(text, head, |text| {
            if is_trimmed(message) {
                braced(text, "if (layout == Rt::Layout.Wire)", |text| {
                    text.line("return ReadFields(new Rt::PayloadReader(buffer, offset, count, layout));");
                });
            }
            text.line("return Rt::PayloadReader.ReadFixed(buffer, offset, count, MaxSize, DefaultBytes, ReadFrom);");
        });
        text.gap().line("/// <summary>The payload in this layout.</summary>");
        text.line("/// <exception cref=\"StructFrameRuntime.StructFrameException\">A value does not fit its field.</exception>");
        braced(text, "public byte[] Encode(Rt::Layout layout)", |text| {
            text.line("var to = new Rt::PayloadWriter(MaxSize, layout);");
            text.line(if is_trimmed(message) { "WriteFields(to);" } else { "WriteTo(to);" });
            text.line("return to.ToArray();");
        });
        text.gap();
    }
    text.line("/// <summary>Reads the fixed layout, as nested messages have it.</summary>");
    braced(text, format!("public static {ty} ReadFrom(Rt::PayloadReader from)"), |text| {
        text.line("from.Enter();").line(format!("{ty} message = ReadFields(from);"));
        text.line("from.Leave();").line("return message;");
    });
    text.gap().line("/// <summary>Writes the fixed layout, as nested messages have it.</summary>");
    braced(text, "public void WriteTo(Rt::PayloadWriter to)", |text| {
        text.lines(["to.Enter();", "WriteFields(to);", "to.Leave();"]);
    });
    text.gap().line("/// <summary>The message whose bytes are all zero; a new one has its defaults.</summary>");
    braced(text, format!("public static {ty} Zero()"), |text| {
        text.line("return ReadFrom(new Rt::PayloadReader(new byte[MaxSize], 0, MaxSize, Rt::Layout.Fixed));");
    });
    text.gap().line("/// <summary>The bytes of a new message, which fill up shorter payloads.</summary>");
    braced(text, "internal static byte[] DefaultBytes()", |text| {
        text.line("var to = new Rt::PayloadWriter(MaxSize, Rt::Layout.Fixed);");
        text.line(format!("new {ty}().WriteTo(to);")).line("return to.ToArray();");
    });
    text.gap();
}

/// SF-7.6: something that takes one of the members.
fn envelope(context: &Context<'_>, message: &Message, text: &mut Text) {
    let names = context.names.message(message.index);
    let Some((at, union)) = unions(message).next() else { return };
    if !message.envelope || union.discriminator.is_empty() {
        return;
    }
    let own = &names.unions[at];
    text.line("/// <summary>An envelope around one of its members; everything else as in a new message.</summary>");
    braced(text, format!("public static {} Wrap({} payload)", names.ty, own.ty), |text| {
        text.line(format!("return new {} {{ {} = payload }};", names.ty, own.field));
    });
    text.gap();
}

fn equality(context: &Context<'_>, message: &Message, text: &mut Text) {
    let names = context.names.message(message.index);
    let ty = &names.ty;
    let fields: Vec<_> = message.fields.iter().zip(&names.fields).collect();
    let unions: Vec<&str> = unions(message).map(|(at, _)| names.unions[at].field.as_str()).collect();
    text.line("/// <summary>Field by field; a NaN equals itself.</summary>");
    braced(text, format!("public bool Equals({ty} other)"), |text| {
        let same = fields.iter().map(|(field, name)| same(context, field, name));
        let same: Vec<_> = same.chain(unions.iter().map(|name| format!("Equals({name}, other.{name})"))).collect();
        if same.is_empty() {
            text.line("return other != null;");
            return;
        }
        text.line("return other != null").nest(|text| {
            let last = same.len() - 1;
            for (at, one) in same.iter().enumerate() {
                text.line(format!("&& {one}{}", if at == last { ";" } else { "" }));
            }
        });
    });
    text.gap().line("/// <inheritdoc/>");
    braced(text, "public override bool Equals(object obj)", |text| {
        text.line(format!("return Equals(obj as {ty});"));
    });
    text.gap().line("/// <inheritdoc/>");
    braced(text, "public override int GetHashCode()", |text| {
        text.line("int hash = 17;");
        for (field, name) in &fields {
            let value = match field.ty {
                Type::Array { element, .. } => format!("Rt::Values.Hash<{}>({name})", context.element(element)),
                Type::One(_) => (*name).clone(),
            };
            text.line(format!("hash = Rt::Values.Hash(hash, {value});"));
        }
        text.lines(unions.iter().map(|name| format!("hash = Rt::Values.Hash(hash, {name});")));
        text.line("return hash;");
    });
    text.gap().line("/// <inheritdoc/>");
    braced(text, "public override string ToString()", |text| {
        let all = fields.iter().map(|(_, name)| name.as_str()).chain(unions.iter().copied());
        let parts: Vec<_> = all.collect();
        if parts.is_empty() {
            text.line(format!("return \"{ty} {{ }}\";"));
            return;
        }
        text.line(format!("return \"{ty} {{ \"")).nest(|text| {
            for (at, name) in parts.iter().enumerate() {
                let comma = if at == 0 { "" } else { ", " };
                text.line(format!("+ \"{comma}{name} = \" + Rt::Values.Show({name})"));
            }
            text.line("+ \" }\";");
        });
    });
    text.gap();
}

fn same(context: &Context<'_>, field: &Field, name: &str) -> String {
    match field.ty {
        Type::One(Element::Scalar(Scalar::Float | Scalar::Double)) => format!("{name}.Equals(other.{name})"),
        Type::One(Element::Scalar(_) | Element::Enum(_) | Element::String(_)) => format!("{name} == other.{name}"),
        Type::One(Element::Message(_)) => format!("Equals({name}, other.{name})"),
        Type::One(Element::Bytes(_)) => format!("Rt::Values.Same<byte>({name}, other.{name})"),
        Type::Array { element, .. } => {
            format!("Rt::Values.Same<{}>({name}, other.{name})", context.element(element))
        }
    }
}

/// Reading and writing field by field; reader and writer know which layout it is.
fn fields(context: &Context<'_>, message: &Message, text: &mut Text) {
    let names = context.names.message(message.index);
    let ty = &names.ty;
    braced(text, format!("private static {ty} ReadFields(Rt::PayloadReader from)"), |text| {
        text.line(format!("var message = new {ty}();"));
        for (field, name) in message.fields.iter().zip(&names.fields) {
            if field.extension && is_trimmed(message) {
                // What is not all there keeps its default, and so does everything behind it (SF-8.4).
                let there = match field.ty.extent().filter(|_| field.ty.prefix_len() > 0) {
                    Some(extent) => format!("HasCounted({}, {}, \"{}\")", extent.limit(), field.unit, field.name),
                    None => format!("HasField({})", field.size),
                };
                braced(text, format!("if (!from.{there})"), |text| {
                    text.line("return message;");
                });
            }
            text.line(format!("message.{name} = {};", read(context, field)));
        }
        for (at, _) in unions(message) {
            let own = &names.unions[at];
            let class = format!("global::{}.{}", context.names.namespace(message.package), own.ty);
            text.line(format!("message.{} = {class}.ReadFrom(from);", own.field));
        }
        text.line("return message;");
    });
    text.gap();
    braced(text, "private void WriteFields(Rt::PayloadWriter to)", |text| {
        for (field, name) in message.fields.iter().zip(&names.fields) {
            text.line(write(context, field, name));
        }
        for (at, union) in unions(message) {
            let name = &names.unions[at].field;
            text.line(format!("Rt::PayloadWriter.Given({name}, \"{}\").WriteTo(to);", union.name));
        }
        if message.fixed_tail > 0 {
            // Room for the lengths that only the wire layout has (SF-6.1).
            braced(text, "if (!to.Trims)", |text| {
                text.line(format!("to.Zeros({});", message.fixed_tail));
            });
        }
    });
}

fn read(context: &Context<'_>, field: &Field) -> String {
    let name = format!("\"{}\"", field.name);
    let Type::Array { element, extent } = field.ty else { return context.read(field.ty.element(), "from", &name) };
    let ty = context.element(element);
    let each = match element {
        Element::Scalar(_) => context.read(element, "from", "").trim_end_matches("()").to_owned(),
        _ => format!("item => {}", context.read(element, "from", "item")),
    };
    match extent {
        Extent::Fixed(size) => format!("from.Fixed<{ty}>({size}, {name}, {each})"),
        Extent::Bounded(limit) => format!("from.Bounded<{ty}>({limit}, {}, {name}, {each})", field.unit),
    }
}

fn write(context: &Context<'_>, field: &Field, name: &str) -> String {
    let Type::Array { element, extent } = field.ty else {
        return format!("{};", context.write(field.ty.element(), name, &field.name));
    };
    let each = match element {
        Element::Scalar(_) => context.write(element, "", "").trim_end_matches("()").to_owned(),
        _ => format!("item => {}", context.write(element, "item", &field.name)),
    };
    match extent {
        Extent::Fixed(size) => format!("to.Fixed({name}, {size}, \"{}\", {each});", field.name),
        Extent::Bounded(limit) => {
            format!("to.Bounded({name}, {limit}, {}, \"{}\", {each});", field.unit, field.name)
        }
    }
}
