//! The reference package's Rust: its crate and the program, each one call of `rustc`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, anyhow, bail};
use fw_dynamic::{Codec, Layout, UnionValue, Value};
use fw_schema::Schema;
use fw_schema::ast::{Item, Site};
use fw_schema::layout::{Element, Extent, Message};
use fw_structframe::HeaderKind;

use super::super::c::compile;
use super::super::{Case, Suite};
use super::{defects, generated};

/// Builds the program against what was generated into `sources`. Where one message keeps all from compiling, the package is
/// asked again without those that are known to.
pub(super) fn build(suite: &Suite, sources: &Path, folder: &Path) -> Result<Vec<OsString>> {
    let left_out = match package(sources, folder) {
        Ok(()) => false,
        Err(error) if !suite.schema.messages().iter().any(|message| is_left_out(suite, message)) => return Err(error),
        Err(_) => {
            fs::write(folder.join("less.sf"), less(suite)?)?;
            generated::generate(&folder.join("less.sf"), &["--build_rust"], folder)?;
            package(folder, folder)?;
            true
        }
    };
    fs::write(folder.join("driver.rs"), include_str!("driver.rs"))?;
    fs::write(folder.join("main.rs"), program(suite, left_out)?)?;
    let mut program = Command::new("rustc");
    program.current_dir(folder).args(["--edition", "2021", "--crate-name", "program", "--cap-lints", "allow"]);
    program.args(["-C", "opt-level=0", "--extern", "struct_frame_sdk=libstruct_frame_sdk.rlib", "main.rs"]);
    compile(program)?;
    Ok(vec![folder.join("program").into_os_string()])
}

/// What was generated refers to itself as a crate, so it is one. Warnings of code that is not ours tell nothing.
fn package(sources: &Path, folder: &Path) -> Result<()> {
    let mut package = Command::new("rustc");
    package.current_dir(folder).args(["--crate-type", "rlib", "--crate-name", "struct_frame_sdk", "--edition", "2021"]);
    package.args(["--cap-lints", "allow", "-C", "opt-level=0"]).arg(sources.join("generated/rust/lib.rs"));
    compile(package)
}

fn is_left_out(suite: &Suite, message: &Message) -> bool {
    defects::rust_message(&suite.schema, message).is_some()
}

/// The schema without the messages that do not compile.
fn less(suite: &Suite) -> Result<String> {
    let text = fs::read_to_string(&suite.schema_path)?;
    let tree = fw_schema::parse_text("schema", &text).map_err(|faults| anyhow!("{faults}"))?;
    let mut out = text.into_bytes();
    for item in &tree.items {
        if let Item::Message(declared) = &item.value
            && let Some(message) = suite.schema.find(&declared.name.text)
            && is_left_out(suite, message)
        {
            let Site(span) = item.site;
            out.get_mut(span.start as usize..span.end as usize).context("a place in the text")?.fill(b' ');
        }
    }
    Ok(String::from_utf8(out)?)
}

fn program(suite: &Suite, left_out: bool) -> Result<String> {
    let mut out = "mod driver;\n\nuse driver::{Case, config, real};\nuse struct_frame_sdk as sdk;\n\n".to_owned();
    let mut builders: BTreeMap<String, usize> = BTreeMap::new();
    let mut cases = String::new();
    for case in &suite.cases {
        let message = suite.message(case);
        if left_out && is_left_out(suite, message) {
            writeln!(cases, "    {},", entry(case, message, "driver::Absent"))?;
            continue;
        }
        let chosen = |union: &str| case.chosen(union);
        let printer = Printer { schema: &suite.schema, chosen: &chosen };
        let ty = printer.type_name(message);
        let mut lines = Vec::new();
        printer.message(message, "m", &suite.value(case), &mut lines)?;
        let lines = lines.join("\n    ");
        let place = builders.len();
        let builder = *builders.entry(format!("{ty}\n{lines}")).or_insert(place);
        if builder == place {
            writeln!(
                out,
                "fn build_{builder}() -> {ty} {{\n    let mut m = {ty}::default();\n    {lines}\n    m\n}}\n"
            )?;
        }
        writeln!(cases, "    {},", entry(case, message, &format!("build_{builder}")))?;
    }
    writeln!(out, "fn main() {{\n    driver::main(&[\n{cases}    ]);\n}}")?;
    Ok(out)
}

