//! A value as assignments to the fields of the package's struct, which `m` points to.

use anyhow::{Context as _, Result, bail};
use fw_dynamic::{Codec, Layout, UnionValue, Value};
use fw_schema::Schema;
use fw_schema::layout::{Element, Extent, Message};

use super::super::super::c::assign_text;
use super::super::super::{Case, Suite};
use super::Dialect;

pub(super) fn lines(dialect: Dialect, suite: &Suite, case: &Case) -> Result<Vec<String>> {
    let chosen = |union: &str| case.chosen(union);
    let printer = Printer { dialect, schema: &suite.schema, chosen: &chosen };
    let mut lines = Vec::new();
    printer.message(suite.message(case), "m->", &suite.value(case), &mut lines)?;
    Ok(lines)
}

struct Printer<'s> {
    dialect: Dialect,
    schema: &'s Schema,
    chosen: &'s dyn Fn(&str) -> Option<String>,
}

impl Printer<'_> {
    fn message(&self, message: &Message, prefix: &str, value: &Value<'_>, out: &mut Vec<String>) -> Result<()> {
        for field in &message.fields {
            let target = format!("{prefix}{}", field.name);
            match value.get(&field.name).context("a value for every field")? {
                Value::List(list) => {
                    let items = match field.ty.extent() {
                        Some(Extent::Bounded(_)) => {
                            out.push(format!("{target}.count = {};", list.len()));
                            format!("{target}.data")
                        }
                        _ => target,
                    };
                    for (at, item) in list.iter().enumerate() {
                        self.element(field.ty.element(), &format!("{items}[{at}]"), item, out)?;
                    }
                }
                value => self.element(field.ty.element(), &target, value, out)?,
            }
        }
        for union in &message.unions {
            let Some(Value::Union(value)) = value.get(&union.name) else { bail!("no value for {}", union.name) };
            let target = format!("{prefix}{}", union.name);
            match &**value {
                UnionValue::Unset => {}
                UnionValue::Member { name, value } => {
                    let member = union.member(name).context("a member")?;
                    let tag = member.tag.context("a tagged member")?;
                    out.push(self.number(&format!("{target}_discriminator"), &tag.to_string()));
                    self.element(member.element, &format!("{target}.{name}"), value, out)?;
                }
                UnionValue::Untagged(region) => {
                    let Some(name) = (self.chosen)(&union.name) else { continue };
                    let member = union.member(&name).context("a member")?;
                    let Element::Message(index) = member.element else { bail!("an untagged {name}") };
                    let region = region.get(..member.size).context("a region for every member")?;
                    let value = Codec::new(self.schema).decode(&self.schema[index], Layout::Fixed, region)?;
                    self.element(member.element, &format!("{target}.{name}"), &value, out)?;
                }
                UnionValue::Unknown { .. } => bail!("an unknown tag in {}", union.name),
            }
        }
        Ok(())
    }

    fn element(&self, element: Element, target: &str, value: &Value<'_>, out: &mut Vec<String>) -> Result<()> {
        let line = match (element, value) {
            (Element::Message(index), value) => {
                return self.message(&self.schema[index], &format!("{target}."), value, out);
            }
            (Element::String(extent) | Element::Bytes(extent), value) => {
                return assign_text(extent, target, value, out);
            }
            (_, Value::Bool(value)) => format!("{target} = {value};"),
            (_, Value::Unsigned(value) | Value::Unsigned64(value)) => format!("{target} = {value}u;"),
            (_, Value::Signed(i64::MIN) | Value::Signed64(i64::MIN)) => format!("{target} = INT64_MIN;"),
            (_, Value::Signed(value) | Value::Signed64(value)) => format!("{target} = {value};"),
            (_, Value::Float(value)) => format!("{target} = real(0x{:016x}u);", f64::from(*value).to_bits()),
            (_, Value::Double(value)) => format!("{target} = real(0x{:016x}u);", value.to_bits()),
            (_, Value::Enum(byte, _)) => self.number(target, &byte.to_string()),
            _ => bail!("{value:?} does not fit"),
        };
        out.push(line);
        Ok(())
    }

    /// An enum, or a tag that may be one.
    fn number(&self, target: &str, number: &str) -> String {
        match self.dialect {
            Dialect::C => format!("{target} = {number};"),
            Dialect::Cpp => format!("{target} = static_cast<std::decay_t<decltype({target})>>({number});"),
        }
    }
}
