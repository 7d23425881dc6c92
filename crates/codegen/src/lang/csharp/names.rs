//! What everything is called in C#.

use super::words::{MEMBERS, NAMESPACES, PROPERTIES, TYPES, VALUES};
use crate::Options;
use crate::names::{Scope, pascal};
use fw_schema::Schema;
use fw_schema::layout::{EnumIndex, MessageIndex, PackageIndex};

/// The names of everything in a schema, decided together so that none is given twice.
#[derive(Debug)]
pub struct Names {
    root: String,
    namespaces: Vec<String>,
    enums: Vec<EnumNames>,
    messages: Vec<MessageNames>,
}

/// The names of an enum.
#[derive(Debug, Default)]
pub struct EnumNames {
    /// Its type.
    pub ty: String,
    /// The class with its names in the schema.
    pub(super) helper: String,
    /// Its values, in order.
    pub values: Vec<String>,
}

/// The names of a message.
#[derive(Debug, Default)]
pub struct MessageNames {
    /// Its class.
    pub ty: String,
    /// Its plain fields, in order.
    pub fields: Vec<String>,
    /// Its unions, in order.
    pub unions: Vec<UnionNames>,
}

/// The names of a union.
#[derive(Debug, Default)]
pub struct UnionNames {
    /// The property that holds it.
    pub field: String,
    /// Its class.
    pub ty: String,
    /// Its members, in order.
    pub members: Vec<String>,
}

impl Names {
    /// Decides all names.
    pub fn new(schema: &Schema, options: &Options) -> Self {
        let mut scope = Scope::new(NAMESPACES);
        let mut names = Self {
            root: options.csharp_namespace.clone().unwrap_or_else(|| "StructFrame".to_owned()),
            namespaces: schema.packages().iter().map(|package| scope.claim(&pascal(&package.name))).collect(),
            enums: schema.enums().iter().map(|_| EnumNames::default()).collect(),
            messages: schema.messages().iter().map(|_| MessageNames::default()).collect(),
        };
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
                    let parent = &names.messages[parent.get()].ty;
                    names.enums[index.get()].ty = types.claim(&format!("{parent}{}", pascal(&schema[*index].name)));
                }
                let mut values = Scope::new(VALUES);
                let own = &mut names.enums[index.get()];
                own.helper = types.claim(&format!("{}Names", own.ty));
                own.values = schema[*index].values.iter().map(|value| values.claim(&pascal(&value.name))).collect();
            }
            for index in &package.messages {
                names.parts(schema, *index, &mut types);
            }
        }
        names
    }

    /// The whole namespace of a package.
    pub fn namespace(&self, package: PackageIndex) -> String {
        self.namespace_at(package.get())
    }

    /// The whole namespace of the package at this place in the schema's list.
    pub(super) fn namespace_at(&self, at: usize) -> String {
        format!("{}.{}", self.root, self.namespaces[at])
    }

    /// The last part of a package's namespace.
    pub(super) fn short_namespace(&self, at: usize) -> &str {
        &self.namespaces[at]
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
        let mut fields = Scope::new(PROPERTIES);
        // A member must not be called like its class.
        fields.claim(&names.ty);
        names.fields = message.fields.iter().map(|field| fields.claim(&pascal(&field.name))).collect();
        for union in &message.unions {
            let mut members = Scope::new(MEMBERS);
            names.unions.push(UnionNames {
                field: fields.claim(&pascal(&union.name)),
                ty: types.claim(&format!("{}{}", names.ty, pascal(&union.name))),
                members: union.members.iter().map(|member| members.claim(&pascal(&member.name))).collect(),
            });
        }
    }
}