/// A line of the table of cases.
fn entry(case: &Case, message: &Message, builder: &str) -> String {
    let header = match case.framing.header {
        HeaderKind::None => "NONE",
        HeaderKind::Tiny => "TINY",
        HeaderKind::Basic => "BASIC",
    };
    let (payload, ids) = (case.framing.payload as u8, &case.header);
    format!(
        "Case {{ id: {}, config: config(sdk::frame_headers::HEADER_{header}_CONFIG, {payload}), ids: [{}, {}, {}], \
         build: Box::new({builder}) }}",
        message.id.unwrap_or_default(),
        ids.sequence,
        ids.system,
        ids.component
    )
}

/// A value as assignments to the fields of the package's struct.
struct Printer<'s> {
    schema: &'s Schema,
    chosen: &'s dyn Fn(&str) -> Option<String>,
}

impl Printer<'_> {
    fn type_name(&self, message: &Message) -> String {
        format!("sdk::{}::{}", self.schema[message.package].name, message.name)
    }

    fn message(&self, message: &Message, of: &str, value: &Value<'_>, out: &mut Vec<String>) -> Result<()> {
        for field in &message.fields {
            let target = format!("{of}.{}", field.name);
            match value.get(&field.name).context("a value for every field")? {
                Value::List(list) => {
                    if let Some(Extent::Bounded(_)) = field.ty.extent() {
                        out.push(format!("{target}_count = {};", list.len()));
                    }
                    for (at, item) in list.iter().enumerate() {
                        self.element(field.ty.element(), &format!("{target}[{at}]"), item, out)?;
                    }
                }
                value => self.element(field.ty.element(), &target, value, out)?,
            }
        }
        for union in &message.unions {
            let Some(Value::Union(value)) = value.get(&union.name) else { bail!("no value for {}", union.name) };
            let (name, value) = match &**value {
                UnionValue::Unset => continue,
                UnionValue::Member { name, value } => (name.to_string(), value.clone()),
                UnionValue::Untagged(region) => {
                    let Some(name) = (self.chosen)(&union.name) else { continue };
                    let member = union.member(&name).context("a member")?;
                    let Element::Message(index) = member.element else { bail!("an untagged {name}") };
                    let region = region.get(..member.size).context("a region for every member")?;
                    (name, Codec::new(self.schema).decode(&self.schema[index], Layout::Fixed, region)?)
                }
                UnionValue::Unknown { .. } => bail!("an unknown tag in {}", union.name),
            };
            let Some(Element::Message(index)) = union.member(&name).map(|member| member.element) else {
                bail!("{name} is no message")
            };
            let member = &self.schema[index];
            let mut lines = vec![format!("let mut inner = {}::default();", self.type_name(member))];
            self.message(member, "inner", &value, &mut lines)?;
            out.push(format!("{of}.set_{name}(&{{ {} inner }});", lines.join(" ")));
        }
        Ok(())
    }

    fn element(&self, element: Element, target: &str, value: &Value<'_>, out: &mut Vec<String>) -> Result<()> {
        let line = match (element, value) {
            (Element::Message(index), value) => return self.message(&self.schema[index], target, value, out),
            (Element::String(extent) | Element::Bytes(extent), value) => {
                let content = match value {
                    Value::Text(text) => text.as_bytes(),
                    Value::Bytes(bytes) => bytes,
                    _ => bail!("{value:?} is no text"),
                };
                if let Extent::Bounded(_) = extent {
                    out.push(format!("{target}_length = {};", content.len()));
                }
                // A default may be longer than the value.
                out.push(format!("{target}.fill(0);"));
                format!("{target}[..{}].copy_from_slice(b\"{}\");", content.len(), content.escape_ascii())
            }
            (_, Value::Bool(value)) => format!("{target} = {value};"),
            (_, Value::Unsigned(value) | Value::Unsigned64(value)) => format!("{target} = {value};"),
            (_, Value::Signed(value) | Value::Signed64(value)) => format!("{target} = {value};"),
            (_, Value::Float(value)) => format!("{target} = real(0x{:016x}) as f32;", f64::from(*value).to_bits()),
            (_, Value::Double(value)) => format!("{target} = real(0x{:016x});", value.to_bits()),
            (Element::Enum(index), Value::Enum(byte, _)) => {
                let of = &self.schema[index];
                let parent = of.parent.map_or("", |parent| self.schema[parent].name.as_str());
                let ty = format!("sdk::{}::{parent}{}", self.schema[of.package].name, of.name);
                // There are no others (R11).
                format!("{target} = {ty}::from_u8({byte}).unwrap_or_default();")
            }
            _ => bail!("{value:?} does not fit"),
        };
        out.push(line);
        Ok(())
    }
}
