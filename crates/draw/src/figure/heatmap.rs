//! Heat maps: a field in colours, with coastlines where the grid is known.

use super::chrome::{Bar, Chrome, Layout};
use super::{Figure, heatmap_text};
use crate::axis::{Axis, Kind, Rule};
use crate::coast::{CoastDetail, coast_in, graticule_in};
use crate::colour::{ColourMap, Rgb};
use crate::error::{DrawError, Result};
use crate::geo::{Area, LatLon};
use crate::plane::Point;
use crate::range::{Place, Range, Span};
use crate::resample::{Reduce, resample_rows};
use crate::scene::{Ink, Pixels, Scene, Shape, base64, encode_png};
use crate::size::Size;
use crate::summary::Summary;
use crate::terminal::Terminal;
use crate::values::Field;

/// A field in colours. Missing values are transparent.
///
/// ```
/// use fw_draw::{Field, Figure, HeatMap, LatLon, Size};
///
/// let values: Vec<f32> = (0..37 * 72).map(|index| 288.0 - ((index / 72) as f32 - 18.0).powi(2) * 0.15).collect();
/// let map = HeatMap::new(Field::new(37, 72, &values)?)
///     .title("2 m temperature")
///     .unit("K")
///     .grid(LatLon { lat0: 90.0, lat1: -90.0, lon0: -180.0, lon1: 175.0 });
/// let png = map.png(&Size::new(640, 360))?;
/// assert!(png.starts_with(b"\x89PNG"));
/// let svg = map.svg(&Size::new(640, 360))?;
/// assert!(svg.contains(">2 m temperature</text>"));
/// # Ok::<(), fw_draw::DrawError>(())
/// ```
#[derive(Debug, Clone)]
pub struct HeatMap<'a> {
    pub(crate) field: Field<'a>,
    pub(crate) title: String,
    pub(crate) subtitle: String,
    name: String,
    unit: String,
    map: ColourMap,
    range: Range,
    x: Axis,
    y: Axis,
    grid: Option<LatLon>,
    coast: bool,
    graticule: bool,
    reduce: Reduce,
}

impl<'a> HeatMap<'a> {
    /// A heat map with the first row at the top.
    #[must_use]
    pub fn new(field: Field<'a>) -> Self {
        Self {
            field,
            title: String::new(),
            subtitle: String::new(),
            name: String::new(),
            unit: String::new(),
            map: ColourMap::default(),
            range: Range::default(),
            x: Axis::default(),
            y: Axis::default(),
            grid: None,
            coast: true,
            graticule: true,
            reduce: Reduce::default(),
        }
    }

    titled!();

    /// With the name of the values, at the colour bar.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// With the unit of the values, at the colour bar.
    #[must_use]
    pub fn unit(self, unit: impl Into<String>) -> Self {
        Self { unit: unit.into(), ..self }
    }

    setters! {
        /// With another colour map.
        map: map: ColourMap;
        /// With another range of values.
        range: range: Range;
        /// With a name and coordinates for the columns.
        x_axis: x: Axis;
        /// With a name and coordinates for the rows.
        y_axis: y: Axis;
        /// With or without coastlines on a map; with them unless told otherwise.
        coast: coast: bool;
        /// With or without meridians and parallels on a map; with them unless told otherwise.
        graticule: graticule: bool;
        /// With another way to reduce a field that has more values than the picture has pixels.
        reduce: reduce: Reduce;
    }

    /// On a map: a regular grid of latitudes and longitudes. Axes given for rows and columns are then not used.
    #[must_use]
    pub fn grid(self, grid: LatLon) -> Self {
        Self { grid: Some(grid), ..self }
    }

    /// The bare image of the field, without axes and coastlines.
    ///
    /// # Errors
    /// [`DrawError::Size`] for more than [`Size::MAX_PIXELS`] pixels, and wrong ranges.
    pub fn image(&self, width: u32, height: u32) -> Result<Image> {
        if width == 0 || height == 0 || u64::from(width) * u64::from(height) > Size::MAX_PIXELS {
            let (least, most) = ("1 x 1".to_owned(), format!("{} pixels in all", Size::MAX_PIXELS));
            return Err(DrawError::Size { width, height, unit: "pixels", least, most });
        }
        let prepared = self.prepare()?;
        Ok(Image { width, height, pixels: self.paint(&prepared, width, height) })
    }

