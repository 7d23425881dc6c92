//! Classes of messages.

use super::dialect::{Dialect, comment, plain};
use super::module::Printer;
use super::types::{method, string};
use crate::text::Text;
use fw_schema::layout::{Element, Extent, Field, Message, Type, UnionWire};
use std::collections::BTreeSet;

impl Printer<'_> {
    pub(super) fn message(&self, message: &Message, text: &mut Text) {
        for (union, names) in message.unions.iter().zip(self.names.unions(message.index)) {
            self.union(message, union, names, text);
        }
        self.init_type(message, text);
        let class = self.names.message(message.index);
        text.gap();
        let docs =
            if message.docs.is_empty() { vec![format!("Message {}.", message.name)] } else { plain(&message.docs) };
        comment(text, &docs);
        text.block(format!("export class {class} extends {} {{", self.runtime_value("Message")), "}", |inner| {
            let fixed = self.dialect.fixed();
            let info_type = self.runtime_type("MessageInfo");
            let (info, ty) = match message.id {
                Some(id) => {
                    let sizes = message.sizes;
                    let sizes = format!("maxSize: {}, baseSize: {}, minSize: {}", sizes.max, sizes.base, sizes.min);
                    let [a, b] = message.magic;
                    (format!("{{ id: {id}, {sizes}, magic: [{a}, {b}] }}"), info_type.to_owned())
                }
                None => ("null".to_owned(), format!("{info_type} | null")),
            };
            self.dialect.typed(inner, &[], &format!("{fixed} info"), &ty, &info);
            inner.line(format!("{fixed} maxSize = {};", message.sizes.max));
            inner.line(format!("{fixed} isVariable = {};", message.variable));
            inner.gap();
            self.properties(message, inner);
            inner.gap();
            self.constructor(message, inner);
            inner.gap();
            self.decode(class, inner);
            inner.gap();
            self.equals(message, class, inner);
            inner.gap();
            self.write(message, inner);
            inner.gap();
            self.read(message, class, inner);
            if message.envelope {
                self.envelope(message, class, inner);
            }
        });
    }

    fn init_type(&self, message: &Message, text: &mut Text) {
        let (class, init) = (self.names.message(message.index), self.names.init(message.index));
        let mut fields: Vec<(String, String)> = Vec::new();
        for (field, name) in message.fields.iter().zip(self.names.fields(message.index)) {
            fields.push((name.clone(), self.hint(field.ty)));
        }
        for names in self.names.unions(message.index) {
            fields.push((names.property.clone(), names.ty.clone()));
        }
        let what = format!("What a new {class} is made of; what is left out has its default.");
        text.gap();
        match self.dialect {
            Dialect::TypeScript => {
                comment(text, &[what]);
                if fields.is_empty() {
                    text.line(format!("export type {init} = Record<string, never>;"));
                    return;
                }
                text.block(format!("export interface {init} {{"), "}", |inner| {
                    inner.lines(fields.iter().map(|(name, ty)| format!("{name}?: {ty};")));
                });
            }
            Dialect::JavaScript => {
                let inside: Vec<String> = fields.iter().map(|(name, ty)| format!("{name}?: {ty}")).collect();
                let ty = if inside.is_empty() {
                    "Record<string, never>".to_owned()
                } else {
                    format!("{{ {} }}", inside.join(", "))
                };
                comment(text, &[what, format!("@typedef {{{ty}}} {init}")]);
            }
        }
    }

    fn properties(&self, message: &Message, text: &mut Text) {
        for (field, name) in message.fields.iter().zip(self.names.fields(message.index)) {
            self.dialect.typed(text, &plain(&field.docs), name, &self.hint(field.ty), "");
        }
        for (union, names) in message.unions.iter().zip(self.names.unions(message.index)) {
            self.dialect.typed(text, &plain(&union.docs), &names.property, &names.ty, "");
        }
    }

    fn constructor(&self, message: &Message, text: &mut Text) {
        let nothing = message.fields.is_empty() && message.unions.is_empty();
        let name = if nothing { "_init" } else { "init" };
        let parameters = [(name, self.names.init(message.index).to_owned(), Some("{}"))];
        let open = self.dialect.signature(text, &[], "constructor", &parameters, None);
        text.block(open, "}", |inner| {
            inner.line("super();");
            for (field, name) in message.fields.iter().zip(self.names.fields(message.index)) {
                inner.line(format!("this.{name} = init.{name} ?? {};", self.initial(field)));
            }
            for (union, names) in message.unions.iter().zip(self.names.unions(message.index)) {
                let property = &names.property;
                let initial = if union.discriminator.is_empty() && !union.members.is_empty() {
                    format!("new {}()", names.ty)
                } else {
                    "null".to_owned()
                };
                inner.line(format!("this.{property} = init.{property} ?? {initial};"));
            }
        });
    }

    fn decode(&self, class: &str, text: &mut Text) {
        let docs = ["Reads a payload. Throws `DecodeError` when bytes are missing that must be there.".to_owned()];
        let layout = self.runtime_type("Layout").to_owned();
        let parameters = [("payload", "Uint8Array".to_owned(), None), ("layout", layout, Some("\"wire\""))];
        let open = self.dialect.signature(text, &docs, "static decode", &parameters, Some(class));
        text.block(open, "}", |inner| {
            inner.line(format!("return {}({class}, payload, layout);", self.runtime_value("decodePayload")));
        });
    }

    fn equals(&self, message: &Message, class: &str, text: &mut Text) {
        let mut parts = Vec::new();
        for (field, name) in message.fields.iter().zip(self.names.fields(message.index)) {
            let (a, b) = (format!("this.{name}"), format!("other.{name}"));
            parts.push(match field.ty {
                Type::One(element) => self.same(element, &a, &b),
                Type::Array { element, .. } => {
                    let list = self.runtime_value("sameList");
                    format!("{list}({a}, {b}, (a, b) => {})", self.same(element, "a", "b"))
                }
            });
        }
        for (union, names) in message.unions.iter().zip(self.names.unions(message.index)) {
            let (a, b) = (format!("this.{}", names.property), format!("other.{}", names.property));
            if union.members.is_empty() {
                continue;
            }
            parts.push(if union.discriminator.is_empty() {
                format!("{a}.equals({b})")
            } else {
                format!("{}({a}, {b}, ${})", self.runtime_value("sameUnion"), names.ty)
            });
        }
        let docs = ["True when all fields are the same.".to_owned()];
        let other = if parts.is_empty() { "_other" } else { "other" };
        let parameters = [(other, class.to_owned(), None)];
        let open = self.dialect.signature(text, &docs, "equals", &parameters, Some("boolean"));
        text.block(open, "}", |inner| match parts.as_slice() {
            [] => {
                inner.line("return true;");
            }
            [one] => {
                inner.line(format!("return {one};"));
            }
            parts => {
                let short = format!("return {};", parts.join(" && "));
                if short.len() <= 110 {
                    inner.line(short);
                    return;
                }
                inner.block("return (", ");", |inner| {
                    let last = parts.len() - 1;
                    let rows = parts.iter().enumerate();
                    inner.lines(rows.map(|(at, part)| format!("{part}{}", if at == last { "" } else { " &&" })));
                });
            }
        });
    }

    fn write(&self, message: &Message, text: &mut Text) {
        let trim = if message.variable { "wire" } else { "false" };
        let mut body = Text::new();
        for (field, name) in message.fields.iter().zip(self.names.fields(message.index)) {
            self.put(field, &format!("this.{name}"), trim, &mut body);
        }
        for (union, names) in message.unions.iter().zip(self.names.unions(message.index)) {
            let (property, quoted) = (&names.property, string(&union.name));
            if union.members.is_empty() {
                continue;
            }
            if union.discriminator.is_empty() {
                body.line(format!("w.region(this.{property}.region, {}, {quoted});", union.region));
                continue;
            }
            let style = match union.wire {
                UnionWire::Full => "\"full\"",
                UnionWire::Trimmed => "wire ? \"trimmed\" : \"full\"",
                UnionWire::Prefixed => "wire ? \"prefixed\" : \"full\"",
            };
            let sizes = format!("{}, {}, {}", union.discriminator.len(), union.region, union.min_size);
            body.line(format!("w.union(this.{property}, ${}, {sizes}, {style}, {quoted});", names.ty));
        }
        if message.fixed_tail > 0 {
            body.line(format!("if (!wire) w.zeros({});", message.fixed_tail));
        }
        let parameters = [
            (if body.is_empty() { "_w" } else { "w" }, self.runtime_type("Writer").to_owned(), None),
            (if asks_layout(message) { "wire" } else { "_wire" }, "boolean".to_owned(), None),
        ];
        let open = self.dialect.signature(text, &[], "$write", &parameters, Some("void"));
        if body.is_empty() {
            text.line(format!("{open}}}"));
        } else {
            text.block(open, "}", |inner| {
                inner.append(body);
            });
        }
    }

    /// Writes a field. Elements that are no numbers are written by a loop right here: a function that is handed to the
    /// runtime would be called for every one.
    fn put(&self, field: &Field, value: &str, trim: &str, body: &mut Text) {
        let quoted = string(&field.name);
        match field.ty {
            Type::One(element) => {
                body.line(self.put_element(element, value, trim, &quoted) + ";");
            }
            Type::Array { element, extent } => {
                let (prefix, unit) = (field.ty.prefix_len(), field.unit);
                let items = match extent {
                    Extent::Fixed(count) => format!("w.items({value}, {count}, {quoted})"),
                    Extent::Bounded(limit) => format!("w.list({value}, {prefix}, {limit}, {quoted})"),
                };
                match element {
                    Element::Scalar(scalar) => drop(body.line(format!("w.{}s({items}, {quoted});", method(scalar)))),
                    Element::Enum(_) => drop(body.line(format!("w.u8s({items}, {quoted});"))),
                    element => drop(body.block(format!("for (const item of {items}) {{"), "}", |inner| {
                        inner.line(self.put_element(element, "item", "false", &quoted) + ";");
                    })),
                }
                if let Extent::Bounded(limit) = extent {
                    let only = if trim == "wire" { "if (!wire) " } else { "" };
                    body.line(format!("{only}w.zeros({unit} * ({limit} - {value}.length));"));
                }
            }
        }
    }

    pub(super) fn put_element(&self, element: Element, value: &str, trim: &str, quoted: &str) -> String {
        let prefix = Type::One(element).prefix_len();
        match element {
            Element::Scalar(scalar) => format!("w.{}({value}, {quoted})", method(scalar)),
            Element::Enum(_) => format!("w.u8({value}, {quoted})"),
            Element::Message(_) => format!("{value}.$write(w, false)"),
            Element::String(Extent::Fixed(size)) => format!("w.fixedText({value}, {size}, {quoted})"),
            Element::Bytes(Extent::Fixed(size)) => format!("w.fixedBlob({value}, {size}, {quoted})"),
            Element::String(Extent::Bounded(limit)) => format!("w.text({value}, {prefix}, {limit}, {trim}, {quoted})"),
            Element::Bytes(Extent::Bounded(limit)) => format!("w.blob({value}, {prefix}, {limit}, {trim}, {quoted})"),
        }
    }

    fn read(&self, message: &Message, class: &str, text: &mut Text) {
        let trim = if message.variable { "wire" } else { "false" };
        let mut body = Text::new();
        let mut base = Vec::new();
        let mut extensions = Vec::new();
        for (field, name) in message.fields.iter().zip(self.names.fields(message.index)) {
            let value = self.get(field, trim);
            if field.extension && message.variable { &mut extensions } else { &mut base }.push((name.clone(), value));
        }
        let count = message.unions.len();
        for (at, (union, names)) in message.unions.iter().zip(self.names.unions(message.index)).enumerate() {
            if union.members.is_empty() {
                continue;
            }
            base.push((
                names.property.clone(),
                if union.discriminator.is_empty() {
                    format!("new {}(r.region({}, {}))", names.ty, union.region, union.base_region)
                } else {
                    let style = match union.wire {
                        UnionWire::Full => "\"full\"",
                        UnionWire::Trimmed => "wire ? \"trimmed\" : \"full\"",
                        UnionWire::Prefixed => "wire ? \"prefixed\" : \"full\"",
                    };
                    let sizes = format!("{}, {}, {}", union.discriminator.len(), union.region, union.min_size);
                    let value = format!("r.union(${}, {sizes}, {style}, {})", names.ty, at + 1 == count);
                    self.dialect.cast(&value, &names.ty)
                },
            ));
        }
        let direct = extensions.is_empty() && message.fixed_tail == 0;
        let rows = base.iter().map(|(name, value)| format!("{name}: {value},"));
        let init = self.names.init(message.index);
        match (base.is_empty(), direct) {
            (true, true) => {
                body.line(format!("return new {class}();"));
            }
            (false, true) => {
                body.block(format!("return new {class}({{"), "});", |inner| {
                    inner.lines(rows);
                });
            }
            (_, false) => {
                let rows: String = rows.map(|row| format!("\n  {row}")).collect();
                let value = if base.is_empty() { "{}".to_owned() } else { format!("{{{rows}\n}}") };
                self.dialect.typed(&mut body, &[], "const init", init, &value);
                if !extensions.is_empty() {
                    body.line("try {").nest(|inner| {
                        inner.lines(extensions.iter().map(|(name, value)| format!("init.{name} = {value};")));
                    });
                    body.line("} catch (fault) {").nest(|inner| {
                        inner.line(format!("{}(fault);", self.runtime_value("onlyTruncated")));
                    });
                    body.line("}");
                }
                if message.fixed_tail > 0 {
                    body.line(format!("if (!wire) r.skip({});", message.fixed_tail));
                }
                body.line(format!("return new {class}(init);"));
            }
        }
        let reads = !base.is_empty() || !direct;
        let parameters = [
            (if reads { "r" } else { "_r" }, self.runtime_type("Reader").to_owned(), None),
            (if asks_layout(message) { "wire" } else { "_wire" }, "boolean".to_owned(), None),
        ];
        let open = self.dialect.signature(text, &[], "static $read", &parameters, Some(class));
        text.block(open, "}", |inner| {
            inner.append(body);
        });
    }

    /// Reads a field.
    fn get(&self, field: &Field, trim: &str) -> String {
        match field.ty {
            Type::One(element) => self.get_element(element, trim),
            Type::Array { element, extent: Extent::Fixed(count) } => {
                format!("r.items({count}, (r) => {})", self.get_element(element, "false"))
            }
            Type::Array { element, extent: Extent::Bounded(limit) } => {
                let (prefix, unit) = (field.ty.prefix_len(), field.unit);
                let one = self.get_element(element, "false");
                format!("r.list({prefix}, {limit}, {unit}, {trim}, (r) => {one})")
            }
        }
    }

    pub(super) fn get_element(&self, element: Element, trim: &str) -> String {
        let prefix = Type::One(element).prefix_len();
        match element {
            Element::Scalar(scalar) => format!("r.{}()", method(scalar)),
            Element::Enum(_) => "r.u8()".to_owned(),
            Element::Message(index) => format!("{}.$read(r, false)", self.message_name(index)),
            Element::String(Extent::Fixed(size)) => format!("r.fixedText({size})"),
            Element::Bytes(Extent::Fixed(size)) => format!("r.fixedBlob({size})"),
            Element::String(Extent::Bounded(limit)) => format!("r.text({prefix}, {limit}, {trim})"),
            Element::Bytes(Extent::Bounded(limit)) => format!("r.blob({prefix}, {limit}, {trim})"),
        }
    }

    fn envelope(&self, message: &Message, class: &str, text: &mut Text) {
        let Some((union, names)) = message.unions.iter().zip(self.names.unions(message.index)).next() else { return };
        if union.discriminator.is_empty() || union.members.is_empty() {
            return;
        }
        let mut seen = BTreeSet::new();
        let members: Vec<(String, &String)> = union
            .members
            .iter()
            .zip(&names.members)
            .map(|(member, name)| (self.element_hint(member.element), name))
            .filter(|(ty, _)| seen.insert(ty.clone()))
            .collect();
        let content = members.iter().map(|(ty, _)| ty.as_str()).collect::<Vec<_>>().join(" | ");
        let property = &names.property;
        text.gap();
        let docs = ["An envelope around a message.".to_owned()];
        let init = self.names.init(message.index).to_owned();
        let parameters = [("content", content.clone(), None), ("init", init, Some("{}"))];
        let open = self.dialect.signature(text, &docs, "static wrap", &parameters, Some(class));
        text.block(open, "}", |inner| {
            inner.line(format!("const message = new {class}(init);"));
            for (at, (ty, name)) in members.iter().enumerate() {
                let set = format!("message.{property} = {{ which: {}, value: content }};", string(name));
                if members.len() == 1 {
                    inner.line(set);
                    continue;
                }
                match at {
                    0 => inner.line(format!("if (content instanceof {ty}) {{")),
                    at if at + 1 == members.len() => inner.line("} else {"),
                    _ => inner.line(format!("}} else if (content instanceof {ty}) {{")),
                };
                inner.nest(|inner| {
                    inner.line(set);
                });
            }
            if members.len() > 1 {
                inner.line("}");
            }
            inner.line("return message;");
        });
        text.gap();
        let docs = ["The message inside, if it is known.".to_owned()];
        let open = self.dialect.signature(text, &docs, "unwrap", &[], Some(&format!("{content} | null")));
        text.block(open, "}", |inner| {
            inner.line(format!("const {{ {property}: content }} = this;"));
            inner.line("return content === null || content.which === null ? null : content.value;");
        });
    }

    /// Whether two elements are the same.
    pub(super) fn same(&self, element: Element, a: &str, b: &str) -> String {
        match element {
            Element::Scalar(_) | Element::Enum(_) | Element::String(_) => format!("{a} === {b}"),
            Element::Bytes(_) => format!("{}({a}, {b})", self.runtime_value("sameBytes")),
            Element::Message(_) => format!("{a}.equals({b})"),
        }
    }
}

/// Whether what is written and read depends on the layout.
fn asks_layout(message: &Message) -> bool {
    let trimmed = |field: &Field| match field.ty {
        Type::One(Element::String(extent) | Element::Bytes(extent)) | Type::Array { extent, .. } => {
            matches!(extent, Extent::Bounded(_))
        }
        Type::One(_) => false,
    };
    let asked = message.unions.iter().filter(|union| !union.members.is_empty() && !union.discriminator.is_empty());
    message.fixed_tail > 0
        || (message.variable && message.fields.iter().any(trimmed))
        || asked.into_iter().any(|union| union.wire != UnionWire::Full)
}
