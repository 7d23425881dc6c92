//! A whole schema: lookups, dependency order, default images.

use super::model::{
    DefaultValue, Element, Enum, EnumIndex, Field, Message, MessageIndex, Package, PackageIndex, Scalar, Type, Variable,
};
use crate::source::SourceMap;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Index;

/// A checked schema with every layout decided.
#[derive(Clone, Debug, Serialize)]
pub struct Schema {
    pub(crate) variable: Variable,
    pub(crate) packages: Vec<Package>,
    pub(crate) enums: Vec<Enum>,
    pub(crate) messages: Vec<Message>,
    #[serde(skip)]
    pub(crate) order: Vec<MessageIndex>,
    #[serde(skip)]
    pub(crate) ids: BTreeMap<u16, MessageIndex>,
    #[serde(skip)]
    pub(crate) sources: SourceMap,
}

impl Schema {
    /// Which messages it was compiled to have a trimmed wire layout. Who stores a schema's text stores this beside it:
    /// the text alone does not tell what is on the wire.
    pub fn variable(&self) -> Variable {
        self.variable
    }

    /// All packages in load order; the first is the root file's.
    pub fn packages(&self) -> &[Package] {
        &self.packages
    }

    /// The indexes of all packages, in the same order.
    pub fn package_indexes(&self) -> impl Iterator<Item = PackageIndex> + use<> {
        (0..self.packages.len() as u32).map(PackageIndex)
    }

    /// All enums, package by package, in declaration order.
    pub fn enums(&self) -> &[Enum] {
        &self.enums
    }

    /// All messages, package by package, in declaration order.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// All messages such that what a message contains comes before it; otherwise in declaration order.
    pub fn in_dependency_order(&self) -> impl Iterator<Item = MessageIndex> + '_ {
        self.order.iter().copied()
    }

    /// Messages that can be framed, by effective id.
    pub fn ids(&self) -> impl Iterator<Item = (u16, &Message)> {
        self.ids.iter().map(|(id, index)| (*id, &self[*index]))
    }

    /// The message with this effective id. When ids collide, the root package's message (SF-2.14).
    pub fn by_id(&self, id: u16) -> Option<&Message> {
        self.ids.get(&id).map(|index| &self[*index])
    }

    /// A message by name: `Name`, looked for in the root package and then in the others in load order, or `package.Name`.
    pub fn find(&self, name: &str) -> Option<&Message> {
        self.find_index(name).map(|index| &self[index])
    }

    /// Like [`Schema::find`], giving the index.
    pub fn find_index(&self, name: &str) -> Option<MessageIndex> {
        let (package, bare) = match name.split_once('.') {
            Some((package, bare)) => (Some(package), bare),
            None => (None, name),
        };
        self.packages
            .iter()
            .filter(|candidate| package.is_none_or(|package| candidate.name == package))
            .flat_map(|candidate| &candidate.messages)
            .copied()
            .find(|index| self[*index].name == bare)
    }

    /// `package.Name`.
    pub fn qualified(&self, message: &Message) -> String {
        format!("{}.{}", self[message.package].name, message.name)
    }

    /// The texts it was compiled from.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// Bytes of an element in the fixed layout.
    pub fn element_size(&self, element: Element) -> usize {
        match element {
            Element::Scalar(scalar) => scalar.size(),
            Element::Enum(_) => 1,
            Element::Message(index) => self[index].sizes.max,
            Element::String(extent) | Element::Bytes(extent) => extent.prefix_len() + extent.limit(),
        }
    }

    /// The default image of a message: what fills bytes that a shorter payload lacks (SF-10.3). `sizes.max` bytes.
    pub fn default_image(&self, message: &Message) -> Vec<u8> {
        let mut image = vec![0; message.sizes.max];
        self.fill_defaults(message, &mut image);
        image
    }

    fn fill_defaults(&self, message: &Message, image: &mut [u8]) {
        for field in &message.fields {
            let Some(bytes) = image.get_mut(field.offset..field.offset + field.size) else { continue };
            if let Type::One(Element::Message(inner)) = field.ty {
                self.fill_defaults(&self[inner], bytes);
            } else if let Some(default) = &field.default {
                write_default(field, default, bytes);
            }
        }
    }
}

fn write_default(field: &Field, default: &DefaultValue, bytes: &mut [u8]) {
    let encoded: Vec<u8> = match default {
        DefaultValue::Bool(value) => vec![u8::from(*value)],
        // Two's complement: the low bytes are the field's value, whatever its width.
        DefaultValue::Integer(value) => value.to_le_bytes().to_vec(),
        DefaultValue::Real(value) if field.ty == Type::One(Element::Scalar(Scalar::Float)) => {
            (*value as f32).to_le_bytes().to_vec()
        }
        DefaultValue::Real(value) => value.to_le_bytes().to_vec(),
        DefaultValue::Enum { number, .. } => vec![*number],
        DefaultValue::Text(text) => {
            let prefix = (text.len() as u16).to_le_bytes();
            prefix.iter().take(field.ty.prefix_len()).chain(text.as_bytes()).copied().collect()
        }
    };
    for (to, from) in bytes.iter_mut().zip(encoded) {
        *to = from;
    }
}

impl Index<MessageIndex> for Schema {
    type Output = Message;
    fn index(&self, index: MessageIndex) -> &Message {
        &self.messages[index.get()]
    }
}

impl Index<EnumIndex> for Schema {
    type Output = Enum;
    fn index(&self, index: EnumIndex) -> &Enum {
        &self.enums[index.get()]
    }
}

impl Index<PackageIndex> for Schema {
    type Output = Package;
    fn index(&self, index: PackageIndex) -> &Package {
        &self.packages[index.get()]
    }
}
