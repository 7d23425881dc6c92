//! The fixed layout as columns of a NumPy array.

use super::module::Printer;
use super::types::{column, string};
use crate::text::Text;
use fw_schema::layout::{Element, Message, Type};

impl Printer<'_> {
    pub(super) fn columns(&self, message: &Message, text: &mut Text) {
        let mut columns = Vec::new();
        for (field, name) in message.fields.iter().zip(self.names.fields(message.index)) {
            let repeat = match field.ty {
                Type::Array { extent, .. } => extent.limit(),
                Type::One(_) => 0,
            };
            self.column(
                &field.name,
                name,
                field.ty.element(),
                field.ty.prefix_len(),
                repeat,
                field.offset,
                &mut columns,
            );
        }
        for union in &message.unions {
            if union.members.is_empty() {
                continue;
            }
            let (name, region) = (&union.name, union.region_offset());
            match union.discriminator.len() {
                0 => {}
                len => columns.push(entry(&format!("{name}@tag"), "", counter(len), 0, union.offset)),
            }
            columns.push(entry(&format!("{name}@region"), "", &format!("\"V{}\"", union.region), 0, region));
            for member in union.members.iter().filter(|member| member.size > 0) {
                let prefix = Type::One(member.element).prefix_len();
                let name = format!("{name}.{}", member.name);
                self.column(&name, "", member.element, prefix, 0, region, &mut columns);
            }
        }
        text.line("@classmethod").line("def _columns(cls) -> tuple[Column, ...]:").nest(|inner| {
            if let [] | [_] = columns.as_slice() {
                let one: String = columns.iter().map(|column| format!("{column},")).collect();
                inner.line(format!("return ({one})"));
            } else {
                inner.block("return (", ")", |inner| {
                    inner.lines(columns.iter().map(|column| format!("{column},")));
                });
            }
        });
    }

    #[expect(clippy::too_many_arguments, reason = "what a column has, each used once")]
    fn column(
        &self,
        name: &str,
        attribute: &str,
        element: Element,
        prefix: usize,
        repeat: usize,
        offset: usize,
        columns: &mut Vec<String>,
    ) {
        if prefix > 0 {
            let aux = if repeat > 0 { "count" } else { "len" };
            columns.push(entry(&format!("{name}@{aux}"), "", counter(prefix), 0, offset));
        }
        let ty = match element {
            Element::Scalar(scalar) => format!("\"{}\"", column(scalar)),
            Element::Enum(_) => "\"u1\"".to_owned(),
            Element::Message(index) => self.message_name(index),
            Element::String(extent) => format!("\"S{}\"", extent.limit()),
            Element::Bytes(extent) => format!("\"V{}\"", extent.limit()),
        };
        columns.push(entry(name, attribute, &ty, repeat, offset + prefix));
    }
}

fn counter(len: usize) -> &'static str {
    if len == 1 { "\"u1\"" } else { "\"<u2\"" }
}

fn entry(name: &str, attribute: &str, ty: &str, repeat: usize, offset: usize) -> String {
    format!("Column({}, {}, {ty}, {repeat}, {offset})", string(name), string(attribute))
}
