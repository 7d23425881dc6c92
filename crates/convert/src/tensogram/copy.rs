//! Messages to messages: a copy. Objects move as they are stored, unless codecs are to be dropped.

use super::names;
use super::read::{self, MessagesFile};
use crate::contract::{Meter, check_output};
use crate::model::{TensorFile, stream_range};
use crate::{
    Codecs, ConvertError, ConvertOptions, Converted, DigestsDone, Feature, Loss, MessageBounds, Missing, Transport,
};
use fw_bytes::{Limits, Span};
use fw_source::{AtomicFile, FileSource};
use fw_tensogram::{
    DataObjectDescriptor, EncodeOptions, GlobalMetadata, MessagePlan, MetadataMap, Piece, Provenance, StoredMessage,
    StreamingEncoder, TensogramError, Value,
};
use fw_tensor::ByteOrder;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{BufWriter, Write};
use std::path::Path;

/// Copies the messages of a file into another one, or joins them in one message. Every digest is verified before anything is
/// written.
///
/// # Errors
/// When the input is wrong, or reading or writing fails; `nothing_readable` when no object is left.
pub(crate) fn copy(input: &Path, output: &Path, options: &ConvertOptions) -> Result<Converted, ConvertError> {
    let in_input = |error: ConvertError| error.in_file(input);
    let source = FileSource::open(input)?;
    let file = read::open(source, &input.display().to_string()).map_err(in_input)?;
    let left_out = unreadable(&file, options).map_err(in_input)?;
    check_output(output, options.existing)?;
    let join = options.messages == MessageBounds::Join && file.messages.len() > 1;
    let mut done = Converted {
        files: vec![output.to_owned()],
        removed: Vec::new(),
        tensors: file.entries().len().saturating_sub(left_out.objects.len()),
        bytes: 0,
        losses: left_out.losses.clone(),
        notes: Vec::new(),
        transport: Transport::Copied,
        digests: DigestsDone::default(),
    };
    for (_, entry) in file.entries().iter().enumerate().filter(|(index, _)| !left_out.objects.contains(index)) {
        done.bytes = done.bytes.saturating_add(entry.byte_len().map_err(in_input)?);
    }
    let total = match options.codecs {
        Codecs::Keep => file.messages.iter().fold(0, |sum, span| span.len().saturating_add(sum)),
        Codecs::Drop => done.bytes,
    };
    let out = BufWriter::with_capacity(1 << 20, AtomicFile::create(output)?);
    let mut copying = Copying { file: &file, left_out: &left_out, meter: Meter::new(options, total), out, output };
    if join {
        copying.joined().map_err(in_input)?;
    } else {
        for number in 0..file.messages.len() {
            copying = copying.message(number, options.codecs).map_err(in_input)?;
        }
    }
    crate::contract::commit(copying.out).map_err(|error| error.in_file(output))?;
    if options.codecs == Codecs::Drop {
        done.transport = Transport::Streamed;
    }
    let kept = file.entries().iter().enumerate().filter(|(index, _)| !left_out.objects.contains(index));
    let kept: HashSet<&str> = kept.map(|(_, entry)| entry.name.as_str()).collect();
    let is_written = |remark: &Loss| remark.tensor.as_deref().is_some_and(|name| kept.contains(name));
    for remark in file.remarks() {
        match remark.feature {
            Feature::UnreadableBytes => done.losses.insert(0, remark),
            Feature::Messages if join => done.notes.push(remark),
            Feature::Encoding if options.codecs == Codecs::Drop && is_written(&remark) => done.notes.push(remark),
            // A copy keeps messages, codecs and all that is said about objects and files, in the forms that these have.
            Feature::Messages | Feature::Encoding => {}
            Feature::Metadata | Feature::MetadataForm | Feature::TensorMetadata => {}
            Feature::Name | Feature::Order | Feature::Dtype | Feature::NanBits | Feature::ShardSize => {}
            // Files of messages have no such things.
            Feature::Tensor | Feature::Member | Feature::IndexMetadata | Feature::Bytes | Feature::SharedStorage => {}
        }
    }
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
fn unreadable(file: &MessagesFile<FileSource>, options: &ConvertOptions) -> Result<LeftOut, ConvertError> {
    let (mut found, skip) = (LeftOut::default(), options.missing == Missing::Skip);
    if !skip && let Some(object) = file.unreadable().first() {
        return Err(object.error());
    }
    for object in file.unreadable() {
        found.losses.push(Loss::new(Feature::Tensor, Some(object.name.clone()), object.what.clone()));
    }
    found.messages.extend(file.incomplete.iter().copied());
    for (index, (entry, (message, _))) in file.entries().iter().zip(&file.numbers).enumerate() {
        // What is not decoded on the way need not decode.
        let read = match skip && options.codecs == Codecs::Drop {
            true => file.stream(index, &mut |_| Ok(())),
            false => file.verify(index),
        };
        match read {
            Ok(()) => {}
            Err(error) if !skip || error.io().is_some() => return Err(error),
            Err(error) => {
                found.losses.push(Loss::new(Feature::Tensor, Some(entry.name.clone()), error.to_string()));
                found.objects.insert(index);
                found.messages.insert(*message);
            }
        }
    }
    if !found.losses.is_empty() && found.objects.len() == file.entries().len() {
        let message = "no object can be read, so there is nothing to write";
        return Err(ConvertError::format("nothing_readable", message, None));
    }
    Ok(found)
}

/// A copy under construction.
struct Copying<'a> {
    file: &'a MessagesFile<FileSource>,
    left_out: &'a LeftOut,
    meter: Meter<'a>,
    out: BufWriter<AtomicFile>,
    /// Names the output in errors; all others are about the input.
    output: &'a Path,
}

