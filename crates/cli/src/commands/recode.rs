//! `fw recode`: objects through other codecs, with sizes and errors.

use super::{print, print_done, print_report};
use crate::args::Recode;
use crate::change::{called, is_pipe, note_nothing, source, with_target};
use crate::exit::{Outcome, Usage};
use crate::input::Input;
use crate::render::{Progress, Table, count, size};
use anyhow::Result;
use framewright::edit::{Coding, RecodeOptions, RecodeReport, RecodedObject, Target, recode};
use framewright::report::visible;
use serde_json::json;
use std::sync::Arc;

pub(crate) fn run(args: &Recode) -> Result<Outcome> {
    let coding = coding(args)?;
    let input = Input::of(&args.file, &args.common.store, "recode")?;
    recoded(args, coding, &input).map_err(|error| input.retold(error))
}

fn recoded(args: &Recode, coding: Coding, input: &Input) -> Result<Outcome> {
    let progress = Arc::new(Progress::bytes());
    let options = RecodeOptions::new(coding)
        .with_filter(args.select.filter())
        .with_keep_unsupported(args.keep_unsupported)
        .with_dry_run(args.dry_run)
        .with_threads(args.threads.count()?)
        .with_watch(progress.watch(input.name()));
    let source = source(input)?;
    let output = args.output.as_deref();
    let done = if args.dry_run {
        recode(&source, Target::InPlace, &options)?
    } else {
        with_target(&args.file, input, output, args.place, |target| recode(&source, target, &options))?
    };
    progress.clear();
    if done.objects.is_empty() {
        note_nothing([input], &options.filter, args.common.json);
    }
    let name = called(output, input);
    if args.common.json && (args.dry_run || !is_pipe(output)) {
        let mut report = json!(done);
        report["file"] = name.into();
        report["dry_run"] = args.dry_run.into();
        print_report("recode", true, report)?;
    } else if args.dry_run {
        // Of a dry run the table is the result.
        print(&text(args, &name, &done))?;
    } else if !is_pipe(output) {
        print_done(&text(args, &name, &done))?;
    }
    Ok(Outcome::Fine)
}

fn coding(args: &Recode) -> Result<Coding> {
    let mut coding = Coding::default();
    if let Some(bits) = args.pack {
        coding = coding.with_pack(bits)?;
    }
    if let Some(bound) = args.accuracy {
        coding = coding.with_accuracy(bound)?;
    }
    if args.shuffle {
        coding = coding.with_shuffle();
    }
    let compressor = match (&args.compress, args.zstd, &args.zfp, &args.sz3) {
        (Some(text), ..) => Some(text.clone()),
        (_, Some(level), ..) => Some(format!("zstd:{level}")),
        (_, _, Some(setting), _) => Some(format!("zfp:{setting}")),
        (.., Some(setting)) => Some(format!("sz3:{setting}")),
        _ => None,
    };
    if let Some(text) = compressor {
        coding = coding.with_compressor(&text)?;
    }
    if coding == Coding::default() && !args.raw {
        let text =
            "no codec was given\nhint: use --pack, --accuracy, --shuffle, --compress, --zstd, --zfp, --sz3 or --raw";
        return Err(Usage(text.to_owned()).into());
    }
    Ok(coding)
}

fn text(args: &Recode, name: &str, done: &RecodeReport) -> String {
    let columns = ["object", "type", "before", ">size", "after", ">size", ">max error", ">rms error"];
    let mut table = Table::new(&columns);
    for row in &done.objects {
        table.row(cells(row));
    }
    let mut text = if done.objects.is_empty() { String::new() } else { table.render() };
    for row in &done.objects {
        if let Some(why) = &row.kept {
            text.push_str(&format!("{}: kept as it is: {why}\n", place(row)));
        }
    }
    let recoded = done.objects.iter().filter(|row| row.kept.is_none()).count();
    let (before, after) = (size(done.bytes_before), size(done.bytes_after));
    let name = visible(name);
    let begin = if args.dry_run { format!("{name}, dry run") } else { format!("wrote {name}") };
    text.push_str(&format!("{begin}: {} recoded, {before} -> {after}\n", count(recoded, "object")));
    text
}

fn cells(row: &RecodedObject) -> [String; 8] {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.3e}"));
    [
        place(row),
        row.dtype.to_owned(),
        row.codec_before.clone(),
        size(row.bytes_before),
        row.codec_after.clone(),
        size(row.bytes_after),
        number(row.max_error),
        number(row.rms_error),
    ]
}

fn place(row: &RecodedObject) -> String {
    format!("{}.{} {}", row.message, row.object, visible(&row.name))
}
