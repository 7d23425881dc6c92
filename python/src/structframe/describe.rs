//! What is in a schema, as dicts.

use framewright::dynamic::shown_name;
use framewright::schema::Schema;
use framewright::schema::layout::{Element, Extent, Message, Type};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The messages by name: id, sizes, fields and oneofs.
///
/// # Errors
/// When an object cannot be made.
pub(super) fn messages<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for message in schema.messages() {
        dict.set_item(shown_name(schema, message), one(py, schema, message)?)?;
    }
    Ok(dict)
}

fn one<'py>(py: Python<'py>, schema: &Schema, message: &Message) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("id", message.id)?;
    dict.set_item("size", message.sizes.max)?;
    dict.set_item("min_size", message.sizes.min)?;
    dict.set_item("variable", message.variable)?;
    let fields = PyList::empty(py);
    for field in &message.fields {
        let item = element(py, schema, field.ty.element())?;
        item.set_item("name", &field.name)?;
        let array = match field.ty {
            Type::Array { extent, .. } => Some(extent),
            Type::One(_) => None,
        };
        item.set_item("count", array.map(Extent::limit))?;
        item.set_item("bounded", matches!(array, Some(Extent::Bounded(_))))?;
        item.set_item("docs", field.docs.join("\n"))?;
        fields.append(item)?;
    }
    dict.set_item("fields", fields)?;
    let oneofs = PyList::empty(py);
    for union in &message.unions {
        let item = PyDict::new(py);
        item.set_item("name", &union.name)?;
        let members = PyList::empty(py);
        for member in &union.members {
            let held = element(py, schema, member.element)?;
            held.set_item("name", &member.name)?;
            held.set_item("tag", member.tag)?;
            members.append(held)?;
        }
        item.set_item("members", members)?;
        oneofs.append(item)?;
    }
    dict.set_item("oneofs", oneofs)?;
    dict.set_item("docs", message.docs.join("\n"))?;
    Ok(dict)
}

fn element<'py>(py: Python<'py>, schema: &Schema, element: Element) -> PyResult<Bound<'py, PyDict>> {
    let (kind, name, size) = match element {
        Element::Scalar(scalar) => ("scalar", scalar.name().to_owned(), None),
        Element::Enum(index) => ("enum", schema[index].name.clone(), None),
        Element::Message(index) => ("message", shown_name(schema, &schema[index]), None),
        Element::String(extent) => ("string", "string".to_owned(), Some(extent.limit())),
        Element::Bytes(extent) => ("bytes", "bytes".to_owned(), Some(extent.limit())),
    };
    let dict = PyDict::new(py);
    dict.set_item("kind", kind)?;
    dict.set_item("type", name)?;
    dict.set_item("size", size)?;
    Ok(dict)
}

/// Numbers of the values of each enum.
///
/// # Errors
/// When an object cannot be made.
pub(super) fn enums<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for declared in schema.enums() {
        let values = PyDict::new(py);
        for value in &declared.values {
            values.set_item(&value.name, value.number)?;
        }
        dict.set_item(&declared.name, values)?;
    }
    Ok(dict)
}

/// What the elements of a column are to people: text, bytes, the values of an enum, or nothing but numbers.
pub(super) fn meaning(schema: &Schema, message: &Message, path: &str) -> Option<(&'static str, String)> {
    match leaf(schema, message, path)? {
        Element::String(_) => Some(("string", String::new())),
        Element::Bytes(_) => Some(("bytes", String::new())),
        Element::Enum(index) => Some(("enum", schema[index].name.clone())),
        Element::Scalar(_) | Element::Message(_) => None,
    }
}

/// The element at the end of a path such as `crew.age` or `body.go.speed`.
fn leaf(schema: &Schema, message: &Message, path: &str) -> Option<Element> {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let (element, rest) = match message.field(name) {
        Some(field) => (field.ty.element(), rest),
        None => {
            let (member, rest) = rest.map(|rest| rest.split_once('.').map_or((rest, None), |(a, b)| (a, Some(b))))?;
            (message.union(name)?.member(member)?.element, rest)
        }
    };
    match (element, rest) {
        (Element::Message(index), Some(rest)) => leaf(schema, &schema[index], rest),
        (element, None) => Some(element),
        _ => None,
    }
}
