//! What can be wrong with a drawing that was asked for.

/// Why a figure cannot be drawn.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DrawError {
    /// The number of values does not match the shape.
    #[error("{rows} rows of {columns} columns need {needed} values, got {got}")]
    Shape {
        /// Rows asked for.
        rows: usize,
        /// Columns asked for.
        columns: usize,
        /// Rows times columns, saturating.
        needed: usize,
        /// Values given.
        got: usize,
    },
    /// A picture is too small to hold its parts, or larger than the limit.
    #[error("a size of {width} x {height} {unit} is out of range: must be from {least} to {most}")]
    Size {
        /// Width asked for.
        width: u32,
        /// Height asked for.
        height: u32,
        /// What the numbers count: pixels or characters.
        unit: &'static str,
        /// The smallest size, as text.
        least: String,
        /// The largest size, as text.
        most: String,
    },
    /// The scale of a picture is zero or too large.
    #[error("scale {scale} is out of range: must be from 1 to {most}")]
    Scale {
        /// Scale asked for.
        scale: u32,
        /// The largest scale.
        most: u32,
    },
    /// The lower end of a range is not below the upper one.
    #[error("range {low} to {high} is empty: the lower end must be below the upper end, and both must be finite")]
    EmptyRange {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// A percentile outside 0 to 100.
    #[error("percentile {0} is out of range: must be from 0 to 100")]
    Percentile(f64),
    /// A logarithmic scale over values that are not positive.
    #[error("a logarithmic scale needs positive values: {0}")]
    NotPositive(String),
    /// Coordinates of a grid that cannot be on a map.
    #[error("grid of latitudes {lat0} to {lat1} and longitudes {lon0} to {lon1} is out of range: {reason}")]
    Grid {
        /// Latitude of the first row.
        lat0: f64,
        /// Latitude of the last row.
        lat1: f64,
        /// Longitude of the first column.
        lon0: f64,
        /// Longitude of the last column.
        lon1: f64,
        /// What is wrong.
        reason: &'static str,
    },
    /// The two coordinates of a series have different lengths.
    #[error("series {name:?} has {x} x values and {y} y values: the counts must be equal")]
    SeriesLength {
        /// Name of the series.
        name: String,
        /// Number of x values.
        x: usize,
        /// Number of y values.
        y: usize,
    },
    /// Edges and counts of a histogram do not fit together.
    #[error("a histogram of {counts} bins needs {} increasing finite edges, got {edges}", counts.saturating_add(1))]
    Bins {
        /// Number of counts.
        counts: usize,
        /// Number of edges.
        edges: usize,
    },
}

impl DrawError {
    /// Stable snake_case code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Shape { .. } => "shape_mismatch",
            Self::Size { .. } => "size_out_of_range",
            Self::Scale { .. } => "scale_out_of_range",
            Self::EmptyRange { .. } => "empty_range",
            Self::Percentile(_) => "percentile_out_of_range",
            Self::NotPositive(_) => "not_positive",
            Self::Grid { .. } => "grid_out_of_range",
            Self::SeriesLength { .. } => "series_length_mismatch",
            Self::Bins { .. } => "bins_mismatch",
        }
    }
}

/// A result of drawing.
pub type Result<T> = std::result::Result<T, DrawError>;
