//! Pictures of tensors in files: which part, what is written on the axes, where it lies on the earth.

mod axes; // which part is shown
mod grid; // where it lies on the earth
mod labels; // names, units, coordinates

use crate::catalog::{Catalog, FileRecord};
use crate::error::{LookError, Result};
use crate::stats::StatsOptions;
use axes::{Choice, Shown};
use fw_draw::{Axis, ColourMap, Field, Figure, HeatMap, Histogram, LatLon, LinePlot, Range, Reduce, Series};
use fw_stats::to_f64;
use fw_tensor::Selection;
use grid::Corners;
use labels::Dimension;

/// The kind of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PictureKind {
    /// Two axes in colours.
    HeatMap,
    /// One axis as a line, or up to eight rows of two axes as lines.
    Lines,
    /// How often values occur.
    Histogram,
}

impl PictureKind {
    /// The name that `fw plot --kind` takes: `heatmap`, `line` or `histogram`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HeatMap => "heatmap",
            Self::Lines => "line",
            Self::Histogram => "histogram",
        }
    }
}

/// What to show of a tensor.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PictureOptions {
    /// The kind; by default a heat map of two axes, a line of one.
    pub kind: Option<PictureKind>,
    /// Which part; by default the last two axes, at the first index of the others.
    pub selection: Option<Selection>,
    /// The area of a regular grid of latitudes and longitudes, where the metadata does not have it: north, west, south, east of the
    /// outermost points.
    pub area: Option<[f64; 4]>,
    /// Bins of a histogram; 0 for the usual number.
    pub bins: usize,
}

/// How a picture looks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Style {
    /// The colours of a heat map.
    pub map: ColourMap,
    /// Which values the colours or the axis span.
    pub range: Range,
    /// Whether coastlines and a graticule are drawn where the grid is known.
    pub coast: bool,
    /// Another title.
    pub title: Option<String>,
    /// How a field with more values than pixels is reduced.
    pub reduce: Reduce,
}

impl Default for Style {
    fn default() -> Self {
        Self { map: ColourMap::default(), range: Range::default(), coast: true, title: None, reduce: Reduce::default() }
    }
}

/// A part of a tensor, read and labelled, that can be drawn on every target.
///
/// ```
/// use fw_draw::{Size, Terminal};
/// use fw_look::{Catalog, Picture, PictureOptions, Style};
/// use fw_tensogram::{MessageBuilder, value};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("field.tgm");
/// let values: Vec<f32> = (0..37 * 72).map(|index| (index % 72) as f32).collect();
/// let mars = value!({ "param": "2t", "area": [90.0, -180.0, -90.0, 175.0], "grid": "regular_ll" });
/// std::fs::write(&path, MessageBuilder::new().tensor(&[37, 72], &values)?.base("mars", mars).encode()?)?;
///
/// let catalog = Catalog::open(&path)?;
/// let picture = Picture::of(&catalog, &catalog.record(0)?, 0, &PictureOptions::default())?;
/// assert!(picture.grid().is_some(), "coastlines are drawn");
/// let png = picture.draw(&Style::default(), |figure| figure.png(&Size::new(480, 270)))?;
/// assert!(png.starts_with(b"\x89PNG"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Picture {
    content: Content,
    title: String,
    subtitle: String,
    unit: Option<String>,
    name: String,
    notes: Vec<String>,
    is_verified: bool,
}

#[derive(Clone, Debug)]
enum Content {
    Field { values: Vec<f64>, rows: usize, columns: usize, y: Axis, x: Axis, grid: Option<LatLon> },
    Lines { series: Vec<(String, Vec<f64>)>, x: Axis, places: Option<Vec<f64>> },
    Counts { edges: Vec<f64>, counts: Vec<u64> },
}

