//! What metadata says about a tensor and its axes: names, units, coordinates.

use crate::catalog::{Catalog, FileRecord};
use fw_query::{Array, Item, OneObject, Path, Value};
use fw_stats::to_f64;
use fw_tensor::Selection;

/// The text of the first of `keys` that an object has.
pub(super) fn first_text(record: &FileRecord, object: usize, keys: &[&str]) -> Option<String> {
    let text = |key: &&str| match value(record, object, key)? {
        Value::Text(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        _ => None,
    };
    keys.iter().find_map(text)
}

/// A value of an object.
pub(super) fn value(record: &FileRecord, object: usize, key: &str) -> Option<Value<'static>> {
    OneObject(record, object).lookup(&Path::parse(key).ok()?).map(Value::into_owned)
}

/// Numbers of a list, or of a text such as `90/0/-90/359.75`.
pub(super) fn numbers(value: &Value<'_>) -> Option<Vec<f64>> {
    match value {
        Value::Text(text) => text.split('/').map(|part| part.trim().parse().ok()).collect(),
        Value::Array(list) => list.iter().map(|item| number(&item)).collect(),
        _ => None,
    }
}

/// A number, or a text that is one.
pub(super) fn number(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Text(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// The unit of the values.
pub(super) fn unit(record: &FileRecord, object: usize) -> Option<String> {
    first_text(record, object, &["units", "unit", "cf.units", "netcdf.units", "mars.units"])
}

/// What to write above a picture: a long name where there is one, else the name.
pub(super) fn title(record: &FileRecord, object: usize) -> String {
    let keys = ["long_name", "cf.long_name", "netcdf.long_name", "cf.standard_name", "standard_name", "description"];
    first_text(record, object, &keys).unwrap_or_else(|| record.name(object).into_owned())
}

/// What tells this field from others of the same kind: date, step, level, member.
pub(super) fn distinction(record: &FileRecord, object: usize) -> Vec<String> {
    let keys = ["date", "time", "step", "levtype", "levelist", "level", "number"];
    let shown = |key: &&str| {
        let found = value(record, object, &format!("mars.{key}")).or_else(|| value(record, object, key))?;
        let plain = !matches!(found, Value::Array(_) | Value::Map(_) | Value::Null);
        plain.then(|| format!("{key} {}", found.to_text()))
    };
    keys.iter().filter_map(shown).collect()
}

/// A named axis with the values along it, as far as they are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Dimension {
    pub(super) name: String,
    pub(super) unit: Option<String>,
    /// One value per index.
    pub(super) values: Option<Vec<f64>>,
}

/// The axes of an object of this shape.
pub(super) fn dimensions(catalog: &Catalog, record: &FileRecord, object: usize, shape: &[u64]) -> Vec<Dimension> {
    let named = dimension_names(record, object, shape);
    let coordinates = coordinate_objects(record, object);
    let lens = |len: u64| shape.iter().filter(|other| **other == len).count();
    let dimension = |(axis, len): (usize, &u64)| {
        let own = named.as_ref().and_then(|names| names.get(axis)).cloned();
        let found = match &own {
            Some(name) => coordinates.iter().find(|(known, _, size)| size == len && alike(known, name)),
            // Without names the size decides, as long as it decides for one.
            None => {
                let mut fitting = coordinates.iter().filter(|(.., size)| size == len);
                fitting.next().filter(|_| fitting.next().is_none() && lens(*len) == 1)
            }
        };
        let Some((name, place, _)) = found else {
            return Dimension { name: own.unwrap_or_else(|| format!("dim_{axis}")), ..Dimension::default() };
        };
        let values = (*len <= MOST_COORDINATES).then(|| catalog.part(record, *place, &Selection::new()).ok()).flatten();
        let values = values.and_then(|part| to_f64(part.dtype, &part.data).ok());
        Dimension { name: own.unwrap_or_else(|| (*name).to_owned()), unit: unit(record, *place), values }
    };
    shape.iter().enumerate().map(dimension).collect()
}

/// Names of the axes, where the metadata has one for each.
fn dimension_names(record: &FileRecord, object: usize, shape: &[u64]) -> Option<Vec<String>> {
    let listed = |list: &Array<'_>| {
        let names: Option<Vec<String>> = list
            .iter()
            .map(|item| match item {
                Value::Text(text) if !text.is_empty() => Some(text.into_owned()),
                _ => None,
            })
            .collect();
        names.filter(|names| names.len() == shape.len())
    };
    ["dim_names", "netcdf._dims", "dims", "_ARRAY_DIMENSIONS"].iter().find_map(|key| {
        match value(record, object, key)? {
            Value::Array(list) => listed(&list),
            // From sizes to names.
            Value::Map(map) => shape
                .iter()
                .map(|len| match map.get(&len.to_string())? {
                    Value::Text(name) => Some(name.into_owned()),
                    _ => None,
                })
                .collect(),
            _ => None,
        }
    })
}

/// One-dimensional objects beside `object` that are named like coordinates: name, place, length.
fn coordinate_objects(record: &FileRecord, object: usize) -> Vec<(&'static str, usize, u64)> {
    let others = record.objects().into_iter().filter(|place| *place != object);
    let found = others.filter_map(|place| {
        let named = record.named(place)?;
        let [len] = named.shape[..] else { return None };
        let name = record.name(place).to_ascii_lowercase();
        Some((canonical(&name)?, place, len))
    });
    found.collect()
}

/// The usual name of a coordinate.
fn canonical(name: &str) -> Option<&'static str> {
    let name = name.split('#').next().unwrap_or(name);
    Some(match name {
        "lat" | "latitude" | "grid_latitude" => "latitude",
        "lon" | "longitude" | "grid_longitude" => "longitude",
        other => ["x", "y", "time", "level", "pressure", "height", "depth", "frequency", "step"]
            .into_iter()
            .find(|known| *known == other)?,
    })
}

fn alike(coordinate: &str, dimension: &str) -> bool {
    let dimension = dimension.to_ascii_lowercase();
    canonical(&dimension).unwrap_or(&dimension) == coordinate
}

/// Coordinates of longer axes are not read for a picture.
const MOST_COORDINATES: u64 = 1 << 20;
