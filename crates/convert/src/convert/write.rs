//! Plans to files.

use super::plan::{Planned, Target};
use super::{ConvertOptions, Progress};
use crate::model::TensorFile;
use crate::{ConvertError, Format, bintensors, numpy, safetensors, tensogram};
use fw_bintensors::{PlannedWriter, WriteOptions};
use fw_source::{AtomicFile, FileSource};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Counts bytes for the caller.
pub(super) struct Meter<'a> {
    options: &'a ConvertOptions,
    done: u64,
    total: u64,
}

impl<'a> Meter<'a> {
    pub(super) const fn new(options: &'a ConvertOptions, total: u64) -> Self {
        Self { options, done: 0, total }
    }

    fn advance(&mut self, tensor: &str, bytes: u64) {
        self.done = self.done.saturating_add(bytes);
        if let Some(progress) = &self.options.progress {
            progress(Progress { tensor, bytes_done: self.done, bytes_total: self.total });
        }
    }
}

/// Writes all tensors, or those of one shard.
pub(super) fn write(
    source: &dyn TensorFile,
    target: &Target,
    group: Option<&[usize]>,
    path: &Path,
    options: &ConvertOptions,
    meter: &mut Meter<'_>,
) -> Result<(), ConvertError> {
    match target.format {
        Format::BinTensors => {
            let mut write_options = WriteOptions::new().with_align(options.align);
            write_options.metadata = target.metadata_of(group);
            write_options.tensor_digests = options.tensor_digests;
            let writer = PlannedWriter::create(path, target.infos(group), &write_options)?;
            for tensor in target.group(group) {
                let mut open = writer.tensor(&tensor.name)?;
                stream(source, tensor, meter, |piece| Ok(open.put(piece)?))?;
                open.finish()?;
            }
            writer.finish()?;
        }
        Format::SafeTensors => {
            let layout = target.safetensors(group)?;
            let tensors = target.group(group);
            let mut out = BufWriter::with_capacity(BUFFER, AtomicFile::create(path)?);
            out.write_all(&layout.head)?;
            for tensor in layout.order.iter().filter_map(|place| tensors.get(*place)) {
                stream(source, tensor, meter, |piece| Ok(out.write_all(piece)?))?;
            }
            commit(out)?;
        }
        Format::Tensogram => {
            let tensors = target.group(group);
            let named = tensors.iter().map(|tensor| (tensor.name.as_str(), tensor.logical.as_ref()));
            let mut out = tensogram::Writer::create(path, &tensogram::metadata(named, target.metadata.as_ref()))?;
            let mut data = Vec::new();
            for tensor in tensors {
                // A frame begins with what is known only at the end of its data: one tensor is held at a time.
                data.clear();
                stream(source, tensor, meter, |piece| {
                    data.extend_from_slice(piece);
                    Ok(())
                })?;
                out.put(tensor.dtype, &tensor.shape, &data)?;
            }
            out.finish()?;
        }
        Format::Npz => {
            let mut out = numpy::NpzWriter::create(path)?;
            for tensor in target.group(group) {
                out.begin(&tensor.name, &npy_header(tensor)?, tensor.len)?;
                stream(source, tensor, meter, |piece| out.put(piece))?;
            }
            out.finish()?;
        }
        Format::Npy => {
            let mut out = BufWriter::with_capacity(BUFFER, AtomicFile::create(path)?);
            for tensor in target.group(group) {
                out.write_all(&npy_header(tensor)?)?;
                stream(source, tensor, meter, |piece| Ok(out.write_all(piece)?))?;
            }
            commit(out)?;
        }
        Format::ShardIndex => {}
    }
    Ok(())
}

/// BinTensors and safetensors sort alike: when every tensor stays where it is, only the header is written anew and the
/// data is copied behind it as one block, by the system (`copy_file_range`, shared extents) where it can.
pub(super) fn copy_whole(
    input: &Path,
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
    let start = match source.format() {
        Format::BinTensors => bintensors::open(input, &fw_bintensors::ReadOptions::default())?.data().1,
        Format::SafeTensors => safetensors::open(input)?.data().1,
        _ => return Ok(false),
    };
    let from = FileSource::open(input)?;
    let mut file = from.file();
    file.seek(SeekFrom::Start(start))?;
    let mut out = AtomicFile::create(output)?;
    out.write_all(&head)?;
    let copied = std::io::copy(&mut file.take(data_len), &mut out.file())?;
    if copied != data_len {
        let message = format!("{}: need {data_len} bytes of data, have {copied}", input.display());
        return Err(ConvertError::format("truncated", message, start));
    }
    out.commit()?;
    meter.advance("", data_len);
    Ok(true)
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
    meter: &mut Meter<'_>,
    mut put: impl FnMut(&[u8]) -> Result<(), ConvertError>,
) -> Result<(), ConvertError> {
    let mut done = 0u64;
    source.stream(tensor.index, &mut |piece| {
        put(piece)?;
        done = done.saturating_add(piece.len() as u64);
        meter.advance(&tensor.name, piece.len() as u64);
        Ok(())
    })?;
    if done != tensor.len {
        let message = format!("tensor {:?}: need {} bytes of data, have {done}", tensor.name, tensor.len);
        return Err(ConvertError::format("truncated", message, None));
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
