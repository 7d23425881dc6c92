//! Colour maps: a number from 0 to 1 becomes a colour.

use super::{Rgb, tables};

/// A colour map. All are readable in grey and by the colour-blind; their lightness rises evenly (or, for
/// [`Balance`](Self::Balance), falls evenly from the middle to both ends).
///
/// ```
/// use fw_draw::ColourMap;
///
/// assert_eq!(ColourMap::Viridis.at(0.0).to_string(), "#440154");
/// assert_eq!(ColourMap::from_name("cividis"), Some(ColourMap::Cividis));
/// assert_eq!(ColourMap::Magma.table().len(), 256);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ColourMap {
    /// Purple to yellow: the default.
    #[default]
    Viridis,
    /// Blue to yellow, nearly the same to people with and without colour blindness.
    Cividis,
    /// Black over purple to pale yellow.
    Magma,
    /// Black over red to bright yellow.
    Inferno,
    /// Blue, near white, red: for values around zero, with [`Scale::Symmetric`](crate::Scale::Symmetric).
    Balance,
    /// Dark to light grey.
    Grey,
}

impl ColourMap {
    /// Every colour map.
    pub const ALL: [Self; 6] = [Self::Viridis, Self::Cividis, Self::Magma, Self::Inferno, Self::Balance, Self::Grey];

    /// Its name, in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.entry().name
    }

    /// The colour map of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|map| map.name().eq_ignore_ascii_case(name))
    }

    /// The colour at `t`, which is cut to 0 to 1; NaN gives the colour at 0.
    #[must_use]
    pub fn at(self, t: f64) -> Rgb {
        let points = self.entry().points;
        let place = if t.is_nan() { 0.0 } else { t.clamp(0.0, 1.0) } * (points.len() - 1) as f64;
        let index = (place as usize).min(points.len() - 2);
        Rgb::hex(points[index]).mix(Rgb::hex(points[index + 1]), place - index as f64)
    }

    /// The colour of values below the range: distinct from the lowest colour.
    #[must_use]
    pub const fn under(self) -> Rgb {
        Rgb::hex(self.entry().under)
    }

    /// The colour of values above the range: distinct from the highest colour.
    #[must_use]
    pub const fn over(self) -> Rgb {
        Rgb::hex(self.entry().over)
    }

    /// 256 colours from the lowest to the highest, for a lookup texture.
    #[must_use]
    pub fn table(self) -> Vec<Rgb> {
        (0..256).map(|index| self.at(f64::from(index) / 255.0)).collect()
    }

    /// The one table of colour maps.
    const fn entry(self) -> Entry {
        match self {
            Self::Viridis => Entry { name: "viridis", points: &tables::VIRIDIS, under: 0x1c0023, over: 0xfffbb8 },
            Self::Cividis => Entry { name: "cividis", points: &tables::CIVIDIS, under: 0x000b1c, over: 0xfffbc4 },
            Self::Magma => Entry { name: "magma", points: &tables::MAGMA, under: 0x1d4f7a, over: 0xa6ecff },
            Self::Inferno => Entry { name: "inferno", points: &tables::INFERNO, under: 0x1d4f7a, over: 0xa6ecff },
            Self::Balance => Entry { name: "balance", points: &tables::BALANCE, under: 0x04122b, over: 0x33000c },
            Self::Grey => Entry { name: "grey", points: &tables::GREY, under: 0x1d4f7a, over: 0xffb45a },
        }
    }
}

struct Entry {
    name: &'static str,
    points: &'static [u32],
    under: u32,
    over: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(a: Rgb, b: Rgb) -> i32 {
        [(a.r, b.r), (a.g, b.g), (a.b, b.b)].iter().map(|(a, b)| (i32::from(*a) - i32::from(*b)).abs()).sum()
    }

    #[test]
    fn lightness_is_monotonic() {
        for map in ColourMap::ALL {
            let luma: Vec<f64> = map.table().iter().map(|colour| colour.luma()).collect();
            let rising = |part: &[f64]| part.windows(2).all(|pair| pair[1] >= pair[0] - 0.004);
            if map == ColourMap::Balance {
                let right: Vec<f64> = luma[128..].iter().rev().copied().collect();
                assert!(rising(&luma[..128]) && rising(&right), "{map:?}");
                assert!((luma[0] - luma[255]).abs() < 0.1, "{map:?}: both ends are equally dark");
            } else {
                assert!(rising(&luma), "{map:?}");
            }
        }
    }

    #[test]
    fn neighbours_are_close_and_ends_are_marked() {
        for map in ColourMap::ALL {
            let table = map.table();
            assert!(table.windows(2).all(|pair| distance(pair[0], pair[1]) <= 24), "{map:?}");
            assert!(distance(map.under(), map.at(0.0)) > 60, "{map:?} under");
            assert!(distance(map.over(), map.at(1.0)) > 60, "{map:?} over");
        }
    }

    #[test]
    fn lookups_outside_are_cut() {
        for map in ColourMap::ALL {
            assert_eq!(map.at(-3.0), map.at(0.0));
            assert_eq!(map.at(f64::INFINITY), map.at(1.0));
            assert_eq!(map.at(f64::NAN), map.at(0.0));
            assert_eq!(ColourMap::from_name(&map.name().to_uppercase()), Some(map));
        }
    }
}
