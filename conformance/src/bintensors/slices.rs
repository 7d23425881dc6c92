//! Slices as NumPy takes them, in place and by ranges of a source.

use fw_bintensors::{BinTensors, ReadOptions, Reader};
use fw_tensor::{AxisSlice, Selection};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value as Json;

use crate::digest::hex;
use crate::discover::{Companions, Manifest};
use crate::row::{Row, Rows};
use crate::tensogram::parse;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    #[serde(rename = "schema")]
    _schema: IgnoredAny,
    #[serde(default, rename = "note")]
    _note: IgnoredAny,
    file: String,
    cases: Vec<Json>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    tensor: String,
    index: Vec<Axis>,
    expect: Expect,
    #[serde(default, rename = "reference_np")]
    _reference_np: IgnoredAny,
    #[serde(default, rename = "reference_pt")]
    _reference_pt: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Axis {
    Index(i64),
    Slice(Option<i64>, Option<i64>, Option<i64>),
    Ellipsis(bool),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    shape: Option<Vec<u64>>,
    data_hex: Option<String>,
    error: Option<String>,
}

/// Runs the manifest.
pub fn run(manifest: &Manifest, rows: &mut Rows) -> Companions {
    let head: Result<Head, _> = serde_json::from_value(manifest.json.clone());
    let (head, bytes) = match head.map_err(anyhow::Error::from).and_then(|head| Ok((manifest.file(&head.file)?, head)))
    {
        Ok((bytes, head)) => (head, bytes),
        Err(error) => {
            rows.check("bintensors/slices", |row| row.deviates(format!("not understood: {error}")));
            return Companions::new();
        }
    };
    for (number, entry) in head.cases.into_iter().enumerate() {
        let id = format!("bintensors/slices/{number}/{}", entry["tensor"].as_str().unwrap_or_default());
        rows.check(&id, |row| {
            if let Some(case) = parse(row, entry) {
                check(&case, &bytes, row);
            }
        });
    }
    Companions::new()
}

fn check(case: &Case, bytes: &[u8], row: &mut Row) {
    let Some(file) = row.accept("file", BinTensors::deserialize(bytes)) else { return };
    let Some(reader) = row.accept("file", Reader::new(bytes, &ReadOptions::new())) else { return };
    let selection: Selection =
        case.index.iter().filter(|axis| !matches!(axis, Axis::Ellipsis(false))).map(axis).collect();
    let in_place = file.tensor(&case.tensor).and_then(|view| view.slice(&selection));
    let in_place = in_place.map(|slice| (slice.shape().to_vec(), slice.to_vec()));
    let by_ranges = reader.slice(&case.tensor, &selection);
    for (what, found) in [("in place", in_place), ("by ranges", by_ranges)] {
        match (&case.expect.error, found) {
            (None, Ok((shape, data))) => {
                if case.expect.shape.as_ref() != Some(&shape) {
                    row.deviates(format!("{what}: shape is {shape:?}, expected {:?}", case.expect.shape));
                }
                row.equal(what, case.expect.data_hex.as_deref().unwrap_or_default(), &hex(&data));
            }
            (Some(error), Err(_)) if error == "IndexError" => {}
            (Some(error), Err(_)) => row.deviates(format!("error `{error}` not understood")),
            (Some(error), Ok(_)) => row.deviates(format!("{what}: succeeded, expected {error}")),
            (None, Err(error)) => row.deviates(format!("{what}: {error}")),
        }
    }
}

fn axis(axis: &Axis) -> AxisSlice {
    match axis {
        Axis::Index(index) => AxisSlice::Index(*index),
        Axis::Slice(start, end, step) => AxisSlice::Range { start: *start, end: *end, step: step.unwrap_or(1) },
        Axis::Ellipsis(_) => AxisSlice::Ellipsis,
    }
}