impl Picture {
    /// Reads what a picture of an object needs.
    ///
    /// # Errors
    /// As [`Catalog::part`]; a kind that does not suit the part (`no_picture`), an area that does not suit the grid.
    pub fn of(catalog: &Catalog, record: &FileRecord, object: usize, options: &PictureOptions) -> Result<Self> {
        let Some(mut shape) = record.named(object).map(|named| named.shape) else {
            catalog.stream(record, object, &mut |_| Ok(()))?;
            return Err(LookError::misuse("object_index_out_of_range", format!("no object {object}")));
        };
        let mut picture = Self {
            content: Content::Counts { edges: Vec::new(), counts: Vec::new() },
            title: labels::title(record, object),
            subtitle: labels::distinction(record, object).join(", "),
            unit: labels::unit(record, object),
            name: record.name(object).into_owned(),
            notes: Vec::new(),
            is_verified: false,
        };
        let selection = options.selection.clone().unwrap_or_default();
        if options.kind == Some(PictureKind::Histogram) {
            (picture.content, picture.is_verified) = counts(catalog, record, object, options)?;
            return Ok(picture);
        }
        // A regular grid stored as one line of values is shown as the grid it is.
        let folded = match (&shape[..], &options.selection, options.kind) {
            ([count], None, None | Some(PictureKind::HeatMap)) if *count <= MOST => {
                grid::folded(record, object, *count)
            }
            _ => None,
        };
        let dimensions = match folded {
            Some((rows, columns)) => {
                shape = vec![rows, columns];
                vec![
                    Dimension { name: "latitude".into(), ..Default::default() },
                    Dimension { name: "longitude".into(), ..Default::default() },
                ]
            }
            None => labels::dimensions(catalog, record, object, &shape),
        };
        let rank = if options.kind == Some(PictureKind::Lines) && options.selection.is_none() { 1 } else { 2 };
        let choice = axes::choose(&shape, &selection, rank, MOST)?;
        let part = match folded {
            Some(_) => catalog.part(record, object, &Selection::new())?,
            None => catalog.part(record, object, &choice.selection)?,
        };
        picture.is_verified = part.is_verified;
        let values = to_f64(part.dtype, &part.data)?;
        picture.remark(&choice, &dimensions);
        let long: Vec<&Shown> = choice.axes.iter().filter(|axis| axis.len != 1).collect();
        picture.content = match (options.kind, &choice.axes[..], &long[..]) {
            (None, [], _) => {
                let text =
                    format!("{}: a single value cannot be drawn; use a histogram of the whole tensor", picture.name);
                return Err(LookError::misuse("no_picture", text));
            }
            (None | Some(PictureKind::HeatMap), [rows, columns], [_, _])
            | (Some(PictureKind::HeatMap), [rows, columns], _) => {
                let corners = match options.area {
                    Some(area) => Corners::of_area(&area, shape[columns.axis]),
                    None => grid::corners(record, object, shape[rows.axis], shape[columns.axis]),
                };
                // Keys of the metadata describe the last two axes.
                let last = (rows.axis + 2, columns.axis + 1) == (shape.len(), shape.len());
                let counts = (shape[rows.axis], shape[columns.axis]);
                let (y, x) = (&dimensions[rows.axis], &dimensions[columns.axis]);
                let grid = match options.area {
                    Some(_) => corners.map(|corners| corners.part(counts, rows, columns)),
                    None => grid::of_dimensions(y, x, (rows, columns))
                        .or_else(|| corners.filter(|_| last).map(|corners| corners.part(counts, rows, columns))),
                };
                let (height, width) = (count(rows.len)?, count(columns.len)?);
                let fits = |grid: &LatLon| options.area.is_some() || grid.area(height, width).is_ok();
                let grid = grid.filter(fits);
                Content::Field { values, rows: height, columns: width, y: axis(y, rows), x: axis(x, columns), grid }
            }
            (None | Some(PictureKind::Lines), shown, _) if shown.len() <= 2 => {
                lines(&picture.name, values, shown, &long, &dimensions)?
            }
            _ => {
                let text =
                    format!("{}: a heat map needs two axes, the selected part has {}", picture.name, choice.axes.len());
                return Err(LookError::misuse("no_picture", text));
            }
        };
        Ok(picture)
    }