    /// The range in numbers, the area, and what lies outside.
    pub(crate) fn prepare(&self) -> Result<Prepared> {
        let values = self.field.values();
        let summary = Summary::of(values);
        let span = self.range.resolve_with(values, &summary)?;
        let area = self.grid.map(|grid| grid.area(self.field.rows(), self.field.columns())).transpose()?;
        let (mut under, mut over) = (false, false);
        if summary.finite > 0 {
            under = span.place(summary.min) == Place::Under;
            over = span.place(summary.max) == Place::Over;
        }
        if summary.infinite > 0 {
            values.for_each(0..values.len(), |value| {
                under |= value == f64::NEG_INFINITY;
                over |= value == f64::INFINITY;
            });
        }
        Ok(Prepared { span, area, under, over })
    }

    /// The colour of a value; `None` where it is missing.
    pub(crate) fn colour(&self, span: &Span, value: f64) -> Option<Rgb> {
        match span.place(value) {
            Place::Missing => None,
            Place::Under => Some(self.map.under()),
            Place::Inside(t) => Some(self.map.at(t)),
            Place::Over => Some(self.map.over()),
        }
    }

    pub(crate) fn paint(&self, prepared: &Prepared, width: u32, height: u32) -> Pixels {
        let mut pixels = vec![[0; 4]; width as usize * height as usize];
        self.each_row(prepared, width as usize, height as usize, |y, row| {
            let start = y * width as usize;
            for (pixel, value) in pixels[start..start + row.len()].iter_mut().zip(row) {
                *pixel =
                    self.colour(&prepared.span, *value).map_or([0; 4], |colour| [colour.r, colour.g, colour.b, 255]);
            }
        });
        pixels
    }

    /// Values on a grid of pixels, with north at the top.
    pub(crate) fn each_row(
        &self,
        prepared: &Prepared,
        width: usize,
        height: usize,
        mut each: impl FnMut(usize, &[f64]),
    ) {
        let flip = prepared.area.is_some_and(|area| area.south_first);
        resample_rows(&self.field, width, height, self.reduce, |y, row| {
            each(if flip { height - 1 - y } else { y }, row);
        });
    }

    /// The axes to the right and upwards.
    pub(crate) fn rules(&self, prepared: &Prepared) -> (Rule, Rule) {
        if let Some(area) = &prepared.area {
            return (
                Rule::geographic(area.west, area.east, Kind::Longitude),
                Rule::geographic(area.south, area.north, Kind::Latitude),
            );
        }
        let mut y = self.y.cells(self.field.rows());
        std::mem::swap(&mut y.start, &mut y.end);
        (self.x.cells(self.field.columns()), y)
    }

    pub(crate) fn bar(&self, prepared: &Prepared) -> Bar {
        let axis = Axis::new(self.name.clone()).unit(self.unit.clone());
        let Prepared { span, under, over, .. } = *prepared;
        Bar { rule: axis.numbers(&span, false), map: self.map, under, over }
    }

    /// Width over height. Fields that are far from square are stretched to the room there is.
    pub(crate) fn aspect(&self, prepared: &Prepared) -> Option<f64> {
        let aspect = match &prepared.area {
            Some(area) => area.aspect(),
            None => self.field.columns() as f64 / self.field.rows() as f64,
        };
        (0.25..=4.0).contains(&aspect).then_some(aspect)
    }

    pub(crate) fn coast_of(&self, prepared: &Prepared) -> Option<Area> {
        prepared.area.filter(|_| self.coast)
    }
}

