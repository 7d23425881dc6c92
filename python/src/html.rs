//! Parts of what notebooks show: tables of keys, sizes, and small pictures.

use framewright::draw::{Field, HeatMap, visible};
use framewright::stats::to_f64;
use framewright::tensor::{AxisSlice, DType, Selection};

/// One tensor of a table.
pub(crate) struct Row<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) shape: &'a [u64],
    /// Of its elements, where they can be counted.
    pub(crate) bytes: Option<u64>,
    /// A small picture, or nothing.
    pub(crate) picture: String,
}

/// What is in a file: its name, its text map, and a row for each of the first tensors.
pub(crate) fn page<'a>(
    name: &str,
    format: &str,
    count: usize,
    said: impl Iterator<Item = (&'a str, String)>,
    rows: impl Iterator<Item = Row<'a>>,
) -> String {
    let mut page = format!(
        "<div><b>{}</b> ({}, {}){}\
         <table><thead><tr><th>name</th><th>type</th><th>shape</th><th>size</th><th></th></tr></thead><tbody>",
        escaped(name),
        escaped(format),
        plural(count, "tensor"),
        table_of_keys(said)
    );
    for row in rows.take(SHOWN) {
        page.push_str(&row.html());
    }
    let more = count.saturating_sub(SHOWN);
    if more > 0 {
        page.push_str(&format!("<tr><td colspan=\"5\">and {more} more</td></tr>"));
    }
    page.push_str("</tbody></table></div>");
    page
}

impl Row<'_> {
    fn html(&self) -> String {
        let Self { name, kind, shape, bytes, picture } = self;
        let (name, shape, bytes) = (escaped(name), shape_of(shape), bytes.map(size).unwrap_or_default());
        format!("<tr><td>{name}</td><td>{kind}</td><td>{shape}</td><td>{bytes}</td><td>{picture}</td></tr>")
    }
}

/// A number of things.
pub(crate) fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Keys and what they are, to be unfolded.
pub(crate) fn table_of_keys<'a>(said: impl Iterator<Item = (&'a str, String)>) -> String {
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

/// A picture of values in two axes, as large as they are within bounds, and never too small to see.
pub(crate) fn picture(name: &str, rows: u64, columns: u64, values: &[f64]) -> Option<String> {
    let field = Field::new(rows as usize, columns as usize, values).ok()?;
    let grown = (MOST_COLUMNS / columns).min(MOST_ROWS / rows).clamp(1, 8);
    let image = HeatMap::new(field).image((columns * grown) as u32, (rows * grown) as u32).ok()?;
    Some(format!("<img alt=\"{}\" src=\"{}\"/>", escaped(name), image.data_url()))
}

/// A picture of a tensor with two long axes, of which `read` reads a selection. Of a large one only every so many rows and columns are
/// read.
pub(crate) fn thumbnail(
    name: &str,
    dtype: DType,
    shape: &[u64],
    read: impl FnOnce(&Selection) -> Option<(Vec<u64>, Vec<u8>)>,
) -> Option<String> {
    let (rows, columns) = steps(shape)?;
    let step = |step: u64| AxisSlice::Range { start: None, end: None, step: step as i64 };
    let (shape, data) = read(&Selection::new().axis(step(rows)).axis(step(columns)))?;
    let &[rows, columns] = &shape[..] else { return None };
    picture(name, rows, columns, &to_f64(dtype, &data).ok()?)
}

/// Of a tensor with two long axes, every how many rows and columns are in its picture; others have none.
pub(crate) fn steps(shape: &[u64]) -> Option<(u64, u64)> {
    match *shape {
        [rows, columns] if rows >= 2 && columns >= 2 => {
            Some((rows.div_ceil(MOST_ROWS), columns.div_ceil(MOST_COLUMNS)))
        }
        _ => None,
    }
}

/// Lengths of axes.
pub(crate) fn shape_of(shape: &[u64]) -> String {
    shape.iter().map(u64::to_string).collect::<Vec<_>>().join(" × ")
}

/// Text as HTML shows it; control characters are spelled out.
pub(crate) fn escaped(text: &str) -> String {
    visible(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// A number of bytes.
pub(crate) fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = (u64::BITS - 1).saturating_sub(bytes.max(1).leading_zeros()) / 10;
    let scaled = bytes as f64 / 1024f64.powi(power as i32);
    let unit = units.get(power as usize).copied().unwrap_or_default();
    if power == 0 { format!("{bytes} {unit}") } else { format!("{scaled:.1} {unit}") }
}

/// Rows of a table before it is cut.
pub(crate) const SHOWN: usize = 100;
/// Pictures in a table.
pub(crate) const PICTURES: usize = 12;
/// Bytes of a tensor that is decoded for its picture.
pub(crate) const MOST_DECODED: u64 = 16 << 20;
/// Characters of a metadata text.
const LONGEST_TEXT: usize = 200;
/// Rows and columns of a picture.
const MOST_ROWS: u64 = 96;
const MOST_COLUMNS: u64 = 144;
