//! The cases as data: values with as much of the schema as a program needs to build messages by reflection.

use anyhow::{Context as _, Result, anyhow};
use fw_dynamic::{Codec, Layout, UnionValue, Value};
use fw_schema::layout::{Element, Extent, Message, Scalar, Type, Union};
use fw_structframe::HeaderKind;
use serde_json::{Value as Json, json};

use super::super::Suite;
use crate::digest::hex;

/// `{"modules": [package], "cases": [{"message", "header", "payload", "seq", "sys", "comp", "id", "package_id"}]}`.
pub(super) fn json(suite: &Suite) -> Result<Json> {
    let codec = Codec::new(&suite.schema);
    let mut cases = Vec::new();
    for case in &suite.cases {
        let message = suite.message(case);
        let chosen = |union: &str| case.chosen(union);
        let header = match case.framing.header {
            HeaderKind::None => 0,
            HeaderKind::Tiny => 1,
            HeaderKind::Basic => 2,
        };
        cases.push(json!({
            "message": self::message(&codec, message, &suite.value(case), &chosen)?,
            "header": header,
            "payload": case.framing.payload as u8,
            "seq": case.header.sequence,
            "sys": case.header.system,
            "comp": case.header.component,
            "id": message.id,
            "package_id": suite.schema[message.package].id,
        }));
    }
    let modules: Vec<&str> = suite.schema.packages().iter().map(|package| package.name.as_str()).collect();
    Ok(json!({ "modules": modules, "cases": cases }))
}

fn message(
    codec: &Codec<'_>,
    message: &Message,
    value: &Value<'_>,
    chosen: &dyn Fn(&str) -> Option<String>,
) -> Result<Json> {
    let mut fields = Vec::new();
    for field in &message.fields {
        let value = value.get(&field.name).with_context(|| format!("no value for {}", field.name))?;
        fields.push(json!([field.name, self::field(codec, field.ty, value)?]));
    }
    let image = codec.encode(message, Layout::Fixed, value)?;
    let mut unions = Vec::new();
    for union in &message.unions {
        let Some(Value::Union(value)) = value.get(&union.name) else {
            return Err(anyhow!("no value for {}", union.name));
        };
        let region = image.get(union.region_offset()..).and_then(|rest| rest.get(..union.region));
        let region = region.with_context(|| format!("no region for {}", union.name))?;
        unions.push(self::union(codec, union, value, region, chosen)?);
    }
    let package = &codec.schema()[message.package].name;
    Ok(json!({ "module": package, "name": message.name, "fields": fields, "unions": unions }))
}

fn union(
    codec: &Codec<'_>,
    union: &Union,
    value: &UnionValue<'_>,
    region: &[u8],
    chosen: &dyn Fn(&str) -> Option<String>,
) -> Result<Json> {
    let (mut which, mut content, mut tag) = (None, None, Some(0));
    match value {
        UnionValue::Unset => {}
        UnionValue::Member { name, value } => {
            let member = union.member(name).with_context(|| format!("no member {name}"))?;
            which = Some(member.name.clone());
            content = Some(element(codec, member.element, value)?);
            tag = member.tag;
        }
        UnionValue::Untagged(_) => {
            tag = None;
            which = chosen(&union.name);
            let member = which.as_ref().and_then(|name| union.member(name));
            if let Some(member) = member
                && let Element::Message(index) = member.element
            {
                let message = &codec.schema()[index];
                let value = codec.decode(message, Layout::Fixed, &region[..member.size])?;
                content = Some(element(codec, member.element, &value)?);
            }
        }
        UnionValue::Unknown { .. } => return Err(anyhow!("an unknown tag in {}", union.name)),
    }
    Ok(json!({ "name": union.name, "which": which, "value": content, "tag": tag, "region": hex(region) }))
}

fn field(codec: &Codec<'_>, ty: Type, value: &Value<'_>) -> Result<Json> {
    match (ty, value) {
        (Type::Array { element, extent }, Value::List(list)) => {
            let items: Result<Vec<Json>> = list.iter().map(|value| self::element(codec, element, value)).collect();
            Ok(json!({ "kind": "list", "items": items?, "bounded": bounded(extent) }))
        }
        _ => element(codec, ty.element(), value),
    }
}

fn element(codec: &Codec<'_>, element: Element, value: &Value<'_>) -> Result<Json> {
    let wide = matches!(element, Element::Scalar(Scalar::Uint64 | Scalar::Int64));
    let text = |content: &[u8], extent: Extent, kind: &str| json!({ "kind": kind, "bytes": hex(content), "bounded": bounded(extent) });
    Ok(match (element, value) {
        (_, Value::Bool(value)) => json!({ "kind": "bool", "value": value }),
        (_, Value::Unsigned(value) | Value::Unsigned64(value)) => {
            json!({ "kind": "int", "value": value.to_string(), "wide": wide })
        }
        (_, Value::Signed(value) | Value::Signed64(value)) => {
            json!({ "kind": "int", "value": value.to_string(), "wide": wide })
        }
        (_, Value::Float(value)) => json!({ "kind": "real", "bits": hex(&f64::from(*value).to_be_bytes()) }),
        (_, Value::Double(value)) => json!({ "kind": "real", "bits": hex(&value.to_be_bytes()) }),
        (_, Value::Enum(byte, _)) => json!({ "kind": "int", "value": byte.to_string(), "wide": false }),
        (Element::Message(index), value) => {
            let message = &codec.schema()[index];
            json!({ "kind": "message", "message": self::message(codec, message, value, &|_| None)? })
        }
        (Element::String(extent), Value::Text(content)) => text(content.as_bytes(), extent, "text"),
        (Element::String(extent), Value::Bytes(content)) => text(content, extent, "text"),
        (Element::Bytes(extent), Value::Bytes(content)) => text(content, extent, "blob"),
        (element, value) => return Err(anyhow!("{value:?} for {element:?}")),
    })
}

const fn bounded(extent: Extent) -> bool {
    matches!(extent, Extent::Bounded(_))
}
