//! A file of named tensors, whatever its format.

use crate::{ConvertError, Format, Loss};
use fw_bintensors::HeaderAlignment;
use fw_bytes::Span;
use fw_source::FileSource;
use fw_tensor::{DType, Selection, SlicePlan};
use serde::Serialize;
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// One tensor, described.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// Name.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Dimensions.
    pub shape: Vec<u64>,
    /// Where its data lies in the file, when it lies there as it is.
    pub span: Option<Span>,
    /// What the file says about it beside that: the base entry of a Tensogram object, also where another format carries it.
    pub attributes: Attributes,
    /// The file's own name for its element type, where it keeps elements in quantised blocks. `dtype` is then the type that they
    /// decode to, or `uint8` where the blocks are handed out as they are.
    pub block_type: Option<&'static str>,
    /// What the file that holds it is called, where that is another one than the file that was opened: a shard of a checkpoint.
    pub shard: Option<Arc<str>>,
}

/// What a file says about one tensor.
pub type Attributes = serde_json::Map<String, serde_json::Value>;

/// An array that is not a tensor (text, objects, dates, records), or an object that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Unreadable {
    /// Name.
    pub name: String,
    /// What it is, or why it cannot be read.
    pub what: String,
    /// The code of the fault, where it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
}

impl Unreadable {
    /// What to say where everything must be read.
    pub(crate) fn error(&self) -> ConvertError {
        match self.code {
            // The words name the place.
            Some(code) => ConvertError::format(code, self.what.clone(), None),
            None => ConvertError::unsupported("not_a_tensor", format!("array {:?}: {}", self.name, self.what)),
        }
    }
}

impl Entry {
    pub(crate) fn new(name: String, dtype: DType, shape: Vec<u64>, span: Option<Span>) -> Self {
        Self { name, dtype, shape, span, attributes: Attributes::new(), block_type: None, shard: None }
    }

    /// The type as the file has it: that of its blocks, or of its elements.
    pub fn type_name(&self) -> &'static str {
        self.block_type.unwrap_or_else(|| self.dtype.name())
    }

    /// Bytes of data: little endian, row-major, types below a byte packed.
    ///
    /// # Errors
    /// When the size does not fit in 64 bits.
    pub fn byte_len(&self) -> Result<u64, ConvertError> {
        Ok(fw_tensor::byte_len(self.dtype, &self.shape)?)
    }
}

/// Takes data piece by piece.
pub type Pieces<'a> = dyn FnMut(&[u8]) -> Result<(), ConvertError> + 'a;

/// An open file of named tensors. Data is handed out little endian and row-major, whatever the file holds.
pub trait TensorFile: Send + Sync {
    /// Its format.
    fn format(&self) -> Format;
    /// Its tensors, in file order.
    fn entries(&self) -> &[Entry];
    /// Its own text map, when it has one.
    fn metadata(&self) -> Option<&BTreeMap<String, String>>;
    /// Keys of the text map whose texts stand for values of another kind, as JSON.
    fn json_keys(&self) -> &BTreeSet<String> {
        const NONE: &BTreeSet<String> = &BTreeSet::new();
        NONE
    }

    /// Hands the data of the tensor at `index` to `take`, piece by piece.
    ///
    /// # Errors
    /// When the file fails or is wrong, and the errors of `take`.
    fn stream(&self, index: usize, take: &mut Pieces<'_>) -> Result<(), ConvertError>;

    /// Arrays that are not tensors; a conversion leaves them out when asked to.
    fn unreadable(&self) -> &[Unreadable] {
        &[]
    }

    /// Where the data of a tensor lies, as it is, in a file that is open: a copy of that tensor can be left to the system. Nothing but
    /// its reader vouches for it.
    fn located(&self, _index: usize) -> Option<Located<'_>> {
        None
    }

    /// The file that holds a tensor and the bytes in it, where that is another file than the one that was opened and the data
    /// lies there as it is: an index of several files has its tensors in them.
    fn shard(&self, _index: usize) -> Option<(&Path, Span)> {
        None
    }

    /// Bytes of the other files that hold its tensors, where it is one of several and their sizes are known.
    fn shards_len(&self) -> Option<u64> {
        None
    }

    /// Digests of its tensors that are kept beside the files that hold them: those of an index of several files (BT-10.9).
    fn index_digests(&self) -> &BTreeMap<String, String> {
        const NONE: &BTreeMap<String, String> = &BTreeMap::new();
        NONE
    }

    /// Where the data begins, in a file that was written with a wider alignment than its format needs.
    fn alignment(&self) -> HeaderAlignment {
        HeaderAlignment::default()
    }

    /// Whether a tensor that is read as a whole is compared with a digest on the way.
    fn verifies(&self, _index: usize) -> bool {
        false
    }

    /// Whether the order of the tensors belongs to the file; an index of several files has none of its own.
    fn has_order(&self) -> bool {
        true
    }

    /// What the file holds beside tensors and metadata, and no conversion keeps as it is.
    fn remarks(&self) -> Vec<Loss> {
        Vec::new()
    }

    /// The place of a tensor.
    ///
    /// # Errors
    /// `NotFound`.
    fn find(&self, name: &str) -> Result<usize, ConvertError> {
        let place = self.entries().iter().position(|entry| entry.name == name);
        place.ok_or_else(|| ConvertError::NotFound(name.to_owned()))
    }

