//! TypeScript and JavaScript, run by Node.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, anyhow, ensure};
use fw_codegen::lang::ts::Names;
use fw_codegen::{Lang, Options, generate, write};
use fw_dynamic::{UnionValue, Value};
use fw_schema::Schema;
use fw_schema::layout::{Element, Message, Scalar, Type};
use fw_structframe::{Framing, HeaderKind, PayloadKind};

use super::python::has_nan;
use super::{Adapter, Suite};

/// Generated TypeScript, compiled by the `tsc` in `FW_TSC` or on the path.
pub(super) struct TypeScript;

/// Generated JavaScript.
pub(super) struct JavaScript;

const PACKAGE: &str = "{ \"private\": true, \"type\": \"module\" }\n";
const PROGRAM: &str = include_str!("script/program.js");

impl Adapter for JavaScript {
    fn name(&self) -> &'static str {
        Lang::JavaScript.name()
    }

    fn missing(&self) -> Option<String> {
        node_missing()
    }

    fn build(&self, suite: &Suite, folder: &Path) -> Result<Vec<OsString>> {
        write(&folder.join("generated"), &generate(&suite.schema, Lang::JavaScript, &Options::default())?)?;
        fs::write(folder.join("package.json"), PACKAGE)?;
        fs::write(folder.join("cases.js"), cases(suite, Lang::JavaScript)?)?;
        fs::write(folder.join("program.js"), PROGRAM)?;
        Ok(vec!["node".into(), folder.join("program.js").into_os_string()])
    }
}

impl Adapter for TypeScript {
    fn name(&self) -> &'static str {
        Lang::TypeScript.name()
    }

    fn missing(&self) -> Option<String> {
        let works = Command::new(compiler()).arg("--version").output().is_ok_and(|output| output.status.success());
        node_missing().or_else(|| (!works).then(|| "needs TypeScript: npm install typescript (FW_TSC)".to_owned()))
    }

    fn build(&self, suite: &Suite, folder: &Path) -> Result<Vec<OsString>> {
        let source = folder.join("source");
        write(&source.join("generated"), &generate(&suite.schema, Lang::TypeScript, &Options::default())?)?;
        fs::write(source.join("cases.ts"), cases(suite, Lang::TypeScript)?)?;
        fs::write(folder.join("package.json"), PACKAGE)?;
        let mut tsc = Command::new(compiler());
        tsc.args(["--strict", "--target", "es2022", "--lib", "es2022", "--module", "esnext", "--types", ""]);
        tsc.args(["--moduleResolution", "bundler", "--rootDir", "source", "--outDir", "out"]);
        let output = tsc.args(["source/cases.ts", "source/generated/index.ts"]).current_dir(folder).output()?;
        let words = String::from_utf8_lossy(&output.stdout).into_owned();
        ensure!(output.status.success(), "tsc: {}", words.lines().take(8).collect::<Vec<_>>().join("; "));
        fs::write(folder.join("out/program.js"), PROGRAM)?;
        Ok(vec!["node".into(), folder.join("out/program.js").into_os_string()])
    }
}

fn node_missing() -> Option<String> {
    let works = Command::new("node").arg("--version").output().is_ok_and(|output| output.status.success());
    (!works).then(|| "needs Node 18 or newer: apt-get install nodejs".to_owned())
}

pub(super) fn compiler() -> OsString {
    std::env::var_os("FW_TSC").unwrap_or_else(|| "tsc".into())
}

