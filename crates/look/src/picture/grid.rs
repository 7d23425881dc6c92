//! Where a field lies on the earth, when its metadata says so.

use super::axes::Shown;
use super::labels::{Dimension, first_text, number, numbers, value};
use crate::catalog::FileRecord;
use fw_draw::LatLon;

/// The corners of a whole grid of `rows` by `columns` points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Corners {
    north_west: (f64, f64),
    south_east: (f64, f64),
}

impl Corners {
    /// Of an area in the order of MARS requests: north, west, south, east. A last column that would repeat the first is left out.
    pub(super) fn of_area(area: &[f64], columns: u64) -> Option<Self> {
        let [north, west, south, mut east] = area[..] else { return None };
        if !area.iter().all(|degrees| degrees.is_finite()) {
            return None;
        }
        if east - west >= 360.0 - 1e-9 && columns > 1 {
            east = west + 360.0 * (columns - 1) as f64 / columns as f64;
        }
        Some(Self { north_west: (north, west), south_east: (south, east) })
    }

    /// The part of the grid that is shown.
    pub(super) fn part(&self, shape: (u64, u64), rows: &Shown, columns: &Shown) -> LatLon {
        let (north, west) = self.north_west;
        let (south, mut east) = self.south_east;
        if east < west {
            east += 360.0;
        }
        let at = |from: f64, to: f64, index: u64, count: u64| match count {
            0 | 1 => from,
            _ => from + (to - from) * index as f64 / (count - 1) as f64,
        };
        LatLon {
            lat0: at(north, south, rows.first, shape.0),
            lat1: at(north, south, rows.last, shape.0),
            lon0: at(west, east, columns.first, shape.1),
            lon1: at(west, east, columns.last, shape.1),
        }
    }
}

/// The grid of the last two axes of a field, by its own keys.
pub(super) fn corners(record: &FileRecord, object: usize, rows: u64, columns: u64) -> Option<Corners> {
    by_area(record, object, rows, columns).or_else(|| by_corners(record, object))
}

/// The rows and columns of a field that is stored as one line of values.
pub(super) fn folded(record: &FileRecord, object: usize, count: u64) -> Option<(u64, u64)> {
    let (area, grid) = (area(record, object)?, spacing(record, object)?);
    let (rows, columns) = counts(&area, grid)?;
    (rows.checked_mul(columns)? == count).then_some((rows, columns))
}

/// The grid that coordinates along both axes make, when they are evenly spaced.
pub(super) fn of_dimensions(rows: &Dimension, columns: &Dimension, (y, x): (&Shown, &Shown)) -> Option<LatLon> {
    let is = |dimension: &Dimension, names: [&str; 3]| names.contains(&dimension.name.to_ascii_lowercase().as_str());
    if !is(rows, ["latitude", "lat", "grid_latitude"]) || !is(columns, ["longitude", "lon", "grid_longitude"]) {
        return None;
    }
    let ends = |dimension: &Dimension, shown: &Shown| {
        let values = dimension.values.as_ref()?;
        let at = |index: u64| values.get(usize::try_from(index).ok()?).copied();
        even(values).then(|| Some((at(shown.first)?, at(shown.last)?))).flatten()
    };
    let ((lat0, lat1), (lon0, lon1)) = (ends(rows, y)?, ends(columns, x)?);
    Some(LatLon { lat0, lat1, lon0, lon1 })
}

/// Whether values follow each other at one distance, but for rounding.
pub(super) fn even(values: &[f64]) -> bool {
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return false };
    let step = (last - first) / (values.len().max(2) - 1) as f64;
    let near = |(index, value): (usize, &f64)| (first + step * index as f64 - value).abs() <= step.abs() * 0.02;
    values.len() < 2 || step != 0.0 && step.is_finite() && values.iter().enumerate().all(near)
}

fn by_area(record: &FileRecord, object: usize, rows: u64, columns: u64) -> Option<Corners> {
    let area = area(record, object)?;
    match spacing(record, object) {
        // Numbers that contradict the shape are of another grid.
        Some(grid) if counts(&area, grid)? != (rows, columns) => return None,
        Some(_) => {}
        None => {
            let kind =
                first_text(record, object, &["mars.grid", "grid", "mars.gridType", "gridType", "grib_repro.gridType"]);
            if kind.is_some_and(|kind| kind != REGULAR) {
                return None;
            }
        }
    }
    Corners::of_area(&area, columns)
}

/// The first and last points that GRIB keys give.
fn by_corners(record: &FileRecord, object: usize) -> Option<Corners> {
    let key = |key: &str| {
        let places = ["grib_repro", "grib.geography", "grib"];
        places.iter().find_map(|place| number(&value(record, object, &format!("{place}.{key}"))?))
    };
    let kind = first_text(record, object, &["grib_repro.gridType", "grib.geography.gridType", "mars.grid"])?;
    if kind != REGULAR {
        return None;
    }
    let north_west = (key("latitudeOfFirstGridPointInDegrees")?, key("longitudeOfFirstGridPointInDegrees")?);
    let south_east = (key("latitudeOfLastGridPointInDegrees")?, key("longitudeOfLastGridPointInDegrees")?);
    Some(Corners { north_west, south_east })
}

/// North, west, south, east.
fn area(record: &FileRecord, object: usize) -> Option<Vec<f64>> {
    let found = ["mars.area", "area"].iter().find_map(|key| numbers(&value(record, object, key)?));
    found.filter(|area| area.len() == 4)
}

/// Degrees between columns and between rows.
fn spacing(record: &FileRecord, object: usize) -> Option<(f64, f64)> {
    let found = ["mars.grid", "grid"].iter().find_map(|key| numbers(&value(record, object, key)?))?;
    match found[..] {
        [both] => Some((both, both)),
        [x, y] => Some((x, y)),
        _ => None,
    }
    .filter(|(x, y)| *x > 0.0 && *y > 0.0)
}

/// Rows and columns of an area with a spacing.
fn counts(area: &[f64], (dx, dy): (f64, f64)) -> Option<(u64, u64)> {
    let [north, west, south, mut east] = area[..] else { return None };
    if east < west {
        east += 360.0;
    }
    let steps = |span: f64, step: f64| (span.abs() / step).round();
    let (rows, mut columns) = (steps(north - south, dy) + 1.0, steps(east - west, dx) + 1.0);
    if east - west >= 360.0 - 1e-9 {
        columns -= 1.0;
    }
    let sound = |count: f64| count.is_finite() && (1.0..1e9).contains(&count);
    (sound(rows) && sound(columns)).then_some((rows as u64, columns as u64))
}

const REGULAR: &str = "regular_ll";
