//! The reference package's C and C++: one program per group, with the group's messages as assignments.
//!
//! Both print structs with the same fields, so the assignments differ only where an enum is a type of its own.

mod assign; // a value as assignments

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use fw_schema::Schema;
use fw_schema::layout::Message;
use fw_structframe::HeaderKind;

use super::super::c::compile;
use super::super::{Case, Suite};

/// Which of the two.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Dialect {
    C,
    Cpp,
}

/// Builds the program against what was generated into `sources`.
pub(super) fn build(dialect: Dialect, suite: &Suite, sources: &Path, folder: &Path) -> Result<Vec<OsString>> {
    let (compiler, standard, language, main, driver, text) = match dialect {
        Dialect::C => ("gcc", "-std=c11", "c", "main.c", "driver.h", include_str!("driver.h")),
        // Nothing older will do for it.
        Dialect::Cpp => ("g++", "-std=c++20", "cpp", "main.cpp", "driver.hpp", include_str!("driver.hpp")),
    };
    fs::write(folder.join(driver), text)?;
    fs::write(folder.join(main), program(dialect, suite)?)?;
    let mut command = Command::new(compiler);
    // Warnings of code that is not ours tell nothing.
    command.current_dir(folder).args([standard, "-O0", "-w", "-I"]).arg(sources.join("generated").join(language));
    compile({
        command.args([main, "-o", "program"]);
        command
    })?;
    Ok(vec![folder.join("program").into_os_string()])
}

fn program(dialect: Dialect, suite: &Suite) -> Result<String> {
    let schema = &suite.schema;
    let (suffix, driver) = match dialect {
        Dialect::C => ("h", "driver.h"),
        Dialect::Cpp => ("hpp", "driver.hpp"),
    };
    let mut out = String::new();
    for package in schema.packages() {
        writeln!(out, "#include \"{}.structframe.{suffix}\"", package.name)?;
    }
    writeln!(out, "#include \"{driver}\"\n")?;
    out += &lookup(dialect, schema);
    let mut builders: BTreeMap<String, usize> = BTreeMap::new();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut cases = String::new();
    for case in &suite.cases {
        let message = suite.message(case);
        let ty = type_name(dialect, schema, message);
        let lines = assign::lines(dialect, suite, case)?.join("\n    ");
        let place = builders.len();
        let builder = *builders.entry(format!("{ty}\n{lines}")).or_insert(place);
        if builder == place {
            let (room, start) = match dialect {
                Dialect::C => ("void *room", format!("{ty} *m = ({ty} *)room;\n    {ty}_init(m);")),
                Dialect::Cpp => ("void *room", format!("auto *m = static_cast<{ty} *>(room);\n    *m = {ty}{{}};")),
            };
            writeln!(out, "static void build_{builder}({room}) {{\n    {start}\n    {lines}\n}}\n")?;
        }
        let place = kinds.len();
        let kind = *kinds.entry(ty.clone()).or_insert(place);
        if kind == place && dialect == Dialect::C {
            let id = message.id.unwrap_or_default();
            writeln!(
                out,
                "static size_t write_{kind}(const void *m, uint8_t *out) {{ return {ty}_serialize((const {ty} *)m, out); }}\n\
                 static size_t read_{kind}(const uint8_t *in, size_t length, void *m) {{\n    \
                 return {ty}_deserialize(in, length, ({ty} *)m);\n}}\n\
                 static const Kind kind_{kind} = {{{id}, sizeof({ty}), write_{kind}, read_{kind}}};\n"
            )?;
        }
        writeln!(cases, "    {},", entry(dialect, case, &ty, kind, builder))?;
    }
    writeln!(out, "const Case CASES[] = {{\n{cases}}};\nconst size_t CASE_COUNT = sizeof CASES / sizeof CASES[0];")?;
    Ok(out)
}

/// A line of the table of cases.
fn entry(dialect: Dialect, case: &Case, ty: &str, kind: usize, builder: usize) -> String {
    let header = &case.header;
    let (place, name) = match case.framing.header {
        HeaderKind::None => (0, "NONE"),
        HeaderKind::Tiny => (1, "TINY"),
        HeaderKind::Basic => (2, "BASIC"),
    };
    let payload = case.framing.payload as u8;
    let ids = format!("{}, {}, {}", header.sequence, header.system, header.component);
    match dialect {
        Dialect::C => format!("{{&kind_{kind}, build_{builder}, {place}, {payload}, {ids}}}"),
        Dialect::Cpp => {
            let payload = PAYLOADS[usize::from(payload)];
            let config = format!("ProfileConfig<headers::HEADER_{name}_CONFIG, payloads::PAYLOAD_{payload}_CONFIG>");
            format!("{{build_{builder}, write<{config}, {ty}>, check<{config}, {ty}>, {ids}}}")
        }
    }
}

/// As the package's constants are called, by number.
const PAYLOADS: [&str; 9] = [
    "MINIMAL",
    "DEFAULT",
    "EXTENDED_MSG_IDS",
    "EXTENDED_LENGTH",
    "EXTENDED",
    "SYS_COMP",
    "SEQ",
    "MULTI_SYSTEM_STREAM",
    "EXTENDED_MULTI_SYSTEM_STREAM",
];

/// The lookup over all packages, which the package leaves to its users.
fn lookup(dialect: Dialect, schema: &Schema) -> String {
    let mut packages: Vec<&str> = Vec::new();
    for (_, message) in schema.ids() {
        let name = schema[message.package].name.as_str();
        if !packages.contains(&name) {
            packages.push(name);
        }
    }
    match dialect {
        Dialect::C => {
            let tries: Vec<_> = packages.iter().map(|name| format!("{name}_get_message_info(id, info)")).collect();
            let tries = tries.join(" || ");
            format!("bool lookup(uint16_t id, message_info_t *info) {{\n    return {tries};\n}}\n\n")
        }
        Dialect::Cpp => {
            let tries = packages.iter().map(|name| {
                format!("    if (const auto info = structframe::{name}::get_message_info(id)) {{\n        return info;\n    }}\n")
            });
            let tries: String = tries.collect();
            format!("structframe::MessageInfo lookup(std::uint16_t id) {{\n{tries}    return {{}};\n}}\n\n")
        }
    }
}

fn type_name(dialect: Dialect, schema: &Schema, message: &Message) -> String {
    let package = &schema[message.package].name;
    match dialect {
        Dialect::C => {
            let words = package.split('_').map(|word| {
                let (first, rest) = word.split_at(word.len().min(1));
                first.to_uppercase() + rest
            });
            words.collect::<String>() + &message.name
        }
        Dialect::Cpp => format!("structframe::{package}::{}", message.name),
    }
}
