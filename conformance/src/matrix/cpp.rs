//! Generated C++, under the address and undefined-behaviour sanitizers.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use fw_codegen::lang::c::text_literal;
use fw_codegen::lang::cpp::Names;
use fw_codegen::{Lang, Options, generate};
use fw_dynamic::{UnionValue, Value};
use fw_schema::Schema;
use fw_schema::layout::{Element, Extent, Message};
use fw_structframe::{Framing, Header, HeaderKind};

use super::c::{compile, has_nan, runs, scalar_literal};
use super::{Adapter, Suite};

pub(super) struct Cpp;

impl Adapter for Cpp {
    fn name(&self) -> &'static str {
        Lang::Cpp.name()
    }

    fn missing(&self) -> Option<String> {
        (!runs("g++")).then(|| "no g++: apt-get install g++".to_owned())
    }

    fn build(&self, suite: &Suite, folder: &Path) -> Result<Vec<OsString>> {
        let files = generate(&suite.schema, Lang::Cpp, &Options::default())?;
        fw_codegen::write(folder, &files)?;
        fs::write(folder.join("driver.hpp"), include_str!("cpp_driver.hpp"))?;
        fs::write(folder.join("main.cpp"), program(suite)?)?;
        let mut command = Command::new("g++");
        command.current_dir(folder).args(["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O0"]);
        command.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "main.cpp", "-o", "program"]);
        compile(command)?;
        Ok(vec![folder.join("program").into_os_string()])
    }
}

fn program(suite: &Suite) -> Result<String> {
    let (schema, names) = (&suite.schema, Names::new(&suite.schema));
    let mut out = String::new();
    for package in schema.packages() {
        out += &format!("#include \"{}.structframe.hpp\"\n", package.name);
    }
    out += "#include \"driver.hpp\"\n\n";
    let printer = Printer { schema, names: &names };
    // A value occurs in many framings: one function builds it.
    let mut builders: BTreeMap<String, usize> = BTreeMap::new();
    let mut cases = String::new();
    for case in &suite.cases {
        let (message, value) = (suite.message(case), suite.value(case));
        let ty = printer.path(message);
        let known = builders.len();
        let builder = *builders.entry(format!("{} {value:?}", case.message)).or_insert(known);
        if builder == known {
            let mut lines = Vec::new();
            printer.message(message, "m", &value, &mut lines)?;
            out += &format!("static {ty} build_{builder}() {{\n    {ty} m;\n");
            lines.iter().for_each(|line| out += &format!("    {line}\n"));
            out += "    return m;\n}\n\n";
        }
        let Header { sequence, system, component } = case.header;
        let read = |there: bool, value: u8| if there { value } else { 0 };
        let sequence_read = read(case.framing.has_sequence(), sequence);
        let [system_read, component_read] = [system, component].map(|id| read(case.framing.has_system(), id));
        cases += &format!(
            "    {{{}, {{{sequence}, {system}, {component}}}, {{{sequence_read}, {system_read}, {component_read}}}, write_case<{ty}, build_{builder}>, check_case<{ty}, build_{builder}, {}>}},\n",
            framing(case.framing),
            has_nan(&value)
        );
    }
    out += &format!("const std::vector<Case> cases{{\n{cases}}};\n");
    let framings: Vec<String> = suite.framings.iter().map(|of| framing(*of)).collect();
    out += &format!("const std::vector<sf::Framing> framings{{{}}};\n", framings.join(", "));
    let spaces: Vec<&str> = schema.messages().iter().map(|message| names.package(message.package)).collect();
    let root = spaces.first().context("a schema has messages")?;
    out += &format!("const sf::Lookup lookup = sf::{root}::lookup;\n\n");
    out += "void again(sf::Framing framing, const sf::Event& frame, Sum& sum) {\n    std::vector<std::uint8_t> out(room);\n";
    out += "    const auto visit = [&](const auto& message) {\n        must(message == message);\n";
    out += "        const auto written = sf::write(message, framing, frame.header, out.data(), out.size());\n";
    out += "        must(static_cast<bool>(written));\n        sum.add(out.data(), written.length);\n    };\n";
    let mut seen = Vec::new();
    for space in spaces {
        if !seen.contains(&space) {
            out += &format!(
                "    if (sf::{space}::dispatch(framing, frame, visit) == sf::Status::Ok) {{\n        return;\n    }}\n"
            );
            seen.push(space);
        }
    }
    out += "}\n";
    Ok(out)
}