    /// Its kind.
    pub const fn kind(&self) -> PictureKind {
        match &self.content {
            Content::Field { .. } => PictureKind::HeatMap,
            Content::Lines { .. } => PictureKind::Lines,
            Content::Counts { .. } => PictureKind::Histogram,
        }
    }

    /// Where it lies on the earth, when that is known.
    pub const fn grid(&self) -> Option<LatLon> {
        match &self.content {
            Content::Field { grid, .. } => *grid,
            _ => None,
        }
    }

    /// Whether all elements of the object were read, and compared with a digest.
    pub const fn is_verified(&self) -> bool {
        self.is_verified
    }

    /// What of the tensor is not in the picture, one sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Hands the figure to `draw`, which makes a PNG, an SVG, sixels or text of it.
    ///
    /// # Errors
    /// Those of `draw`: sizes, ranges and grids that cannot be drawn.
    pub fn draw<T>(&self, style: &Style, draw: impl FnOnce(&dyn Figure) -> fw_draw::Result<T>) -> Result<T> {
        let title = style.title.clone().unwrap_or_else(|| self.title.clone());
        let unit = self.unit.clone().unwrap_or_default();
        let drawn = match &self.content {
            Content::Field { values, rows, columns, y, x, grid } => {
                let mut map = HeatMap::new(Field::new(*rows, *columns, &values[..])?)
                    .title(title)
                    .subtitle(&self.subtitle)
                    .name(&self.name)
                    .unit(unit)
                    .map(style.map)
                    .range(style.range)
                    .reduce(style.reduce)
                    .x_axis(x.clone())
                    .y_axis(y.clone());
                if let Some(grid) = grid {
                    map = map.grid(*grid).coast(style.coast).graticule(style.coast);
                }
                draw(&map)
            }
            Content::Lines { series, x, places } => {
                let y = Axis::new(self.name.as_str()).unit(unit);
                let mut plot = LinePlot::new()
                    .title(title)
                    .subtitle(&self.subtitle)
                    .x_axis(x.clone())
                    .y_axis(y)
                    .range(style.range);
                for (name, values) in series {
                    let name = name.as_str();
                    plot = plot.series(match places {
                        Some(places) => Series::over(name, &places[..], &values[..])?,
                        None => Series::new(name, &values[..]),
                    });
                }
                draw(&plot)
            }
            Content::Counts { edges, counts } => {
                let x = Axis::new(self.name.as_str()).unit(unit);
                let histogram = Histogram::from_counts(edges.clone(), counts.clone())?;
                draw(&histogram.title(title).subtitle(&self.subtitle).x_axis(x))
            }
        };
        Ok(drawn?)
    }

    /// Says what is left out, and puts fixed indices into the subtitle.
    fn remark(&mut self, choice: &Choice, dimensions: &[Dimension]) {
        for (axis, index, len) in &choice.fixed {
            let name = dimensions.get(*axis).map_or_else(|| format!("dim_{axis}"), |dimension| dimension.name.clone());
            self.notes
                .push(format!("axis {axis} ({name}): index {index} of {len} is shown; choose another with a slice"));
            let words = format!("{name} = {index}");
            self.subtitle = if self.subtitle.is_empty() { words } else { format!("{}, {words}", self.subtitle) };
        }
        if choice.thinned > 1 {
            let nth = choice.thinned;
            self.notes.push(format!("every {nth}th element along each axis is shown; choose a part with a slice"));
        }
    }
}

