//! What everything is called in Rust.

use super::words::{CONSTANTS, FIELDS, TYPES, VARIANTS, VIEWS};
use crate::names::{Scope, pascal, snake, upper_snake};
use fw_schema::Schema;
use fw_schema::layout::{EnumIndex, MessageIndex, PackageIndex};

/// The names of everything in a schema, decided together so that none is given twice.
#[derive(Debug)]
pub struct Names {
    modules: Vec<String>,
    enums: Vec<EnumNames>,
    messages: Vec<MessageNames>,
}

/// The names of an enum.
#[derive(Debug)]
pub struct EnumNames {
    /// Its type.
    pub ty: String,
    /// Its constants, in order.
    pub values: Vec<String>,
}

/// The names of a message.
#[derive(Debug, Default)]
pub struct MessageNames {
    /// Its type.
    pub ty: String,
    /// Its borrowed view.
    pub view: String,
    /// Its variant of `AnyMessage`; empty for a message without an id.
    pub variant: String,
    /// Its plain fields, in order.
    pub fields: Vec<String>,
    /// Its unions, in order.
    pub unions: Vec<UnionNames>,
    /// The view's methods: fields, then unions.
    pub(super) methods: Vec<String>,
}

/// The names of a union.
#[derive(Debug, Default)]
pub struct UnionNames {
    /// The field that holds it.
    pub field: String,
    /// Its type.
    pub ty: String,
    /// Its borrowed view.
    pub view: String,
    /// Its variants, or without a discriminator its accessors, in order.
    pub members: Vec<String>,
}

impl Names {
    /// Decides all names.
    pub fn new(schema: &Schema) -> Self {
        let mut modules = Scope::new(FIELDS);
        let modules = schema.packages().iter().map(|package| modules.claim(&snake(&package.name))).collect();
        let mut names = Self { modules, enums: Vec::new(), messages: Vec::new() };
        names.enums.extend(schema.enums().iter().map(|_| EnumNames { ty: String::new(), values: Vec::new() }));
        names.messages.extend(schema.messages().iter().map(|_| MessageNames::default()));
        for package in schema.packages() {
            let mut types = Scope::new(TYPES);
            // What the author named comes first, so that it keeps its name.
            for index in &package.messages {
                names.messages[index.get()].ty = types.claim(&pascal(&schema[*index].name));
            }
            for index in package.enums.iter().filter(|index| schema[**index].parent.is_none()) {
                names.enums[index.get()].ty = types.claim(&pascal(&schema[*index].name));
            }
            for index in &package.enums {
                if let Some(parent) = schema[*index].parent {
                    let parent = pascal(&schema[parent].name);
                    names.enums[index.get()].ty = types.claim(&format!("{parent}{}", pascal(&schema[*index].name)));
                }
                let mut constants = Scope::new(CONSTANTS);
                let values = schema[*index].values.iter().map(|value| constants.claim(&upper_snake(&value.name)));
                names.enums[index.get()].values = values.collect();
            }
            for index in &package.messages {
                names.parts(schema, *index, &mut types);
            }
        }
        let mut variants = Scope::new(TYPES);
        for (_, message) in schema.ids() {
            let names = &mut names.messages[message.index.get()];
            names.variant = variants.claim(&names.ty);
        }
        names
    }

    /// The module of a package.
    pub fn module(&self, package: PackageIndex) -> &str {
        &self.modules[package.get()]
    }

    /// The module of the package at this place in the schema's list.
    pub(super) fn module_at(&self, at: usize) -> &str {
        &self.modules[at]
    }

    /// The names of an enum.
    pub fn of_enum(&self, index: EnumIndex) -> &EnumNames {
        &self.enums[index.get()]
    }

    /// The names of a message.
    pub fn message(&self, index: MessageIndex) -> &MessageNames {
        &self.messages[index.get()]
    }

    fn parts(&mut self, schema: &Schema, index: MessageIndex, types: &mut Scope) {
        let message = &schema[index];
        let names = &mut self.messages[index.get()];
        let stem = pascal(&message.name);
        names.view = types.claim(&format!("{stem}View"));
        let (mut fields, mut methods) = (Scope::new(FIELDS), Scope::new(VIEWS));
        names.fields = message.fields.iter().map(|field| fields.claim(&snake(&field.name))).collect();
        for union in &message.unions {
            let without_tag = union.discriminator.is_empty();
            let mut members = Scope::new(if without_tag { FIELDS } else { VARIANTS });
            let case = if without_tag { snake } else { pascal };
            let both = format!("{stem}{}", pascal(&union.name));
            let ty = types.claim(&both);
            names.unions.push(UnionNames {
                field: fields.claim(&snake(&union.name)),
                view: types.claim(&format!("{both}View")),
                ty,
                members: union.members.iter().map(|member| members.claim(&case(&member.name))).collect(),
            });
        }
        let all = names.fields.iter().chain(names.unions.iter().map(|union| &union.field));
        names.methods = all.map(|name| methods.claim(name)).collect();
    }
}
