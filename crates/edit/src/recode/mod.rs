//! Objects through other codecs, with what that does to size and values.

mod coding; // pipelines as people state them

pub use coding::Coding;

use crate::error::{EditError, Result};
use crate::messages::{Changed, Messages};
use crate::target::{Input, Target, only_tensogram};
use fw_bytes::Limits;
use fw_look::FileRecord;
use fw_query::Where;
use fw_source::{FileSource, Watch};
use fw_stats::{Compare, Difference, Stats, Tolerance};
use fw_tensogram::{
    ByteOrder, DType, DataObjectDescriptor, DecodeOptions, EncodeOptions, OpenObject, RecodedFrame, StoredObject,
    decode_object_from_frame,
};
use fw_tensor::swap_in_place;
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;

/// What is coded anew, and how.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RecodeOptions {
    /// Which objects; the others stay as they are.
    pub filter: Where,
    /// How they are coded.
    pub coding: Coding,
    /// Keep objects that the codecs do not support as they are, instead of stopping.
    pub keep_unsupported: bool,
    /// Only say what would become of sizes and values.
    pub dry_run: bool,
    /// Threads to code with, as in [`EncodeOptions::threads`].
    pub threads: usize,
    /// Is told how much of the file is done.
    pub watch: Watch,
}

impl RecodeOptions {
    /// All objects, coded like this.
    #[must_use]
    pub fn new(coding: Coding) -> Self {
        Self { coding, ..Self::default() }
    }

    /// Chooses objects.
    #[must_use]
    pub fn with_filter(mut self, filter: Where) -> Self {
        self.filter = filter;
        self
    }

    /// Keeps objects as they are that the codecs cannot take.
    #[must_use]
    pub const fn with_keep_unsupported(mut self, keep: bool) -> Self {
        self.keep_unsupported = keep;
        self
    }

    /// Writes nothing.
    #[must_use]
    pub const fn with_dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Chooses the number of threads.
    #[must_use]
    pub const fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Watches progress.
    #[must_use]
    pub fn with_watch(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
    }
}

/// What was done, or would be.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RecodeReport {
    /// Messages in the file.
    pub messages: usize,
    /// Messages with recoded objects.
    pub changed_messages: usize,
    /// The selected objects, in order.
    pub objects: Vec<RecodedObject>,
    /// Bytes of the file before.
    pub bytes_before: u64,
    /// Bytes of the file after.
    pub bytes_after: u64,
}

/// One object, before and after.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RecodedObject {
    /// Place of its message.
    pub message: usize,
    /// Place in its message.
    pub object: usize,
    /// What it is called.
    pub name: String,
    /// Its element type.
    pub dtype: &'static str,
    /// Its dimensions.
    pub shape: Vec<u64>,
    /// Its codecs before, joined by `+`; `raw` without any.
    pub codec_before: String,
    /// Its codecs after.
    pub codec_after: String,
    /// Bytes of payload and masks before.
    pub bytes_before: u64,
    /// Bytes of payload and masks after.
    pub bytes_after: u64,
    /// The greatest difference of a value to what it was; `null` where values are bits.
    pub max_error: Option<f64>,
    /// Root of the mean squared difference.
    pub rms_error: Option<f64>,
    /// Why it was kept as it is, when it was.
    pub kept: Option<String>,
}

