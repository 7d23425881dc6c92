//! Colours, colour maps, and the palette of a 256-colour terminal.

mod indexed; // the nearest of 256 terminal colours
mod map; // values from 0 to 1 to colours
mod tables; // control points

pub(crate) use indexed::nearest as nearest_indexed;
pub use map::ColourMap;

/// An opaque colour in sRGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rgb {
    /// Red.
    pub r: u8,
    /// Green.
    pub g: u8,
    /// Blue.
    pub b: u8,
}

impl Rgb {
    /// A colour from `0xRRGGBB`.
    #[must_use]
    pub const fn hex(value: u32) -> Self {
        Self { r: (value >> 16) as u8, g: (value >> 8) as u8, b: value as u8 }
    }

    /// Relative luminance from 0 to 1, from gamma-encoded channels: enough to order colours by lightness.
    #[must_use]
    pub fn luma(self) -> f64 {
        (0.2126 * f64::from(self.r) + 0.7152 * f64::from(self.g) + 0.0722 * f64::from(self.b)) / 255.0
    }

    /// The colour `t` of the way to another one.
    #[must_use]
    pub(crate) fn mix(self, other: Self, t: f64) -> Self {
        let channel = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * t).round() as u8;
        Self { r: channel(self.r, other.r), g: channel(self.g, other.g), b: channel(self.b, other.b) }
    }
}

impl std::fmt::Display for Rgb {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "#{:02x}{:02x}{:02x}", self.r, self.g, self.b)
    }
}

/// Colours of the series of a line plot, distinct for the colour-blind (Okabe and Ito); a series beyond the last starts again.
pub const SERIES: [Rgb; 7] = [
    Rgb::hex(0x0072b2),
    Rgb::hex(0xd55e00),
    Rgb::hex(0x009e73),
    Rgb::hex(0xcc79a7),
    Rgb::hex(0xe69f00),
    Rgb::hex(0x56b4e9),
    Rgb::hex(0x7f7f7f),
];
