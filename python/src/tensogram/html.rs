//! What notebooks show of messages: their metadata and objects, and the first messages of files.

use super::descriptor::PyDescriptor;
use super::metadata::PyMetadata;
use crate::html::{PICTURES, SHOWN, escaped, picture, plural, shape_of, size, steps, table_of_keys};
use framewright::tensogram::describe::RESERVED;
use framewright::tensogram::{DataObjectDescriptor, GlobalMetadata, MessageDescription, MetadataMap, Value};
use framewright::tensor::byte_len;
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice};

/// Metadata: the keys of the message, and a table for each object.
pub(super) fn metadata(metadata: &GlobalMetadata) -> String {
    let mut page = format!("<div><b>Metadata</b> ({})", plural(metadata.base.len(), "object"));
    page.push_str(&keys_of(&metadata.extra));
    for (index, entry) in metadata.base.iter().enumerate().take(SHOWN) {
        let keys = keys_of(entry);
        if !keys.is_empty() {
            page.push_str(&format!("<div>object {index}{keys}</div>"));
        }
    }
    page.push_str("</div>");
    page
}

/// A decoded message: a row for each object, with a picture where it has two long axes.
#[pyfunction]
pub(crate) fn _message_html<'py>(metadata: &PyMetadata, objects: &Bound<'py, PyList>) -> PyResult<String> {
    let described = metadata.described();
    let mut page = format!("<div><b>Message</b> ({})", plural(objects.len(), "object"));
    page.push_str(&keys_of(&described.extra));
    page.push_str(OBJECTS);
    for (index, object) in objects.iter().enumerate().take(SHOWN) {
        let descriptor = object.get_item(0)?.cast_into::<PyDescriptor>()?;
        let entry = described.base.get(index);
        let image = if index < PICTURES { thumbnail(&object.get_item(1)?).unwrap_or_default() } else { String::new() };
        page.push_str(&row(&index.to_string(), descriptor.get().described(), entry, &image));
    }
    page.push_str(&rest(objects.len(), SHOWN));
    Ok(page)
}

/// A file: a row for each object of its first messages.
pub(super) fn file(name: &str, count: usize, described: &[MessageDescription]) -> String {
    let mut page = format!("<div><b>{}</b> (tensogram, {})", escaped(name), plural(count, "message"));
    page.push_str(OBJECTS);
    for (message, MessageDescription { metadata, descriptors }) in described.iter().enumerate() {
        if descriptors.is_empty() {
            let keys = keys_of(&metadata.extra);
            page.push_str(&format!("<tr><td>{message}</td><td colspan=\"5\">no objects</td><td>{keys}</td></tr>"));
        }
        for (index, descriptor) in descriptors.iter().enumerate().take(SHOWN) {
            page.push_str(&row(&format!("{message}.{index}"), descriptor, metadata.base.get(index), ""));
        }
    }
    page.push_str(&rest(count, described.len()));
    page
}

const OBJECTS: &str = "<table><thead><tr><th></th><th>name</th><th>type</th><th>shape</th><th>size</th><th>coded by</th><th></th></tr>\
                       </thead><tbody>";

fn row(index: &str, descriptor: &DataObjectDescriptor, entry: Option<&MetadataMap>, image: &str) -> String {
    let name = entry.and_then(|entry| ["name", "param"].iter().find_map(|key| entry.get(*key)?.as_text()));
    let stages = [&descriptor.encoding, &descriptor.filter, &descriptor.compression];
    let stages: Vec<&str> = stages.into_iter().map(String::as_str).filter(|stage| *stage != "none").collect();
    let bytes = byte_len(descriptor.dtype, &descriptor.shape).map_or_else(|_| String::new(), size);
    format!(
        "<tr><td>{index}</td><td>{}</td><td>{}</td><td>{}</td><td>{bytes}</td><td>{}</td><td>{}{image}</td></tr>",
        escaped(name.unwrap_or_default()),
        descriptor.dtype,
        shape_of(&descriptor.shape),
        escaped(&stages.join(" + ")),
        entry.map(keys_of).unwrap_or_default(),
    )
}

fn rest(count: usize, shown: usize) -> String {
    let more = count.saturating_sub(shown);
    let row = if more > 0 { format!("<tr><td colspan=\"7\">and {more} more</td></tr>") } else { String::new() };
    format!("{row}</tbody></table></div>")
}

fn keys_of(map: &MetadataMap) -> String {
    let text = |value: &Value| match value {
        Value::Text(text) => text.clone(),
        other => serde_json::to_string(other).unwrap_or_default(),
    };
    table_of_keys(map.iter().filter(|(key, _)| *key != RESERVED).map(|(key, value)| (key.as_str(), text(value))))
}

/// A small picture of an array with two long axes; `None` where its elements are no real numbers.
fn thumbnail(array: &Bound<'_, PyAny>) -> Option<String> {
    let py = array.py();
    let shape: Vec<u64> = array.getattr("shape").ok()?.extract().ok()?;
    let (rows, columns) = steps(&shape)?;
    let kind: String = array.getattr("dtype").ok()?.getattr("kind").ok()?.extract().ok()?;
    // Complex numbers would lose a part, with a warning.
    if kind == "c" {
        return None;
    }
    let every = |step: u64| PySlice::new(py, 0, isize::MAX, step as isize);
    let keywords = PyDict::new(py);
    keywords.set_item("dtype", "float64").ok()?;
    let part = array.get_item((every(rows), every(columns))).ok()?;
    let part = py.import("numpy").ok()?.call_method("ascontiguousarray", (part,), Some(&keywords)).ok()?;
    let values: PyReadonlyArray2<'_, f64> = part.extract().ok()?;
    let &[rows, columns] = values.as_array().shape() else { return None };
    picture("", rows as u64, columns as u64, values.as_slice().ok()?)
}