impl Figure for HeatMap<'_> {
    fn scene(&self, size: &Size) -> Result<Scene<'_>> {
        size.check()?;
        let prepared = self.prepare()?;
        let (x, y) = self.rules(&prepared);
        let chrome = Chrome {
            title: &self.title,
            subtitle: &self.subtitle,
            x,
            y,
            bar: Some(self.bar(&prepared)),
            legend: Vec::new(),
            aspect: self.aspect(&prepared),
        };
        let layout = Layout::new(size, &chrome);
        let plot = layout.plot;
        let mut scene = layout.scene();
        scene.shapes.push(Shape::Image {
            rect: plot,
            columns: self.field.columns() as u64,
            rows: self.field.rows() as u64,
            paint: Box::new(move |width, height| self.paint(&prepared, width, height)),
        });
        if prepared.area.is_some() && self.graticule {
            let longitudes = layout.x.marks.iter().map(|(x, _)| *x);
            let latitudes = layout.y.marks.iter().map(|(y, _)| 1.0 - y);
            let lines = graticule_in(longitudes, latitudes).into_iter();
            let lines = lines.map(|line| line.iter().map(|point| plot.at(point.x, point.y)).collect()).collect();
            scene.shapes.push(Shape::Strokes {
                lines,
                ink: Ink { colour: Rgb::hex(0x000000), alpha: 0.22 },
                width: 0.6,
            });
        }
        if let Some(area) = self.coast_of(&prepared) {
            let resolution = f64::from(plot.width) / (area.east - area.west);
            let lines: Vec<Vec<_>> = coast_in(&area, CoastDetail::for_resolution(resolution))
                .into_iter()
                .map(|line| thinned(line.iter().map(|point| plot.at(point.x, point.y))))
                .collect();
            // A pale edge keeps the dark line visible on dark colours.
            let halo = Ink { colour: Rgb::hex(0xffffff), alpha: 0.35 };
            scene.shapes.push(Shape::Strokes { lines: lines.clone(), ink: halo, width: 2.4 });
            let line = Ink { colour: Rgb::hex(0x101010), alpha: 0.9 };
            scene.shapes.push(Shape::Strokes { lines, ink: line, width: 1.0 });
        }
        layout.draw(&mut scene);
        Ok(scene)
    }

    fn text(&self, terminal: &Terminal) -> Result<String> {
        heatmap_text::heatmap(self, terminal)
    }

    fn title_text(&self) -> &str {
        &self.title
    }
}

/// A line without the points that are too close to the one before to be seen.
fn thinned(points: impl Iterator<Item = Point>) -> Vec<Point> {
    const NEAR: f64 = 0.35;
    let mut out: Vec<Point> = Vec::new();
    let mut last = None;
    for point in points {
        if out.last().is_none_or(|kept| (kept.x - point.x).abs().max((kept.y - point.y).abs()) >= NEAR) {
            out.push(point);
            last = None;
        } else {
            last = Some(point);
        }
    }
    out.extend(last);
    out
}

/// What is computed once per drawing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prepared {
    pub(crate) span: Span,
    pub(crate) area: Option<Area>,
    pub(crate) under: bool,
    pub(crate) over: bool,
}

/// Pixels of a field: red, green, blue and alpha, row by row from the top.
///
/// ```
/// use fw_draw::{ColourMap, Field, HeatMap};
///
/// let image = HeatMap::new(Field::new(1, 2, &[0.0f32, f32::NAN])?).map(ColourMap::Grey).image(4, 1)?;
/// assert_eq!(image.pixels[0][3], 255);
/// assert_eq!(image.pixels[2], [0, 0, 0, 0]);
/// # Ok::<(), fw_draw::DrawError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Red, green, blue, alpha.
    pub pixels: Vec<[u8; 4]>,
}

impl Image {
    /// The image as a PNG file.
    #[must_use]
    pub fn png(&self) -> Vec<u8> {
        encode_png(self.width, self.height, &self.pixels)
    }

    /// The PNG file as a URL of its own, for the `src` of an image in HTML.
    #[must_use]
    pub fn data_url(&self) -> String {
        format!("data:image/png;base64,{}", base64(&self.png()))
    }
}