    /// Refuses a tensor that is far larger in memory than the file justifies.
    ///
    /// # Errors
    /// `deflate_bomb`: it can be streamed and sliced all the same.
    fn check_held(&self, _index: usize) -> Result<(), ConvertError> {
        Ok(())
    }

    /// The data of the tensor at `index`.
    ///
    /// # Errors
    /// When the file fails or is wrong; those of [`TensorFile::check_held`].
    fn data(&self, index: usize) -> Result<Vec<u8>, ConvertError> {
        self.check_held(index)?;
        let mut data = Vec::new();
        self.stream(index, &mut |piece| {
            data.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(data)
    }

    /// The shape and data of part of a tensor. Formats that can, read only that part.
    ///
    /// # Errors
    /// When the selection does not fit, or the file fails.
    fn slice(&self, index: usize, selection: &Selection) -> Result<(Vec<u64>, Vec<u8>), ConvertError> {
        let entry = self.entries().get(index).ok_or_else(|| ConvertError::NotFound(format!("#{index}")))?;
        cut(entry, &self.data(index)?, selection)
    }
}

/// The data of a tensor in an open file.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Located<'a> {
    /// The open file.
    pub file: &'a FileSource,
    /// Its bytes.
    pub span: Span,
}

impl<'a> Located<'a> {
    /// The data of an entry whose span is one of `source`, where that is a file.
    pub(crate) fn of(source: &'a dyn Any, entry: Option<&Entry>) -> Option<Self> {
        Some(Self { file: source.downcast_ref::<FileSource>()?, span: entry?.span? })
    }
}

/// The alignment that a file was written with, by where its data begins and how many bytes of its header are padding: a format pads to
/// eight bytes by itself.
pub(crate) fn alignment_of(data_start: u64, padding: u64) -> HeaderAlignment {
    // A power of two that divides the start; zero has no lowest bit.
    let widest = (data_start & data_start.wrapping_neg()).min(1 << 20);
    let asked_for = if padding < 8 { None } else { HeaderAlignment::new(widest) };
    asked_for.unwrap_or_default()
}

/// Part of data at hand.
pub(crate) fn cut(entry: &Entry, data: &[u8], selection: &Selection) -> Result<(Vec<u64>, Vec<u8>), ConvertError> {
    let plan = selection.plan(&entry.shape)?;
    let (run_len, places) = byte_runs(entry, &plan)?;
    let mut taken = Vec::new();
    for place in places {
        // A plan never leaves the tensor it was made for.
        let range = (place as usize)..(place as usize).saturating_add(run_len as usize);
        taken.extend_from_slice(data.get(range).unwrap_or(&[]));
    }
    Ok((plan.shape().to_vec(), taken))
}

/// The runs of a plan in bytes: how long each is, and where it begins. Runs of elements below a byte begin with a byte, and all
/// but one at the end of the tensor end with one.
fn byte_runs<'a>(entry: &Entry, plan: &'a SlicePlan) -> Result<(u64, impl Iterator<Item = u64> + 'a), ConvertError> {
    let bits = entry.dtype.bits();
    if entry.dtype.byte_width().is_none() {
        let count = fw_tensor::element_count(&entry.shape)?;
        let is_whole = |elements: u64| elements.wrapping_mul(bits).is_multiple_of(8);
        let ends = |end: u64| is_whole(end) || (end == count && plan.run_count() <= 1);
        if !plan.runs().all(|run| is_whole(run.start) && ends(run.end)) {
            return Err(fw_tensor::TensorError::Unsliceable { dtype: entry.dtype }.into());
        }
    }
    // A plan never leaves the tensor it was made for, whose bits are counted in 64 bits or 128.
    let bytes =
        move |elements: u64| u64::try_from((u128::from(elements) * u128::from(bits)).div_ceil(8)).unwrap_or(u64::MAX);
    let run_len = if plan.run_count() == 0 { 0 } else { bytes(plan.run_len()) };
    Ok((run_len, plan.runs().map(move |run| bytes(run.start))))
}

/// Streams a range of a source that holds data as it is.
pub(crate) fn stream_range(
    source: &impl fw_source::ReadAt,
    span: Span,
    take: &mut Pieces<'_>,
) -> Result<(), ConvertError> {
    fw_source::stream(source, span, |piece| take(piece))
}

/// Reads the runs of a selection from a source that holds data as it is.
pub(crate) fn slice_range(
    source: &impl fw_source::ReadAt,
    entry: &Entry,
    span: Span,
    selection: &Selection,
) -> Result<(Vec<u64>, Vec<u8>), ConvertError> {
    let plan = selection.plan(&entry.shape)?;
    let (run_len, places) = byte_runs(entry, &plan)?;
    let len = |bytes: u64| usize::try_from(bytes).map_err(std::io::Error::other);
    let mut taken = vec![0; len(run_len.saturating_mul(plan.run_count()))?];
    let places = places.map(|place| span.start.saturating_add(place));
    fw_source::read_runs(source, places, len(run_len)?, &mut taken)?;
    Ok((plan.shape().to_vec(), taken))
}

/// Bytes handed out at a time.
pub(crate) const PIECE: u64 = 1 << 20;