/// Codes the selected objects of a Tensogram file anew. Masks of NaN and infinities are moved as they are; objects that are not
/// selected are copied without a decode. One object at a time is in memory.
///
/// # Errors
/// Files of other formats, objects that cannot be decoded, codecs that cannot take an object, outputs that may not be written.
pub fn recode(input: &Input<'_>, target: Target<'_>, options: &RecodeOptions) -> Result<RecodeReport> {
    only_tensogram(input, "recode")?;
    let path = if options.dry_run { None } else { target.checked(input)? };
    let file = Messages::open(input)?;
    let mut report = RecodeReport {
        messages: 0,
        changed_messages: 0,
        objects: Vec::new(),
        bytes_before: file.catalog.file_len(),
        bytes_after: file.catalog.file_len(),
    };
    let mut spool = Spool::new(path.as_deref().and_then(Path::parent), options.dry_run)?;
    let mut changed = Vec::new();
    report.messages = file.catalog.record_count();
    for record in file.records_where(&options.filter) {
        let record = record?;
        let selected = record.selected(&options.filter);
        if selected.is_empty() {
            continue;
        }
        let mut stored = file.stored(&record)?;
        let mut elsewhere = vec![None; stored.objects.len()];
        for object in selected {
            let at = |error: EditError| error.at(format!("{}, object {object}", file.place(record.index())));
            let (Some(place), Some(source)) = (stored.objects.get_mut(object), elsewhere.get_mut(object)) else {
                continue;
            };
            let end = place.span().end;
            let (row, frame) = recode_object(&file, &record, object, place, options, &mut spool).map_err(at)?;
            if let Some(frame) = frame {
                (*place, *source) = (frame, spool.source.clone());
            }
            report.objects.push(row);
            options.watch.tell(end, report.bytes_before);
        }
        if elsewhere.iter().any(Option::is_some) || options.dry_run {
            let plan = stored.plan().map_err(|error| EditError::from(error).at(file.place(record.index())))?;
            report.bytes_after = (report.bytes_after + plan.len()).saturating_sub(record.span().len());
            report.changed_messages += 1;
            changed.push(Changed { span: record.span(), plan, elsewhere });
        }
    }
    if !options.dry_run {
        report.bytes_after = file.rewrite(input, target, &changed, &Watch::default())?;
    }
    Ok(report)
}

/// Codes one object; without a frame it stays as it is.
fn recode_object(
    file: &Messages,
    record: &FileRecord,
    object: usize,
    stored: &StoredObject,
    options: &RecodeOptions,
    spool: &mut Spool,
) -> Result<(RecodedObject, Option<StoredObject>)> {
    let head = stored.head(&*file.source, object, &Limits::default())?;
    let codec_before = codec(&head.descriptor);
    let mut row = RecodedObject {
        message: record.index(),
        object,
        name: record.name(object).into_owned(),
        dtype: head.descriptor.dtype.name(),
        shape: head.descriptor.shape.clone(),
        codec_after: codec_before.clone(),
        codec_before,
        bytes_before: head.parts.region.len(),
        bytes_after: head.parts.region.len(),
        max_error: None,
        rms_error: None,
        kept: None,
    };
    let decode = DecodeOptions::default().with_threads(options.threads);
    let mut open = OpenObject::read(&*file.source, stored, &head, &decode)?;
    let (frame, recoded, difference) = match best(&mut open, options) {
        Ok(coded) => coded,
        Err(error) if options.keep_unsupported => {
            row.kept = Some(error.to_string());
            return Ok((row, None));
        }
        Err(error) => {
            let hint = "select others with -w, such as -w 'dtype=float64', or use --keep-unsupported to keep such objects as they are";
            return Err(EditError::refused(error.code(), error.to_string()).with_hint(hint));
        }
    };
    (row.codec_after, row.bytes_after) = (codec(&recoded.descriptor), recoded.stored_bytes);
    if let Some(difference) = difference {
        row.max_error = Some(difference.max_abs.map_or(0.0, fw_stats::Scalar::to_f64));
        row.rms_error = Some(difference.rmse.unwrap_or(0.0));
    }
    let placed = spool.put(&frame, recoded)?;
    Ok((row, Some(placed)))
}

type Coded = (Vec<u8>, RecodedFrame, Option<Difference>);

/// The object in its new form: with an accuracy to keep, in as few bits as do.
fn best(open: &mut OpenObject, options: &RecodeOptions) -> Result<Coded> {
    if options.coding.packs() {
        fill_stand_ins(open)?;
    }
    let Some(bound) = options.coding.accuracy() else { return coded(open, options, 0) };
    let mut bits = options.coding.rounded(bits_for(open, bound)?);
    loop {
        let found = coded(open, options, bits)?;
        let worst = found.2.as_ref().and_then(|difference| difference.max_abs).map_or(0.0, fw_stats::Scalar::to_f64);
        if worst <= bound {
            return Ok(found);
        }
        // Rounding of the values themselves can cost the last bit.
        if bits >= MOST_BITS {
            let message =
                format!("no packing keeps every value within {bound}; at {bits} bits one is off by {worst:e}");
            return Err(EditError::refused("accuracy_not_reached", message));
        }
        bits = options.coding.rounded(bits + 1);
    }
}

