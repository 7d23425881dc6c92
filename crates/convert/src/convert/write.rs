//! Plans to files.

use super::plan::{Planned, Target};
use super::{ConvertOptions, Progress};
use crate::model::{Attributes, TensorFile};
use crate::{ConvertError, Feature, Format, Loss, bintensors, numpy, safetensors, tensogram};
use fw_bintensors::{PlannedWriter, WriteOptions};
use fw_source::{AtomicFile, FileSource};
use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Counts bytes for the caller, and knows whose fault a failed read is.
pub(super) struct Meter<'a> {
    options: &'a ConvertOptions,
    done: u64,
    total: u64,
    input: &'a Path,
}

impl<'a> Meter<'a> {
    pub(super) const fn new(options: &'a ConvertOptions, total: u64, input: &'a Path) -> Self {
        Self { options, done: 0, total, input }
    }

    fn advance(&mut self, tensor: &str, bytes: u64) {
        self.done = self.done.saturating_add(bytes);
        if let Some(progress) = &self.options.progress {
            progress(Progress { tensor, bytes_done: self.done, bytes_total: self.total });
        }
    }
}

/// Writes all tensors, or those of one shard, and says what went missing on the way.
pub(super) fn write(
    source: &dyn TensorFile,
    target: &Target,
    group: Option<&[usize]>,
    path: &Path,
    options: &ConvertOptions,
    meter: &mut Meter<'_>,
) -> Result<Vec<Loss>, ConvertError> {
    let mut losses = Vec::new();
    let written = match target.format {
        Format::BinTensors => write_bintensors(source, target, group, path, options, meter),
        Format::SafeTensors => write_safetensors(source, target, group, path, meter),
        Format::Tensogram => write_tensogram(source, target, path, options, meter, &mut losses),
        Format::Npz => write_npz(source, target, path, meter),
        Format::Npy => write_npy(source, target, path, meter),
        Format::ShardIndex => Ok(()),
    };
    // Failed reads name the input already.
    written.map_err(|error| error.in_file(path))?;
    Ok(losses)
}

fn write_bintensors(
    source: &dyn TensorFile,
    target: &Target,
    group: Option<&[usize]>,
    path: &Path,
    options: &ConvertOptions,
    meter: &mut Meter<'_>,
) -> Result<(), ConvertError> {
    let mut write_options = WriteOptions::new().with_align(options.align);
    write_options.metadata = target.metadata_of(group);
    write_options.tensor_digests = options.tensor_digests;
    let writer = PlannedWriter::create(path, target.infos(group), &write_options)?;
    for tensor in target.group(group) {
        let mut open = writer.tensor(&tensor.name)?;
        stream(source, tensor, path, meter, |piece| Ok(open.put(piece)?))?;
        open.finish()?;
    }
    writer.finish()?;
    Ok(())
}

fn write_safetensors(
    source: &dyn TensorFile,
    target: &Target,
    group: Option<&[usize]>,
    path: &Path,
    meter: &mut Meter<'_>,
) -> Result<(), ConvertError> {
    let layout = target.safetensors(group)?;
    let tensors = target.group(group);
    let mut out = BufWriter::with_capacity(BUFFER, AtomicFile::create(path)?);
    out.write_all(&layout.head)?;
    for tensor in layout.order.iter().filter_map(|place| tensors.get(*place)) {
        stream(source, tensor, path, meter, |piece| Ok(out.write_all(piece)?))?;
    }
    commit(out)
}

