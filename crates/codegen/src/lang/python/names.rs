//! What everything in a schema is called in Python.

use super::words;
use crate::names::{Scope, pascal, snake, upper_snake};
use fw_schema::Schema;
use fw_schema::layout::{EnumIndex, Message, MessageIndex, PackageIndex};

/// The Python names of a schema's modules, classes and attributes.
#[derive(Clone, Debug)]
pub struct Names {
    modules: Vec<String>,
    messages: Vec<MessageNames>,
    enums: Vec<EnumNames>,
}

#[derive(Clone, Debug, Default)]
struct MessageNames {
    class: String,
    fields: Vec<String>,
    unions: Vec<UnionNames>,
}

#[derive(Clone, Debug, Default)]
struct EnumNames {
    class: String,
    entries: Vec<String>,
}

/// The Python names of a union.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct UnionNames {
    /// The attribute of its message.
    pub attribute: String,
    /// Its type: an alias of the variants, or a class when it has no tag.
    pub ty: String,
    /// A class per member; for a union without a tag what stands behind `as_` and `from_`.
    pub variants: Vec<String>,
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
            let mut all = Vec::new();
            for index in &package.messages {
                let class = types.claim(&public(&schema[*index].name));
                all.push(class.clone());
                names.messages[index.get()].class = class;
            }
            for index in &package.enums {
                let declared = &schema[*index];
                let parent = declared.parent.map_or(String::new(), |parent| pascal(&schema[parent].name));
                let class = types.claim(&public(&(parent + &declared.name)));
                let mut entries = Scope::new(words::ENTRIES);
                let entries = declared.values.iter().map(|value| entries.claim(&upper_snake(&value.name))).collect();
                all.push(class.clone());
                names.enums[index.get()] = EnumNames { class, entries };
            }
            for index in &package.messages {
                names.messages[index.get()].unions = unions(&schema[*index], &mut types, &mut all);
            }
            for index in &package.messages {
                // In the body of a class an attribute would hide the type of the same name.
                let mut scope = Scope::new(words::FIELDS);
                all.iter().for_each(|class| drop(scope.claim(class)));
                let message = &schema[*index];
                let entry = &mut names.messages[index.get()];
                entry.fields = message.fields.iter().map(|field| scope.claim(&public(&field.name))).collect();
                for (union, names) in message.unions.iter().zip(&mut entry.unions) {
                    names.attribute = scope.claim(&public(&union.name));
                }
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

    /// The class of an enum.
    pub fn enumeration(&self, index: EnumIndex) -> &str {
        &self.enums[index.get()].class
    }

    /// The entries of an enum.
    pub fn entries(&self, index: EnumIndex) -> &[String] {
        &self.enums[index.get()].entries
    }

    /// The attributes of a message's plain fields, in their order.
    pub fn fields(&self, message: MessageIndex) -> &[String] {
        &self.messages[message.get()].fields
    }

    /// The names of a message's unions, in their order.
    pub fn unions(&self, message: MessageIndex) -> &[UnionNames] {
        &self.messages[message.get()].unions
    }
}

fn unions(message: &Message, types: &mut Scope, all: &mut Vec<String>) -> Vec<UnionNames> {
    let mut name = |parts: &[&str]| {
        let class = types.claim(&parts.iter().map(|part| pascal(part)).collect::<String>());
        all.push(class.clone());
        class
    };
    let mut out = Vec::new();
    for union in &message.unions {
        let ty = name(&[&message.name, &union.name]);
        let variants = if union.discriminator.is_empty() {
            let mut scope = Scope::new(words::VIEWS);
            union.members.iter().map(|member| scope.claim(&member.name)).collect()
        } else {
            union.members.iter().map(|member| name(&[&message.name, &union.name, &member.name])).collect()
        };
        out.push(UnionNames { attribute: String::new(), ty, variants });
    }
    out
}

/// Names with an underscore in front are private in Python, and ours.
fn public(name: &str) -> String {
    if name.starts_with('_') { format!("x{name}") } else { name.to_owned() }
}
