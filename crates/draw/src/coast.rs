//! Coastlines of Natural Earth (public domain), simplified; `data/README.md` says how the files were made.

use crate::geo::Area;
use crate::plane::{Point, clip};

/// How fine coastlines are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CoastDetail {
    /// 1 : 110 000 000, for the whole world.
    World,
    /// 1 : 50 000 000, for regions.
    Region,
}

impl CoastDetail {
    /// The lines in the layout of `data/README.md`, for a program that draws them itself.
    #[must_use]
    pub const fn bytes(self) -> &'static [u8] {
        match self {
            Self::World => include_bytes!("../data/coastlines-110m.bin"),
            Self::Region => include_bytes!("../data/coastlines-50m.bin"),
        }
    }

    /// The detail that suits a number of pixels per degree.
    pub(crate) fn for_resolution(pixels_per_degree: f64) -> Self {
        if pixels_per_degree < 5.0 { Self::World } else { Self::Region }
    }
}

/// Lines of longitude and latitude in degrees, from −180 to 180 and −90 to 90; no line crosses the dateline.
///
/// ```
/// use fw_draw::{CoastDetail, coastlines};
///
/// let lines = coastlines(CoastDetail::World);
/// assert!(lines.iter().flatten().all(|(lon, lat)| lon.abs() <= 180.0 && lat.abs() <= 90.0));
/// ```
#[must_use]
pub fn coastlines(detail: CoastDetail) -> Vec<Vec<(f64, f64)>> {
    let mut bytes = detail.bytes().iter().copied();
    let mut next = move || -> Option<u32> {
        let mut value = 0u32;
        for shift in (0..32).step_by(7) {
            let byte = bytes.next()?;
            value |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    };
    let mut lines = Vec::new();
    let Some(units) = next().map(f64::from) else { return lines };
    while let Some(count) = next() {
        let (mut x, mut y) = (0i32, 0i32);
        let mut line = Vec::new();
        for _ in 0..count {
            let (Some(dx), Some(dy)) = (next(), next()) else { return lines };
            x = x.wrapping_add(unzigzag(dx));
            y = y.wrapping_add(unzigzag(dy));
            line.push((f64::from(x) / units, f64::from(y) / units));
        }
        lines.push(line);
    }
    lines
}

fn unzigzag(value: u32) -> i32 {
    (value >> 1) as i32 ^ -((value & 1) as i32)
}

/// Coastlines inside an area, as fractions of the picture from the left and from the top.
pub(crate) fn coast_in(area: &Area, detail: CoastDetail) -> Vec<Vec<Point>> {
    let mut out = Vec::new();
    for line in coastlines(detail) {
        for turn in area.turns() {
            let places = line.iter().map(|(lon, lat)| {
                let (x, y) = area.place(lon + turn, *lat);
                Point { x, y }
            });
            clip(places, &mut out);
        }
    }
    out
}

/// Meridians and parallels inside an area, as fractions.
pub(crate) fn graticule_in(
    longitudes: impl Iterator<Item = f64>,
    latitudes: impl Iterator<Item = f64>,
) -> Vec<Vec<Point>> {
    let upright = longitudes.map(|x| vec![Point { x, y: 0.0 }, Point { x, y: 1.0 }]);
    let level = latitudes.map(|y| vec![Point { x: 0.0, y }, Point { x: 1.0, y }]);
    upright.chain(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LatLon;

    #[test]
    fn the_files_are_read_to_their_ends() {
        for (detail, points) in [(CoastDetail::World, 5119), (CoastDetail::Region, 20393)] {
            let lines = coastlines(detail);
            assert_eq!(lines.iter().map(Vec::len).sum::<usize>(), points);
            assert!(lines.iter().all(|line| line.len() > 1));
        }
        let total = CoastDetail::World.bytes().len() + CoastDetail::Region.bytes().len();
        assert!(total <= 60_000, "{total}");
    }

    #[test]
    fn known_places_are_near_a_coast() {
        for detail in [CoastDetail::World, CoastDetail::Region] {
            for (name, lon, lat) in [("Lisbon", -9.4, 38.7), ("Cape Town", 18.4, -34.1), ("Tokyo Bay", 139.8, 35.2)] {
                let near = coastlines(detail).iter().flatten().any(|(x, y)| (x - lon).hypot(y - lat) < 1.2);
                assert!(near, "{name}");
            }
        }
    }

    #[test]
    fn lines_stay_inside_and_reach_both_sides_of_the_dateline() {
        let area = LatLon { lat0: 72.0, lat1: 60.0, lon0: 160.0, lon1: -160.0 }.area(13, 41).unwrap();
        let lines = coast_in(&area, CoastDetail::Region);
        let inside = |value: f64| (-1e-12..=1.0 + 1e-12).contains(&value);
        assert!(lines.iter().flatten().all(|point| inside(point.x) && inside(point.y)));
        assert!(lines.iter().flatten().any(|point| point.x < 0.4));
        assert!(lines.iter().flatten().any(|point| point.x > 0.6));
    }

    #[test]
    fn no_edge_of_the_map_is_drawn_as_a_coast() {
        for detail in [CoastDetail::World, CoastDetail::Region] {
            for line in coastlines(detail) {
                for pair in line.windows(2) {
                    let along = pair.iter().all(|(lon, _)| lon.abs() > 179.97);
                    assert!(!along || (pair[0].1 - pair[1].1).abs() < 0.1, "{pair:?}");
                    assert!((pair[0].0 - pair[1].0).abs() < 30.0, "{pair:?}");
                }
            }
        }
    }
}