/// Counts of all values, or of a part, and whether they were compared with a digest.
fn counts(catalog: &Catalog, record: &FileRecord, object: usize, options: &PictureOptions) -> Result<(Content, bool)> {
    let bins = if options.bins == 0 { BINS } else { options.bins };
    let Some(selection) = &options.selection else {
        let found = catalog.statistics(record, object, &StatsOptions::new().with_bins(bins))?;
        let histogram = found.histogram.ok_or_else(|| LookError::misuse("no_picture", "no histogram"))?;
        return Ok((
            Content::Counts { edges: histogram.edges().to_vec(), counts: histogram.counts },
            found.is_verified,
        ));
    };
    let part = catalog.part(record, object, selection)?;
    let histogram = Histogram::of(&to_f64(part.dtype, &part.data)?, bins);
    let content = Content::Counts { edges: histogram.edges().to_vec(), counts: histogram.counts().to_vec() };
    Ok((content, part.is_verified))
}

/// One axis as a line, or a few rows as lines.
fn lines(name: &str, values: Vec<f64>, shown: &[Shown], long: &[&Shown], dimensions: &[Dimension]) -> Result<Content> {
    let (rows, along) = match (shown, long) {
        ([rows, columns], [_, _]) => (Some(rows), columns),
        (_, [only]) => (None, *only),
        ([.., last], _) => (None, last),
        ([], _) => return Err(LookError::misuse("no_picture", format!("{name}: a single value cannot be drawn"))),
    };
    let dimension = &dimensions[along.axis];
    let len = count(along.len)?;
    let series = match rows {
        None => vec![(String::new(), values)],
        Some(rows) if rows.len > MOST_LINES => {
            let text = format!(
                "{name}: {} rows are too many lines (at most {MOST_LINES}); choose some with a slice",
                rows.len
            );
            return Err(LookError::misuse("no_picture", text));
        }
        Some(rows) => {
            let label = |row: usize| match place(&dimensions[rows.axis], rows, row) {
                Some(value) => format!("{} {}", dimensions[rows.axis].name, fw_draw::number(value)),
                None => format!("{} {row}", dimensions[rows.axis].name),
            };
            values.chunks(len.max(1)).enumerate().map(|(row, line)| (label(row), line.to_vec())).collect()
        }
    };
    // Unevenly spaced coordinates give every value its own place.
    let places: Option<Vec<f64>> = (0..len).map(|index| place(dimension, along, index)).collect();
    let places = places.filter(|places| !grid::even(places));
    Ok(Content::Lines { series, x: axis(dimension, along), places })
}

/// The coordinate of the element at `index` along a shown axis.
fn place(dimension: &Dimension, shown: &Shown, index: usize) -> Option<f64> {
    let (first, last) = (shown.first as f64, shown.last as f64);
    let steps = shown.len.saturating_sub(1).max(1) as f64;
    let at = (first + (last - first) * index as f64 / steps).round();
    dimension.values.as_ref()?.get(at as usize).copied()
}

/// The axis of a picture: coordinates where they are evenly spaced, else indices of the tensor.
fn axis(dimension: &Dimension, shown: &Shown) -> Axis {
    let named = Axis::new(dimension.name.as_str());
    let value = |index: u64| dimension.values.as_ref()?.get(usize::try_from(index).ok()?).copied();
    match (value(shown.first), value(shown.last), &dimension.values) {
        (Some(first), Some(last), Some(values)) if grid::even(values) => {
            let named = named.coordinates(first, last);
            dimension.unit.as_ref().map_or(named.clone(), |unit| named.unit(unit.as_str()))
        }
        _ => named.coordinates(shown.first as f64, shown.last as f64),
    }
}

fn count(len: u64) -> Result<usize> {
    usize::try_from(len).map_err(|_| LookError::misuse("no_picture", format!("an axis of {len} elements is too long")))
}

/// More elements than this are thinned out: they are held as doubles.
const MOST: u64 = 1 << 24;
/// More lines than this cannot be told apart.
const MOST_LINES: u64 = 8;
/// Bins of a histogram, unless told otherwise.
const BINS: usize = 40;
