//! C99: a header and a source file per package, on a runtime of one header and one source file.
//!
//! Structs are values: encoders and decoders go through them field by field, so that byte order and alignment of the machine
//! do not matter. Packed structs are, on little-endian machines, also the fixed layout, which the generated header asserts.

mod decode; // payloads to structs
mod encode; // structs to payloads
mod equal; // comparing, and the values of a new message
mod header; // what users include
mod names;
mod plain; // what is copied in one piece
mod source; // functions in their order
mod types; // how an element is spelled
pub(super) mod words;

use super::{Error, File, Options};
use fw_schema::Schema;
use fw_schema::layout::{PackageIndex, Type};
use std::collections::BTreeSet;

pub use names::{EnumNames, MessageNames, Names, PackageNames, UnionNames};
pub(crate) use types::integer;
pub use types::text_literal;

pub(super) fn files(schema: &Schema, options: &Options) -> Result<Vec<File>, Error> {
    let names = Names::new(schema);
    let mut files = vec![
        File::new("structframe.h", include_str!("../../../runtime/c/structframe.h")),
        File::new("structframe.c", include_str!("../../../runtime/c/structframe.c")),
    ];
    let of = Of { schema, names: &names, options };
    // Headers may include each other: packages do not import each other in a circle (SF-2.12).
    for index in schema.package_indexes() {
        let file = &names.package(index).file;
        files.push(File::new(format!("{file}.h"), header::print(of, index)));
        files.push(File::new(format!("{file}.c"), source::print(of, index, &schema[index])));
    }
    Ok(files)
}

/// What every printer needs.
#[derive(Clone, Copy)]
pub(super) struct Of<'s> {
    pub(super) schema: &'s Schema,
    pub(super) names: &'s Names,
    pub(super) options: &'s Options,
}

/// Packages whose types a package uses, without itself.
pub(crate) fn used_packages(schema: &Schema, package: PackageIndex) -> BTreeSet<PackageIndex> {
    use fw_schema::layout::Element;
    let messages = schema[package].messages.iter().map(|index| &schema[*index]);
    let elements = messages.flat_map(|message| {
        let fields = message.fields.iter().map(|field| field.ty);
        fields
            .chain(message.unions.iter().flat_map(|union| union.members.iter().map(|member| Type::One(member.element))))
    });
    let packages = elements.filter_map(|ty| match ty.element() {
        Element::Enum(index) => Some(schema[index].package),
        Element::Message(index) => Some(schema[index].package),
        _ => None,
    });
    packages.filter(|used| *used != package).collect()
}
