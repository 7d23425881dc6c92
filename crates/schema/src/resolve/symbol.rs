//! Declared types and their lookup (SF-2.11).

use super::load::Loaded;
use super::option::{Level, OptionSet};
use super::package::Packages;
use super::suggest::suggest;
use crate::ast::{EnumEntry, EnumItem, Ident, Item, MessageEntry, Node};
use crate::diagnose::{Code, Diagnostic, Faults};
use crate::layout::{Enum, EnumIndex, EnumValue, MessageIndex, Package, PackageIndex, Scalar};
use crate::source::Span;
use std::collections::{HashMap, HashSet};

/// What a type name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Scalar(Scalar),
    String,
    Bytes,
    Enum(EnumIndex),
    Message(MessageIndex),
}

/// Every declared type.
pub(super) struct Symbols {
    pub(super) packages: Vec<Package>,
    pub(super) of_file: Vec<Option<PackageIndex>>,
    pub(super) enums: Vec<Enum>,
    by_name: HashMap<String, PackageIndex>,
    types: Vec<HashMap<String, (Named, Span)>>,
    nested: HashMap<MessageIndex, HashMap<String, EnumIndex>>,
    /// Which message each message node is, by file and item.
    pub(super) message_at: HashMap<(usize, usize), MessageIndex>,
    /// Names that were declared but dropped after a fault.
    dropped: HashSet<String>,
    /// Part of the schema could not be read: unknown names may be in it.
    incomplete: bool,
}

