//! Generated C: packed, aligned, and big-endian.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use fw_codegen::lang::Packing;
use fw_codegen::lang::c::{Names, text_literal};
use fw_codegen::{Lang, Options, generate};
use fw_dynamic::{UnionValue, Value};
use fw_schema::Schema;
use fw_schema::layout::{Element, Extent, Message, Scalar};
use fw_structframe::{Framing, Header, HeaderKind};

use super::{Adapter, Suite};

/// One way to compile and run generated C.
pub(super) struct C {
    name: &'static str,
    packing: Packing,
    compiler: &'static str,
    flags: &'static [&'static str],
    /// What starts the program; empty when it starts by itself.
    runner: &'static [&'static str],
    /// What to install for it.
    packages: &'static str,
}

impl C {
    /// Packed structs, under the address and undefined-behaviour sanitizers.
    pub(super) const PACKED: Self = Self {
        name: Lang::C.name(),
        packing: Packing::Packed,
        compiler: "gcc",
        flags: &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
        runner: &[],
        packages: "gcc",
    };

    /// Aligned structs (`--no-packed` without its change of the wire), under the same sanitizers.
    pub(super) const ALIGNED: Self = Self { name: "c-aligned", packing: Packing::Natural, ..Self::PACKED };

    /// Packed structs on a big-endian machine.
    pub(super) const BIG_ENDIAN: Self = Self {
        name: "c-big-endian",
        packing: Packing::Packed,
        compiler: "s390x-linux-gnu-gcc",
        flags: &["-static"],
        runner: &["qemu-s390x"],
        packages: "gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user",
    };
}

impl Adapter for C {
    fn name(&self) -> &'static str {
        self.name
    }

    fn missing(&self) -> Option<String> {
        let missing = [self.compiler].into_iter().chain(self.runner.iter().copied()).find(|tool| !runs(tool));
        missing.map(|tool| format!("no {tool}: apt-get install {}", self.packages))
    }

    fn build(&self, suite: &Suite, folder: &Path) -> Result<Vec<OsString>> {
        let options = Options::default().with_packing(self.packing);
        let files = generate(&suite.schema, Lang::C, &options)?;
        fw_codegen::write(folder, &files)?;
        fs::write(folder.join("main.c"), program(suite))?;
        let sources = files.iter().map(|file| file.path.as_str()).filter(|path| path.ends_with(".c"));
        let mut command = Command::new(self.compiler);
        command.current_dir(folder).args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1"]);
        command.args(self.flags).args(sources).args(["main.c", "-o", "program"]);
        compile(command)?;
        let runner = self.runner.iter().map(OsString::from);
        Ok(runner.chain([folder.join("program").into_os_string()]).collect())
    }
}

/// Runs a compiler; its words are the error.
pub(super) fn compile(mut command: Command) -> Result<()> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    let words = String::from_utf8_lossy(&output.stderr);
    let few: String = words.lines().take(20).collect::<Vec<_>>().join("\n");
    ensure!(output.status.success(), "{few}");
    Ok(())
}

