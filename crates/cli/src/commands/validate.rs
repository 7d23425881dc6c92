//! `fw validate`: every fault with its bytes.

use crate::args::{Mode, Rules, Validate};
use crate::exit::{Outcome, Usage, aside};
use crate::input::Input;
use crate::inputs::{Answer, Answers, Inputs};
use crate::render::{Progress, count};
use anyhow::Result;
use framewright::bintensors::Profile;
use framewright::bintensors::validate::{self as bintensors, DIGESTS_CHECKED, TENSORS};
use framewright::convert::{Format, TensorFile, expect_manifest, manifest, non_finite};
use framewright::look::in_order;
use framewright::report::{Finding, Report, Severity, visible};
use framewright::source::Watch;
#[cfg(feature = "remote")]
use framewright::tensogram::validate_source;
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
        #[cfg(feature = "remote")]
        if let Some(url) = crate::remote::url(word)
            && let Some(answer) = in_store(args, url, progress.watch(url)).transpose()
        {
            return (word.clone(), answer);
        }
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
    if format == Format::Tensogram {
        return messages(args, input.name(), watch, |options| validate_file(input.path(), options));
    }
    let answer = tensors(args, input, format);
    let len = std::fs::metadata(input.path()).map_or(0, |found| found.len());
    watch.tell(len, len);
    Ok((answer?, false))
}

/// A Tensogram file.
fn messages(
    args: &Validate,
    name: &str,
    watch: Watch,
    validate: impl FnOnce(&ValidateOptions) -> framewright::tensogram::Result<FileReport>,
) -> Result<(Answer, bool)> {
    let mode = match args.mode {
        Mode::Quick => ValidateMode::Quick,
        Mode::Checksum => ValidateMode::Checksum,
        Mode::Default => ValidateMode::Default,
        Mode::Decode => ValidateMode::Decode,
        Mode::Full => ValidateMode::Full,
    };
    if args.expect.is_some() {
        return Err(Usage(format!("--expect applies to files of weights; {name} is a Tensogram file")).into());
    }
    if args.rules == Some(Rules::Compat) {
        return Err(Usage("--rules compat applies to BinTensors files only".to_owned()).into());
    }
    let canonical = args.rules == Some(Rules::Canonical);
    let mut report = validate(&ValidateOptions { canonical, watch, ..ValidateOptions::mode(mode) })?;
    if let Some(expected) = args.expect_messages {
        report.expect_messages(expected);
    }
    let is_damaged = report
        .findings()
        .any(|finding| finding.severity == Severity::Error && finding.code != "message_count_mismatch");
    let outcome = if report.is_ok() { Outcome::Fine } else { Outcome::Invalid };
    let answer = if args.common.json { Answer::json(json(name, &report)) } else { Answer::text(text(&report, name)) };
    Ok((Answer { outcome, ..answer }, is_damaged))
}

/// Any other file of named tensors.
fn tensors(args: &Validate, input: &Input, format: Format) -> Result<Answer> {
    let options = weight_options(args, input.name(), format)?;
    let mut report = match format.validate(input.path(), &options) {
        Ok(report) => report,
        Err(error) => return input.named(error),
    };
    let more = values(args, &mut report, || input.unchecked_tensors());
    more.or_else(|error| if error.is::<Usage>() { Err(error) } else { input.named(error) })?;
    Ok(answer(args, input.name(), format, &report))
}

/// The same for a file in a store; `None` where it must be copied. Headers are read without leave.
#[cfg(feature = "remote")]
fn in_store(args: &Validate, url: &str, watch: Watch) -> Result<Option<(Answer, bool)>> {
    let store = &args.common.store;
    if args.mode == Mode::Quick
        && let Some(source) = crate::remote::message_source(url, store, "validate")?
    {
        return messages(args, url, watch, |options| validate_source(&source, options)).map(Some);
    }
    // What is asked for is checked against the format once that is known.
    let found = crate::remote::validated(url, store, |format| weight_options(args, url, format))?;
    let Some((format, mut report)) = found else { return Ok(None) };
    let open = || match crate::remote::tensor_file(url, store, "validate")? {
        Some(file) => Ok(file),
        None => Err(Usage(format!("{url}: cannot be read in parts")).into()),
    };
    values(args, &mut report, open)?;
    Ok(Some((answer(args, url, format, &report), false)))
}

/// What is checked of a file of weights.
fn weight_options(args: &Validate, name: &str, format: Format) -> Result<bintensors::ValidateOptions> {
    if args.rules.is_some() && !format.has_rules() {
        return Err(Usage(format!("--rules applies to BinTensors and Tensogram files; {name} is {format}")).into());
    }
    if args.expect_messages.is_some() {
        return Err(Usage(format!("--expect-messages applies to Tensogram files; {name} is {format}")).into());
    }
    if args.expect.is_some() && args.mode == Mode::Quick {
        let text = "--expect needs the data: it cannot be used with --mode quick".to_owned();
        return Err(Usage(text).into());
    }
    let options = bintensors::ValidateOptions::new(args.rules.map_or_else(Profile::default, Profile::from));
    Ok(if args.mode == Mode::Quick { options } else { options.with_data() })
}

/// What needs the values of a file that nothing is wrong with.
fn values(args: &Validate, report: &mut Report, open: impl Fn() -> Result<Box<dyn TensorFile>>) -> Result<()> {
    if args.mode == Mode::Full && report.is_ok() {
        report.extend(non_finite(&*open()?)?);
    }
    if let Some(expected) = args.expect.as_ref().filter(|_| report.is_ok()) {
        let found = manifest(&*open()?, &|_| {}).and_then(|found| expect_manifest(&found, expected));
        if let Err(error) = found {
            report.push(Finding::error(error.code().to_owned(), error.to_string()).level("data"));
        }
    }
    Ok(())
}

fn answer(args: &Validate, name: &str, format: Format, report: &Report) -> Answer {
    let answer = if args.common.json {
        let counted = |severity| report.findings().iter().filter(|finding| finding.severity == severity).count();
        let mut found = json!({
            "file": name,
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
        Answer::text(report_text(report, name))
    };
    Answer { outcome: if report.is_ok() { Outcome::Fine } else { Outcome::Invalid }, ..answer }
}

fn json(name: &str, report: &FileReport) -> serde_json::Value {
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
        "file": name,
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
