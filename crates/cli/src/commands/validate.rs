//! `fw validate`: every fault with its bytes.

use crate::args::{Mode, Rules, Validate};
use crate::exit::{Outcome, Usage, aside};
use crate::input::Input;
use crate::inputs::{Answer, Answers, Inputs};
use crate::render::{Progress, count};
use anyhow::Result;
use framewright::bintensors::Profile;
use framewright::bintensors::validate::{self as bintensors, DIGESTS_CHECKED, TENSORS};
use framewright::convert::{Format, expect_manifest, manifest, non_finite};
use framewright::look::in_order;
use framewright::report::{Finding, Report, Severity, visible};
use framewright::source::Watch;
use framewright::tensogram::{FileReport, ValidateMode, ValidateOptions, validate_file};
use serde_json::json;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) fn run(args: &Validate) -> Result<Outcome> {
    let inputs = Inputs::of(&args.files)?;
    let mut answers = Answers::new("validate", args.common.json, &inputs);
    let progress = Arc::new(Progress::bytes());
    let total = inputs.words.iter().filter_map(|word| std::fs::metadata(word).ok()).map(|found| found.len()).sum();
    let check = |word: &PathBuf| {
        let input = Input::of(word, &args.common.store, "validate");
        let answer = input.and_then(|input| {
            let watch = match total {
                0 => progress.watch(input.name()),
                _ => progress.part(input.name(), total),
            };
            file(args, &input, watch).map_err(|error| input.retold(error))
        });
        (word.clone(), answer)
    };
    // One file needs no thread, and standard input must not be read by two.
    let threads = if inputs.words.len() == 1 { 1 } else { args.threads.count()? };
    let (mut ended, mut damaged) = (Ok(()), None);
    in_order(inputs.words.iter(), threads, check, |(word, answer)| {
        let answer = answer.map(|(answer, is_damaged)| {
            if is_damaged {
                damaged.get_or_insert_with(|| word.clone());
            }
            answer
        });
        ended = answers.take(&word, answer);
        if ended.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    ended?;
    if let Some(file) = damaged.filter(|_| !args.common.json) {
        let file = file.display().to_string();
        aside(format_args!("hint: fw recover {} -o repaired.tgm saves what is intact\n", visible(&file)));
    }
    answers.finish()
}

/// The answer about a file, and whether recovery may help.
fn file(args: &Validate, input: &Input, watch: Watch) -> Result<(Answer, bool)> {
    let format = input.looked_format()?;
    if format != Format::Tensogram {
        let answer = tensors(args, input, format);
        let len = std::fs::metadata(input.path()).map_or(0, |found| found.len());
        watch.tell(len, len);
        return Ok((answer?, false));
    }
    let mode = match args.mode {
        Mode::Quick => ValidateMode::Quick,
        Mode::Checksum => ValidateMode::Checksum,
        Mode::Default => ValidateMode::Default,
        Mode::Decode => ValidateMode::Decode,
        Mode::Full => ValidateMode::Full,
    };
    if args.expect.is_some() {
        let text = format!("--expect applies to files of weights; {} is a Tensogram file", input.name());
        return Err(Usage(text).into());
    }
    if args.rules == Some(Rules::Compat) {
        return Err(Usage("--rules compat applies to BinTensors files only".to_owned()).into());
    }
    let canonical = args.rules == Some(Rules::Canonical);
    let mut report = validate_file(input.path(), &ValidateOptions { canonical, watch, ..ValidateOptions::mode(mode) })?;
    if let Some(expected) = args.expect_messages {
        report.expect_messages(expected);
    }
    let is_damaged = report
        .findings()
        .any(|finding| finding.severity == Severity::Error && finding.code != "message_count_mismatch");
    let outcome = if report.is_ok() { Outcome::Fine } else { Outcome::Invalid };
    let answer =
        if args.common.json { Answer::json(json(input, &report)) } else { Answer::text(text(&report, input.name())) };
    Ok((Answer { outcome, ..answer }, is_damaged))
}

/// Any other file of named tensors.
fn tensors(args: &Validate, input: &Input, format: Format) -> Result<Answer> {
    if args.rules.is_some() && !format.has_rules() {
        let text = format!("--rules applies to BinTensors and Tensogram files; {} is {format}", input.name());
        return Err(Usage(text).into());
    }
    if args.expect_messages.is_some() {
        let text = format!("--expect-messages applies to Tensogram files; {} is {format}", input.name());
        return Err(Usage(text).into());
    }
    let options = bintensors::ValidateOptions::new(args.rules.map_or_else(Profile::default, Profile::from));
    let options = if args.mode == Mode::Quick { options } else { options.with_data() };
    if args.expect.is_some() && args.mode == Mode::Quick {
        let text = "--expect needs the data: it cannot be used with --mode quick".to_owned();
        return Err(Usage(text).into());
    }
    let mut report = match format.validate(input.path(), &options) {
        Ok(report) => report,
        Err(error) => return input.named(error),
    };
    if args.mode == Mode::Full && report.is_ok() {
        let found = non_finite(&*input.tensors()?);
        found.or_else(|error| input.named(error))?.into_iter().for_each(|finding| report.push(finding));
    }
    if let Some(expected) = args.expect.as_ref().filter(|_| report.is_ok()) {
        let file = input.unchecked_tensors()?;
        let found = manifest(&*file, &|_| {}).and_then(|found| expect_manifest(&found, expected));
        if let Err(error) = found {
            report.push(Finding::error(error.code().to_owned(), error.to_string()).level("data"));
        }
    }
    let answer = if args.common.json {
        let counted = |severity| report.findings().iter().filter(|finding| finding.severity == severity).count();
        let mut found = json!({
            "file": input.name(),
            "format": format,
            "error_count": counted(Severity::Error),
            "warning_count": counted(Severity::Warning),
            "findings": report.findings(),
        });
        for (what, number) in report.tallies() {
            found[*what] = (*number).into();
        }
        Answer::json(found)
    } else {
        Answer::text(report_text(&report, input.name()))
    };
    Ok(Answer { outcome: if report.is_ok() { Outcome::Fine } else { Outcome::Invalid }, ..answer })
}

fn json(input: &Input, report: &FileReport) -> serde_json::Value {
    let counted = |severity| report.findings().filter(|finding| finding.severity == severity).count();
    let messages = report.messages.iter().map(|(span, message)| {
        json!({
            "offset": span.start,
            "length": span.len(),
            "ok": message.is_ok(),
            "object_count": message.object_count,
            "hash_verified": message.hash_verified,
            "decoded": message.decoded,
        })
    });
    json!({
        "file": input.name(),
        "format": "tensogram",
        "error_count": counted(Severity::Error),
        "warning_count": counted(Severity::Warning),
        "findings": report.findings().collect::<Vec<_>>(),
        "messages": messages.collect::<Vec<_>>(),
    })
}

fn report_text(report: &Report, name: &str) -> String {
    let mut text: String = report.findings().iter().map(|finding| format!("{finding}\n")).collect();
    let of = |severity| report.findings().iter().filter(|finding| finding.severity == severity).count();
    let checked = report.tallies().get(DIGESTS_CHECKED).zip(report.tallies().get(TENSORS));
    let checked = checked.map_or_else(String::new, |(checked, all)| {
        format!(", {checked} of {} compared with a digest", count(*all as usize, "tensor"))
    });
    let _ = writeln!(
        text,
        "{}: {}, {}{checked}: {}",
        visible(name),
        count(of(Severity::Error), "error"),
        count(of(Severity::Warning), "warning"),
        if report.is_ok() { "valid" } else { "INVALID" }
    );
    text
}

pub(super) fn text(report: &FileReport, name: &str) -> String {
    let mut text = String::new();
    for finding in report.findings() {
        let _ = writeln!(text, "{finding}");
    }
    let errors = report.findings().filter(|finding| finding.severity == Severity::Error).count();
    let warnings = report.findings().filter(|finding| finding.severity == Severity::Warning).count();
    let objects: usize = report.messages.iter().map(|(_, message)| message.object_count).sum();
    let verified = report.messages.iter().filter(|(_, message)| message.hash_verified).count();
    let _ = writeln!(
        text,
        "{}: {}, {}, {}, {}, {} verified by digest: {}",
        visible(name),
        count(report.messages.len(), "message"),
        count(objects, "object"),
        count(errors, "error"),
        count(warnings, "warning"),
        count(verified, "message"),
        report.verdict()
    );
    text
}