/// True when a tool is there.
pub(super) fn runs(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn program(suite: &Suite) -> String {
    let (schema, names) = (&suite.schema, Names::new(&suite.schema));
    let mut out = String::from("#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n");
    for package in schema.packages() {
        out += &format!("#include \"{}.structframe.h\"\n", package.name);
    }
    let messages: Vec<&Message> = schema.ids().map(|(_, message)| message).collect();
    out += "\nunion Any {\n";
    for (at, message) in messages.iter().enumerate() {
        out += &format!("    {} of_{at};\n", names.message(message.index).ty);
    }
    out += "};\n\ntypedef struct Type {\n    const SfMessageType *type;\n    bool (*equals)(const void *, const void *);\n} Type;\n\n";
    for message in &messages {
        let ty = &names.message(message.index).ty;
        out += &format!(
            "static bool equals_{ty}(const void *a, const void *b) {{ return {ty}_equals((const {ty} *)a, (const {ty} *)b); }}\n"
        );
    }
    out += "\nstatic const Type TYPES[] = {\n";
    for message in &messages {
        let ty = &names.message(message.index).ty;
        out += &format!("    {{&{ty}_type, equals_{ty}}},\n");
    }
    out += &format!("}};\nenum {{ TYPE_COUNT = {} }};\n", messages.len());
    out += "\ntypedef struct Case {\n    const Type *type;\n    void (*build)(void *message);\n    SfFraming framing;\n    SfHeader header;\n    SfHeader read;\n    bool nan;\n} Case;\n\n";

    // A value occurs in many framings: one function builds it.
    let mut builders: BTreeMap<String, usize> = BTreeMap::new();
    let mut cases = String::new();
    for case in &suite.cases {
        let (message, value) = (suite.message(case), suite.value(case));
        let known = builders.len();
        let builder = *builders.entry(format!("{} {value:?}", case.message)).or_insert(known);
        if builder == known {
            let mut lines = Vec::new();
            let printer = Printer { schema, names: &names };
            printer.message(message, "m->", &value, &mut lines).expect("values of a suite fit their messages");
            let ty = &names.message(message.index).ty;
            out += &format!(
                "static void build_{builder}(void *message) {{\n    {ty} *m = ({ty} *)message;\n    {ty}_init(m);\n"
            );
            lines.iter().for_each(|line| out += &format!("    {line}\n"));
            out += "}\n\n";
        }
        let place = messages.iter().position(|known| known.index == message.index).expect("a case has an id");
        let Header { sequence, system, component } = case.header;
        let read = |there: bool, value: u8| if there { value } else { 0 };
        let sequence_read = read(case.framing.has_sequence(), sequence);
        let [system_read, component_read] = [system, component].map(|id| read(case.framing.has_system(), id));
        cases += &format!(
            "    {{&TYPES[{place}], build_{builder}, {}, {{{sequence}, {system}, {component}}}, {{{sequence_read}, {system_read}, {component_read}}}, {}}},\n",
            framing(case.framing),
            has_nan(&value)
        );
    }
    out += &format!("static const Case CASES[] = {{\n{cases}}};\nenum {{ CASE_COUNT = {} }};\n\n", suite.cases.len());
    let framings: String = suite.framings.iter().map(|of| format!("    {},\n", framing(*of))).collect();
    out += &format!(
        "static const SfFraming FRAMINGS[] = {{\n{framings}}};\nenum {{ FRAMING_COUNT = {} }};\n\n",
        suite.framings.len()
    );
    let root = suite.schema.messages().first().map(|message| names.package(message.package).prefix.clone());
    out += &format!("#define LOOKUP {}_lookup\n\n", root.unwrap_or_default());
    out + include_str!("c_driver.c")
}

fn framing(framing: Framing) -> String {
    let header = match framing.header {
        HeaderKind::None => "SF_HEADER_NONE",
        HeaderKind::Tiny => "SF_HEADER_TINY",
        HeaderKind::Basic => "SF_HEADER_BASIC",
    };
    format!("{{{header}, (SfPayloadKind){}}}", framing.payload as u8)
}

/// NaN equals nothing: such values are compared by their bytes.
pub(super) fn has_nan(value: &Value<'_>) -> bool {
    match value {
        Value::Float(value) => value.is_nan(),
        Value::Double(value) => value.is_nan(),
        Value::List(list) => list.iter().any(has_nan),
        Value::Message(entries) => entries.iter().any(|(_, value)| has_nan(value)),
        Value::Union(union) => matches!(&**union, UnionValue::Member { value, .. } if has_nan(value)),
        _ => false,
    }
}

struct Printer<'s> {
    schema: &'s Schema,
    names: &'s Names,
}

