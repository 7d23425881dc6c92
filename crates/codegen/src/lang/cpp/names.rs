//! How names of a schema are spelled in C++.

use super::words::{MEMBERS, NAMESPACES, TAGS, TYPES};
use crate::names::{Scope, pascal};
use fw_schema::Schema;
use fw_schema::layout::{EnumIndex, MessageIndex, PackageIndex};
use std::collections::BTreeSet;

/// Spellings of everything in a schema, for the generator and for tools that print code which uses its output.
#[derive(Clone, Debug)]
pub struct Names {
    packages: Vec<String>,
    enums: Vec<EnumNames>,
    messages: Vec<MessageNames>,
}

/// Of an enum.
#[derive(Clone, Debug)]
pub struct EnumNames {
    /// `Mode`, inside its package or message.
    pub ty: String,
    /// `Mode`, or `Outer::Mode`, inside its package.
    pub path: String,
    /// `EmergencyStop`, by value.
    pub values: Vec<String>,
}

/// Of a message.
#[derive(Clone, Debug)]
pub struct MessageNames {
    /// `Command`, inside its package.
    pub ty: String,
    /// Members for plain fields.
    pub fields: Vec<String>,
    /// Members for unions.
    pub unions: Vec<UnionNames>,
    /// Every name inside the struct: types of the package that meet one are spelled in full.
    pub(super) inside: BTreeSet<String>,
}

/// Of a union.
#[derive(Clone, Debug)]
pub struct UnionNames {
    /// `Order`, inside the message.
    pub ty: String,
    /// `order`, the member of the message.
    pub name: String,
    /// `GoTo`, by member, in the enum of tags.
    pub tags: Vec<String>,
    /// `go_to`, by member: behind `as_` and `set_`.
    pub members: Vec<String>,
}

impl Names {
    /// The spellings of a schema's names.
    pub fn new(schema: &Schema) -> Self {
        let mut namespaces = Scope::new(NAMESPACES);
        let packages: Vec<String> = schema.packages().iter().map(|package| namespaces.claim(&package.name)).collect();
        let mut scopes: Vec<Scope> = packages.iter().map(|_| Scope::new(TYPES)).collect();
        let mut enums: Vec<EnumNames> = schema
            .enums()
            .iter()
            .map(|of| {
                let mut scope = Scope::new(MEMBERS);
                let values = of.values.iter().map(|value| scope.claim(&pascal(&value.name))).collect();
                let ty = match of.parent {
                    None => scopes[of.package.get()].claim(&of.name),
                    Some(_) => String::new(),
                };
                EnumNames { path: ty.clone(), ty, values }
            })
            .collect();
        let messages = schema.messages().iter().map(|message| {
            let ty = scopes[message.package.get()].claim(&message.name);
            let mut scope = Scope::new(MEMBERS);
            scope.claim(&ty);
            for index in &message.enums {
                let name = scope.claim(&schema[*index].name);
                enums[index.get()].path = format!("{ty}::{name}");
                enums[index.get()].ty = name;
            }
            let types: Vec<String> = message.unions.iter().map(|union| scope.claim(&union_type(&union.name))).collect();
            let fields: Vec<String> = message.fields.iter().map(|field| scope.claim(&field.name)).collect();
            let unions: Vec<UnionNames> = message
                .unions
                .iter()
                .zip(types)
                .map(|(union, ty)| {
                    let (mut tags, mut members) = (Scope::new(TAGS), Scope::new(MEMBERS));
                    UnionNames {
                        ty,
                        name: scope.claim(&union.name),
                        tags: union.members.iter().map(|member| tags.claim(&pascal(&member.name))).collect(),
                        members: union.members.iter().map(|member| members.claim(&member.name)).collect(),
                    }
                })
                .collect();
            let mut inside: BTreeSet<String> = fields.iter().cloned().collect();
            inside.extend(message.enums.iter().map(|index| enums[index.get()].ty.clone()));
            inside.extend(unions.iter().flat_map(|union| [union.ty.clone(), union.name.clone()]));
            inside.extend(["Tag", "tags", "value", "tag", "is_set"].map(str::to_owned));
            MessageNames { ty, fields, unions, inside }
        });
        let messages = messages.collect();
        Self { packages, enums, messages }
    }

    /// The namespace of a package, inside `structframe`.
    pub fn package(&self, index: PackageIndex) -> &str {
        &self.packages[index.get()]
    }

    /// Of an enum.
    pub fn of_enum(&self, index: EnumIndex) -> &EnumNames {
        &self.enums[index.get()]
    }

    /// Of a message.
    pub fn message(&self, index: MessageIndex) -> &MessageNames {
        &self.messages[index.get()]
    }
}

/// The type of a union; the enum of its tags stands inside it and must not be called the same.
fn union_type(name: &str) -> String {
    match pascal(name) {
        name if name == "Tag" => "Tag_".to_owned(),
        name => name,
    }
}
