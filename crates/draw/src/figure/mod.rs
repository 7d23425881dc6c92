//! The figures, and what they share: every target.

/// The methods that every figure has: its two lines of title.
macro_rules! titled {
    () => {
        /// With a title.
        #[must_use]
        pub fn title(self, title: impl Into<String>) -> Self {
            Self { title: title.into(), ..self }
        }

        /// With a second line below the title.
        #[must_use]
        pub fn subtitle(self, subtitle: impl Into<String>) -> Self {
            Self { subtitle: subtitle.into(), ..self }
        }
    };
}

/// Methods that set one field each, under the name of the method or of the field.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $field:ident: $type:ty;)*) => {
        $(
            $(#[$doc])*
            #[must_use]
            pub fn $name(self, $field: $type) -> Self {
                Self { $field, ..self }
            }
        )*
    };
}

mod chrome; // titles, frames, axes and colour bars around the data
mod heatmap; // a field in colours
mod heatmap_text; // the same on a terminal
mod histogram; // how often values occur
mod lines; // series over an axis
mod plot_text; // lines and histograms on a terminal
mod trace; // a series as lines with gaps

pub use heatmap::{HeatMap, Image};
pub use histogram::Histogram;
pub use lines::{LinePlot, Series};

use crate::error::Result;
use crate::scene::{Scene, encode_png, encode_sixel, rasterise, write_svg};
use crate::size::Size;
use crate::terminal::Terminal;

/// Something that can be drawn on every target.
pub trait Figure {
    /// The figure as shapes, laid out to fit into a size.
    ///
    /// # Errors
    /// A size out of range, or a range or grid that does not suit the values.
    fn scene(&self, size: &Size) -> Result<Scene<'_>>;

    /// The figure as text for a terminal, with a newline at the end of each line.
    ///
    /// # Errors
    /// As [`scene`](Self::scene).
    fn text(&self, terminal: &Terminal) -> Result<String>;

    /// The title, for the metadata of a file.
    fn title_text(&self) -> &str;

    /// The figure as a PNG file with transparency.
    ///
    /// # Errors
    /// As [`scene`](Self::scene).
    fn png(&self, size: &Size) -> Result<Vec<u8>> {
        let (width, height, pixels) = rasterise(&self.scene(size)?, size.pixels_per_unit());
        Ok(encode_png(width, height, &pixels))
    }

    /// The figure as an SVG document.
    ///
    /// # Errors
    /// As [`scene`](Self::scene).
    fn svg(&self, size: &Size) -> Result<String> {
        Ok(write_svg(&self.scene(size)?, self.title_text()))
    }

    /// The figure as sixel graphics, for terminals that can show them.
    ///
    /// # Errors
    /// As [`scene`](Self::scene).
    fn sixel(&self, size: &Size) -> Result<String> {
        let (width, height, pixels) = rasterise(&self.scene(size)?, size.pixels_per_unit());
        Ok(encode_sixel(width, height, &pixels))
    }
}
