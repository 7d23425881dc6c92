//! Enums: open newtypes, because peers may send values that this schema does not know.

use super::types::{Context, docs};
use crate::text::Text;
use fw_schema::layout::EnumIndex;
use std::collections::BTreeSet;

pub(super) fn print(context: &Context<'_>, index: EnumIndex, text: &mut Text) {
    let model = &context.schema[index];
    let names = context.names.of_enum(index);
    let ty = &names.ty;
    docs(text, &model.docs, &format!("Enum `{}`.", model.name));
    text.line("#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]");
    context.serde_derive(text);
    text.line(format!("pub struct {ty}(pub u8);")).gap();
    text.block(format!("impl {ty} {{"), "}", |text| {
        for (value, name) in model.values.iter().zip(&names.values) {
            docs(text, &value.docs, &format!("`{}` in the schema.", value.name));
            text.line(format!("pub const {name}: Self = Self({});", value.number));
        }
        text.gap().line("/// Its name in the schema; `None` for a value that has none.");
        text.block("pub const fn name(self) -> Option<&'static str> {", "}", |text| {
            let mut seen = BTreeSet::new();
            let firsts = model.values.iter().zip(&names.values).filter(|(value, _)| seen.insert(value.number));
            let arms: Vec<_> =
                firsts.map(|(value, name)| format!("Self::{name} => Some(\"{}\"),", value.name)).collect();
            choice(text, "match self {", arms);
        });
        text.gap().line("/// The value of this name.");
        text.block("pub fn from_name(name: &str) -> Option<Self> {", "}", |text| {
            let values = model.values.iter().zip(&names.values);
            let arms: Vec<_> =
                values.map(|(value, name)| format!("\"{}\" => Some(Self::{name}),", value.name)).collect();
            if arms.is_empty() {
                text.line("let _ = name;");
            }
            choice(text, "match name {", arms);
        });
    });
    text.gap().block(format!("impl core::fmt::Debug for {ty} {{"), "}", |text| {
        text.block("fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {", "}", |text| {
            text.block("match self.name() {", "}", |text| {
                text.line("Some(name) => f.write_str(name),");
                text.line(format!("None => write!(f, \"{ty}({{}})\", self.0),"));
            });
        });
    });
    text.gap().block(format!("impl field::Field for {ty} {{"), "}", |text| {
        text.line("const SIZE: usize = 1;").gap().line("#[inline]");
        text.block("fn put(&self, out: &mut [u8]) {", "}", |text| {
            text.line("self.0.put(out);");
        });
        text.gap().line("#[inline]");
        text.block("fn take(bytes: &[u8]) -> Self {", "}", |text| {
            text.line("Self(field::take(bytes))");
        });
    });
    text.gap().block(format!("impl field::Item<'_> for {ty} {{"), "}", |text| {
        text.line("#[inline]");
        text.block("fn item(bytes: &[u8]) -> Self {", "}", |text| {
            text.line("field::take(bytes)");
        });
    });
}

/// A match that ends with `None`.
fn choice(text: &mut Text, open: &str, arms: Vec<String>) {
    if arms.is_empty() {
        text.line("None");
        return;
    }
    text.block(open, "}", |text| {
        text.lines(arms).line("_ => None,");
    });
}