impl Copying<'_> {
    /// A message that is a message again; one that lost all of its objects is not written.
    fn message(mut self, number: usize, codecs: Codecs) -> Result<Self, ConvertError> {
        let (file, span) = (self.file, self.file.messages.get(number).copied().unwrap_or_default());
        let incomplete = self.left_out.messages.contains(&number);
        let held = self.held(number);
        if incomplete && held.is_empty() {
            return Ok(self);
        }
        match codecs {
            Codecs::Drop => return self.decoded(number, &held),
            Codecs::Keep if incomplete => {
                let objects: Vec<usize> = held.iter().map(|(_, object)| *object).collect();
                self.planned(&stored(file, number, span)?.excerpt(&objects)?)?;
            }
            Codecs::Keep => self.bytes(span)?,
        }
        Ok(self)
    }

    /// All objects in one message, under the names that they have in a list of all messages.
    fn joined(&mut self) -> Result<(), ConvertError> {
        let file = self.file;
        let (mut metadata, mut objects) = (GlobalMetadata::default(), Vec::new());
        let (mut extras, mut provenance) = (Vec::new(), Vec::<MetadataMap>::new());
        for (number, span) in file.messages.iter().enumerate() {
            let message = stored(file, number, *span)?;
            for (index, object) in self.held(number) {
                let mut entry = message.metadata.base.get(object).cloned().unwrap_or_default();
                let name = file.entries().get(index).map_or("", |entry| entry.name.as_str());
                entry.insert(names::OURS.to_owned(), Value::from(name));
                metadata.base.push(entry);
                objects.extend(message.objects.get(object).cloned());
            }
            if !provenance.contains(&message.metadata.reserved) {
                provenance.push(message.metadata.reserved);
            }
            extras.push(message.metadata.extra);
        }
        metadata.extra = agreed(&extras);
        metadata.reserved = match &provenance[..] {
            [one] => one.clone(),
            _ => Provenance::now().to_map(),
        };
        self.planned(&MessagePlan::new(&metadata, objects)?)
    }

    /// The objects of a message that are written: place in the file, place in the message.
    fn held(&self, number: usize) -> Vec<(usize, usize)> {
        // Objects stand in the order of their messages.
        let numbers = &self.file.numbers;
        let first = numbers.partition_point(|(message, _)| *message < number);
        let own = numbers.iter().enumerate().skip(first).take_while(|(_, (message, _))| *message == number);
        own.filter(|(index, _)| !self.left_out.objects.contains(index))
            .map(|(index, (_, object))| (index, *object))
            .collect()
    }

    /// Bytes of the input as they are.
    fn bytes(&mut self, span: Span) -> Result<(), ConvertError> {
        let Self { file, meter, out, output, .. } = self;
        stream_range(&file.source, span, &mut |piece| {
            out.write_all(piece).map_err(|error| ConvertError::from(error).in_file(output))?;
            meter.advance("", piece.len() as u64);
            Ok(())
        })
    }

    fn planned(&mut self, plan: &MessagePlan) -> Result<(), ConvertError> {
        plan.pieces(|piece| match piece {
            Piece::Bytes(bytes) => {
                self.out.write_all(bytes).map_err(|error| ConvertError::from(error).in_file(self.output))
            }
            Piece::Copied { span, .. } => self.bytes(span),
        })
    }

    /// A message with the same metadata, whose objects are stored as they decode.
    fn decoded(self, number: usize, held: &[(usize, usize)]) -> Result<Self, ConvertError> {
        let Self { file, left_out, mut meter, out, output } = self;
        let mut metadata = file.global_metadata(number)?;
        metadata.reserved.clear();
        let base = held.iter().map(|(_, object)| metadata.base.get(*object).cloned().unwrap_or_default());
        let mut base: Vec<MetadataMap> = base.collect();
        for entry in &mut base {
            entry.remove(read::RESERVED);
        }
        metadata.base.clone_from(&base);
        let options = EncodeOptions { allow_nan: true, allow_inf: true, ..EncodeOptions::default() };
        let mut stream = StreamingEncoder::new(out, &metadata, &options)?;
        for ((index, _), entry) in held.iter().zip(&base) {
            let descriptor = file.descriptor(*index)?;
            let data = file.data(*index)?;
            let mut plain = DataObjectDescriptor::new(descriptor.dtype, &descriptor.shape)?;
            plain.byte_order = ByteOrder::Little;
            stream.write_preceder(entry)?;
            stream.write_object(&plain, &data)?;
            let name = file.entries().get(*index).map_or("", |entry| entry.name.as_str());
            meter.advance(name, data.len() as u64);
        }
        Ok(Self { file, left_out, meter, out: stream.finish_with_backfill()?, output })
    }
}

/// What a message says, and where its objects stand.
fn stored(file: &MessagesFile<FileSource>, number: usize, span: Span) -> Result<StoredMessage, ConvertError> {
    let placed = |error: TensogramError| error.on(format!("message[{number}]"));
    Ok(StoredMessage::read(&file.source, span, &Limits::default()).map_err(placed)?)
}

/// The keys of several messages in one map: one on which they disagree is there once per message, as tensors are.
fn agreed(messages: &[MetadataMap]) -> MetadataMap {
    let mut values = BTreeMap::<&str, Vec<(usize, &Value)>>::new();
    for (number, extra) in messages.iter().enumerate() {
        for (key, value) in extra {
            values.entry(key).or_default().push((number, value));
        }
    }
    let mut all = MetadataMap::new();
    for (key, found) in values {
        match found.iter().all(|(_, value)| found.first().is_some_and(|(_, first)| first == value)) {
            true => all.extend(found.first().map(|(_, value)| (key.to_owned(), (*value).clone()))),
            false => all.extend(found.iter().map(|(number, value)| (format!("{number}/{key}"), (*value).clone()))),
        }
    }
    all
}
