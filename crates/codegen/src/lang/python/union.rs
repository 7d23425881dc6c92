//! Classes of unions: a class per member and an alias over them, or one class with views when there is no tag.

use super::UnionNames;
use super::module::{Printer, doc, wrapped};
use super::types::{code, string};
use crate::text::Text;
use fw_schema::layout::{Element, Extent, Member, Message, Type, Union};

impl Printer<'_> {
    pub(super) fn union(&self, message: &Message, union: &Union, names: &UnionNames, body: &mut Text) {
        if union.discriminator.is_empty() && !union.members.is_empty() {
            return self.untagged(message, union, names, body);
        }
        for (member, variant) in union.members.iter().zip(&names.variants) {
            body.line("").line("").line("@dataclass(slots=True)").line(format!("class {variant}(Variant):"));
            body.nest(|inner| self.variant(message, union, member, variant, inner));
        }
        let mut types = names.variants.clone();
        types.extend((!types.is_empty()).then(|| "UnknownVariant".to_owned()));
        types.push("None".to_owned());
        body.line("").line("");
        body.append(wrapped(&format!("{} = Union[", names.ty), &types, "]", 0));
        let what = format!("What `{}` of {} holds; `None` when nothing is set.", union.name, message.name);
        body.line(format!("\"\"\"{what}\"\"\""));
    }

    fn variant(&self, message: &Message, union: &Union, member: &Member, variant: &str, text: &mut Text) {
        doc(text, &member.docs, &format!("Member `{}` of `{}.{}`.", member.name, message.name, union.name));
        text.gap();
        text.line(format!("NAME: ClassVar[str] = {}", string(&member.name)));
        text.line(format!("TAG: ClassVar[int] = {}", member.tag.unwrap_or(0)));
        text.line(format!("SIZE: ClassVar[int] = {}", member.size));
        text.gap().line(format!("value: {}", self.element_hint(member.element)));
        text.gap().line("def _write(self, out: bytearray) -> None:");
        text.nest(|inner| {
            inner.line(self.put_member(member, "self.value"));
        });
        text.gap().line("@classmethod").line(format!("def _read(cls, data: bytes) -> {variant}:"));
        text.nest(|inner| {
            inner.line(format!("return {variant}({})", self.get_member(member, "data")));
        });
        if let Element::Message(index) = member.element {
            text.gap().line("@classmethod").line("def _default(cls) -> bytes:");
            text.nest(|inner| {
                inner.line(format!("return _default_image({})", self.message_name(index)));
            });
        }
    }

    fn untagged(&self, message: &Message, union: &Union, names: &UnionNames, body: &mut Text) {
        let class = &names.ty;
        body.line("").line("").line("@dataclass(slots=True)").line(format!("class {class}(Untagged):"));
        body.nest(|inner| {
            let what = format!(
                "`{}` of {}: bytes without a tag; the application knows what they are.",
                union.name, message.name
            );
            doc(inner, &union.docs, &what);
            inner.gap().line(format!("region: bytes = bytes({})", union.region));
            for (member, name) in union.members.iter().zip(&names.variants) {
                let hint = self.element_hint(member.element);
                inner.gap().line(format!("def as_{name}(self) -> {hint}:")).nest(|inner| {
                    inner.line(format!("\"\"\"The bytes read as `{}`.\"\"\"", member.name));
                    let data = format!("self.region.ljust({}, b\"\\0\")", union.region);
                    inner.line(format!("data = {data}"));
                    let value = self.get_member(member, "data");
                    if let Element::Scalar(_) = member.element {
                        // What `struct` gives has no type of its own.
                        inner.line(format!("value: {hint} = {value}")).line("return value");
                    } else {
                        inner.line(format!("return {value}"));
                    }
                });
                inner.gap().line("@classmethod").line(format!("def from_{name}(cls, value: {hint}) -> {class}:"));
                inner.nest(|inner| {
                    inner.line(format!("\"\"\"The bytes of `{}`.\"\"\"", member.name));
                    inner.line("out = bytearray()").line(self.put_member(member, "value"));
                    inner.line(format!("return {class}(bytes(out.ljust({}, b\"\\0\")))", union.region));
                });
            }
        });
    }

    /// Writes a member at its own size.
    fn put_member(&self, member: &Member, value: &str) -> String {
        let quoted = string(&member.name);
        let prefix = Type::One(member.element).prefix_len();
        match member.element {
            Element::Scalar(scalar) => format!("out += Struct(\"<{}\").pack({value})", code(scalar)),
            Element::Enum(_) => format!("out += Struct(\"<B\").pack({value})"),
            Element::Message(_) => format!("{value}._write(out, False)"),
            Element::String(Extent::Fixed(size)) => {
                format!("out += _fixed_text({value}, {size}, {quoted}).ljust({size}, b\"\\0\")")
            }
            Element::Bytes(Extent::Fixed(size)) => {
                format!("out += _blob({value}, {size}, {quoted}).ljust({size}, b\"\\0\")")
            }
            Element::String(Extent::Bounded(limit)) => {
                format!("_put_blob(out, _text({value}, {limit}, {quoted}), {prefix}, {limit}, False)")
            }
            Element::Bytes(Extent::Bounded(limit)) => {
                format!("_put_blob(out, _blob({value}, {limit}, {quoted}), {prefix}, {limit}, False)")
            }
        }
    }

    /// Reads a member from the beginning of the region.
    fn get_member(&self, member: &Member, data: &str) -> String {
        let prefix = Type::One(member.element).prefix_len();
        match member.element {
            Element::Scalar(scalar) => format!("Struct(\"<{}\").unpack_from({data}, 0)[0]", code(scalar)),
            Element::Enum(index) => format!("{}({data}[0])", self.enum_name(index)),
            Element::Message(index) => format!("{}._read({data}, 0)", self.message_name(index)),
            Element::String(Extent::Fixed(size)) => format!("_unfixed_text({data}[:{size}])"),
            Element::Bytes(Extent::Fixed(size)) => format!("{data}[:{size}]"),
            Element::String(Extent::Bounded(limit)) => format!("_get_text({data}, 0, {prefix}, {limit})"),
            Element::Bytes(Extent::Bounded(limit)) => format!("_get_blob({data}, 0, {prefix}, {limit})"),
        }
    }
}