fn write_tensogram(
    source: &dyn TensorFile,
    target: &Target,
    path: &Path,
    options: &ConvertOptions,
    meter: &mut Meter<'_>,
    losses: &mut Vec<Loss>,
) -> Result<(), ConvertError> {
    let said = |tensor: &Planned| {
        let none = Attributes::new();
        let attributes = source.entries().get(tensor.index).map_or(&none, |entry| &entry.attributes);
        tensogram::described(&tensor.name, tensor.logical.as_ref(), attributes)
    };
    let base = target.tensors.iter().map(said).collect();
    let extra = tensogram::values(target.metadata.as_ref(), source.json_keys());
    let mut out = tensogram::Writer::create(path, base, extra, options.nan_bits)?;
    let mut data = Vec::new();
    for tensor in &target.tensors {
        // A frame begins with what is known only at the end of its data: one tensor is held at a time.
        data.clear();
        stream(source, tensor, path, meter, |piece| {
            data.extend_from_slice(piece);
            Ok(())
        })?;
        if out.put(tensor.dtype, &tensor.shape, &data)? > 0 {
            let what = "NaN with bits of its own, or half of a complex number not finite: comes back as plain NaN";
            losses.push(Loss::new(Feature::NanBits, Some(tensor.name.clone()), what.to_owned()));
        }
    }
    out.finish()
}

fn write_npz(source: &dyn TensorFile, target: &Target, path: &Path, meter: &mut Meter<'_>) -> Result<(), ConvertError> {
    let mut out = numpy::NpzWriter::create(path)?;
    for tensor in &target.tensors {
        out.begin(&tensor.name, &npy_header(tensor)?, tensor.len)?;
        stream(source, tensor, path, meter, |piece| out.put(piece))?;
    }
    out.finish()
}

fn write_npy(source: &dyn TensorFile, target: &Target, path: &Path, meter: &mut Meter<'_>) -> Result<(), ConvertError> {
    let mut out = BufWriter::with_capacity(BUFFER, AtomicFile::create(path)?);
    for tensor in &target.tensors {
        out.write_all(&npy_header(tensor)?)?;
        stream(source, tensor, path, meter, |piece| Ok(out.write_all(piece)?))?;
    }
    commit(out)
}

/// BinTensors and safetensors sort alike: when every tensor stays where it is, only the header is written anew and the
/// data is copied behind it as one block, by the system (`copy_file_range`, shared extents) where it can.
pub(super) fn copy_whole(
    source: &dyn TensorFile,
    target: &Target,
    output: &Path,
    options: &ConvertOptions,
    meter: &mut Meter<'_>,
) -> Result<bool, ConvertError> {
    if options.tensor_digests.is_some() || target.tensors.len() != source.entries().len() {
        return Ok(false);
    }
    let (head, order, data_len) = match target.format {
        Format::BinTensors => {
            let mut write_options = WriteOptions::new().with_align(options.align);
            write_options.metadata = target.metadata.clone();
            let plan = target.bintensors(None, &write_options)?;
            let order: Vec<String> = plan.tensors().iter().map(|tensor| tensor.name.clone()).collect();
            (plan.head().to_vec(), order, plan.data_len())
        }
        Format::SafeTensors => {
            let layout = target.safetensors(None)?;
            let names = layout.order.iter().filter_map(|place| target.tensors.get(*place));
            let order: Vec<String> = names.map(|tensor| tensor.name.clone()).collect();
            (layout.head, order, layout.data_len)
        }
        _ => return Ok(false),
    };
    // The source's readers have proved that its tensors lie one after the other, in this order, and fill its data.
    if !source.entries().iter().map(|entry| &entry.name).eq(&order) {
        return Ok(false);
    }
    let in_input = |error: ConvertError| error.in_file(meter.input);
    let start = match source.format() {
        Format::BinTensors => bintensors::open(meter.input, &options.read()).map_err(in_input)?.data().1,
        Format::SafeTensors => safetensors::open(meter.input).map_err(in_input)?.data().1,
        _ => return Ok(false),
    };
    let from = FileSource::open(meter.input)?;
    let mut file = from.file();
    file.seek(SeekFrom::Start(start))?;
    let copied = copy_behind(&head, file, data_len, output, meter).map_err(|error| error.in_file(output))?;
    if copied != data_len {
        let message = format!("need {data_len} bytes of data, have {copied}");
        return Err(ConvertError::format("truncated", message, start).in_file(meter.input));
    }
    Ok(true)
}

