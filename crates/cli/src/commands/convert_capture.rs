//! `fw convert` of a struct-frame capture to the formats of other tools, and of MCAP to columns.

use super::{fields, print, print_done, print_report, schema, unclaimed};
use crate::args::{CaptureTarget, Convert, Target};
use crate::exit::{Outcome, Usage, aside};
use crate::frames::{chosen, clock, filter};
use crate::input::Input;
use crate::render::{Progress, count};
use anyhow::Result;
use framewright::convert::{
    CaptureInput, CaptureOptions, ConvertError, Csv, FieldStats, Format, Loss, MessageFields, TableFormat,
    capture_to_columns, each_row, frames_to_tables, table_files,
};
use framewright::dynamic::EnumStyle;
use framewright::recording::Recording;
use framewright::schema::Schema;
use serde_json::{Value as Json, json};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A capture, with its schema, as whatever the output is.
pub(super) fn run(args: &Convert, input: &Input) -> Result<Outcome> {
    let target = match args.to {
        Some(Target::Capture(target)) => Some(target),
        Some(Target::File(Format::Tensogram)) => None,
        None if Format::of_name(&args.output) == Some(Format::Tensogram) => None,
        None if CaptureTarget::of_name(&args.output).is_some() => CaptureTarget::of_name(&args.output),
        _ => {
            let text = "a capture can only be converted to Tensogram (.tgm), MCAP (.mcap), Parquet (.parquet), Arrow (.arrow, \
                        .feather) or CSV (.csv)\nhint: write a .tgm file, then convert that file to another format";
            return Err(Usage(text.to_owned()).into());
        }
    };
    let compiled = match &args.schema {
        Some(path) => schema::compiled(path, &args.packing)?,
        None => schema::recorded(&Recording::open(input.path())?)?,
    };
    let schema = match compiled {
        Ok(schema) => schema,
        Err(faults) => return schema::refused("convert", args.common.json, &faults),
    };
    let options = CaptureOptions::new()
        .with_framing(args.profile.profile)
        .with_messages(chosen(&schema, &args.message)?)
        .with_filter(filter(&schema, &args.select)?)
        .with_clock(clock(args.time.as_deref())?);
    let progress = Arc::new(Progress::of(input.name()));
    let capture = CaptureInput::open(input.path())?.with_watch(progress.watch(input.name()));
    match target {
        None => {
            if args.time.is_some() {
                return Err(
                    Usage("--time is for MCAP, Parquet, Arrow and CSV: columns keep every field".to_owned()).into()
                );
            }
            unclaimed(&args.output, args.force, &reads(args, input))?;
            match capture_to_columns(capture, &args.output, &schema, &options) {
                Ok(done) => {
                    let statistics = statistics(args, input, &schema, &options)?;
                    super::convert::captured(args, &done, statistics.as_deref())
                }
                Err(error) => input.named(error),
            }
        }
        Some(CaptureTarget::Csv) => tables(args, input, capture, &schema, &options, &Csv::default()),
        Some(target) => telemetry(args, input, capture, &schema, &options, target),
    }
}

/// Statistics of the fields of what was selected, where they are wanted.
fn statistics(
    args: &Convert,
    input: &Input,
    schema: &Schema,
    options: &CaptureOptions,
) -> Result<Option<Vec<MessageFields>>> {
    if !args.fields {
        return Ok(None);
    }
    let mut stats = FieldStats::new();
    each_row(CaptureInput::open(input.path())?, schema, options, &mut |row| {
        stats.add(schema, row);
        Ok(())
    })?;
    Ok(Some(stats.finish()))
}

/// The words and the exit code of a finished conversion.
struct Done {
    statistics: Option<Vec<MessageFields>>,
    files: Vec<PathBuf>,
    words: String,
    report: Json,
    losses: Vec<Loss>,
    notes: Vec<Loss>,
}

fn tell(args: &Convert, done: &Done) -> Result<Outcome> {
    if args.sync {
        done.files.iter().try_for_each(framewright::source::sync_directory_of)?;
    }
    if args.common.json {
        let mut report = done.report.clone();
        report["files"] = done.files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().into();
        report["losses"] = json!(Loss::grouped(&done.losses));
        report["notes"] = json!(Loss::grouped(&done.notes));
        if let Some(statistics) = &done.statistics {
            report["fields"] = fields::json(statistics);
        }
        print_report("convert", true, report)?;
    } else {
        print_done(&done.words)?;
        done.statistics.as_ref().map_or(Ok(()), |statistics| print(&fields::text(statistics)))?;
        for group in Loss::grouped(&done.losses).iter().chain(&Loss::grouped(&done.notes)) {
            aside(format_args!("fw: {group}\n"));
        }
    }
    Ok(if done.losses.is_empty() { Outcome::Fine } else { Outcome::Lossy })
}

/// The files that a conversion reads.
fn reads<'a>(args: &'a Convert, input: &'a Input) -> Vec<&'a Path> {
    std::iter::once(input.path()).chain(args.schema.as_deref()).collect()
}

