//! Regular latitude/longitude grids.

use crate::error::{DrawError, Result};

/// Where the rows and columns of a regular grid lie: latitudes and longitudes of the first and last points, in degrees.
///
/// Latitudes may rise or fall; the picture has north at the top. Longitudes run eastward from `lon0` to `lon1`; a `lon1`
/// below `lon0` is taken as 360 degrees more, so that 170 to −170 crosses the dateline.
///
/// ```
/// use fw_draw::LatLon;
///
/// let global = LatLon { lat0: 90.0, lat1: -90.0, lon0: 0.0, lon1: 359.75 };
/// let area = global.area(721, 1440)?;
/// assert_eq!((area.west, area.east), (-0.125, 359.875));
/// assert!(!area.south_first);
/// # Ok::<(), fw_draw::DrawError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatLon {
    /// Latitude of the first row.
    pub lat0: f64,
    /// Latitude of the last row.
    pub lat1: f64,
    /// Longitude of the first column.
    pub lon0: f64,
    /// Longitude of the last column.
    pub lon1: f64,
}

/// The area that a grid covers, half a cell around its outermost points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// Western edge, in degrees.
    pub west: f64,
    /// Eastern edge, greater than the western one.
    pub east: f64,
    /// Southern edge.
    pub south: f64,
    /// Northern edge.
    pub north: f64,
    /// Whether the first row is the southernmost.
    pub south_first: bool,
}

impl LatLon {
    /// The area of a grid of `rows` by `columns` points.
    ///
    /// # Errors
    /// [`DrawError::Grid`] for coordinates that are not finite, latitudes beyond the poles, rows or columns at the same
    /// place, and more than one turn of longitudes.
    pub fn area(&self, rows: usize, columns: usize) -> Result<Area> {
        let Self { lat0, lat1, lon0, lon1 } = *self;
        let wrong = |reason| Err(DrawError::Grid { lat0, lat1, lon0, lon1, reason });
        if ![lat0, lat1, lon0, lon1].iter().all(|degrees| degrees.is_finite()) {
            return wrong("coordinates must be finite");
        }
        if lat0.abs() > 90.0 + SLACK || lat1.abs() > 90.0 + SLACK {
            return wrong("latitudes must be from -90 to 90");
        }
        if lon0.abs() > 720.0 || lon1.abs() > 720.0 {
            return wrong("longitudes must be from -720 to 720");
        }
        let mut last = lon1;
        while last < lon0 {
            last += 360.0;
        }
        if last - lon0 > 360.0 + SLACK {
            return wrong("longitudes must not span more than 360 degrees");
        }
        if (columns > 1 && last == lon0) || (rows > 1 && lat0 == lat1) {
            return wrong("the first and last points must differ");
        }
        let step = |from: f64, to: f64, count: usize| if count > 1 { (to - from) / (count - 1) as f64 } else { 1.0 };
        let (dx, dy) = (step(lon0, last, columns), step(lat0, lat1, rows).abs());
        Ok(Area {
            west: lon0 - dx / 2.0,
            east: last + dx / 2.0,
            south: lat0.min(lat1) - dy / 2.0,
            north: lat0.max(lat1) + dy / 2.0,
            south_first: lat0 < lat1,
        })
    }
}

impl Area {
    /// Width over height of a good picture: degrees are equal on a large map; on a regional one a degree of longitude is
    /// shortened by the cosine of the latitude in the middle.
    #[must_use]
    pub fn aspect(&self) -> f64 {
        let (width, height) = (self.east - self.west, self.north - self.south);
        let middle = (self.north + self.south) / 2.0;
        let shrink = if height < 80.0 { middle.to_radians().cos().max(0.3) } else { 1.0 };
        width * shrink / height
    }

    /// The place of a point as fractions from the left and from the top.
    pub(crate) fn place(&self, lon: f64, lat: f64) -> (f64, f64) {
        ((lon - self.west) / (self.east - self.west), (self.north - lat) / (self.north - self.south))
    }

    /// Multiples of 360 that bring longitudes of −180 to 180 into the area.
    pub(crate) fn turns(&self) -> impl Iterator<Item = f64> + use<> {
        let first = ((self.west - 180.0) / 360.0).floor() as i32;
        let last = ((self.east + 180.0) / 360.0).ceil() as i32;
        (first..=last).map(|turn| f64::from(turn) * 360.0)
    }
}

/// Rounding in coordinates that were computed.
const SLACK: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas() {
        let across = LatLon { lat0: 10.0, lat1: 12.0, lon0: 170.0, lon1: -170.0 }.area(3, 21).unwrap();
        assert_eq!((across.west, across.east, across.south_first), (169.5, 190.5, true));
        let one = LatLon { lat0: 5.0, lat1: 5.0, lon0: 7.0, lon1: 7.0 }.area(1, 1).unwrap();
        assert_eq!((one.west, one.east, one.south, one.north), (6.5, 7.5, 4.5, 5.5));
        for grid in [
            LatLon { lat0: 91.0, lat1: 0.0, lon0: 0.0, lon1: 1.0 },
            LatLon { lat0: 1.0, lat1: f64::NAN, lon0: 0.0, lon1: 1.0 },
            LatLon { lat0: 1.0, lat1: 1.0, lon0: 0.0, lon1: 1.0 },
            LatLon { lat0: 1.0, lat1: 2.0, lon0: 3.0, lon1: 3.0 },
            LatLon { lat0: 1.0, lat1: 2.0, lon0: -180.0, lon1: 360.0 },
            LatLon { lat0: 1.0, lat1: 2.0, lon0: 0.0, lon1: 1e300 },
        ] {
            assert!(matches!(grid.area(2, 2), Err(DrawError::Grid { .. })), "{grid:?}");
        }
    }

    #[test]
    fn every_longitude_is_reached() {
        let area = LatLon { lat0: 0.0, lat1: 1.0, lon0: 0.0, lon1: 359.0 }.area(2, 360).unwrap();
        for lon in [-180.0, -90.0, -1.0, 0.0, 90.0, 180.0] {
            assert!(area.turns().any(|turn| (area.west..=area.east).contains(&(lon + turn))), "{lon}");
        }
    }
}
