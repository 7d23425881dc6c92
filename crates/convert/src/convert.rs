//! Any format to any other: one tensor in memory at a time, files written whole or not at all, and an honest list of
//! what was lost.

mod plan; // what each tensor becomes
mod run; // plans to files
mod seal; // what becomes of digests
mod stale; // what an earlier output left

use crate::contract::{MetadataPlace, Meter, Takes, Target, Work};
use crate::model::TensorFile;
use crate::{
    Codecs, ConvertError, ConvertOptions, Converted, Feature, Format, Loss, MessageBounds, Transport, detect, shards,
};
use fw_bintensors::HeaderAlignment;
use run::Run;
use stale::Stale;
use std::path::Path;

/// How the tensors came here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Door {
    /// A file is converted: its manifest is compared, and the output takes the place of all of an earlier one.
    Conversion,
    /// Tensors that are open, maybe picked from several files: a manifest among their metadata is of other tensors, and what
    /// stands beside the output stays.
    Tensors,
}

/// Converts a file.
///
/// # Errors
/// When the input is wrong, the output's format cannot be told or cannot hold a tensor, or reading or writing fails.
/// No output is left behind then.
pub fn convert(
    input: impl AsRef<Path>,
    output: impl AsRef<Path>,
    options: &ConvertOptions,
) -> Result<Converted, ConvertError> {
    let (input, output) = (input.as_ref(), output.as_ref());
    if fw_source::same_file(input, output) {
        let message = format!("{}: input and output are the same file; name another output", output.display());
        return Err(ConvertError::unsupported("same_file", message));
    }
    let (format, target) = target_of(output, options)?;
    let in_input = |error: ConvertError| error.in_file(input);
    let from = options.from.map_or_else(|| detect(input), Ok).map_err(in_input)?;
    check_copy(from, format, options)?;
    // Messages that are joined without their codecs are written tensor by tensor.
    let by_tensor = options.messages == MessageBounds::Join && options.codecs == Codecs::Drop;
    let done = match from == Format::Tensogram && format == from && !by_tensor {
        true => crate::tensogram::copy(input, output, options)?,
        false => converted(input, output, (from, target), options)?,
    };
    settled(done, options)
}

/// Converts a file that is open, in a store for example; `input` names it in errors.
///
/// # Errors
/// As [`convert`].
pub fn convert_open(
    source: &dyn TensorFile,
    input: impl AsRef<Path>,
    output: impl AsRef<Path>,
    options: &ConvertOptions,
) -> Result<Converted, ConvertError> {
    let (input, output) = (input.as_ref(), output.as_ref());
    let (format, target) = target_of(output, options)?;
    check_copy(source.format(), format, options)?;
    settled(written(source, input, output, target, (options, Door::Conversion))?, options)
}

/// The format of the output, and a plan for it that is still empty.
fn target_of(output: &Path, options: &ConvertOptions) -> Result<(Format, Target), ConvertError> {
    let format = options.format.or_else(|| Format::of_name(output)).ok_or_else(|| {
        let message = format!("{}: the output format is not clear from the name", output.display());
        ConvertError::unsupported("unknown_format", message)
    })?;
    let target = Target::new(format)?;
    check_options(format, target.writable.takes(), options)?;
    Ok((format, target))
}

/// Waits for the disk where that was asked for.
fn settled(done: Converted, options: &ConvertOptions) -> Result<Converted, ConvertError> {
    if options.durability == fw_tensogram::Durability::Synced {
        for file in &done.files {
            fw_source::sync_directory_of(file)?;
        }
    }
    Ok(done)
}

/// Tensor by tensor.
fn converted(
    input: &Path,
    output: &Path,
    (from, target): (Format, Target),
    options: &ConvertOptions,
) -> Result<Converted, ConvertError> {
    let in_input = |error: ConvertError| error.in_file(input);
    let source = from.open(input, &options.read()).map_err(in_input)?;
    written(&*source, input, output, target, (options, Door::Conversion))
}

/// Writes tensors that are open, from one file or from several; `input` names them in errors.
///
/// The output may be the file that is read: it is replaced when the new one is complete.
///
/// # Errors
/// As [`convert`].
pub fn write_tensors(
    source: &dyn TensorFile,
    input: impl AsRef<Path>,
    output: impl AsRef<Path>,
    options: &ConvertOptions,
) -> Result<Converted, ConvertError> {
    let target = Target::new(options.format.unwrap_or_else(|| source.format()))?;
    check_options(target.format, target.writable.takes(), options)?;
    written(source, input.as_ref(), output.as_ref(), target, (options, Door::Tensors))
}

