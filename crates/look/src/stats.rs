//! Statistics of tensors in files.

use crate::catalog::{Catalog, FileRecord};
use crate::data::shown;
use crate::error::{LookError, Result};
use fw_stats::{Histogram, Scalar, Stats, Summary, coordinates};
use fw_tensor::DType;
use serde_json::{Map, Value, json};

/// What to compute.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StatsOptions {
    /// How many bins a histogram has; without them none is made.
    pub bins: Option<usize>,
    /// The range of the histogram; by default that of the finite values.
    pub range: Option<(f64, f64)>,
}

impl StatsOptions {
    /// Summaries alone.
    pub const fn new() -> Self {
        Self { bins: None, range: None }
    }

    /// With a histogram of this many bins.
    #[must_use]
    pub const fn with_bins(mut self, bins: usize) -> Self {
        self.bins = Some(bins);
        self
    }

    /// With a histogram over this range.
    #[must_use]
    pub const fn with_range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }
}

/// The statistics of one tensor.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TensorStats {
    /// The file, as the user calls it.
    pub file: String,
    /// Position of its message.
    pub message: usize,
    /// Position among the objects of the message.
    pub object: usize,
    /// What it is called.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Dimensions.
    pub shape: Vec<u64>,
    /// The statistics.
    pub summary: Summary,
    /// How values are distributed, when asked for.
    pub histogram: Option<Histogram>,
    /// Whether the elements were compared with a digest.
    pub is_verified: bool,
}

impl Catalog {
    /// The statistics of an object. Elements that are stored as they are, are never held all at once.
    ///
    /// ```
    /// use fw_look::{Catalog, StatsOptions};
    /// use fw_tensogram::MessageBuilder;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("fields.tgm");
    /// std::fs::write(&path, MessageBuilder::new().tensor(&[2, 2], &[3.0f32, 1.0, 8.0, 4.0])?.encode()?)?;
    ///
    /// let catalog = Catalog::open(&path)?;
    /// let found = catalog.statistics(&catalog.record(0)?, 0, &StatsOptions::new().with_bins(2))?;
    /// assert_eq!((found.summary.mean, found.summary.nan), (Some(4.0), 0));
    /// assert_eq!(found.max_at(), Some(vec![1, 0]));
    /// assert_eq!(found.histogram.unwrap().counts, [3, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Catalog::stream`]; bins or a range that a histogram cannot have.
    pub fn statistics(&self, record: &FileRecord, object: usize, options: &StatsOptions) -> Result<TensorStats> {
        let Some(named) = record.named(object) else {
            // Streaming says what is wrong with the object.
            self.stream(record, object, &mut |_| Ok(()))?;
            return Err(LookError::misuse("object_index_out_of_range", format!("no object {object}")));
        };
        let dtype = shown(named.dtype);
        let mut stats = Stats::new(dtype)?;
        let fixed = |bins: usize| options.range.map(|(low, high)| Histogram::new(dtype, low, high, bins)).transpose();
        let mut histogram = options.bins.map(fixed).transpose()?.flatten();
        // What has to be decoded is decoded once; what streams is read again for its histogram.
        let mut held: Option<Vec<u8>> = None;
        let keep = options.bins.is_some() && histogram.is_none();
        let mut pieces = 0usize;
        self.stream(record, object, &mut |piece| {
            stats.update(piece);
            if let Some(histogram) = &mut histogram {
                histogram.update(piece);
            }
            pieces = pieces.saturating_add(1);
            held = (keep && pieces == 1).then(|| piece.to_vec());
            Ok(())
        })?;
        let summary = stats.finish()?;
        if let (Some(bins), None) = (options.bins, &histogram) {
            let mut over = Histogram::over(dtype, &summary, bins)?;
            match held {
                Some(data) => over.update(&data),
                None => self.stream(record, object, &mut |piece| {
                    over.update(piece);
                    Ok(())
                })?,
            }
            histogram = Some(over);
        }
        Ok(TensorStats {
            file: record.file().to_owned(),
            message: record.index(),
            object,
            name: record.name(object).into_owned(),
            dtype: named.dtype,
            shape: named.shape,
            summary,
            histogram: histogram.map(Histogram::finish).transpose()?,
            is_verified: self.verifies(object),
        })
    }
}

impl TensorStats {
    /// Where the least value is.
    pub fn min_at(&self) -> Option<Vec<u64>> {
        coordinates(&self.shape, self.summary.min_at?)
    }

    /// Where the greatest value is.
    pub fn max_at(&self) -> Option<Vec<u64>> {
        coordinates(&self.shape, self.summary.max_at?)
    }

    /// The JSON that every front end hands out.
    pub fn to_json(&self) -> Value {
        let Summary { count, finite, nan, pos_inf, neg_inf, zeros, .. } = self.summary;
        let mut object = json!({
            "file": self.file,
            "message": self.message,
            "object": self.object,
            "name": self.name,
            "dtype": self.dtype.name(),
            "shape": self.shape,
            "count": count,
            "finite": finite,
            "nan": nan,
            "pos_inf": pos_inf,
            "neg_inf": neg_inf,
            "zeros": zeros,
            "min": self.summary.min.map(scalar),
            "min_at": self.min_at(),
            "max": self.summary.max.map(scalar),
            "max_at": self.max_at(),
            "sum": self.summary.sum.map(integer),
            "mean": self.summary.mean,
            "std": self.summary.std,
            "norm": self.summary.norm,
            "verified": self.is_verified,
        });
        if let Some(histogram) = &self.histogram {
            let mut bins = Map::new();
            bins.insert("low".to_owned(), histogram.low.into());
            bins.insert("high".to_owned(), histogram.high.into());
            bins.insert("counts".to_owned(), json!(histogram.counts));
            bins.insert("below".to_owned(), histogram.below.into());
            bins.insert("above".to_owned(), histogram.above.into());
            bins.insert("nan".to_owned(), histogram.nan.into());
            object["histogram"] = Value::Object(bins);
        }
        object
    }
}

fn scalar(value: Scalar) -> Value {
    match value {
        Scalar::Integer(value) => integer(value),
        Scalar::Float(value) => json!(value),
    }
}

/// An exact integer: a number where JSON readers can hold it, else text.
fn integer(value: i128) -> Value {
    match (i64::try_from(value), u64::try_from(value)) {
        (Ok(value), _) => value.into(),
        (_, Ok(value)) => value.into(),
        _ => value.to_string().into(),
    }
}
