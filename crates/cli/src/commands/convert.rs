//! `fw convert`: a tensor file in another format, and what was lost.

use super::{convert_capture, fields, print, print_done, print_report, unclaimed};
use crate::args::{CaptureTarget, Convert, Digest, OnMissing, Target, Trust};
use crate::exit::{Failure, Outcome, Usage, aside};
use crate::input::{Input, Word, word};
use crate::render::{Progress, count, parse_size, shown, size};
use anyhow::Result;
use framewright::bintensors::{Algorithm, HeaderAlignment, Profile};
use framewright::convert::{
    CaptureConverted, Codecs, ConvertError, ConvertOptions, Converted, Existing, Format, Loss, MessageBounds,
    MessageFields, Missing, NanBits, StoredUse, columns_to_frames, convert, holds_capture,
};
#[cfg(feature = "remote")]
use framewright::convert::{TensorFile, convert_open};
use framewright::recording::{Capture, is_recording};
use framewright::source::AtomicFile;
use framewright::tensogram::Durability;
use serde_json::json;
use std::io::Write;
use std::sync::Arc;

pub(crate) fn run(args: &Convert) -> Result<Outcome> {
    // Before a link is read to its end.
    if let (Word::Link(address), None) = (word(&args.input), &args.schema)
        && !wants_bytes(args)
    {
        let text = format!("{address}: requires --schema\nhint: without a schema, fw record keeps what arrives");
        return Err(Usage(text).into());
    }
    #[cfg(feature = "remote")]
    if let Some(url) = crate::remote::url(&args.input)
        && args.schema.is_none()
        && !matches!(args.to, Some(Target::Frames | Target::Capture(_)))
        && let Some(file) = crate::remote::weights(url, &args.common.store, "convert", &read_options(args))?
    {
        return in_store(args, url, &*file);
    }
    let input = Input::capture(&args.input, &args.common.store, "convert")?;
    converted(args, &input).map_err(|error| input.retold(error))
}

/// Weights in a store, which are read in ranges.
#[cfg(feature = "remote")]
fn in_store(args: &Convert, url: &str, file: &dyn TensorFile) -> Result<Outcome> {
    let _progress = Progress::of(url);
    if args.output.is_dir() {
        return Err(Usage(format!("{}: is a directory; name a file to write", args.output.display())).into());
    }
    no_table(args)?;
    if let Some(option) = args.capture_option() {
        return Err(Usage(format!("{option} is for struct-frame captures and requires --schema")).into());
    }
    written(args, (url, || Ok(file.format())), |options| convert_open(file, url, &args.output, options))
}

fn converted(args: &Convert, input: &Input) -> Result<Outcome> {
    let _progress = Progress::of(input.name());
    if args.output.is_dir() {
        return Err(Usage(format!("{}: is a directory; name a file to write", args.output.display())).into());
    }
    let recording = is_recording(input.path());
    let unnamed = args.to.is_none() && Format::of_name(&args.output).is_none();
    if recording && wants_bytes(args) {
        if let Some(option) = args.capture_option() {
            let text = format!(
                "{option}: the bytes of a recording are copied as they are\nhint: write a .tgm file, then convert that file to \
                 frames"
            );
            return Err(Usage(text).into());
        }
        return to_bytes(args, input);
    }
    if args.schema.is_some() || recording {
        return convert_capture::run(args, input);
    }
    if convert_capture::is_mcap(input.path()) {
        return convert_capture::from_mcap(args, input);
    }
    no_table(args)?;
    if args.to == Some(Target::Frames) || unnamed && holds_capture(input.path()) {
        return to_frames(args, input);
    }
    if let Some(option) = args.capture_option() {
        return Err(Usage(format!("{option} is for struct-frame captures and requires --schema")).into());
    }
    written(args, (input.name(), || input.format()), |options| convert(input.path(), &args.output, options))
}

/// Refuses outputs that only captures become.
fn no_table(args: &Convert) -> Result<()> {
    let capture = match args.to {
        Some(Target::Capture(target)) => Some(target),
        Some(_) => None,
        None => CaptureTarget::of_name(&args.output),
    };
    let Some(target) = capture else { return Ok(()) };
    let text = format!("only struct-frame captures can be converted to {}, which requires --schema", target.title());
    Err(Usage(text).into())
}

