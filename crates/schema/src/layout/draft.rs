//! What the layout engine is given: everything looked up, nothing measured.

use super::model::{DefaultValue, Element, EnumIndex, PackageIndex, Type};
use crate::ast::Ident;
use crate::source::Span;

/// A message, looked up and checked, not yet measured.
pub(crate) struct Draft {
    pub(crate) name: Ident,
    pub(crate) package: PackageIndex,
    pub(crate) msgid: Option<u16>,
    pub(crate) variable: bool,
    pub(crate) envelope: Option<Span>,
    pub(crate) extensions_start: Option<u32>,
    pub(crate) magic: Option<[u8; 2]>,
    pub(crate) fields: Vec<DraftField>,
    pub(crate) unions: Vec<DraftUnion>,
    pub(crate) enums: Vec<EnumIndex>,
    pub(crate) docs: Vec<String>,
    /// False when a fault was reported that leaves the layout unknown.
    pub(crate) sound: bool,
}

pub(crate) struct DraftField {
    pub(crate) name: Ident,
    pub(crate) type_span: Span,
    pub(crate) number: u32,
    pub(crate) ty: Type,
    pub(crate) extension: bool,
    pub(crate) flatten: bool,
    pub(crate) default: Option<DefaultValue>,
    pub(crate) docs: Vec<String>,
}

pub(crate) struct DraftUnion {
    pub(crate) name: Ident,
    pub(crate) wanted: WantedTag,
    /// `option variable = true` in the oneof.
    pub(crate) prefixed: Option<Span>,
    pub(crate) max_size: Option<(usize, Span)>,
    pub(crate) min_size: Option<(usize, Span)>,
    pub(crate) extensions_start: Option<u32>,
    pub(crate) members: Vec<DraftMember>,
    pub(crate) docs: Vec<String>,
}

pub(crate) struct DraftMember {
    pub(crate) name: Ident,
    pub(crate) type_span: Span,
    pub(crate) number: u32,
    pub(crate) element: Element,
    pub(crate) extension: bool,
    pub(crate) docs: Vec<String>,
}

/// A discriminator as asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WantedTag {
    Auto,
    FieldOrder,
    MsgId,
    None,
}
