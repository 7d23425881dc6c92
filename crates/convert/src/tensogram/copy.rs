//! Messages to messages: a copy, unless codecs are to be dropped.

use super::read::{self, MessagesFile};
use crate::convert::{Meter, check_output};
use crate::model::{TensorFile, stream_range};
use crate::{Codecs, ConvertError, ConvertOptions, Converted, Feature, Loss, Missing, Transport};
use fw_bytes::Span;
use fw_source::{AtomicFile, FileSource};
use fw_tensogram::{DataObjectDescriptor, EncodeOptions, MetadataMap, StreamingEncoder};
use fw_tensor::ByteOrder;
use std::collections::BTreeSet;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Copies the messages of a file into another one. Every digest is verified before anything is written.
///
/// # Errors
/// When the input is wrong, or reading or writing fails.
pub(crate) fn copy(input: &Path, output: &Path, options: &ConvertOptions) -> Result<Converted, ConvertError> {
    let in_input = |error: ConvertError| error.in_file(input);
    let source = FileSource::open(input)?;
    let file = read::open(source, &input.display().to_string()).map_err(in_input)?;
    let left_out = unreadable(&file, options.missing).map_err(in_input)?;
    check_output(output, options.existing)?;
    let mut losses = file.remarks();
    losses.retain(|loss| loss.feature == Feature::UnreadableBytes);
    losses.extend(left_out.losses);
    let mut done = Converted {
        files: vec![output.to_owned()],
        tensors: file.entries().len().saturating_sub(left_out.objects.len()),
        bytes: 0,
        losses,
        notes: Vec::new(),
        transport: Transport::Copied,
    };
    for (_, entry) in file.entries().iter().enumerate().filter(|(index, _)| !left_out.objects.contains(index)) {
        done.bytes = done.bytes.saturating_add(entry.byte_len().map_err(in_input)?);
    }
    let mut out = BufWriter::with_capacity(1 << 20, AtomicFile::create(output)?);
    let in_output = |error: ConvertError| error.in_file(output);
    let total = match options.codecs {
        Codecs::Keep => file.messages.iter().fold(0, |sum, span| span.len().saturating_add(sum)),
        Codecs::Drop => done.bytes,
    };
    let mut meter = Meter::new(options, total);
    let mut rewritten = BTreeSet::new();
    for (number, span) in file.messages.iter().enumerate() {
        if options.codecs == Codecs::Keep && !left_out.messages.contains(&number) {
            whole(&file, *span, &mut out, &mut meter).map_err(in_output)?;
        } else {
            out = decoded(&file, number, &left_out.objects, out, &mut meter).map_err(in_input)?;
            rewritten.insert(number);
            done.transport = Transport::Streamed;
        }
    }
    let names = file.entries().iter().zip(&file.numbers).enumerate();
    let decoded =
        names.filter(|(index, (_, (message, _)))| rewritten.contains(message) && !left_out.objects.contains(index));
    let decoded: BTreeSet<&str> = decoded.map(|(_, (entry, _))| entry.name.as_str()).collect();
    let is_told = |loss: &Loss| loss.tensor.as_deref().is_some_and(|name| decoded.contains(name));
    done.notes.extend(file.remarks().into_iter().filter(|loss| loss.feature == Feature::Encoding && is_told(loss)));
    crate::convert::commit(out).map_err(|error| error.in_file(output))?;
    Ok(done)
}

/// What cannot be read.
#[derive(Default)]
struct LeftOut {
    /// By their places in the file.
    objects: BTreeSet<usize>,
    /// The messages that lack something.
    messages: BTreeSet<usize>,
    losses: Vec<Loss>,
}

/// Verifies every object. Those that cannot be read are left out where that is wanted, and an error otherwise.
fn unreadable(file: &MessagesFile<FileSource>, missing: Missing) -> Result<LeftOut, ConvertError> {
    let mut found = LeftOut::default();
    if missing != Missing::Skip
        && let Some(object) = file.unreadable().first()
    {
        return Err(object.error());
    }
    for object in file.unreadable() {
        found.losses.push(Loss::new(Feature::Tensor, Some(object.name.clone()), object.what.clone()));
    }
    found.messages.extend(file.incomplete.iter().copied());
    for (index, (entry, (message, _))) in file.entries().iter().zip(&file.numbers).enumerate() {
        match file.verify(index) {
            Ok(()) => {}
            Err(error) if missing != Missing::Skip || error.io().is_some() => return Err(error),
            Err(error) => {
                found.losses.push(Loss::new(Feature::Tensor, Some(entry.name.clone()), error.to_string()));
                found.objects.insert(index);
                found.messages.insert(*message);
            }
        }
    }
    Ok(found)
}

/// A message as it is.
fn whole(
    file: &MessagesFile<FileSource>,
    span: Span,
    out: &mut impl Write,
    meter: &mut Meter<'_>,
) -> Result<(), ConvertError> {
    stream_range(&file.source, span, &mut |piece| {
        out.write_all(piece)?;
        meter.advance("", piece.len() as u64);
        Ok(())
    })
}

/// A message with the same metadata, whose objects are stored as they decode.
fn decoded(
    file: &MessagesFile<FileSource>,
    number: usize,
    left_out: &BTreeSet<usize>,
    out: BufWriter<AtomicFile>,
    meter: &mut Meter<'_>,
) -> Result<BufWriter<AtomicFile>, ConvertError> {
    let mut metadata = file.global_metadata(number)?;
    metadata.reserved.clear();
    for entry in &mut metadata.base {
        entry.remove(read::RESERVED);
    }
    let held =
        file.numbers.iter().enumerate().filter(|(index, (message, _))| *message == number && !left_out.contains(index));
    let held: Vec<(usize, usize)> = held.map(|(index, (_, object))| (index, *object)).collect();
    let base: Vec<MetadataMap> =
        held.iter().map(|(_, object)| metadata.base.get(*object).cloned().unwrap_or_default()).collect();
    metadata.base.clone_from(&base);
    let options = EncodeOptions { allow_nan: true, allow_inf: true, ..EncodeOptions::default() };
    let mut stream = StreamingEncoder::new(out, &metadata, &options)?;
    for ((index, _), entry) in held.into_iter().zip(&base) {
        let descriptor = file.descriptor(index)?;
        let data = file.data(index)?;
        let mut plain = DataObjectDescriptor::new(descriptor.dtype, &descriptor.shape)?;
        plain.byte_order = ByteOrder::Little;
        stream.write_preceder(entry)?;
        stream.write_object(&plain, &data)?;
        let name = file.entries().get(index).map_or("", |entry| entry.name.as_str());
        meter.advance(name, data.len() as u64);
    }
    Ok(stream.finish_with_backfill()?)
}