/// Converts a tensor file, and tells what came of it.
fn written(
    args: &Convert,
    (name, from): (&str, impl FnOnce() -> Result<Format>),
    convert: impl FnOnce(&ConvertOptions) -> Result<Converted, ConvertError>,
) -> Result<Outcome> {
    let mut options = options(args)?;
    let named = options.format.or_else(|| Format::of_name(&args.output));
    let Some(format) = named else {
        let text = format!(
            "{}: the output format is not clear from the name\nhint: use a name that ends in {}, or choose a format with --to",
            args.output.display(),
            endings()
        );
        return Err(Usage(text).into());
    };
    let from = from()?;
    if args.rules.is_some() && !from.has_rules() {
        return Err(Usage(format!("--rules applies to BinTensors inputs; {name} is {from}")).into());
    }
    options.from = Some(from);
    let bar = Arc::new(Progress::bytes());
    let line = Arc::clone(&bar);
    options.progress = Some(Arc::new(move |progress| {
        line.show(progress.bytes_done, progress.bytes_total, progress.tensor);
    }));
    let done = convert(&options);
    bar.clear();
    let done = done.or_else(|error| refused(error, args.missing))?;
    if args.common.json {
        print_report("convert", true, json(&done, format))?;
    } else {
        print_done(&text(&done))?;
        Trust::told(done.digests.ignored, name);
        for file in &done.removed {
            aside(format_args!("fw: removed {}, which was part of an earlier output\n", shown(file)));
        }
        for group in Loss::grouped(&done.losses).iter().chain(&Loss::grouped(&done.notes)) {
            aside(format_args!("fw: {group}\n"));
        }
    }
    Ok(if done.losses.is_empty() { Outcome::Fine } else { Outcome::Lossy })
}

/// Whether the output is what a link delivered, without times.
fn wants_bytes(args: &Convert) -> bool {
    let unnamed = args.to.is_none() && Format::of_name(&args.output).is_none();
    args.to == Some(Target::Frames) || unnamed && CaptureTarget::of_name(&args.output).is_none()
}

/// The bytes of a recording, without times.
fn to_bytes(args: &Convert, input: &Input) -> Result<Outcome> {
    unclaimed(&args.output, args.force, &[input.path()])?;
    let mut capture = Capture::open(input.path())?;
    let mut out = AtomicFile::create(&args.output)?;
    let mut bytes = 0;
    while let Some(chunk) = capture.next_chunk()? {
        out.write_all(chunk.bytes)?;
        bytes += chunk.bytes.len() as u64;
    }
    out.commit()?;
    if args.sync {
        framewright::source::sync_directory_of(&args.output)?;
    }
    let losses: Vec<String> = capture.damage().iter().map(ToString::to_string).collect();
    if args.common.json {
        let losses: Vec<_> = losses.iter().map(|loss| json!({ "feature": "bytes", "what": loss })).collect();
        let report = json!({
            "files": [args.output.display().to_string()], "bytes": bytes, "losses": losses, "notes": [],
        });
        print_report("convert", true, report)?;
    } else {
        print_done(&format!("wrote {}: {} of a recording\n", shown(&args.output), size(bytes)))?;
        losses.iter().for_each(|loss| aside(format_args!("fw: {loss}\n")));
    }
    Ok(if losses.is_empty() { Outcome::Fine } else { Outcome::Lossy })
}

/// The capture that a Tensogram file of columns was made from.
fn to_frames(args: &Convert, input: &Input) -> Result<Outcome> {
    match args.capture_option() {
        Some("--profile") => {
            return Err(Usage("--profile: not needed here: the file records its framing".to_owned()).into());
        }
        Some("--no-packed") => {
            return Err(Usage("--no-packed is not needed here: the file records it".to_owned()).into());
        }
        Some(option) => {
            let text = format!("{option} cannot select among columns\nhint: use it when the columns are made");
            return Err(Usage(text).into());
        }
        None => {}
    }
    unclaimed(&args.output, args.force, &[input.path()])?;
    match columns_to_frames(input.path(), &args.output) {
        Ok(done) => captured(args, &done, None),
        Err(error) => input.named(error),
    }
}

pub(super) fn captured(
    args: &Convert,
    done: &CaptureConverted,
    statistics: Option<&[MessageFields]>,
) -> Result<Outcome> {
    if args.sync {
        framewright::source::sync_directory_of(&done.file)?;
    }
    if args.common.json {
        let mut report = json!({
            "files": [done.file.display().to_string()],
            "profile": done.framing.to_string(),
            "frames": done.frames,
            "columns": done.columns,
            "bytes": done.bytes,
            "losses": Loss::grouped(&done.losses),
            "notes": [],
        });
        if let Some(statistics) = statistics {
            report["fields"] = fields::json(statistics);
        }
        print_report("convert", true, report)?;
    } else {
        let (frames, columns) = (count(done.frames as usize, "frame"), count(done.columns, "column"));
        print_done(&format!("wrote {}: {frames} ({}), {columns}\n", shown(&done.file), done.framing))?;
        statistics.map_or(Ok(()), |statistics| print(&fields::text(statistics)))?;
        for group in Loss::grouped(&done.losses) {
            aside(format_args!("fw: {group}\n"));
        }
    }
    Ok(if done.losses.is_empty() { Outcome::Fine } else { Outcome::Lossy })
}

