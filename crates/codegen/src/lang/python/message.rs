//! Classes of messages.

use super::module::{Printer, doc, wrapped};
use super::types::{bytes, code, string};
use super::{STEP, UnionNames};
use crate::text::Text;
use fw_schema::layout::{Element, Extent, Field, Message, Type, UnionWire};
use std::collections::BTreeSet;

impl Printer<'_> {
    pub(super) fn message(&self, message: &Message, body: &mut Text) {
        let class = self.names.message(message.index);
        for (union, names) in message.unions.iter().zip(self.names.unions(message.index)) {
            self.union(message, union, names, body);
        }
        let runs = runs(message);
        if !runs.is_empty() {
            body.line("").line("");
        }
        for (at, run) in runs.iter().enumerate() {
            let format: String = run.iter().map(|index| self.format(&message.fields[*index])).collect();
            body.line(format!("_{class}_{at} = Struct(\"<{format}\")"));
        }
        body.line("").line("").line("@dataclass(slots=True)").line(format!("class {class}(Message):"));
        body.nest(|inner| {
            doc(inner, &message.docs, &format!("Message {}.", message.name));
            inner.gap();
            if let Some(id) = message.id {
                let sizes = message.sizes;
                let info = [sizes.max, sizes.base, sizes.min].map(|size| size.to_string()).join(", ");
                let magic = bytes(&message.magic);
                inner.line(format!("INFO: ClassVar[MessageInfo] = MessageInfo({id}, {info}, {magic})"));
                inner.line(format!("MSG_ID: ClassVar[int] = {id}"));
            }
            inner.line(format!("MAX_SIZE: ClassVar[int] = {}", message.sizes.max));
            inner.line(format!("BASE_SIZE: ClassVar[int] = {}", message.sizes.base));
            inner.line(format!("MIN_SIZE: ClassVar[int] = {}", message.sizes.min));
            inner.line(format!("VARIABLE: ClassVar[bool] = {}", if message.variable { "True" } else { "False" }));
            for (at, (union, names)) in message.unions.iter().zip(self.names.unions(message.index)).enumerate() {
                if union.members.is_empty() || union.discriminator.is_empty() {
                    continue;
                }
                let pairs: Vec<String> =
                    names.variants.iter().map(|variant| format!("{variant}.TAG: {variant}")).collect();
                let head = format!("_VARIANTS_{at}: ClassVar[dict[int, type[Any]]] = {{");
                inner.append(wrapped(&head, &pairs, "}", 1));
            }
            self.presentation(message, inner);
            inner.gap();
            self.attributes(message, inner);
            inner.gap();
            self.write(message, &runs, inner);
            inner.gap();
            self.read(message, &runs, inner);
            if message.variable {
                inner.gap();
                self.read_wire(message, &runs, inner);
            }
            inner.gap();
            self.columns(message, inner);
            if message.envelope {
                inner.gap();
                self.envelope(message, inner);
            }
        });
    }

    /// What `to_dict` cannot see in the attributes.
    fn presentation(&self, message: &Message, text: &mut Text) {
        let names = self.names.fields(message.index);
        let fields = message.fields.iter().map(|field| &field.name).zip(names);
        let unions = message.unions.iter().zip(self.names.unions(message.index));
        let all = fields.chain(unions.map(|(union, names)| (&union.name, &names.attribute)));
        let renamed: Vec<String> = all
            .filter(|(name, attribute)| name != attribute)
            .map(|(name, attribute)| format!("{}: {}", string(attribute), string(name)))
            .collect();
        if !renamed.is_empty() {
            text.append(wrapped("_KEYS: ClassVar[dict[str, str]] = {", &renamed, "}", 1));
        }
        let flattened: String = (message.fields.iter().zip(names))
            .filter(|(field, _)| field.flatten)
            .map(|(_, name)| format!("{}, ", string(name)))
            .collect();
        if !flattened.is_empty() {
            let one = flattened.matches(", ").count() == 1;
            let flattened = if one { flattened.trim_end() } else { flattened.trim_end_matches(", ") };
            text.line(format!("_FLATTENED: ClassVar[tuple[str, ...]] = ({flattened})"));
        }
    }

    fn attributes(&self, message: &Message, text: &mut Text) {
        for (field, name) in message.fields.iter().zip(self.names.fields(message.index)) {
            text.line(format!("{name}: {} = {}", self.hint(field.ty), self.initial(field)));
            if !field.docs.is_empty() {
                doc(text, &field.docs, "");
            }
        }
        for (union, names) in message.unions.iter().zip(self.names.unions(message.index)) {
            let initial = if union.discriminator.is_empty() && !union.members.is_empty() {
                format!("_field(default_factory={})", names.ty)
            } else {
                "None".to_owned()
            };
            text.line(format!("{}: {} = {initial}", names.attribute, names.ty));
            if !union.docs.is_empty() {
                doc(text, &union.docs, "");
            }
        }
    }

    fn write(&self, message: &Message, runs: &[Vec<usize>], text: &mut Text) {
        let class = self.names.message(message.index);
        text.line("def _write(self, out: bytearray, wire: bool) -> None:").nest(|inner| {
            let trim = if message.variable { "wire" } else { "False" };
            let mut at = 0;
            for (index, field) in message.fields.iter().enumerate() {
                let name = &self.names.fields(message.index)[index];
                if let Some(run) = runs.iter().position(|run| run.contains(&index)) {
                    if runs[run][0] == index {
                        let arguments: Vec<String> =
                            runs[run].iter().map(|index| self.argument(message, *index)).collect();
                        inner.append(wrapped(&format!("out += _{class}_{run}.pack("), &arguments, ")", 2));
                    }
                    continue;
                }
                inner.lines(self.put(field, name, trim));
            }
            for (place, (union, names)) in message.unions.iter().zip(self.names.unions(message.index)).enumerate() {
                if union.members.is_empty() {
                    continue;
                }
                at += 1;
                let variants = format!("self._VARIANTS_{place}");
                let attribute = &names.attribute;
                let place = string(&format!("{}.{attribute}", self.names.message(message.index)));
                if union.discriminator.is_empty() {
                    let (ty, region) = (&names.ty, union.region);
                    inner.line(format!("_put_region(out, self.{attribute}, {ty}, {place}, {region})"));
                    continue;
                }
                let style = match union.wire {
                    UnionWire::Full => "FULL",
                    UnionWire::Trimmed => "TRIMMED if wire else FULL",
                    UnionWire::Prefixed => "PREFIXED if wire else FULL",
                };
                let sizes = format!("{}, {}, {}", union.discriminator.len(), union.region, union.min_size);
                let arguments =
                    ["out", &format!("self.{attribute}"), &variants, &place, &sizes, style].map(str::to_owned);
                inner.append(wrapped("_put_union(", &arguments, ")", 2));
            }
            if message.fixed_tail > 0 {
                inner.line("if not wire:").nest(|inner| {
                    inner.line(format!("out += bytes({})", message.fixed_tail));
                });
            }
            if message.fields.is_empty() && at == 0 {
                inner.line("pass");
            }
        });
    }

    /// What a run packs for a field.
    fn argument(&self, message: &Message, index: usize) -> String {
        let (field, name) = (&message.fields[index], &self.names.fields(message.index)[index]);
        let quoted = string(&field.name);
        match field.ty {
            Type::Array { extent, .. } => format!("*_exact(self.{name}, {}, {quoted})", extent.limit()),
            Type::One(Element::String(extent)) => format!("_fixed_text(self.{name}, {}, {quoted})", extent.limit()),
            Type::One(Element::Bytes(extent)) => format!("_blob(self.{name}, {}, {quoted})", extent.limit()),
            Type::One(_) => format!("self.{name}"),
        }
    }

    /// Writes a field that is in no run.
    fn put(&self, field: &Field, name: &str, trim: &str) -> Vec<String> {
        let quoted = string(&field.name);
        let (prefix, unit) = (field.ty.prefix_len(), field.unit);
        match field.ty {
            Type::One(Element::String(extent)) => {
                let limit = extent.limit();
                vec![format!("_put_blob(out, _text(self.{name}, {limit}, {quoted}), {prefix}, {limit}, {trim})")]
            }
            Type::One(Element::Bytes(extent)) => {
                let limit = extent.limit();
                vec![format!("_put_blob(out, _blob(self.{name}, {limit}, {quoted}), {prefix}, {limit}, {trim})")]
            }
            Type::One(_) => vec![format!("self.{name}._write(out, False)")],
            Type::Array { element, extent: Extent::Bounded(limit) } => {
                let rest = format!("{unit}, {prefix}, {limit}, {trim}, {quoted}");
                vec![match element {
                    Element::Scalar(scalar) => format!("_put_numbers(out, self.{name}, \"{}\", {rest})", code(scalar)),
                    Element::Enum(_) => format!("_put_numbers(out, self.{name}, \"B\", {rest})"),
                    Element::Message(_) => format!("_put_messages(out, self.{name}, {rest})"),
                    Element::String(_) => format!("_put_texts(out, self.{name}, {rest})"),
                    Element::Bytes(_) => format!("_put_blobs(out, self.{name}, {rest})"),
                }]
            }
            Type::Array { element, extent: Extent::Fixed(count) } => {
                // Another loop may run over another type.
                let item = format!("item{}", field.number);
                let one = match element {
                    Element::Message(_) => format!("{item}._write(out, False)"),
                    Element::String(_) => {
                        format!("out += _fixed_text({item}, {unit}, {quoted}).ljust({unit}, b\"\\0\")")
                    }
                    _ => format!("out += _blob({item}, {unit}, {quoted}).ljust({unit}, b\"\\0\")"),
                };
                vec![format!("for {item} in _exact(self.{name}, {count}, {quoted}):"), format!("{STEP}{one}")]
            }
        }
    }

    fn read(&self, message: &Message, runs: &[Vec<usize>], text: &mut Text) {
        let class = self.names.message(message.index);
        text.line("@classmethod").line(format!("def _read(cls, data: bytes, at: int) -> {class}:")).nest(|inner| {
            let mut values = Vec::new();
            for (run, fields) in runs.iter().enumerate() {
                let offset = message.fields[fields[0]].offset;
                inner.line(format!("v{run} = _{class}_{run}.unpack_from(data, {})", place(offset)));
            }
            for (index, field) in message.fields.iter().enumerate() {
                match runs.iter().position(|run| run.contains(&index)) {
                    Some(run) => values.push(self.out_of_run(message, run, &runs[run], index)),
                    None => values.push(self.get(field)),
                }
            }
            for (at, union) in message.unions.iter().enumerate() {
                let names = &self.names.unions(message.index)[at];
                values.push(if union.members.is_empty() {
                    "None".to_owned()
                } else if union.discriminator.is_empty() {
                    let (from, to) = (place(union.offset), place(union.offset + union.region));
                    format!("{}(data[{from} : {to}])", names.ty)
                } else {
                    let sizes = format!("{}, {}", union.discriminator.len(), union.region);
                    format!("_get_union(cls._VARIANTS_{at}, data, {}, {sizes})", place(union.offset))
                });
            }
            inner.append(wrapped(&format!("return {class}("), &values, ")", 2));
        });
    }

    /// A field's value out of the tuple of its run.
    fn out_of_run(&self, message: &Message, run: usize, fields: &[usize], index: usize) -> String {
        let slots = |field: &Field| match field.ty {
            Type::Array { extent, .. } => extent.limit(),
            Type::One(_) => 1,
        };
        let at: usize =
            fields.iter().take_while(|other| **other != index).map(|other| slots(&message.fields[*other])).sum();
        let field = &message.fields[index];
        match field.ty {
            Type::Array { element, extent } => {
                let part = format!("v{run}[{at}:{}]", at + extent.limit());
                match element {
                    Element::Enum(index) => format!("[{}(item) for item in {part}]", self.enum_name(index)),
                    _ => format!("list({part})"),
                }
            }
            Type::One(Element::Enum(index)) => format!("{}(v{run}[{at}])", self.enum_name(index)),
            Type::One(Element::String(_)) => format!("_unfixed_text(v{run}[{at}])"),
            Type::One(_) => format!("v{run}[{at}]"),
        }
    }

    /// Reads a field that is in no run from the fixed layout.
    fn get(&self, field: &Field) -> String {
        let at = place(field.offset);
        let (prefix, unit) = (field.ty.prefix_len(), field.unit);
        match field.ty {
            Type::One(Element::String(extent)) => format!("_get_text(data, {at}, {prefix}, {})", extent.limit()),
            Type::One(Element::Bytes(extent)) => format!("_get_blob(data, {at}, {prefix}, {})", extent.limit()),
            Type::One(element) => format!("{}._read(data, {at})", self.element_hint(element)),
            Type::Array { element, extent } => {
                let limit = extent.limit();
                let body = place(field.offset + prefix);
                let amount = match extent {
                    Extent::Bounded(_) => format!("_count(data, {at}, {prefix}, {limit})"),
                    Extent::Fixed(_) => limit.to_string(),
                };
                let items = format!("_get_items(data, {body}, {unit}, {amount})");
                match element {
                    Element::Scalar(scalar) => {
                        format!("_get_numbers(data, {at}, \"{}\", {prefix}, {limit})", code(scalar))
                    }
                    Element::Enum(index) => {
                        let numbers = format!("_get_numbers(data, {at}, \"B\", {prefix}, {limit})");
                        format!("[{}(item) for item in {numbers}]", self.enum_name(index))
                    }
                    Element::Message(index) => {
                        format!("_get_messages({}, data, {body}, {unit}, {amount})", self.message_name(index))
                    }
                    Element::String(_) => format!("[_unfixed_text(item) for item in {items}]"),
                    Element::Bytes(_) => items,
                }
            }
        }
    }

    fn read_wire(&self, message: &Message, runs: &[Vec<usize>], text: &mut Text) {
        let class = self.names.message(message.index);
        text.line("@classmethod").line(format!("def _read_wire(cls, wire: WireReader) -> {class}:")).nest(|inner| {
            let extended = message.fields.iter().any(|field| field.extension);
            let new = if extended { format!("{class}()") } else { format!("{class}.__new__({class})") };
            inner.line(format!("message = {new}"));
            let (base, extensions): (Vec<usize>, Vec<usize>) =
                (0..message.fields.len()).partition(|index| !message.fields[*index].extension);
            self.wire_fields(message, runs, &base, inner);
            if extended {
                inner.line("try:").nest(|inner| self.wire_fields(message, runs, &extensions, inner));
                inner.line("except DecodeError as fault:").nest(|inner| {
                    // An older sender ends here: this field and everything after it keep their defaults.
                    inner.line("if fault.code != \"truncated\":").nest(|inner| {
                        inner.line("raise");
                    });
                });
            }
            let count = message.unions.len();
            for (at, (union, names)) in message.unions.iter().zip(self.names.unions(message.index)).enumerate() {
                let attribute = &names.attribute;
                if union.members.is_empty() {
                    inner.line(format!("message.{attribute} = None"));
                } else if union.discriminator.is_empty() {
                    let (region, base) = (union.region, union.base_region);
                    inner.line(format!("message.{attribute} = {}(wire.region({region}, {base}))", names.ty));
                } else {
                    let style = match union.wire {
                        UnionWire::Prefixed => "PREFIXED",
                        _ => "TRIMMED",
                    };
                    let last = if at + 1 == count { "True" } else { "False" };
                    let sizes = format!("{}, {}, {}", union.discriminator.len(), union.region, union.min_size);
                    let head = format!("message.{attribute} = _get_wire_union(");
                    let arguments = [format!("cls._VARIANTS_{at}"), "wire".into(), sizes, style.into(), last.into()];
                    inner.append(wrapped(&head, &arguments, ")", 2));
                }
            }
            inner.line("return message");
        });
    }

    fn wire_fields(&self, message: &Message, runs: &[Vec<usize>], fields: &[usize], text: &mut Text) {
        let class = self.names.message(message.index);
        for index in fields {
            let (field, name) = (&message.fields[*index], &self.names.fields(message.index)[*index]);
            let run = runs.iter().position(|run| run.contains(index));
            let value = if let Some(run) = run {
                if runs[run][0] == *index {
                    let size: usize = runs[run].iter().map(|index| message.fields[*index].size).sum();
                    text.line(format!("v{run} = _{class}_{run}.unpack(wire.take({size}))"));
                }
                self.out_of_run(message, run, &runs[run], *index)
            } else {
                self.take(field)
            };
            text.line(format!("message.{name} = {value}"));
        }
    }

    /// Reads a field that is in no run from the wire layout.
    fn take(&self, field: &Field) -> String {
        let (prefix, unit) = (field.ty.prefix_len(), field.unit);
        match field.ty {
            Type::One(Element::String(extent)) => format!("wire.text({prefix}, {})", extent.limit()),
            Type::One(Element::Bytes(extent)) => format!("wire.blob({prefix}, {})", extent.limit()),
            Type::One(element) => format!("{}._read(wire.data, wire.skip({}))", self.element_hint(element), field.size),
            Type::Array { element, extent: Extent::Bounded(limit) } => {
                let rest = format!("{unit}, {prefix}, {limit}");
                match element {
                    Element::Scalar(scalar) => format!("wire.numbers(\"{}\", {rest})", code(scalar)),
                    Element::Enum(index) => {
                        format!("[{}(item) for item in wire.numbers(\"B\", {rest})]", self.enum_name(index))
                    }
                    Element::Message(index) => format!("wire.messages({}, {rest})", self.message_name(index)),
                    Element::String(_) => format!("[_unfixed_text(item) for item in wire.items({rest})]"),
                    Element::Bytes(_) => format!("wire.items({rest})"),
                }
            }
            Type::Array { element, extent: Extent::Fixed(count) } => {
                let rest = format!("wire.data, wire.skip({}), {unit}, {count}", field.size);
                match element {
                    Element::Message(index) => format!("_get_messages({}, {rest})", self.message_name(index)),
                    Element::String(_) => format!("[_unfixed_text(item) for item in _get_items({rest})]"),
                    _ => format!("_get_items({rest})"),
                }
            }
        }
    }

    fn envelope(&self, message: &Message, text: &mut Text) {
        let Some((union, names)) = message.unions.iter().zip(self.names.unions(message.index)).next() else { return };
        if union.discriminator.is_empty() || union.members.is_empty() {
            return;
        }
        let class = self.names.message(message.index);
        let mut types: Vec<String> = union.members.iter().map(|member| self.element_hint(member.element)).collect();
        let mut seen = BTreeSet::new();
        types.retain(|ty| seen.insert(ty.clone()));
        let content = types.join(" | ");
        let UnionNames { attribute, variants, .. } = names;
        text.line("@classmethod").line(format!("def wrap(cls, content: {content}, **fields: Any) -> {class}:"));
        text.nest(|inner| {
            inner.line("\"\"\"An envelope around a message; plain fields are given by name.\"\"\"");
            inner.line("message = cls(**fields)");
            let mut seen = BTreeSet::new();
            let firsts = union.members.iter().zip(variants);
            let firsts: Vec<_> = firsts.filter(|(member, _)| seen.insert(self.element_hint(member.element))).collect();
            for (at, (member, variant)) in firsts.iter().enumerate() {
                let ty = self.element_hint(member.element);
                match at {
                    0 if firsts.len() == 1 => {
                        inner.line(format!("message.{attribute} = {variant}(content)"));
                        continue;
                    }
                    0 => inner.line(format!("if isinstance(content, {ty}):")),
                    at if at + 1 == firsts.len() => inner.line("else:"),
                    _ => inner.line(format!("elif isinstance(content, {ty}):")),
                };
                inner.nest(|inner| {
                    inner.line(format!("message.{attribute} = {variant}(content)"));
                });
            }
            inner.line("return message");
        });
        text.gap().line(format!("def unwrap(self) -> {content} | None:")).nest(|inner| {
            inner.line("\"\"\"The message inside, if it is known.\"\"\"");
            inner.line(format!("if self.{attribute} is None or isinstance(self.{attribute}, UnknownVariant):"));
            inner.nest(|inner| {
                inner.line("return None");
            });
            inner.line(format!("return self.{attribute}.value"));
        });
    }

    fn format(&self, field: &Field) -> String {
        let one = |element| match element {
            Element::Scalar(scalar) => code(scalar).to_owned(),
            Element::String(extent) | Element::Bytes(extent) => format!("{}s", extent.limit()),
            _ => "B".to_owned(),
        };
        match field.ty {
            Type::Array { element, extent } => format!("{}{}", extent.limit(), one(element)),
            Type::One(element) => one(element),
        }
    }
}

/// Neighbouring fields that one `Struct` reads and writes. Extension fields stand alone: any of them may be missing.
fn runs(message: &Message) -> Vec<Vec<usize>> {
    let packs = |field: &Field| {
        use Element::{Bytes, Enum, Scalar, String};
        matches!(
            field.ty,
            Type::One(Scalar(_) | Enum(_) | String(Extent::Fixed(_)) | Bytes(Extent::Fixed(_)))
                | Type::Array { element: Scalar(_) | Enum(_), extent: Extent::Fixed(_) }
        )
    };
    let mut runs: Vec<Vec<usize>> = Vec::new();
    let mut going = false;
    for (index, field) in message.fields.iter().enumerate() {
        if !packs(field) {
            going = false;
            continue;
        }
        let alone = field.extension && message.variable;
        match runs.last_mut().filter(|_| going && !alone) {
            Some(run) => run.push(index),
            None => runs.push(vec![index]),
        }
        going = !alone;
    }
    runs
}

fn place(offset: usize) -> String {
    if offset == 0 { "at".to_owned() } else { format!("at + {offset}") }
}
