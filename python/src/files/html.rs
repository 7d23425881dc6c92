//! What notebooks show: tables of tensors and metadata, and small pictures.

use super::file::Opened;
use framewright::convert::Entry;
use framewright::draw::{Field, HeatMap, visible};
use framewright::stats::to_f64;
use framewright::tensor::{AxisSlice, Selection};

/// A file: its metadata, and a row per tensor.
pub(super) fn file(opened: &Opened) -> String {
    let entries = opened.entries();
    let format = opened.file.format();
    let mut page = format!(
        "<div><b>{}</b> ({}, {} tensor{})",
        escaped(&opened.name()),
        escaped(&format.to_string()),
        entries.len(),
        if entries.len() == 1 { "" } else { "s" }
    );
    let said = opened.file.metadata().into_iter().flatten().map(|(key, text)| (key.as_str(), text.clone()));
    page.push_str(&table_of_keys(said));
    page.push_str(
        "<table><thead><tr><th>name</th><th>type</th><th>shape</th><th>size</th><th></th></tr></thead><tbody>",
    );
    for (index, entry) in entries.iter().enumerate().take(SHOWN) {
        let picture = if index < PICTURES { thumbnail(opened, index).unwrap_or_default() } else { String::new() };
        page.push_str(&format!("<tr>{}<td>{picture}</td></tr>", cells(entry)));
    }
    let more = entries.len().saturating_sub(SHOWN);
    if more > 0 {
        page.push_str(&format!("<tr><td colspan=\"5\">and {more} more</td></tr>"));
    }
    page.push_str("</tbody></table></div>");
    page
}

/// A tensor: what it is, what the file says about it, and a picture when it has two axes.
pub(super) fn tensor(opened: &Opened, index: usize) -> String {
    let entry = &opened.entries()[index];
    let said = entry.attributes.iter().map(|(key, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (key.as_str(), text)
    });
    format!(
        "<div><table><thead><tr><th>name</th><th>type</th><th>shape</th><th>size</th></tr></thead><tbody><tr>{}</tr></tbody></table>\
         {}{}</div>",
        cells(entry),
        table_of_keys(said),
        thumbnail(opened, index).unwrap_or_default()
    )
}

fn cells(entry: &Entry) -> String {
    let size = entry.byte_len().map_or_else(|_| String::new(), size);
    let shape = entry.shape.iter().map(u64::to_string).collect::<Vec<_>>().join(" × ");
    format!("<td>{}</td><td>{}</td><td>{shape}</td><td>{size}</td>", escaped(&entry.name), entry.type_name())
}

fn table_of_keys<'a>(said: impl Iterator<Item = (&'a str, String)>) -> String {
    let mut rows: Vec<String> = Vec::new();
    for (key, text) in said {
        if rows.len() == SHOWN {
            rows.push("<tr><td colspan=\"2\">and more</td></tr>".to_owned());
            break;
        }
        let short: String = text.chars().take(LONGEST_TEXT).collect();
        let rest = if short.len() < text.len() { "…" } else { "" };
        rows.push(format!("<tr><th>{}</th><td>{}{rest}</td></tr>", escaped(key), escaped(&short)));
    }
    if rows.is_empty() {
        return String::new();
    }
    format!("<details><summary>metadata</summary><table>{}</table></details>", rows.concat())
}

/// A small picture of a tensor with two long axes. Of a large one only every so many rows and columns are read; one that would have
/// to be decoded whole for that, or fetched, has none.
fn thumbnail(opened: &Opened, index: usize) -> Option<String> {
    let entry = &opened.entries()[index];
    let &[rows, columns] = &entry.shape[..] else { return None };
    let in_parts = entry.span.is_some();
    if rows < 2 || columns < 2 || !opened.is_near() || !in_parts && entry.byte_len().ok()? > MOST_DECODED {
        return None;
    }
    let step = |len: u64, most: u64| AxisSlice::Range { start: None, end: None, step: len.div_ceil(most) as i64 };
    let selection = Selection::new().axis(step(rows, MOST_ROWS)).axis(step(columns, MOST_COLUMNS));
    let (shape, data) = opened.file.slice(index, &selection).ok()?;
    let &[rows, columns] = &shape[..] else { return None };
    let values = to_f64(entry.dtype, &data).ok()?;
    let field = Field::new(rows as usize, columns as usize, &values[..]).ok()?;
    // As large as the tensor, within bounds, and never too small to see.
    let grown = (MOST_COLUMNS / columns).min(MOST_ROWS / rows).clamp(1, 8);
    let (width, height) = ((columns * grown) as u32, (rows * grown) as u32);
    let image = HeatMap::new(field).image(width, height).ok()?;
    Some(format!("<img alt=\"{}\" src=\"{}\"/>", escaped(&entry.name), image.data_url()))
}

/// Text as HTML shows it; control characters are spelled out.
fn escaped(text: &str) -> String {
    visible(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// A number of bytes.
fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = (u64::BITS - 1).saturating_sub(bytes.max(1).leading_zeros()) / 10;
    let scaled = bytes as f64 / 1024f64.powi(power as i32);
    let unit = units.get(power as usize).copied().unwrap_or_default();
    if power == 0 { format!("{bytes} {unit}") } else { format!("{scaled:.1} {unit}") }
}

/// Rows of a table before it is cut.
const SHOWN: usize = 100;
/// Pictures in a table.
const PICTURES: usize = 12;
/// Characters of a metadata text.
const LONGEST_TEXT: usize = 200;
/// Rows and columns of a picture.
const MOST_ROWS: u64 = 96;
const MOST_COLUMNS: u64 = 144;
/// Bytes of a tensor that is decoded for its picture.
const MOST_DECODED: u64 = 16 << 20;
