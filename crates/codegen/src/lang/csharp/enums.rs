//! Enums: C# keeps values without a name as they are.

use super::types::{Context, braced, docs};
use crate::text::Text;
use fw_schema::layout::EnumIndex;
use std::collections::BTreeSet;

pub(super) fn print(context: &Context<'_>, index: EnumIndex, text: &mut Text) {
    let model = &context.schema[index];
    let names = context.names.of_enum(index);
    let ty = &names.ty;
    docs(text, &model.docs, &format!("Enum `{}`.", model.name));
    braced(text, format!("public enum {ty} : byte"), |text| {
        for (value, name) in model.values.iter().zip(&names.values) {
            docs(text, &value.docs, &format!("`{}` in the schema.", value.name));
            text.line(format!("{name} = {},", value.number));
        }
    });
    text.gap().line(format!("/// <summary>Names of <see cref=\"{ty}\"/> in the schema.</summary>"));
    braced(text, format!("public static class {}", names.helper), |text| {
        text.line("/// <summary>The name in the schema; null for a value that has none.</summary>");
        braced(text, format!("public static string SchemaName(this {ty} value)"), |text| {
            let mut seen = BTreeSet::new();
            let firsts: Vec<_> =
                model.values.iter().zip(&names.values).filter(|(value, _)| seen.insert(value.number)).collect();
            if firsts.is_empty() {
                text.line("return null;");
                return;
            }
            braced(text, "switch (value)", |text| {
                for (value, name) in firsts {
                    text.line(format!("case {ty}.{name}:")).nest(|text| {
                        text.line(format!("return \"{}\";", value.name));
                    });
                }
                text.line("default:").nest(|text| {
                    text.line("return null;");
                });
            });
        });
    });
}
