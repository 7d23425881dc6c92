//! Unions: a type of alternatives told apart by `which`, or a class with views when there is no tag.

use super::UnionNames;
use super::dialect::{Dialect, comment, plain};
use super::module::Printer;
use super::types::string;
use crate::text::Text;
use fw_schema::layout::{Element, Member, Message, Union};

impl Printer<'_> {
    pub(super) fn union(&self, message: &Message, union: &Union, names: &UnionNames, text: &mut Text) {
        text.gap();
        if union.members.is_empty() {
            let what = format!("`{}` of {}: it has no members.", union.name, message.name);
            return match self.dialect {
                Dialect::TypeScript => {
                    comment(text, &[what]);
                    text.line(format!("export type {} = null;", names.ty));
                }
                Dialect::JavaScript => comment(text, &[what, format!("@typedef {{null}} {}", names.ty)]),
            };
        }
        if union.discriminator.is_empty() {
            return self.untagged(message, union, names, text);
        }
        let what = format!("What `{}` of {} holds; `null` when nothing is set.", union.name, message.name);
        let mut rows: Vec<String> = Vec::new();
        for (member, name) in union.members.iter().zip(&names.members) {
            rows.push(format!("{{ which: {}; value: {} }}", string(name), self.element_hint(member.element)));
        }
        rows.extend([self.runtime_type("UnknownVariant").to_owned(), "null".to_owned()]);
        match self.dialect {
            Dialect::TypeScript => {
                comment(text, &[what]);
                let short = format!("export type {} = {};", names.ty, rows.join(" | "));
                if short.len() <= 120 {
                    text.line(short);
                } else {
                    text.line(format!("export type {} =", names.ty)).nest(|inner| {
                        let last = rows.len() - 1;
                        let rows = rows.iter().enumerate();
                        inner.lines(rows.map(|(at, row)| format!("| {row}{}", if at == last { ";" } else { "" })));
                    });
                }
            }
            Dialect::JavaScript => {
                comment(text, &[what, format!("@typedef {{{}}} {}", rows.join(" | "), names.ty)]);
            }
        }
        text.gap();
        let mut table = String::from("[");
        for (member, name) in union.members.iter().zip(&names.members) {
            table += &format!("\n  {{\n{}  }},", self.codec(member, name));
        }
        table += "\n]";
        let ty = format!("readonly {}[]", self.runtime_type("VariantCodec"));
        self.dialect.typed(text, &[], &format!("const ${}", names.ty), &ty, &table);
    }

    fn codec(&self, member: &Member, name: &str) -> String {
        let ty = self.element_hint(member.element);
        let quoted = string(&member.name);
        let (value, pair) = match self.dialect {
            Dialect::TypeScript => (format!("value: {ty}"), format!("(a: {ty}, b: {ty})")),
            Dialect::JavaScript => ("value".to_owned(), "(a, b)".to_owned()),
        };
        let js = self.dialect == Dialect::JavaScript;
        let put = self.put_element(member.element, "value", "false", &quoted);
        let get = self.get_element(member.element, "false");
        let same = self.same(member.element, "a", "b");
        let docs = |lines: &str| if js { format!("    /** {lines} */\n") } else { String::new() };
        let mut out = format!(
            "    which: {},\n    tag: {},\n    size: {},\n",
            string(name),
            member.tag.unwrap_or(0),
            member.size
        );
        if js {
            self.runtime_type("Writer");
        }
        out += &docs(&format!("@type {{(w: Writer, value: {ty}) => void}}"));
        out += &format!("    write: (w, {value}) => {put},\n");
        out += &format!("    read: (r) => {get},\n");
        out += &docs(&format!("@type {{(a: {ty}, b: {ty}) => boolean}}"));
        out += &format!("    same: {pair} => {same},\n");
        if let Element::Message(index) = member.element {
            let image = self.runtime_value("defaultImage");
            out += &format!("    fill: () => {image}({}),\n", self.message_name(index));
        }
        out
    }

    fn untagged(&self, message: &Message, union: &Union, names: &UnionNames, text: &mut Text) {
        let class = &names.ty;
        let what =
            format!("`{}` of {}: bytes without a tag; the application knows what they are.", union.name, message.name);
        comment(text, &[&plain(&union.docs)[..], &[what]].concat());
        text.block(format!("export class {class} {{"), "}", |inner| {
            self.dialect.typed(inner, &[], "region", "Uint8Array", "");
            inner.gap();
            let initial = format!("new Uint8Array({})", union.region);
            let parameters = [("region", "Uint8Array".to_owned(), Some(initial.as_str()))];
            let open = self.dialect.signature(inner, &[], "constructor", &parameters, None);
            inner.block(open, "}", |inner| {
                inner.line("this.region = region;");
            });
            inner.gap();
            let parameters = [("other", class.clone(), None)];
            let docs = ["True when both are the same bytes.".to_owned()];
            let open = self.dialect.signature(inner, &docs, "equals", &parameters, Some("boolean"));
            inner.block(open, "}", |inner| {
                inner.line(format!("return {}(this.region, other.region);", self.runtime_value("sameBytes")));
            });
            for (member, name) in union.members.iter().zip(&names.members) {
                let ty = self.element_hint(member.element);
                let tail = capitalised(name);
                inner.gap();
                let docs = [format!("The bytes read as `{}`.", member.name)];
                let open = self.dialect.signature(inner, &docs, &format!("as{tail}"), &[], Some(&ty));
                inner.block(open, "}", |inner| {
                    inner.line(format!("const whole = new Uint8Array({});", union.region));
                    inner.line("whole.set(this.region);");
                    inner.line(format!("const r = new {}(whole);", self.runtime_value("Reader")));
                    inner.line(format!("return {};", self.get_element(member.element, "false")));
                });
                inner.gap();
                let docs = [format!("The bytes of `{}`.", member.name)];
                let parameters = [("value", ty, None)];
                let open =
                    self.dialect.signature(inner, &docs, &format!("static from{tail}"), &parameters, Some(class));
                inner.block(open, "}", |inner| {
                    inner.line(format!("const w = new {}({});", self.runtime_value("Writer"), union.region));
                    let put = self.put_element(member.element, "value", "false", &string(&member.name));
                    inner.line(format!("{put};"));
                    inner.line(format!("w.zeros({});", union.region - member.size));
                    inner.line(format!("return new {class}(w.finish());"));
                });
            }
        });
    }
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