/// Declares all enums and messages.
pub(super) fn declare(files: &[Loaded], packages: Packages, diagnostics: &mut Faults) -> Symbols {
    let mut symbols = Symbols {
        types: vec![HashMap::new(); packages.list.len()],
        packages: packages.list,
        of_file: packages.of_file,
        enums: Vec::new(),
        by_name: packages.by_name,
        nested: HashMap::new(),
        message_at: HashMap::new(),
        dropped: files.iter().flat_map(|loaded| loaded.dropped.iter().cloned()).collect(),
        incomplete: files.iter().any(|loaded| loaded.file.damaged || loaded.import_missing),
    };
    // Numbered package by package, so that lists read in declaration order.
    let mut message_count = 0;
    for package in 0..symbols.packages.len() {
        let package = PackageIndex(package as u32);
        for (at, loaded) in files.iter().enumerate() {
            if symbols.of_file[at] != Some(package) {
                continue;
            }
            for (item, node) in loaded.file.items.iter().enumerate() {
                match &node.value {
                    Item::Enum(declared) => {
                        let index = symbols.enumeration(package, None, node.body_docs(), declared, diagnostics);
                        symbols.enter(package, &declared.name, Named::Enum(index), diagnostics);
                    }
                    Item::Message(declared) => {
                        let index = MessageIndex(message_count);
                        message_count += 1;
                        symbols.message_at.insert((at, item), index);
                        symbols.packages[package.get()].messages.push(index);
                        symbols.enter(package, &declared.name, Named::Message(index), diagnostics);
                        for inner in &declared.body.items {
                            if let MessageEntry::Enum(nested) = &inner.value {
                                symbols.nest(package, index, inner, nested, diagnostics);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    symbols
}

impl Symbols {
    fn enter(&mut self, package: PackageIndex, name: &Ident, named: Named, diagnostics: &mut Faults) {
        if builtin(&name.text).is_some() {
            let message = format!("`{}` is a built-in type; this one cannot be used", name.text);
            diagnostics.push(Diagnostic::new(Code::ScalarShadowed, name.site.0, message).hint("choose another name"));
        }
        let types = &mut self.types[package.get()];
        match types.get(&name.text) {
            Some((_, first)) => {
                let message =
                    format!("`{}` is declared twice in package `{}`", name.text, self.packages[package.get()].name);
                diagnostics.push(
                    Diagnostic::new(Code::DuplicateTypeName, name.site.0, message).related(*first, "first declared"),
                );
            }
            None => {
                types.insert(name.text.clone(), (named, name.site.0));
            }
        }
    }

    fn nest<T>(
        &mut self,
        package: PackageIndex,
        message: MessageIndex,
        node: &Node<T>,
        nested: &EnumItem,
        diagnostics: &mut Faults,
    ) {
        let index = self.enumeration(package, Some(message), node.body_docs(), nested, diagnostics);
        let known = self.nested.entry(message).or_default();
        if let Some(first) = known.get(&nested.name.text) {
            let first = self.enums[first.get()].span;
            let message = format!("enum `{}` is declared twice in this message", nested.name.text);
            diagnostics.push(
                Diagnostic::new(Code::DuplicateTypeName, nested.name.site.0, message).related(first, "first declared"),
            );
        } else {
            known.insert(nested.name.text.clone(), index);
        }
    }

    fn enumeration(
        &mut self,
        package: PackageIndex,
        parent: Option<MessageIndex>,
        docs: Vec<String>,
        item: &EnumItem,
        diagnostics: &mut Faults,
    ) -> EnumIndex {
        let index = EnumIndex(self.enums.len() as u32);
        let mut values: Vec<EnumValue> = Vec::new();
        let mut names: HashMap<&str, Span> = HashMap::new();
        let mut numbers: HashMap<u8, &str> = HashMap::new();
        let mut options = Vec::new();
        for node in &item.body.items {
            let value = match &node.value {
                EnumEntry::Value(value) => value,
                EnumEntry::Option(option) => {
                    options.push(option);
                    continue;
                }
                EnumEntry::Ignored(_) => continue,
            };
            OptionSet::new(Level::EnumValue, &value.options, diagnostics);
            let Ident { text, site } = &value.name;
            if let Some(first) = names.insert(text, site.0) {
                let message = format!("value `{text}` is declared twice in enum `{}`", item.name.text);
                diagnostics.push(
                    Diagnostic::new(Code::DuplicateEnumValueName, site.0, message).related(first, "first declared"),
                );
            }
            let Some(number) = value.number.integer().and_then(|number| u8::try_from(number).ok()) else {
                let message = format!("enum value {} does not fit one byte", value.number.written());
                diagnostics.push(
                    Diagnostic::new(Code::EnumValueRange, value.number.site.0, message)
                        .hint("enum values go from 0 to 255"),
                );
                continue;
            };
            if let Some(other) = numbers.insert(number, text) {
                let message = format!("`{text}` and `{other}` are both {number}");
                diagnostics.push(Diagnostic::new(Code::EnumValueRepeated, value.number.site.0, message));
            }
            values.push(EnumValue { name: text.clone(), number, docs: node.docs() });
        }
        if names.is_empty() && !item.body.damaged {
            let message = format!("enum `{}` has no values", item.name.text);
            diagnostics.push(Diagnostic::new(Code::EnumEmpty, item.name.site.0, message));
        }
        let options = OptionSet::new(Level::Enum, options, diagnostics);
        let start = options.last("extensions_start");
        let start = start.and_then(|option| super::option::extensions_start(option, diagnostics));
        self.packages[package.get()].enums.push(index);
        self.enums.push(Enum {
            name: item.name.text.clone(),
            package,
            parent,
            values,
            extensions_start: start.and_then(|start| u8::try_from(start).ok()),
            docs,
            span: item.name.site.0,
        });
        index
    }

    /// The enums nested in a message, in declaration order.
    pub(super) fn nested_enums(&self, message: MessageIndex) -> Vec<EnumIndex> {
        let mut list: Vec<_> = self.nested.get(&message).into_iter().flatten().map(|(_, index)| *index).collect();
        list.sort_unstable();
        list
    }

    /// Looks a type up from inside a message; a name that is not found is reported.
    pub(super) fn resolve(
        &self,
        package: PackageIndex,
        message: MessageIndex,
        ty: &Ident,
        diagnostics: &mut Faults,
    ) -> Option<Named> {
        let found = self.lookup(package, message, &ty.text);
        if found.is_none() && !self.incomplete && !self.dropped.contains(bare(&ty.text)) {
            let mut fault = Diagnostic::new(Code::UnresolvedType, ty.site.0, format!("no type named `{}`", ty.text));
            if let Some(hint) = self.hint(&ty.text) {
                fault = fault.hint(hint);
            }
            diagnostics.push(fault);
        }
        found
    }

    fn lookup(&self, package: PackageIndex, message: MessageIndex, name: &str) -> Option<Named> {
        if let Some((package, name)) = name.split_once('.') {
            let package = self.by_name.get(package)?;
            return self.types[package.get()].get(name).map(|(named, _)| *named);
        }
        if let Some(builtin) = builtin(name) {
            return Some(builtin);
        }
        if let Some(index) = self.nested.get(&message).and_then(|nested| nested.get(name)) {
            return Some(Named::Enum(*index));
        }
        let others = (0..self.types.len()).filter(|other| *other != package.get());
        std::iter::once(package.get())
            .chain(others)
            .find_map(|package| self.types[package].get(name).map(|(named, _)| *named))
    }

    fn hint(&self, name: &str) -> Option<String> {
        if name.starts_with('.') {
            return Some("a leading dot is not supported; write `package.Type`".to_owned());
        }
        let protobuf = match name {
            "sint32" | "sfixed32" => Some("int32"),
            "sint64" | "sfixed64" => Some("int64"),
            "fixed32" => Some("uint32"),
            "fixed64" => Some("uint64"),
            _ => None,
        };
        if let Some(ours) = protobuf {
            return Some(format!("use `{ours}`: every integer has its full width"));
        }
        let nested = self.enums.iter().any(|found| found.parent.is_some() && found.name == bare(name));
        if nested {
            return Some("an enum nested in a message can only be used there; move it to file level".to_owned());
        }
        let builtins = Scalar::ALL.iter().map(|scalar| scalar.name()).chain(["string", "bytes"]);
        // In a fixed order, so that equal distances give the same hint every time; in a huge schema nobody would wait.
        let count: usize = self.types.iter().map(HashMap::len).sum();
        let declared = self.types.iter().flatten().map(|(name, _)| name.as_str());
        let mut declared: Vec<&str> = if count <= MAX_CANDIDATES { declared.collect() } else { Vec::new() };
        declared.sort_unstable();
        suggest(bare(name), builtins.chain(declared)).map(|close| format!("did you mean `{close}`?"))
    }
}

/// Most declared names that are compared with an unknown one.
const MAX_CANDIDATES: usize = 1000;

fn bare(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn builtin(name: &str) -> Option<Named> {
    match name {
        "string" => Some(Named::String),
        "bytes" => Some(Named::Bytes),
        _ => Scalar::from_name(name).map(Named::Scalar),
    }
}
