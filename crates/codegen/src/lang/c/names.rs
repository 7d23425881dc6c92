//! How names of a schema are spelled in C.

use super::words::{GLOBALS, MEMBERS, PREFIXES};
use crate::names::{Scope, pascal, upper_snake};
use fw_schema::Schema;
use fw_schema::layout::{EnumIndex, MessageIndex, PackageIndex};
use std::collections::BTreeSet;

/// Spellings of everything in a schema, for the generator and for tools that print code which uses its output.
#[derive(Clone, Debug)]
pub struct Names {
    /// By package.
    packages: Vec<PackageNames>,
    enums: Vec<EnumNames>,
    messages: Vec<MessageNames>,
}

/// Of a package.
#[derive(Clone, Debug)]
pub struct PackageNames {
    /// Its files without their ends: `robot.structframe`.
    pub file: String,
    /// `Robot`, in front of its types.
    pub prefix: String,
    /// `ROBOT`, in front of its constants.
    pub upper: String,
}

/// Of an enum.
#[derive(Clone, Debug)]
pub struct EnumNames {
    /// `RobotMode`.
    pub ty: String,
    /// `ROBOT_MODE_IDLE`, by value.
    pub values: Vec<String>,
}

/// Of a message.
#[derive(Clone, Debug)]
pub struct MessageNames {
    /// `RobotCommand`, also in front of its functions.
    pub ty: String,
    /// `ROBOT_COMMAND`, in front of its constants.
    pub upper: String,
    /// Members of the struct for plain fields.
    pub fields: Vec<String>,
    /// Members of the struct for unions.
    pub unions: Vec<UnionNames>,
    /// A member that nobody uses: in place of nothing, or at the end.
    pub(super) spare: String,
}

/// Of a union.
#[derive(Clone, Debug)]
pub struct UnionNames {
    /// `order`, the member of the message's struct.
    pub name: String,
    /// `go_to`, by member.
    pub members: Vec<String>,
    /// `ROBOT_COMMAND_ORDER_GO_TO`, by member.
    pub tags: Vec<String>,
    /// `ROBOT_COMMAND_ORDER_NONE`.
    pub none: String,
    /// `order_go_to`, by member: the end of accessors.
    pub(super) accessors: Vec<String>,
}

impl Names {
    /// The spellings of a schema's names.
    pub fn new(schema: &Schema) -> Self {
        let mut global = Global { used: BTreeSet::new() };
        let mut prefixes = Scope::new(PREFIXES);
        let packages = schema.packages().iter().map(|package| {
            let prefix = prefixes.claim(&pascal(&package.name));
            PackageNames { file: format!("{}.structframe", package.name), upper: upper_snake(&prefix), prefix }
        });
        let packages: Vec<PackageNames> = packages.collect();
        for package in &packages {
            global.family(&package.prefix, &["_package", "_lookup", "_messages", "_packages"]);
        }
        let messages = schema.messages().iter().map(|message| {
            let package = &packages[message.package.get()];
            let ty = global.family(&format!("{}{}", package.prefix, message.name), FUNCTIONS);
            let upper = global.family(&format!("{}_{}", package.upper, upper_snake(&message.name)), CONSTANTS);
            let mut scope = Scope::new(MEMBERS);
            let fields = message.fields.iter().map(|field| scope.claim(&field.name)).collect();
            let mut accessors = Scope::new(GLOBALS);
            let unions = message.unions.iter().map(|union| {
                let mut members = Scope::new(MEMBERS);
                let stem = format!("{upper}_{}", upper_snake(&union.name));
                UnionNames {
                    name: scope.claim(&union.name),
                    members: union.members.iter().map(|member| members.claim(&member.name)).collect(),
                    tags: union
                        .members
                        .iter()
                        .map(|member| global.family(&format!("{stem}_{}", upper_snake(&member.name)), &[""]))
                        .collect(),
                    none: global.family(&format!("{stem}_NONE"), &[""]),
                    accessors: union
                        .members
                        .iter()
                        .map(|member| accessors.claim(&format!("{}_{}", union.name, member.name)))
                        .collect(),
                }
            });
            let unions = unions.collect();
            MessageNames { ty, upper, fields, unions, spare: scope.claim("spare") }
        });
        let messages: Vec<MessageNames> = messages.collect();
        let enums = schema.enums().iter().map(|of| {
            let package = &packages[of.package.get()];
            let parent = of.parent.map_or("", |parent| schema[parent].name.as_str());
            let ty = global.family(&format!("{}{parent}{}", package.prefix, of.name), &["", "_name"]);
            let parent = of.parent.map_or(String::new(), |parent| format!("{}_", upper_snake(&schema[parent].name)));
            let stem = format!("{}_{parent}{}", package.upper, upper_snake(&of.name));
            let value = |name: &str| format!("{stem}_{}", upper_snake(name));
            EnumNames { ty, values: of.values.iter().map(|of| global.family(&value(&of.name), &[""])).collect() }
        });
        let enums = enums.collect();
        Self { packages, enums, messages }
    }

    /// Of a package.
    pub fn package(&self, index: PackageIndex) -> &PackageNames {
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

/// The one name space that C has.
struct Global {
    used: BTreeSet<String>,
}

impl Global {
    /// A stem nobody else has with any of these ends.
    fn family(&mut self, stem: &str, ends: &[&str]) -> String {
        let mut stem = GLOBALS.free(stem);
        while ends.iter().any(|end| self.used.contains(&format!("{stem}{end}"))) {
            stem.push_str(GLOBALS.suffix);
        }
        self.used.extend(ends.iter().map(|end| format!("{stem}{end}")));
        stem
    }
}

const FUNCTIONS: &[&str] = &[
    "",
    "_init",
    "_encode",
    "_decode",
    "_equals",
    "_write",
    "_read",
    "_send",
    "_store",
    "_load",
    "_type",
    "_defaults",
    "_info",
    "_is_packed",
    "_encode_wire",
    "_decode_wire",
    "_encode_any",
    "_decode_any",
];

const CONSTANTS: &[&str] =
    &["", "_MSG_ID", "_MAX_SIZE", "_BASE_SIZE", "_MIN_SIZE", "_IS_VARIABLE", "_MAGIC1", "_MAGIC2", "_INFO"];