fn tables(
    args: &Convert,
    input: &Input,
    capture: CaptureInput<'_>,
    schema: &Schema,
    options: &CaptureOptions,
    format: &dyn TableFormat,
) -> Result<Outcome> {
    for (_, file) in table_files(&args.output, schema, &options.messages) {
        unclaimed(&file, args.force, &reads(args, input))?;
    }
    let enums = if args.enum_numbers { EnumStyle::Numbers } else { EnumStyle::Names };
    let done = match frames_to_tables(capture, &args.output, schema, options, enums, format) {
        Ok(done) => done,
        Err(error) => return input.named(error),
    };
    let words = match &done.files[..] {
        [] => "wrote nothing: no frame was selected\n".to_owned(),
        files => files
            .iter()
            .map(|(file, name, rows)| format!("wrote {}: {} of {name}\n", file.display(), count(*rows as usize, "row")))
            .collect(),
    };
    let tables = done
        .files
        .iter()
        .map(|(file, name, rows)| json!({ "file": file.display().to_string(), "message": name, "rows": rows }));
    let report = json!({ "profile": done.framing.to_string(), "frames": done.frames, "selected": done.selected,
        "bytes": done.bytes, "tables": tables.collect::<Vec<_>>() });
    let files = done.files.into_iter().map(|(file, ..)| file).collect();
    let statistics = statistics(args, input, schema, options)?;
    tell(args, &Done { statistics, files, words, report, losses: done.losses, notes: Vec::new() })
}

#[cfg(feature = "telemetry")]
fn telemetry(
    args: &Convert,
    input: &Input,
    capture: CaptureInput<'_>,
    schema: &Schema,
    options: &CaptureOptions,
    target: CaptureTarget,
) -> Result<Outcome> {
    use framewright::telemetry::{ArrowFile, Parquet, capture_to_mcap};
    match target {
        CaptureTarget::Parquet => return tables(args, input, capture, schema, options, &Parquet::new()),
        CaptureTarget::Arrow => return tables(args, input, capture, schema, options, &ArrowFile::default()),
        CaptureTarget::Csv => return tables(args, input, capture, schema, options, &Csv::default()),
        CaptureTarget::Mcap => {}
    }
    unclaimed(&args.output, args.force, &reads(args, input))?;
    let done = match capture_to_mcap(capture, &args.output, schema, options) {
        Ok(done) => done,
        Err(error) => return input.named(ConvertError::from(error)),
    };
    let (messages, channels) = (count(done.selected as usize, "message"), count(done.channels, "channel"));
    let words = format!("wrote {}: {messages} in {channels} ({})\n", done.file.display(), done.framing);
    let report = json!({ "profile": done.framing.to_string(), "frames": done.frames, "selected": done.selected,
        "bytes": done.bytes, "channels": done.channels });
    let statistics = statistics(args, input, schema, options)?;
    tell(args, &Done { statistics, files: vec![done.file], words, report, losses: done.losses, notes: done.notes })
}

#[cfg(not(feature = "telemetry"))]
fn telemetry(
    _: &Convert,
    _: &Input,
    _: CaptureInput<'_>,
    _: &Schema,
    _: &CaptureOptions,
    target: CaptureTarget,
) -> Result<Outcome> {
    Err(no_telemetry(&format!("writing {}", target.title())).into())
}

/// True for a file that begins as MCAP files do.
pub(super) fn is_mcap(path: &Path) -> bool {
    let mut head = [0; 8];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == *crate::input::MCAP
}

/// The columns of an MCAP file.
#[cfg(feature = "telemetry")]
pub(super) fn from_mcap(args: &Convert, input: &Input) -> Result<Outcome> {
    let to_tensogram = match args.to {
        Some(target) => target == Target::File(Format::Tensogram),
        None => Format::of_name(&args.output) == Some(Format::Tensogram),
    };
    if !to_tensogram {
        let text = "an MCAP file can only be converted to Tensogram\nhint: write a .tgm file, then convert that file to \
                    another format";
        return Err(Usage(text.to_owned()).into());
    }
    if let Some(option) = args.capture_option() {
        return Err(Usage(format!("{option} is for struct-frame captures; {} is an MCAP file", input.name())).into());
    }
    unclaimed(&args.output, args.force, &reads(args, input))?;
    let done = match framewright::telemetry::mcap_to_columns(input.path(), &args.output) {
        Ok(done) => done,
        Err(error) => return input.named(ConvertError::from(error)),
    };
    let (messages, columns) = (count(done.messages as usize, "message"), count(done.columns, "column"));
    let words =
        format!("wrote {}: {messages} of {}, {columns}\n", done.file.display(), count(done.channels, "channel"));
    let report = json!({ "messages": done.messages, "channels": done.channels, "columns": done.columns });
    let files = vec![done.file];
    tell(args, &Done { statistics: None, files, words, report, losses: done.losses, notes: Vec::new() })
}

#[cfg(not(feature = "telemetry"))]
pub(super) fn from_mcap(_: &Convert, _: &Input) -> Result<Outcome> {
    Err(no_telemetry("reading MCAP").into())
}

/// What a build without telemetry says.
#[cfg(not(feature = "telemetry"))]
pub(super) fn no_telemetry(what: &str) -> ConvertError {
    let text = format!(
        "{what} requires a build with the feature telemetry\nhint: cargo install --path crates/cli --features telemetry; \
         the Python package has it"
    );
    ConvertError::unsupported("feature_missing", text)
}