fn written(
    source: &dyn TensorFile,
    input: &Path,
    output: &Path,
    target: Target,
    (options, door): (&ConvertOptions, Door),
) -> Result<Converted, ConvertError> {
    let mut target = target.plan(source, output, options).map_err(|error| error.in_file(input))?;
    let sizes = target.tensors.iter().map(|tensor| tensor.len).collect::<Vec<_>>();
    let groups = match options.max_shard_size {
        Some(max) => shards::split(&sizes, max),
        None => vec![(0..sizes.len()).collect()],
    };
    // What is in the way is found before everything is read.
    let stale = Stale::find(input, source, output, &target, groups.len(), (options, door))?;
    let digests = target.settle(source, options, groups.len() > 1, door).map_err(|error| error.in_file(input))?;
    let mut done = Converted {
        files: Vec::new(),
        removed: Vec::new(),
        tensors: target.tensors.len(),
        bytes: 0,
        losses: Vec::new(),
        notes: Vec::new(),
        transport: Transport::Streamed,
        digests,
    };
    let mut found = source.remarks();
    if target.writable.metadata_place() != MetadataPlace::TextMap {
        // What is lost altogether has no form, and a message has values of every kind.
        found.retain(|loss| loss.feature != Feature::MetadataForm);
    }
    found.extend(target.losses.iter().cloned());
    done.bytes = sizes.iter().fold(0, |sum, size| u64::saturating_add(sum, *size));
    if let Some(max) = options.max_shard_size {
        let what = format!("tensors are not split: one larger than {max} bytes makes a larger file");
        let larger = target.tensors.iter().filter(|tensor| tensor.len > max);
        found.extend(larger.map(|tensor| Loss::new(Feature::ShardSize, Some(tensor.name.clone()), what.clone())));
    }
    let meter = Meter::after(options, done.digests.bytes, done.bytes);
    let mut run = Run { work: Work { source, target: &target, input, options, meter, is_copied: true } };
    if let [_] = &groups[..] {
        found.extend(run.write(None, output)?);
        done.files.push(output.to_owned());
    } else {
        run.write_shards(&groups, &stale, &mut done)?;
    }
    if run.work.is_copied {
        done.transport = Transport::Copied;
    }
    // Only now: until here the old files were the output.
    done.removed = stale.remove(&done.files)?;
    (done.notes, done.losses) = found.into_iter().partition(|loss| loss.feature.is_note());
    Ok(done)
}

/// An option that would do nothing is a mistake.
fn check_options(format: Format, takes: Takes, options: &ConvertOptions) -> Result<(), ConvertError> {
    let with = |takes: fn(Takes) -> bool| {
        Format::listed(|format| format.contract().writable().is_ok_and(|writable| takes(writable.takes())), "or")
    };
    let refused = |what: &str, which: fn(Takes) -> bool| {
        let message = format!("{what} is for {} files; the output is {format}", with(which));
        Err(ConvertError::unsupported("option_not_applicable", message))
    };
    if options.align != HeaderAlignment::default() && !takes.alignment {
        return refused("alignment", |takes| takes.alignment);
    }
    if options.tensor_digests.is_some() && !takes.digests {
        return refused("keeping digests", |takes| takes.digests);
    }
    if options.sign_with.is_some() && !takes.digests {
        return refused("signing", |takes| takes.digests);
    }
    if options.max_shard_size.is_some() && !takes.shards {
        let message = format!("{format} files cannot be split; choose {}", with(|takes| takes.shards));
        return Err(ConvertError::unsupported("unsplittable_format", message));
    }
    Ok(())
}

/// Messages and codecs are choices of a copy from Tensogram to Tensogram.
fn check_copy(from: Format, to: Format, options: &ConvertOptions) -> Result<(), ConvertError> {
    let asked = match (options.messages, options.codecs) {
        (MessageBounds::Join, _) => "joining messages",
        (MessageBounds::Keep, Codecs::Drop) => "dropping codecs",
        (MessageBounds::Keep, Codecs::Keep) if options.expect.is_some() && from == Format::Tensogram && to == from => {
            let message = "a copy of Tensogram messages has no manifest that could be expected";
            return Err(ConvertError::unsupported("option_not_applicable", message));
        }
        (MessageBounds::Keep, Codecs::Keep) => return Ok(()),
    };
    if from == Format::Tensogram && to == from {
        return Ok(());
    }
    let message = format!("{asked} applies to Tensogram files written as Tensogram; this is {from} to {to}");
    Err(ConvertError::unsupported("option_not_applicable", message))
}