/// Writes a header and copies data behind it; a file that ends too early is not committed.
fn copy_behind(
    head: &[u8],
    from: &File,
    data_len: u64,
    output: &Path,
    meter: &mut Meter<'_>,
) -> Result<u64, ConvertError> {
    let mut out = AtomicFile::create(output)?;
    out.write_all(head)?;
    let mut done = 0u64;
    while done < data_len {
        // In steps, so that there is progress to tell.
        let step = std::io::copy(&mut from.take(data_len.saturating_sub(done).min(STEP)), &mut out.file())?;
        if step == 0 {
            return Ok(done);
        }
        done = done.saturating_add(step);
        meter.advance("", step);
    }
    out.commit()?;
    Ok(done)
}

/// A small file, whole or not at all.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), ConvertError> {
    let mut out = AtomicFile::create(path)?;
    out.write_all(bytes)?;
    out.commit()?;
    Ok(())
}

fn stream(
    source: &dyn TensorFile,
    tensor: &Planned,
    path: &Path,
    meter: &mut Meter<'_>,
    mut put: impl FnMut(&[u8]) -> Result<(), ConvertError>,
) -> Result<(), ConvertError> {
    let mut done = 0u64;
    let input = meter.input;
    let read = source.stream(tensor.index, &mut |piece| {
        put(piece).map_err(|error| error.in_file(path))?;
        done = done.saturating_add(piece.len() as u64);
        meter.advance(&tensor.name, piece.len() as u64);
        Ok(())
    });
    read.map_err(|error| error.in_file(input))?;
    if done != tensor.len {
        let message = format!("tensor {:?}: need {} bytes of data, have {done}", tensor.name, tensor.len);
        return Err(ConvertError::format("truncated", message, None).in_file(input));
    }
    Ok(())
}

fn npy_header(tensor: &Planned) -> Result<Vec<u8>, ConvertError> {
    let missing = || ConvertError::unsupported("no_counterpart", format!("NumPy has no {}", tensor.dtype));
    Ok(numpy::encode_header(numpy::descr(tensor.dtype).ok_or_else(missing)?, &tensor.shape))
}

fn commit(out: BufWriter<AtomicFile>) -> Result<(), ConvertError> {
    out.into_inner().map_err(|error| ConvertError::Io(error.into_error()))?.commit()?;
    Ok(())
}

const BUFFER: usize = 1 << 20;
/// Bytes that the system copies between two reports of progress.
const STEP: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// The data stands behind the new header, from where the source was to where it says; a source that is too short leaves no file.
    #[test]
    fn data_is_copied_behind_a_header() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let bytes: Vec<u8> = (0..100_000u32).map(|number| (number % 251) as u8).collect();
        std::fs::write(&from, &bytes).unwrap();
        let seen = Arc::new(AtomicU64::new(0));
        let last = Arc::clone(&seen);
        let options =
            ConvertOptions::new().with_progress(move |progress| last.store(progress.bytes_done, Ordering::Relaxed));
        let copy = |start: u64, len: u64| {
            let file = File::open(&from).unwrap();
            (&file).seek(SeekFrom::Start(start)).unwrap();
            copy_behind(b"head", &file, len, &to, &mut Meter::new(&options, len, &from)).unwrap()
        };
        assert_eq!(copy(60_000, 50_000), 40_000, "only so many are there");
        assert!(!to.exists());
        assert_eq!(copy(7, 90_000), 90_000);
        assert_eq!(std::fs::read(&to).unwrap(), [b"head", &bytes[7..90_007]].concat());
        assert_eq!(seen.load(Ordering::Relaxed), 90_000);
        assert_eq!(copy(0, 0), 0);
        assert_eq!(std::fs::read(&to).unwrap(), b"head");
    }
}
