//! Pictures of numbers: heat maps, line plots and histograms, as PNG, SVG, sixel or text for a terminal.
//!
//! The crate reads plain slices (or a function of an index) in place and does not know any file format.
//!
//! ```
//! use fw_draw::{ColourMap, Field, Figure, HeatMap, Range, Scale, Size, Terminal};
//!
//! let anomaly: Vec<f32> = (0..40 * 60).map(|index| ((index % 60) as f32 / 9.0).sin() * (index / 60) as f32).collect();
//! let map = HeatMap::new(Field::new(40, 60, &anomaly)?)
//!     .title("Anomaly")
//!     .unit("K")
//!     .map(ColourMap::Balance)
//!     .range(Range::percentiles(1.0, 99.0).scale(Scale::Symmetric));
//! let png = map.png(&Size::new(640, 400).scale(2))?;
//! let svg = map.svg(&Size::new(640, 400))?;
//! print!("{}", map.text(&Terminal::new(80, 24))?);
//! # assert!(png.len() > 1000 && svg.ends_with("</svg>\n"));
//! # Ok::<(), fw_draw::DrawError>(())
//! ```
//!
//! # What holds for every figure
//!
//! - NaN is missing: transparent in pictures, blank on terminals, a gap in lines.
//! - Values outside the range, and infinities, have colours of their own, which the colour bar shows at its ends.
//! - The same input gives the same bytes.
//! - Text from files is shown with control characters and direction marks spelled out ([`visible`]), and escaped in SVG.
//! - Empty, constant, missing and enormous inputs give a picture; wrong sizes, ranges and grids give a [`DrawError`].
//!
//! # Dependencies
//!
//! PNG files are written here on top of `flate2`, which the workspace uses anyway: the format needs one page (chunks and
//! five filters), while the `png` crate would add itself, `bitflags`, `fdeflate` and a second `miniz_oxide`, mostly for
//! decoding, which nothing here needs.
#![forbid(unsafe_code)]

mod error; // what can be wrong
mod text; // text that is safe to show
mod values; // where numbers come from
mod summary; // extremes and percentiles
mod range; // which values get which place
mod ticks; // round numbers on axes
mod resample; // fields on grids of pixels
mod colour; // colours and colour maps
mod plane; // places on a picture
mod font; // letters for pictures
mod geo; // grids on the earth
mod coast; // coastlines
mod axis; // names, units and ticks of an axis
mod size; // sizes and themes of pictures
mod scene; // shapes, and their targets
mod terminal; // characters with colours, and axes around them
mod figure; // heat maps, line plots, histograms

pub use axis::Axis;
pub use coast::{CoastDetail, coastlines};
pub use colour::{ColourMap, Rgb, SERIES};
pub use error::{DrawError, Result};
pub use figure::{Figure, HeatMap, Histogram, Image, LinePlot, Series};
pub use fw_report::visible;
pub use geo::{Area, LatLon};
pub use range::{Bound, Place, Range, Scale, Span};
pub use resample::{Reduce, resample};
pub use scene::Scene;
pub use size::{Size, Theme};
pub use summary::Summary;
pub use terminal::{Terminal, TerminalColour};
pub use text::number;
pub use ticks::{Tick, Ticks};
pub use values::{Field, Values};