impl Printer<'_> {
    /// Assignments that give a message its value.
    fn message(&self, message: &Message, prefix: &str, value: &Value<'_>, out: &mut Vec<String>) -> Result<()> {
        let names = self.names.message(message.index);
        for (field, name) in message.fields.iter().zip(&names.fields) {
            let value = value.get(&field.name).context("a value for every field")?;
            let target = format!("{prefix}{name}");
            match value {
                Value::List(list) => {
                    let items = match field.ty.extent() {
                        Some(Extent::Bounded(_)) => {
                            out.push(format!("{target}.count = {};", list.len()));
                            format!("{target}.items")
                        }
                        _ => target,
                    };
                    for (at, value) in list.iter().enumerate() {
                        self.element(field.ty.element(), &format!("{items}[{at}]"), value, out)?;
                    }
                }
                value => self.element(field.ty.element(), &target, value, out)?,
            }
        }
        for (union, union_names) in message.unions.iter().zip(&names.unions) {
            let Some(Value::Union(value)) = value.get(&union.name) else { bail!("no value for {}", union.name) };
            let target = format!("{prefix}{}", union_names.name);
            match &**value {
                UnionValue::Unset => {}
                UnionValue::Member { name, value } => {
                    let place = union.members.iter().position(|member| member.name == *name).context("a member")?;
                    out.push(format!("{target}.tag = {};", union_names.tags[place]));
                    let member = format!("{target}.as.{}", union_names.members[place]);
                    self.element(union.members[place].element, &member, value, out)?;
                }
                UnionValue::Unknown { tag, region } => {
                    out.push(format!("{target}.tag = {tag};"));
                    out.push(format!("memcpy({target}.as.region, {}, {});", text_literal(region), region.len()));
                }
                UnionValue::Untagged(region) => {
                    out.push(format!("memcpy({target}, {}, {});", text_literal(region), region.len()));
                }
            }
        }
        Ok(())
    }

    fn element(&self, element: Element, target: &str, value: &Value<'_>, out: &mut Vec<String>) -> Result<()> {
        match (element, value) {
            (Element::Message(index), value) => {
                // Elements of arrays are zero at first, fields have their defaults.
                return self.message(&self.schema[index], &format!("{target}."), value, out);
            }
            (Element::String(extent) | Element::Bytes(extent), value) => assign_text(extent, target, value, out)?,
            (Element::Scalar(scalar), value) => out.push(format!("{target} = {};", scalar_literal(scalar, value)?)),
            (Element::Enum(_), Value::Enum(byte, _)) => out.push(format!("{target} = {byte};")),
            _ => bail!("{value:?} does not fit"),
        }
        Ok(())
    }
}

/// A literal that C and C++ understand.
pub(super) fn scalar_literal(scalar: Scalar, value: &Value<'_>) -> Result<String> {
    Ok(match value {
        Value::Bool(value) => value.to_string(),
        Value::Unsigned(value) | Value::Unsigned64(value) => {
            if scalar == Scalar::Uint64 {
                format!("UINT64_C({value})")
            } else {
                format!("{value}u")
            }
        }
        Value::Signed(value) | Value::Signed64(value) => match *value {
            i64::MIN => "(-INT64_C(9223372036854775807) - 1)".to_owned(),
            value if scalar == Scalar::Int64 => format!("INT64_C({value})"),
            value => format!("({value})"),
        },
        Value::Float(value) => real(f64::from(*value), format!("{value:?}f")),
        Value::Double(value) => real(*value, format!("{value:?}")),
        _ => bail!("{value:?} is no number"),
    })
}

fn real(value: f64, finite: String) -> String {
    match value {
        value if value.is_nan() => "NAN".to_owned(),
        value if value.is_finite() => finite,
        value if value < 0.0 => "-INFINITY".to_owned(),
        _ => "INFINITY".to_owned(),
    }
}

/// Lines that give text or bytes to a C array, or to one with its length beside it. A default may be longer than the value, so
/// what stands there is cleared.
pub(super) fn assign_text(extent: Extent, target: &str, value: &Value<'_>, out: &mut Vec<String>) -> Result<()> {
    let content = match value {
        Value::Text(text) => text.as_bytes(),
        Value::Bytes(bytes) => bytes,
        _ => bail!("{value:?} is no text"),
    };
    let data = match extent {
        Extent::Fixed(_) => target.to_owned(),
        Extent::Bounded(_) => {
            out.push(format!("{target}.length = {};", content.len()));
            format!("{target}.data")
        }
    };
    out.push(format!("memset({data}, 0, sizeof {data});"));
    if !content.is_empty() {
        out.push(format!("memcpy({data}, {}, {});", text_literal(content), content.len()));
    }
    Ok(())
}