/// The cases as expressions of both languages.
fn cases(suite: &Suite, lang: Lang) -> Result<String> {
    let names = Names::new(&suite.schema);
    let mut text = String::from("import { Framing } from \"./generated/runtime/index.js\";\n");
    let mut modules: Vec<&str> = suite.schema.messages().iter().map(|message| names.module(message.package)).collect();
    modules.sort_unstable();
    modules.dedup();
    for module in modules {
        writeln!(text, "import * as ${module} from \"./generated/{module}.js\";")?;
    }
    let hint = if lang == Lang::TypeScript { ": readonly unknown[]" } else { "" };
    writeln!(text, "const hex = (digits{}) =>", if lang == Lang::TypeScript { ": string" } else { "" })?;
    writeln!(
        text,
        "  Uint8Array.from({{ length: digits.length / 2 }}, (_, i) => parseInt(digits.slice(2 * i, 2 * i + 2), 16));"
    )?;
    writeln!(text, "\nexport const FRAMINGS{hint} = [")?;
    suite.framings.iter().try_for_each(|framing| writeln!(text, "  {},", self::framing(*framing)))?;
    writeln!(text, "];\n\nexport const CASES{hint} = [")?;
    let printer = Printer { schema: &suite.schema, names: &names };
    for case in &suite.cases {
        let message = suite.message(case);
        let value = suite.value(case);
        let header = &case.header;
        let (sequence, system, component) = (header.sequence, header.system, header.component);
        writeln!(text, "  {{")?;
        writeln!(text, "    framing: {},", framing(case.framing))?;
        writeln!(text, "    header: {{ sequence: {sequence}, system: {system}, component: {component} }},")?;
        writeln!(text, "    message: {},", printer.message(message, &value)?)?;
        writeln!(text, "    hasNan: {},\n  }},", has_nan(&value))?;
    }
    writeln!(text, "];")?;
    Ok(text)
}

fn framing(framing: Framing) -> String {
    let header = match framing.header {
        HeaderKind::None => "none",
        HeaderKind::Tiny => "tiny",
        HeaderKind::Basic => "basic",
    };
    let payload = match framing.payload {
        PayloadKind::Minimal => "minimal",
        PayloadKind::Default => "default",
        PayloadKind::ExtendedMsgIds => "extendedMsgIds",
        PayloadKind::ExtendedLength => "extendedLength",
        PayloadKind::Extended => "extended",
        PayloadKind::SysComp => "sysComp",
        PayloadKind::Seq => "seq",
        PayloadKind::MultiSystemStream => "multiSystemStream",
        PayloadKind::ExtendedMultiSystemStream => "extendedMultiSystemStream",
    };
    format!("new Framing(\"{header}\", \"{payload}\")")
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
            parts.push(format!("{name}: {}", self.field(field.ty, value)?));
        }
        for (union, names) in message.unions.iter().zip(self.names.unions(message.index)) {
            let Some(Value::Union(value)) = value.get(&union.name) else {
                return Err(anyhow!("no value for {}", union.name));
            };
            let literal = match &**value {
                UnionValue::Unset => "null".to_owned(),
                UnionValue::Member { name, value } => {
                    let at = union.members.iter().position(|member| member.name == *name);
                    let at = at.ok_or_else(|| anyhow!("no member {name}"))?;
                    let value = self.element(union.members[at].element, value)?;
                    format!("{{ which: {:?}, value: {value} }}", names.members[at])
                }
                UnionValue::Unknown { tag, region } => {
                    format!("{{ which: null, tag: {tag}, region: {} }}", bytes(region))
                }
                UnionValue::Untagged(region) => {
                    format!("new ${}.{}({})", self.names.module(message.package), names.ty, bytes(region))
                }
            };
            parts.push(format!("{}: {literal}", names.property));
        }
        let (module, class) = (self.names.module(message.package), self.names.message(message.index));
        let init = if parts.is_empty() { String::new() } else { format!("{{ {} }}", parts.join(", ")) };
        Ok(format!("new ${module}.{class}({init})"))
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
        let wide = matches!(element, Element::Scalar(Scalar::Uint64 | Scalar::Int64));
        let end = if wide { "n" } else { "" };
        Ok(match (element, value) {
            (_, Value::Bool(value)) => value.to_string(),
            (_, Value::Unsigned(value) | Value::Unsigned64(value)) => format!("{value}{end}"),
            (_, Value::Signed(value) | Value::Signed64(value)) => format!("{value}{end}"),
            (_, Value::Float(value)) => real(f64::from(*value)),
            (_, Value::Double(value)) => real(*value),
            (_, Value::Enum(byte, _)) => byte.to_string(),
            (Element::Message(index), value) => self.message(&self.schema[index], value)?,
            (Element::String(_), Value::Text(text)) => {
                let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
                format!("\"{units}\"")
            }
            (Element::String(_), Value::Bytes(_)) => return Err(anyhow!("text that is no UTF-8")),
            (_, Value::Bytes(content)) => bytes(content),
            (element, value) => return Err(anyhow!("{value:?} for {element:?}")),
        })
    }
}

fn real(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    match value {
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        _ => format!("{value:?}"),
    }
}

fn bytes(content: &[u8]) -> String {
    let digits: String = content.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("hex(\"{digits}\")")
}
