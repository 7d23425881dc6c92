//! Reading options (SF-3).

use super::suggest::suggest;
use crate::ast::{OptionItem, Value};
use crate::diagnose::{Code, Diagnostic, Faults};

/// Where an option stands; each level knows other names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    File,
    Message,
    Oneof,
    Enum,
    EnumValue,
    Field,
}

impl Level {
    const fn names(self) -> &'static [&'static str] {
        match self {
            Self::File => &["pkgid"],
            Self::Message => {
                &["msgid", "variable", "is_envelope", "envelope", "discriminator", "extensions_start", "magic_bytes"]
            }
            Self::Oneof => &["discriminator", "variable", "max_size", "min_size", "extensions_start"],
            Self::Enum => &["extensions_start", "allow_alias"],
            Self::EnumValue => &[],
            Self::Field => &["size", "max_size", "element_size", "flatten", "default"],
        }
    }

    const fn describe(self) -> &'static str {
        match self {
            Self::File => "a file",
            Self::Message => "a message",
            Self::Oneof => "a oneof",
            Self::Enum => "an enum",
            Self::EnumValue => "an enum value",
            Self::Field => "a field",
        }
    }
}

/// The options of one declaration, unknown ones reported and left out.
pub(super) struct OptionSet<'a> {
    items: Vec<(&'a str, &'a OptionItem)>,
}

impl<'a> OptionSet<'a> {
    pub(super) fn new(
        level: Level,
        options: impl IntoIterator<Item = &'a OptionItem>,
        diagnostics: &mut Faults,
    ) -> Self {
        let mut items: Vec<(&str, &OptionItem)> = Vec::new();
        for option in options {
            let name = canonical(level, &option.name.text);
            let span = option.name.site.0;
            if !level.names().contains(&name) {
                let message =
                    format!("`{}` is not an option of {} and has no effect", option.name.text, level.describe());
                let mut found = Diagnostic::new(Code::UnknownOption, span, message);
                let bare = name.trim_matches(['(', ')']).rsplit('.').next().unwrap_or(name);
                if level.names().contains(&bare) {
                    found = found.hint(format!("write `{bare}` without parentheses"));
                } else if let Some(close) = suggest(name, level.names().iter().copied()) {
                    found = found.hint(format!("did you mean `{close}`?"));
                }
                diagnostics.push(found);
                continue;
            }
            // Ids that are given twice are errors of their own.
            let first = items.iter().find(|(known, _)| *known == name && !matches!(name, "msgid" | "pkgid"));
            if let Some((_, first)) = first {
                diagnostics.push(
                    Diagnostic::new(
                        Code::RepeatedOption,
                        span,
                        format!("`{name}` is given twice; the last one counts"),
                    )
                    .related(first.name.site.0, "the first is"),
                );
            }
            items.push((name, option));
        }
        Self { items }
    }

    /// Every value given for an option.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &'a OptionItem> {
        self.items.iter().filter(move |(known, _)| *known == name).map(|(_, option)| *option)
    }

    /// The value that counts.
    pub(super) fn last(&self, name: &str) -> Option<&'a OptionItem> {
        self.all(name).last()
    }

    /// True when the option is given a truthy value (SF-3.3).
    pub(super) fn is_set(&self, name: &str, diagnostics: &mut Faults) -> bool {
        let Some(option) = self.last(name) else { return false };
        let verdict = truthy(&option.value);
        if verdict.is_none() {
            let message = format!("`{}` does not mean true", option.value.written());
            diagnostics
                .push(Diagnostic::new(Code::NotTruthy, option.value.site.0, message).hint("write `true` or `false`"));
        }
        verdict.unwrap_or(false)
    }
}

/// Field options are also known as `(sf.NAME)` and `(struct_frame.NAME)`.
fn canonical(level: Level, name: &str) -> &str {
    if level != Level::Field {
        return name;
    }
    let inner = name.strip_prefix('(').and_then(|name| name.strip_suffix(')'));
    inner.and_then(|inner| inner.strip_prefix("sf.").or_else(|| inner.strip_prefix("struct_frame."))).unwrap_or(name)
}

/// Truth of a value; `None` when it is neither clearly true nor clearly false.
fn truthy(value: &Value) -> Option<bool> {
    if let Some(text) = value.string() {
        return match text.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Some(true),
            "false" | "0" | "no" | "off" | "" => Some(false),
            _ => None,
        };
    }
    match (value.integer(), value.name()) {
        (Some(1), _) | (_, Some("true")) => Some(true),
        (Some(0), _) | (_, Some("false")) => Some(false),
        _ => None,
    }
}

/// An integer from 1 to 65535, also as a numeric string (SF-3.6).
pub(super) fn size(option: &OptionItem, diagnostics: &mut Faults) -> Option<u16> {
    let value = &option.value;
    let number = value.integer().or_else(|| value.string().and_then(|text| text.trim().parse().ok()));
    let size = number.and_then(|number| u16::try_from(number).ok()).filter(|size| *size > 0);
    if size.is_none() {
        let message = format!("`{}` is {}; it must be an integer from 1 to 65535", option.name.text, value.written());
        diagnostics.push(Diagnostic::new(Code::SizeRange, value.site.0, message));
    }
    size
}

/// The first number that is an extension; the caller checks that it exists.
pub(super) fn extensions_start(option: &OptionItem, diagnostics: &mut Faults) -> Option<i128> {
    let start = option.value.integer();
    if start.is_none() {
        let message = format!("`extensions_start` is {}; it must be an integer", option.value.written());
        diagnostics.push(Diagnostic::new(Code::OptionNotInteger, option.value.site.0, message));
    }
    start
}