/// What to do about data that differs from its digest.
pub(super) const NOT_THE_SAME: &str = "the data was changed after its digest was made: get the file again, or add --ignore-digests to read it all the same";

/// Says what would help, where something would.
fn refused(error: ConvertError, missing: OnMissing) -> Result<Converted> {
    let with_hint = |hint: &str| Err(Failure::new(error.code(), format!("{error}\nhint: {hint}")).into());
    match error.code() {
        "no_counterpart" => with_hint("use --missing raw to keep its bits, or --missing skip to leave it out"),
        "not_a_tensor" if matches!(missing, OnMissing::Skip) => Err(error.into()),
        "not_a_tensor" => with_hint("use --missing skip to leave it out"),
        "one_array_only" => with_hint("write one tensor with fw cat --tensor NAME --npy"),
        "output_exists" => Err(Usage(format!("{error}; use --force to overwrite it")).into()),
        "hash_mismatch" => with_hint("use --missing skip to leave it out, or fw recover to save what is intact"),
        "checksum_mismatch" | "manifest_mismatch" => with_hint(NOT_THE_SAME),
        "option_not_applicable" | "unsplittable_format" | "same_file" | "not_a_file" | "not_writable" => {
            Err(Usage(error.to_string()).into())
        }
        _ => Err(error.into()),
    }
}

/// How strictly a BinTensors input is read.
fn profile(args: &Convert) -> Profile {
    args.rules.map_or_else(Profile::default, Profile::from)
}

#[cfg(feature = "remote")]
fn read_options(args: &Convert) -> framewright::bintensors::ReadOptions {
    framewright::bintensors::ReadOptions::new().with_profile(profile(args))
}

fn options(args: &Convert) -> Result<ConvertOptions> {
    let mut options = ConvertOptions::new()
        .with_missing(match args.missing {
            OnMissing::Refuse => Missing::Refuse,
            OnMissing::Raw => Missing::Raw,
            OnMissing::Skip => Missing::Skip,
        })
        .with_profile(profile(args))
        .with_existing(if args.force { Existing::Replace } else { Existing::Refuse })
        .with_nan_bits(if args.keep_nan_bits { NanBits::Keep } else { NanBits::Drop })
        .with_messages(if args.join_messages { MessageBounds::Join } else { MessageBounds::Keep })
        .with_codecs(if args.drop_codecs { Codecs::Drop } else { Codecs::Keep })
        .with_durability(if args.sync { Durability::Synced } else { Durability::Written });
    options.stored = if args.trust.ignore_digests { StoredUse::Ignore } else { StoredUse::Verify };
    options.expect = args.expect.clone();
    options.format = args.to.and_then(|target| match target {
        Target::File(format) => Some(format),
        Target::Frames | Target::Capture(_) => None,
    });
    options.tensor_digests = args.digests.map(|digest| match digest {
        Digest::Sha1 => Algorithm::Sha1,
        Digest::Sha256 => Algorithm::Sha256,
        Digest::Sha3_256 => Algorithm::Sha3_256,
    });
    if let Some(bytes) = args.align {
        let refused = || Usage(format!("--align {bytes}: must be a power of two from 8 to 1048576"));
        options.align = HeaderAlignment::new(bytes).ok_or_else(refused)?;
    }
    if let Some(text) = &args.max_shard_size {
        let refused = || Usage(format!("--max-shard-size {text}: must be a size such as 500MB, 5GB or 2GiB"));
        options.max_shard_size = Some(parse_size(text).filter(|bytes| *bytes > 0).ok_or_else(refused)?);
    }
    Ok(options)
}

/// The endings that name a format to write: `.tgm, .bt or .npz`.
fn endings() -> String {
    let writable = Format::ALL.iter().filter(|format| format.is_writable());
    let endings: Vec<String> = writable.map(|format| format!(".{}", format.extension())).collect();
    match &endings[..] {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => endings.concat(),
    }
}

fn text(done: &Converted) -> String {
    let files: Vec<_> = done.files.iter().map(|file| shown(file)).collect();
    format!("wrote {}: {}, {}\n", files.join(", "), count(done.tensors, "tensor"), size(done.bytes))
}

fn json(done: &Converted, format: Format) -> serde_json::Value {
    json!({
        "files": done.files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>(),
        "format": format,
        "tensor_count": done.tensors,
        "data_bytes": done.bytes,
        "removed": done.removed.iter().map(|file| file.display().to_string()).collect::<Vec<_>>(),
        "digests": {
            "checked": done.digests.checked,
            "ignored": done.digests.ignored,
            "manifest": done.digests.manifest,
        },
        "losses": Loss::grouped(&done.losses),
        "notes": Loss::grouped(&done.notes),
    })
}
