//! Python.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, anyhow};
use fw_codegen::lang::python::Names;
use fw_codegen::{Lang, Options, generate, write};
use fw_dynamic::{UnionValue, Value};
use fw_schema::Schema;
use fw_schema::layout::{Element, Message, Type};
use fw_structframe::{Framing, HeaderKind};

use super::{Adapter, Case, Suite};

/// Generated Python, run by the interpreter in `FW_PYTHON`, or `python3`.
pub(super) struct Python;

impl Adapter for Python {
    fn name(&self) -> &'static str {
        Lang::Python.name()
    }

    fn missing(&self) -> Option<String> {
        let version =
            Command::new(interpreter()).args(["-c", "import sys; sys.exit(sys.version_info < (3, 10))"]).output();
        match version {
            Ok(output) if output.status.success() => None,
            _ => Some("needs Python 3.10 or newer: apt-get install python3".to_owned()),
        }
    }

    fn build(&self, suite: &Suite, folder: &Path) -> Result<Vec<OsString>> {
        let files = generate(&suite.schema, Lang::Python, &Options::default())?;
        write(&folder.join("generated"), &files)?;
        fs::write(folder.join("cases.py"), cases(suite)?)?;
        fs::write(folder.join("program.py"), include_str!("python/program.py"))?;
        Ok(vec![interpreter(), folder.join("program.py").into_os_string()])
    }
}

fn interpreter() -> OsString {
    std::env::var_os("FW_PYTHON").unwrap_or_else(|| "python3".into())
}

/// The cases as Python expressions.
fn cases(suite: &Suite) -> Result<String> {
    let names = Names::new(&suite.schema);
    let mut text = String::from("import math\n\nfrom generated.runtime import *\n");
    for package in used_modules(&suite.schema, &names) {
        writeln!(text, "from generated import {package}")?;
    }
    writeln!(text, "\nFRAMINGS = [")?;
    suite.framings.iter().try_for_each(|framing| writeln!(text, "    {},", self::framing(*framing)))?;
    writeln!(text, "]\n\nCASES = [")?;
    let printer = Printer { schema: &suite.schema, names: &names };
    for case in &suite.cases {
        let message = suite.message(case);
        let value = suite.value(case);
        let literal = printer.message(message, &value)?;
        writeln!(text, "    ({}, {}, {}, {}),", framing(case.framing), header(case), literal, flag(has_nan(&value)))?;
    }
    writeln!(text, "]")?;
    Ok(text)
}

fn used_modules<'n>(schema: &Schema, names: &'n Names) -> Vec<&'n str> {
    let mut modules: Vec<&str> = schema.messages().iter().map(|message| names.module(message.package)).collect();
    modules.extend(schema.enums().iter().map(|declared| names.module(declared.package)));
    modules.sort_unstable();
    modules.dedup();
    modules
}

fn framing(framing: Framing) -> String {
    let header = match framing.header {
        HeaderKind::None => "NONE",
        HeaderKind::Tiny => "TINY",
        HeaderKind::Basic => "BASIC",
    };
    format!("Framing(HeaderKind.{header}, PayloadKind({}))", framing.payload as u8)
}

fn header(case: &Case) -> String {
    format!("Header({}, {}, {})", case.header.sequence, case.header.system, case.header.component)
}

const fn flag(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

/// True when something in the value is not equal to itself.
pub(super) fn has_nan(value: &Value<'_>) -> bool {
    match value {
        Value::Float(value) => value.is_nan(),
        Value::Double(value) => value.is_nan(),
        Value::List(list) => list.iter().any(has_nan),
        Value::Message(entries) => entries.iter().any(|(_, value)| has_nan(value)),
        Value::Union(value) => matches!(&**value, UnionValue::Member { value, .. } if has_nan(value)),
        _ => false,
    }
}

struct Printer<'s> {
    schema: &'s Schema,
    names: &'s Names,
}

impl Printer<'_> {
    fn message(&self, message: &Message, value: &Value<'_>) -> Result<String> {
        let mut parts = Vec::new();
        for (field, name) in message.fields.iter().zip(self.names.fields(message.index)) {
            let value = value.get(&field.name).ok_or_else(|| anyhow!("no value for {}", field.name))?;
            parts.push(format!("{name}={}", self.field(field.ty, value)?));
        }
        for (union, names) in message.unions.iter().zip(self.names.unions(message.index)) {
            let Some(Value::Union(value)) = value.get(&union.name) else {
                return Err(anyhow!("no value for {}", union.name));
            };
            let module = self.names.module(message.package);
            let literal = match &**value {
                UnionValue::Unset => "None".to_owned(),
                UnionValue::Member { name, value } => {
                    let at = union.members.iter().position(|member| member.name == *name);
                    let at = at.ok_or_else(|| anyhow!("no member {name}"))?;
                    let value = self.element(union.members[at].element, value)?;
                    format!("{module}.{}({value})", names.variants[at])
                }
                UnionValue::Unknown { tag, region } => format!("UnknownVariant({tag}, {})", bytes(region)),
                UnionValue::Untagged(region) => format!("{module}.{}({})", names.ty, bytes(region)),
            };
            parts.push(format!("{}={literal}", names.attribute));
        }
        let (module, class) = (self.names.module(message.package), self.names.message(message.index));
        Ok(format!("{module}.{class}({})", parts.join(", ")))
    }

    fn field(&self, ty: Type, value: &Value<'_>) -> Result<String> {
        match (ty, value) {
            (Type::Array { element, .. }, Value::List(list)) => {
                let items: Result<Vec<String>> = list.iter().map(|value| self.element(element, value)).collect();
                Ok(format!("[{}]", items?.join(", ")))
            }
            _ => self.element(ty.element(), value),
        }
    }

    fn element(&self, element: Element, value: &Value<'_>) -> Result<String> {
        Ok(match (element, value) {
            (_, Value::Bool(value)) => flag(*value).to_owned(),
            (_, Value::Unsigned(value) | Value::Unsigned64(value)) => value.to_string(),
            (_, Value::Signed(value) | Value::Signed64(value)) => value.to_string(),
            (_, Value::Float(value)) => real(f64::from(*value)),
            (_, Value::Double(value)) => real(*value),
            (Element::Enum(index), Value::Enum(byte, _)) => {
                let declared = &self.schema[index];
                format!("{}.{}({byte})", self.names.module(declared.package), self.names.enumeration(index))
            }
            (Element::Message(index), value) => self.message(&self.schema[index], value)?,
            (Element::String(_), Value::Text(text)) => format!("{}.decode()", bytes(text.as_bytes())),
            (Element::String(_), Value::Bytes(content)) => {
                format!("{}.decode(\"utf-8\", \"surrogateescape\")", bytes(content))
            }
            (_, Value::Bytes(content)) => bytes(content),
            (element, value) => return Err(anyhow!("{value:?} for {element:?}")),
        })
    }
}

fn real(value: f64) -> String {
    if value.is_nan() {
        return "math.nan".to_owned();
    }
    match value {
        f64::INFINITY => "math.inf".to_owned(),
        f64::NEG_INFINITY => "-math.inf".to_owned(),
        _ => format!("{value:?}"),
    }
}

fn bytes(content: &[u8]) -> String {
    let digits: String = content.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("bytes.fromhex(\"{digits}\")")
}
