//! Sizes and themes of pictures.

use crate::colour::{Rgb, SERIES};
use crate::error::{DrawError, Result};

/// How large a picture may be, and how it looks. A figure that keeps its proportions may be smaller, never larger.
///
/// ```
/// use fw_draw::{Size, Theme};
///
/// let size = Size::new(800, 450).scale(2).theme(Theme::Dark);
/// assert_ne!(size, Size::default());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub(crate) width: u32,
    pub(crate) height: u32,
    scale: u32,
    pub(crate) theme: Theme,
}

impl Size {
    /// The largest scale.
    pub const MAX_SCALE: u32 = 8;
    /// The smallest width and height, in pixels.
    pub const MIN: (u32, u32) = (160, 120);
    /// The largest width and height, in pixels.
    pub const MAX: u32 = 16_384;
    /// The largest number of pixels of a picture, scale included.
    pub const MAX_PIXELS: u64 = 1 << 25;

    /// A size in pixels at scale 1.
    #[must_use]
    pub const fn new(width: u32, height: u32) -> Self {
        Self { width, height, scale: 1, theme: Theme::Light }
    }

    /// With each pixel of the layout drawn as `scale` by `scale`, for screens with small pixels.
    #[must_use]
    pub const fn scale(self, scale: u32) -> Self {
        Self { scale, ..self }
    }

    /// With another theme.
    #[must_use]
    pub const fn theme(self, theme: Theme) -> Self {
        Self { theme, ..self }
    }

    pub(crate) fn pixels_per_unit(&self) -> u32 {
        self.scale
    }

    pub(crate) fn check(&self) -> Result<()> {
        if !(1..=Self::MAX_SCALE).contains(&self.scale) {
            return Err(DrawError::Scale { scale: self.scale, most: Self::MAX_SCALE });
        }
        let pixels = u64::from(self.width) * u64::from(self.height) * u64::from(self.scale).pow(2);
        let wrong = self.width < Self::MIN.0
            || self.height < Self::MIN.1
            || self.width > Self::MAX
            || self.height > Self::MAX
            || pixels > Self::MAX_PIXELS;
        if wrong {
            let scaled = if self.scale > 1 { format!(" at scale {}", self.scale) } else { String::new() };
            return Err(DrawError::Size {
                width: self.width,
                height: self.height,
                unit: "pixels",
                least: format!("{} x {}", Self::MIN.0, Self::MIN.1),
                most: format!("{max} x {max}, {} pixels in all{scaled}", Self::MAX_PIXELS, max = Self::MAX),
            });
        }
        Ok(())
    }
}

impl Default for Size {
    fn default() -> Self {
        Self::new(900, 540)
    }
}

/// Colours of paper and ink.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Theme {
    /// Dark ink on white.
    #[default]
    Light,
    /// Light ink on near black.
    Dark,
    /// Dark ink on a transparent background.
    Clear,
}

impl Theme {
    pub(crate) fn paper(self) -> Option<Rgb> {
        match self {
            Self::Light => Some(Rgb::hex(0xffffff)),
            Self::Dark => Some(Rgb::hex(0x15181d)),
            Self::Clear => None,
        }
    }

    /// Text and frames.
    pub(crate) fn ink(self) -> Rgb {
        match self {
            Self::Light | Self::Clear => Rgb::hex(0x20242a),
            Self::Dark => Rgb::hex(0xe8eaed),
        }
    }

    /// Text of second rank.
    pub(crate) fn faint(self) -> Rgb {
        match self {
            Self::Light | Self::Clear => Rgb::hex(0x5f6670),
            Self::Dark => Rgb::hex(0xa4abb5),
        }
    }

    /// A colour of a series, light enough for a dark background.
    pub(crate) fn series(self, index: usize) -> Rgb {
        let colour = SERIES[index % SERIES.len()];
        if self == Self::Dark { colour.mix(Rgb::hex(0xffffff), 0.25) } else { colour }
    }
}
