//! Types and sizes of fields and union members (SF-3.6, SF-4.5).

use super::message::Drafting;
use super::option::{Level, OptionSet, size};
use super::symbol::Named;
use crate::ast::{Field, Label};
use crate::diagnose::{Code, Diagnostic};
use crate::layout::{DraftField, Element, Extent, Type};
use crate::source::Span;

impl Drafting<'_> {
    /// A plain field; `None` after a fault that leaves its layout unknown.
    pub(super) fn field(
        &mut self,
        field: &Field,
        number: u32,
        extensions_start: Option<u32>,
        docs: Vec<String>,
    ) -> Option<DraftField> {
        let options = OptionSet::new(Level::Field, &field.options, self.diagnostics);
        let named = self.symbols.resolve(self.package, self.index, &field.ty, self.diagnostics);
        let repeated = field.label == Some(Label::Repeated);
        let ty = named.and_then(|named| self.shape(field, named, repeated, &options));
        let flatten = options.is_set("flatten", self.diagnostics);
        if let Some(option) = options.last("flatten").filter(|_| flatten)
            && named.is_some_and(|named| repeated || !matches!(named, Named::Message(_)))
        {
            self.ignored(option.name.site.0, "`flatten` is for single message fields and has no effect here");
        }
        let default = options.last("default").and_then(|option| self.default(option, named?, repeated, ty));
        Some(DraftField {
            name: field.name.clone(),
            type_span: field.ty.site.0,
            number,
            ty: ty?,
            extension: extensions_start.is_some_and(|start| number >= start),
            flatten: flatten && matches!(ty?, Type::One(Element::Message(_))),
            default,
            docs,
        })
    }

    /// Type with sizes. Size options are checked here for fields and members alike.
    pub(super) fn shape(
        &mut self,
        field: &Field,
        named: Named,
        repeated: bool,
        options: &OptionSet<'_>,
    ) -> Option<Type> {
        let text = matches!(named, Named::String | Named::Bytes);
        let given: Vec<_> = ["size", "max_size", "element_size"].into_iter().filter_map(|n| options.last(n)).collect();
        if !text && !repeated {
            for option in &given {
                let message = format!("`{}` on field `{}`, which has one size", option.name.text, field.name.text);
                self.diagnostics.push(
                    Diagnostic::new(Code::SizeMisuse, option.name.site.0, message)
                        .hint("size options are for arrays, `string` and `bytes`"),
                );
            }
            return if given.is_empty() { Some(Type::One(plain(named)?)) } else { None };
        }

        let fixed = options.last("size").map(|option| size(option, self.diagnostics));
        let bounded = options.last("max_size").map(|option| size(option, self.diagnostics));
        let element = options.last("element_size").map(|option| size(option, self.diagnostics));
        if let (Some(_), Some(option)) = (fixed, options.last("max_size")) {
            self.ignored(option.name.site.0, "`size` is given too and wins");
        }
        if let Some(option) = options.last("element_size").filter(|_| !(text && repeated)) {
            self.ignored(
                option.name.site.0,
                "`element_size` is for arrays of `string` and `bytes` and has no effect here",
            );
        }
        let extent = match (fixed, bounded) {
            (Some(fixed), _) => fixed.map(Extent::Fixed),
            (None, Some(bounded)) => bounded.map(Extent::Bounded),
            (None, None) => {
                let what = if repeated { "array" } else { "field" };
                let message = format!("{what} `{}` has no size", field.name.text);
                self.diagnostics.push(
                    Diagnostic::new(Code::SizeMissing, field.name.site.0, message)
                        .hint("add `[size=N]` for a fixed or `[max_size=N]` for a bounded length"),
                );
                None
            }
        };
        if !repeated {
            return extent.map(|extent| Type::One(text_of(named, extent)));
        }
        if !text {
            return Some(Type::Array { element: plain(named)?, extent: extent? });
        }
        if element.is_none() {
            let message = format!("the elements of array `{}` have no size", field.name.text);
            self.diagnostics.push(
                Diagnostic::new(Code::ElementSizeMissing, field.name.site.0, message)
                    .hint("add `element_size=N`: bytes per element"),
            );
        }
        Some(Type::Array { element: text_of(named, Extent::Fixed(element??)), extent: extent? })
    }

    pub(super) fn ignored(&mut self, span: Span, message: &str) {
        self.diagnostics.push(Diagnostic::new(Code::IgnoredOption, span, message));
    }
}

fn text_of(named: Named, extent: Extent) -> Element {
    if named == Named::Bytes { Element::Bytes(extent) } else { Element::String(extent) }
}

/// An element without a size of its own; text has none.
fn plain(named: Named) -> Option<Element> {
    match named {
        Named::Scalar(scalar) => Some(Element::Scalar(scalar)),
        Named::Enum(index) => Some(Element::Enum(index)),
        Named::Message(index) => Some(Element::Message(index)),
        Named::String | Named::Bytes => None,
    }
}
