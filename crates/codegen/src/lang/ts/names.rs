//! What everything in a schema is called in TypeScript and JavaScript.

use super::words;
use crate::names::{Scope, camel, pascal, snake};
use fw_schema::Schema;
use fw_schema::layout::{EnumIndex, MessageIndex, PackageIndex};

/// The names of a schema's modules, classes and properties.
#[derive(Clone, Debug)]
pub struct Names {
    modules: Vec<String>,
    messages: Vec<MessageNames>,
    enums: Vec<EnumNames>,
}

#[derive(Clone, Debug, Default)]
struct MessageNames {
    class: String,
    init: String,
    fields: Vec<String>,
    unions: Vec<UnionNames>,
}

#[derive(Clone, Debug, Default)]
struct EnumNames {
    object: String,
    namer: String,
    entries: Vec<String>,
}

/// The names of a union.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct UnionNames {
    /// The property of its message.
    pub property: String,
    /// Its type; a class when it has no tag.
    pub ty: String,
    /// What `which` says of each member.
    pub members: Vec<String>,
}

impl Names {
    /// Names everything.
    pub fn new(schema: &Schema) -> Self {
        let mut modules = Scope::new(words::MODULES);
        let mut names = Self {
            modules: schema.packages().iter().map(|package| modules.claim(&snake(&package.name))).collect(),
            messages: vec![MessageNames::default(); schema.messages().len()],
            enums: vec![EnumNames::default(); schema.enums().len()],
        };
        for package in schema.packages() {
            let mut types = Scope::new(words::TYPES);
            for index in &package.messages {
                names.messages[index.get()].class = types.claim(&schema[*index].name);
            }
            for index in &package.enums {
                let declared = &schema[*index];
                let parent = declared.parent.map_or(String::new(), |parent| pascal(&schema[parent].name));
                let mut entries = Scope::new(words::OWN);
                names.enums[index.get()] = EnumNames {
                    object: types.claim(&(parent + &declared.name)),
                    namer: String::new(),
                    entries: declared.values.iter().map(|value| entries.claim(&pascal(&value.name))).collect(),
                };
            }
            for index in &package.messages {
                let message = &schema[*index];
                let entry = &mut names.messages[index.get()];
                let mut fields = Scope::new(words::FIELDS);
                entry.fields = message.fields.iter().map(|field| fields.claim(&camel(&field.name))).collect();
                for union in &message.unions {
                    let mut members = Scope::new(words::OWN);
                    entry.unions.push(UnionNames {
                        property: fields.claim(&camel(&union.name)),
                        ty: types.claim(&(pascal(&message.name) + &pascal(&union.name))),
                        members: union.members.iter().map(|member| members.claim(&camel(&member.name))).collect(),
                    });
                }
            }
            for index in &package.messages {
                let entry = &mut names.messages[index.get()];
                entry.init = types.claim(&format!("{}Init", entry.class));
            }
            for index in &package.enums {
                let entry = &mut names.enums[index.get()];
                entry.namer = types.claim(&(camel(&entry.object) + "Name"));
            }
        }
        names
    }

    /// The module of a package.
    pub fn module(&self, package: PackageIndex) -> &str {
        self.module_at(package.get())
    }

    pub(super) fn module_at(&self, at: usize) -> &str {
        &self.modules[at]
    }

    /// The class of a message.
    pub fn message(&self, message: MessageIndex) -> &str {
        &self.messages[message.get()].class
    }

    /// What its constructor takes.
    pub fn init(&self, message: MessageIndex) -> &str {
        &self.messages[message.get()].init
    }

    /// The object and type of an enum.
    pub fn enumeration(&self, index: EnumIndex) -> &str {
        &self.enums[index.get()].object
    }

    /// The function that names its values.
    pub fn namer(&self, index: EnumIndex) -> &str {
        &self.enums[index.get()].namer
    }

    /// The entries of an enum.
    pub fn entries(&self, index: EnumIndex) -> &[String] {
        &self.enums[index.get()].entries
    }

    /// The properties of a message's plain fields, in their order.
    pub fn fields(&self, message: MessageIndex) -> &[String] {
        &self.messages[message.get()].fields
    }

    /// The names of a message's unions, in their order.
    pub fn unions(&self, message: MessageIndex) -> &[UnionNames] {
        &self.messages[message.get()].unions
    }
}