fn coded(open: &OpenObject, options: &RecodeOptions, bits: u64) -> Result<Coded> {
    let encode = EncodeOptions { threads: options.threads, ..EncodeOptions::default() };
    let mut frame = Vec::new();
    let recoded = open.encode(&options.coding.pipe(bits), &encode, &mut frame, 0)?;
    let decode = DecodeOptions::default().with_threads(options.threads);
    let after = decode_object_from_frame(frame.get(..recoded.object.span().end as usize).unwrap_or(&frame), &decode)?;
    let dtype = open.descriptor().dtype;
    if dtype == DType::Bitmask {
        return Ok((frame, recoded, None));
    }
    let before = native(open.restored(), open.descriptor());
    let mut compare = Compare::new(dtype, dtype, Tolerance::default())?;
    compare.update(&before, &after.bytes)?;
    Ok((frame, recoded, Some(compare.finish())))
}

/// Elements in the byte order of this machine.
fn native(mut elements: Vec<u8>, descriptor: &DataObjectDescriptor) -> Vec<u8> {
    if descriptor.byte_order != ByteOrder::NATIVE {
        swap_in_place(&mut elements, descriptor.dtype.swap_unit());
    }
    elements
}

/// Packing takes its scale from all values: where NaN and infinities are set aside the least finite value stands in, so that the
/// range is that of the numbers.
fn fill_stand_ins(open: &mut OpenObject) -> Result<()> {
    if !open.has_masks() || open.descriptor().dtype != DType::Float64 {
        return Ok(());
    }
    let Some((low, _)) = range(open)? else { return Ok(()) };
    let stand_in = match open.descriptor().byte_order {
        ByteOrder::Little => low.to_le_bytes(),
        ByteOrder::Big => low.to_be_bytes(),
    };
    let count = open.elements().len() / 8;
    let masked: Vec<usize> = (0..count).filter(|index| open.is_masked(*index as u64)).collect();
    let elements = open.elements_mut();
    for index in masked {
        if let Some(place) = elements.get_mut(index * 8..index * 8 + 8) {
            place.copy_from_slice(&stand_in);
        }
    }
    Ok(())
}

/// The least and the greatest finite value.
fn range(open: &OpenObject) -> Result<Option<(f64, f64)>> {
    let mut stats = Stats::new(open.descriptor().dtype)?;
    stats.update(&native(open.restored(), open.descriptor()));
    let summary = stats.finish()?;
    Ok(summary.min.zip(summary.max).map(|(min, max)| (min.to_f64(), max.to_f64())))
}

/// Bits whose steps, powers of two, are at most twice the bound.
fn bits_for(open: &OpenObject, bound: f64) -> Result<u64> {
    let Some((low, high)) = range(open)? else { return Ok(0) };
    let step = (2.0 * bound).log2().floor().exp2();
    let steps = ((high - low) / step).ceil();
    Ok(((steps + 1.0).log2().ceil().max(0.0) as u64).min(MOST_BITS))
}

/// The codecs of an object: `simple_packing+szip`.
fn codec(descriptor: &DataObjectDescriptor) -> String {
    let stages: Vec<&str> = descriptor.stages().collect();
    if stages.is_empty() { "raw".to_owned() } else { stages.join("+") }
}

/// Where recoded frames wait until the index before them is known: a file without a name, gone with the process.
struct Spool {
    file: Option<std::fs::File>,
    source: Option<Rc<FileSource>>,
    len: u64,
}

impl Spool {
    fn new(directory: Option<&Path>, dry: bool) -> Result<Self> {
        if dry {
            return Ok(Self { file: None, source: None, len: 0 });
        }
        let file = match directory.filter(|directory| !directory.as_os_str().is_empty()) {
            Some(directory) => tempfile::tempfile_in(directory)?,
            None => tempfile::tempfile()?,
        };
        let source = Some(Rc::new(FileSource::of(file.try_clone()?, "recoded objects")));
        Ok(Self { file: Some(file), source, len: 0 })
    }

    /// Keeps a frame, and says where it is now.
    fn put(&mut self, frame: &[u8], recoded: RecodedFrame) -> Result<StoredObject> {
        let at = self.len;
        if let Some(file) = &mut self.file {
            // The handle that reads shares the position with this one.
            std::io::Seek::seek(file, std::io::SeekFrom::Start(at))?;
            file.write_all(frame)?;
            self.len += frame.len() as u64;
        }
        Ok(recoded.moved(at))
    }
}

const MOST_BITS: u64 = 53;