fn framing(framing: Framing) -> String {
    let header = match framing.header {
        HeaderKind::None => "None",
        HeaderKind::Tiny => "Tiny",
        HeaderKind::Basic => "Basic",
    };
    format!("{{sf::HeaderKind::{header}, static_cast<sf::PayloadKind>({})}}", framing.payload as u8)
}

struct Printer<'s> {
    schema: &'s Schema,
    names: &'s Names,
}

impl Printer<'_> {
    fn path(&self, message: &Message) -> String {
        format!("sf::{}::{}", self.names.package(message.package), self.names.message(message.index).ty)
    }

    /// Statements that give a message its value.
    fn message(&self, message: &Message, target: &str, value: &Value<'_>, out: &mut Vec<String>) -> Result<()> {
        let names = self.names.message(message.index);
        for (field, name) in message.fields.iter().zip(&names.fields) {
            let value = value.get(&field.name).context("a value for every field")?;
            let target = format!("{target}.{name}");
            match value {
                Value::List(list) => {
                    if let Some(Extent::Bounded(_)) = field.ty.extent() {
                        out.push(format!("must({target}.resize({}));", list.len()));
                    }
                    for (at, value) in list.iter().enumerate() {
                        self.element(field.ty.element(), &format!("{target}[{at}]"), value, out)?;
                    }
                }
                value => self.element(field.ty.element(), &target, value, out)?,
            }
        }
        for (union, union_names) in message.unions.iter().zip(&names.unions) {
            let Some(Value::Union(value)) = value.get(&union.name) else { bail!("no value for {}", union.name) };
            let target = format!("{target}.{}", union_names.name);
            match &**value {
                UnionValue::Unset => {}
                UnionValue::Member { name, value } => {
                    let place = union.members.iter().position(|member| member.name == *name).context("a member")?;
                    let member = &union_names.members[place];
                    out.push(format!("{target}.set_{member}();"));
                    self.element(union.members[place].element, &format!("(*{target}.as_{member}())"), value, out)?;
                }
                UnionValue::Unknown { tag, region } => {
                    let index = union.members.len() + 1;
                    let bytes: Vec<String> = region.iter().map(u8::to_string).collect();
                    out.push(format!("{target}.value.emplace<{index}>().tag = {tag};"));
                    out.push(format!("std::get<{index}>({target}.value).region = {{{{{}}}}};", bytes.join(", ")));
                }
                UnionValue::Untagged(region) => {
                    let bytes: Vec<String> = region.iter().map(u8::to_string).collect();
                    out.push(format!("{target}.bytes = {{{{{}}}}};", bytes.join(", ")));
                }
            }
        }
        Ok(())
    }

    fn element(&self, element: Element, target: &str, value: &Value<'_>, out: &mut Vec<String>) -> Result<()> {
        match (element, value) {
            (Element::Message(index), value) => return self.message(&self.schema[index], target, value, out),
            (Element::Scalar(scalar), value) => out.push(format!("{target} = {};", scalar_literal(scalar, value)?)),
            (Element::Enum(_), Value::Enum(byte, _)) => {
                out.push(format!("{target} = static_cast<std::decay_t<decltype({target})>>({byte});"));
            }
            (Element::String(_), Value::Text(text)) => {
                out.push(format!("must({target}.assign({}));", view(text.as_bytes())));
            }
            (Element::String(_), Value::Bytes(text)) => out.push(format!("must({target}.assign({}));", view(text))),
            (Element::Bytes(Extent::Fixed(_)), Value::Bytes(bytes)) => {
                let bytes: Vec<String> = bytes.iter().map(u8::to_string).collect();
                out.push(format!("{target} = {{{{{}}}}};", bytes.join(", ")));
            }
            (Element::Bytes(_), Value::Bytes(bytes)) => {
                out.push(format!("must({target}.resize({}));", bytes.len()));
                if !bytes.is_empty() {
                    out.push(format!("std::memcpy({target}.data(), {}, {});", text_literal(bytes), bytes.len()));
                }
            }
            _ => bail!("{value:?} does not fit"),
        }
        Ok(())
    }
}

fn view(text: &[u8]) -> String {
    format!("structframe::TextView({}, {})", text_literal(text), text.len())
}
