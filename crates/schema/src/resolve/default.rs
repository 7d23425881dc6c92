//! Defaults (SF-10).

use super::message::Drafting;
use super::suggest::suggest;
use super::symbol::Named;
use crate::ast::{OptionItem, Value, ValueKind};
use crate::diagnose::{Code, Diagnostic};
use crate::layout::{DefaultValue, EnumIndex, Scalar, Type};

impl Drafting<'_> {
    /// A field's default; `None` after a reported fault.
    pub(super) fn default(
        &mut self,
        option: &OptionItem,
        named: Named,
        repeated: bool,
        ty: Option<Type>,
    ) -> Option<DefaultValue> {
        if repeated || matches!(named, Named::Message(_)) {
            let what = if repeated { "an array" } else { "a message field" };
            self.diagnostics.push(
                Diagnostic::new(Code::DefaultMisplaced, option.name.site.0, format!("{what} cannot have a default"))
                    .hint("defaults are for single numbers, enums, text and blobs"),
            );
            return None;
        }
        let value = &option.value;
        match named {
            Named::Scalar(Scalar::Bool) => match value.name() {
                Some("true") => Some(DefaultValue::Bool(true)),
                Some("false") => Some(DefaultValue::Bool(false)),
                _ => self.wrong(Code::DefaultType, value, "a bool", "`true` or `false`"),
            },
            Named::Scalar(scalar @ (Scalar::Float | Scalar::Double)) => self.real(value, scalar),
            Named::Scalar(scalar) => {
                let (low, high) = scalar.range()?;
                if value.kind != ValueKind::Int {
                    return self.wrong(Code::DefaultType, value, scalar.name(), "an integer");
                }
                match value.integer().filter(|integer| (low..=high).contains(integer)) {
                    Some(integer) => Some(DefaultValue::Integer(integer)),
                    None => self.wrong(Code::DefaultRange, value, scalar.name(), &format!("{low} to {high}")),
                }
            }
            Named::Enum(index) => self.enum_default(value, index),
            Named::String | Named::Bytes => {
                let Some(text) = value.string() else {
                    return self.wrong(Code::DefaultType, value, "text", "a quoted string");
                };
                let limit = ty?.extent()?.limit();
                if text.len() > limit {
                    let message = format!("the default has {} bytes, the field {limit}", text.len());
                    self.diagnostics.push(Diagnostic::new(Code::DefaultTooLong, value.site.0, message));
                    return None;
                }
                Some(DefaultValue::Text(text.to_owned()))
            }
            Named::Message(_) => None,
        }
    }

    fn real(&mut self, value: &Value, scalar: Scalar) -> Option<DefaultValue> {
        let number = match value.kind {
            ValueKind::Name if value.text == "inf" => {
                return Some(DefaultValue::Real(if value.negative { f64::NEG_INFINITY } else { f64::INFINITY }));
            }
            ValueKind::Float => value.written().parse::<f64>().ok(),
            ValueKind::Int => value.integer().map(|integer| integer as f64),
            _ => return self.wrong(Code::DefaultType, value, scalar.name(), "a number"),
        };
        let fits = |number: &f64| match scalar {
            Scalar::Float => (*number as f32).is_finite(),
            _ => number.is_finite(),
        };
        match number.filter(fits) {
            Some(number) => Some(DefaultValue::Real(number)),
            None => self.wrong(Code::DefaultRange, value, scalar.name(), "a smaller number, or `inf`"),
        }
    }

    fn enum_default(&mut self, value: &Value, index: EnumIndex) -> Option<DefaultValue> {
        let declared = &self.symbols.enums[index.get()];
        let found = value.name().and_then(|name| declared.values.iter().find(|known| known.name == name));
        if let Some(known) = found {
            return Some(DefaultValue::Enum { name: known.name.clone(), number: known.number });
        }
        let message = format!("`{}` is not a value of enum `{}`", value.written(), declared.name);
        let mut fault = Diagnostic::new(Code::DefaultUnknownValue, value.site.0, message);
        if let Some(close) = suggest(&value.text, declared.values.iter().map(|known| known.name.as_str())) {
            fault = fault.hint(format!("did you mean `{close}`?"));
        }
        self.diagnostics.push(fault);
        None
    }

    fn wrong<T>(&mut self, code: Code, value: &Value, what: &str, expected: &str) -> Option<T> {
        let message = format!("default {} for {what}: expected {expected}", value.written());
        self.diagnostics.push(Diagnostic::new(code, value.site.0, message));
        None
    }
}
