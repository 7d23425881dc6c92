//! `fw diff`: two tensor files, tensor by tensor, or many pairs of them.

use super::{print, print_report};
use crate::args;
use crate::exit::{self, Outcome, Usage, Voice};
use crate::input::Input;
use crate::pairs::Pairs;
use crate::render::{Progress, Table, count, shape};
use anyhow::Result;
use framewright::convert::{
    Comparison, ConvertError, Diff, DiffOptions, DiffRow, Distance, Metadata, MetadataDifference, Side, TensorFile,
    Types, diff,
};
use framewright::report::visible;
use framewright::source::Watch;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn run(args: &args::Diff) -> Result<Outcome> {
    for (name, tolerance) in [("--rtol", args.rtol), ("--atol", args.atol)] {
        if !tolerance.is_finite() || tolerance < 0.0 {
            return Err(Usage(format!("{name} {tolerance}: must be 0 or greater")).into());
        }
    }
    let pairs = Pairs::of(&args.files)?;
    if pairs.several {
        return several(args, &pairs);
    }
    let progress = Arc::new(Progress::bytes());
    let [(first, second)] = &pairs.both[..] else { return Ok(Outcome::Fine) };
    let Compared { names, found } = compared(args, first, second, &progress)?;
    progress.clear();
    match args.common.json {
        true => print_report("diff", found.is_equal(), report(args, &names, &found))?,
        false => print(&text(&found))?,
    }
    Ok(if found.is_equal() { Outcome::Fine } else { Outcome::Invalid })
}

/// Pair after pair; one that fails does not stop the others.
fn several(args: &args::Diff, pairs: &Pairs) -> Result<Outcome> {
    let progress = Arc::new(Progress::bytes());
    let (mut reports, mut tally) = (Vec::new(), Tally::default());
    for (first, second) in &pairs.both {
        let outcome = compared(args, first, second, &progress);
        match &outcome {
            Ok(Compared { found, .. }) if found.is_equal() => tally.equal += 1,
            Ok(_) => tally.different += 1,
            Err(_) => tally.failed += 1,
        }
        match (outcome, args.common.json) {
            (Ok(Compared { names, found }), true) => {
                let mut report = report(args, &names, &found);
                report["ok"] = found.is_equal().into();
                reports.push(report);
            }
            (Ok(Compared { names, found }), false) => {
                let [first, second] = names.each_ref().map(|name| visible(name));
                let text = match found.is_equal() {
                    true => format!("{first} {second}: {}", text(&found)),
                    false => format!("== {first} {second}\n{}", text(&found)),
                };
                print(&text)?;
            }
            (Err(error), true) => {
                let names = [first.display().to_string(), second.display().to_string()];
                reports.push(json!({ "files": names, "ok": false, "error": exit::fault(&error) }));
            }
            (Err(error), false) => exit::tell("diff", Voice::Words, &exit::fault(&error)),
        }
    }
    let shown = |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    let [only_first, only_second] = [shown(&pairs.only_first), shown(&pairs.only_second)];
    let is_equal = tally.different + tally.failed + only_first.len() + only_second.len() == 0;
    if args.common.json {
        let report = json!({ "pairs": reports, "only_first": only_first, "only_second": only_second });
        print_report("diff", is_equal, report)?;
    } else {
        let lonely: String =
            only_first.iter().chain(&only_second).map(|name| format!("{}: no counterpart\n", visible(name))).collect();
        print(&format!("{lonely}{}", tally.text(only_first.len() + only_second.len())))?;
    }
    Ok(match (tally.failed, is_equal) {
        // As with one pair, any failure ends the command with 2.
        (1.., _) => Outcome::Unopened,
        (0, true) => Outcome::Fine,
        (0, false) => Outcome::Invalid,
    })
}

/// How many pairs compared how.
#[derive(Default)]
struct Tally {
    equal: usize,
    different: usize,
    failed: usize,
}

impl Tally {
    /// `3 pairs of files: 2 equal, 1 different; 1 file without counterpart`.
    fn text(&self, lonely: usize) -> String {
        let pairs = self.equal + self.different + self.failed;
        let pairs = if pairs == 1 { "1 pair of files".to_owned() } else { format!("{pairs} pairs of files") };
        let mut text = format!("{pairs}: {} equal, {} different", self.equal, self.different);
        if self.failed > 0 {
            text.push_str(&format!(", {} failed", self.failed));
        }
        if lonely > 0 {
            text.push_str(&format!("; {} without counterpart", count(lonely, "file")));
        }
        text.push('\n');
        text
    }
}

/// Two files, as people call them, and how they compare.
struct Compared {
    names: [String; 2],
    found: Diff,
}

fn compared(args: &args::Diff, first: &Path, second: &Path, progress: &Arc<Progress>) -> Result<Compared> {
    let left = Weights::of(args, first)?;
    let right = Weights::of(args, second)?;
    let watch = progress.watch(left.name());
    let found = compare(args, &left, &right, watch).map_err(|error| left.retold(right.retold(error)))?;
    Ok(Compared { names: [left.name().to_owned(), right.name().to_owned()], found })
}

/// One side: a file on this machine, or weights in a store, which are read in ranges.
enum Weights {
    Local(Input),
    #[cfg(feature = "remote")]
    InStore(String, Box<dyn TensorFile>),
}

impl Weights {
    fn of(args: &args::Diff, word: &Path) -> Result<Self> {
        #[cfg(feature = "remote")]
        if let Some(url) = crate::remote::url(word)
            && let Some(file) = crate::remote::weights(url, &args.common.store, "diff", &Default::default())?
        {
            return Ok(Self::InStore(url.to_owned(), args.trust.open(file, url, args.common.json)));
        }
        Input::of(word, &args.common.store, "diff").map(Self::Local)
    }

    fn name(&self) -> &str {
        match self {
            Self::Local(input) => input.name(),
            #[cfg(feature = "remote")]
            Self::InStore(name, _) => name,
        }
    }

    fn retold(&self, error: anyhow::Error) -> anyhow::Error {
        match self {
            Self::Local(input) => input.retold(error),
            #[cfg(feature = "remote")]
            Self::InStore(..) => error,
        }
    }

    /// Puts the name before an error that does not have it yet.
    fn named<T>(&self, error: ConvertError) -> Result<T> {
        match self {
            Self::Local(input) => input.named(error),
            #[cfg(feature = "remote")]
            Self::InStore(name, _) if !error.to_string().contains(name.as_str()) => {
                Err(anyhow::Error::new(error).context(name.clone()))
            }
            #[cfg(feature = "remote")]
            Self::InStore(..) => Err(error.into()),
        }
    }

    /// Hands the tensors to `work`.
    fn open<R>(&self, args: &args::Diff, work: impl FnOnce(&dyn TensorFile) -> Result<R>) -> Result<R> {
        match self {
            Self::Local(input) => work(&*input.tensors(&args.trust, args.common.json)?),
            #[cfg(feature = "remote")]
            Self::InStore(_, file) => work(&**file),
        }
    }
}

fn report(args: &args::Diff, names: &[String; 2], found: &Diff) -> Value {
    json!({
        "files": names,
        "different_count": found.rows.iter().filter(|row| !row.is_equal()).count(),
        "metadata_count": found.metadata_count(),
        "tensors": found.rows,
        "metadata": found.metadata,
        "ignored_digests": args.trust.ignore_digests,
    })
}

fn compare(args: &args::Diff, left: &Weights, right: &Weights, watch: Watch) -> Result<Diff> {
    let options = DiffOptions::new()
        .with_tolerance(args.atol, args.rtol)
        .with_types(if args.values { Types::Values } else { Types::Strict })
        .with_metadata(if args.ignore_metadata { Metadata::Ignore } else { Metadata::Compare })
        .with_by(args.by.iter().cloned())
        .with_watch(watch);
    let found = left.open(args, |first| right.open(args, |second| Ok(diff(first, second, &options))))?;
    match found {
        Err(ConvertError::Compared { side: Side::Left, error }) => left.named(*error),
        Err(ConvertError::Compared { side: Side::Right, error }) => right.named(*error),
        Err(error) if error.code() == "unknown_key" => Err(Usage(format!("--by: {error}")).into()),
        found => Ok(found?),
    }
}

fn text(found: &Diff) -> String {
    let mut table = Table::new(&["tensor", "verdict", ">max abs", ">rmse", ">bias", ">rel norm", ">cosine", "detail"]);
    let (identical, shown): (Vec<_>, Vec<_>) =
        found.rows.iter().partition(|row| row.comparison == Comparison::Identical && row.metadata.is_empty());
    for row in &shown {
        let (verdict, distance, mut detail) = cells(&row.comparison);
        if !row.metadata.is_empty() {
            detail = format!("{detail}{}{}", if detail.is_empty() { "" } else { "; " }, keys(row.metadata.len()));
        }
        let verdict = if row.is_equal() { verdict } else { "DIFFERENT" };
        let column = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.3e}"));
        let [largest, rmse, bias, relative] = match distance {
            Some(distance) => [Some(distance.max_absolute), distance.rmse, distance.bias, distance.relative_norm],
            None => [None; 4],
        };
        let cosine =
            distance.and_then(|distance| distance.cosine).map_or_else(String::new, |cosine| format!("{cosine:.6}"));
        let [largest, rmse, bias, relative] = [column(largest), column(rmse), column(bias), column(relative)];
        table.row([name(row), verdict.to_owned(), largest, rmse, bias, relative, cosine, detail]);
    }
    let mut text = if shown.is_empty() { String::new() } else { table.render() };
    let rows = found.rows.iter().map(|row| (name(row), &row.metadata)).filter(|(_, metadata)| !metadata.is_empty());
    let groups: Vec<_> = rows.chain((!found.metadata.is_empty()).then_some((String::new(), &found.metadata))).collect();
    if !groups.is_empty() {
        let mut table = Table::new(&["tensor", "key", "first", "second"]);
        for (name, differences) in groups {
            let name = if name.is_empty() { "(file)".to_owned() } else { name };
            for MetadataDifference { key, left, right, .. } in differences {
                table.row([name.clone(), key.clone(), value(left.as_ref()), value(right.as_ref())]);
            }
        }
        text.push_str(&table.render());
    }
    text.push_str(&summary(found, identical.len()));
    text
}

/// `3 tensors: 2 identical, 1 different; 3 metadata keys differ`.
fn summary(found: &Diff, identical: usize) -> String {
    let different = found.rows.iter().filter(|row| !row.is_equal()).count();
    let close = found.rows.len().saturating_sub(identical).saturating_sub(different);
    let mut parts = vec![format!("{identical} identical")];
    if close > 0 {
        parts.push(format!("{close} close"));
    }
    parts.push(format!("{different} different"));
    let mut text = format!("{}: {}", count(found.rows.len(), "tensor"), parts.join(", "));
    if found.metadata_count() > 0 {
        text.push_str(&format!("; {}", keys(found.metadata_count())));
    }
    text.push('\n');
    text
}

fn keys(number: usize) -> String {
    if number == 1 { "1 metadata key differs".to_owned() } else { format!("{number} metadata keys differ") }
}

fn name(row: &DiffRow) -> String {
    row.right_name.as_ref().map_or_else(|| row.name.clone(), |other| format!("{} / {other}", row.name))
}

/// A value in a few words.
fn value(value: Option<&Value>) -> String {
    let Some(value) = value else { return "(absent)".to_owned() };
    let text = value.to_string();
    let text = visible(&text);
    if text.chars().count() <= LONGEST {
        return text.into_owned();
    }
    let start: String = text.chars().take(LONGEST - 1).collect();
    format!("{start}…")
}

/// Characters of a value that are shown.
const LONGEST: usize = 40;

fn cells(comparison: &Comparison) -> (&'static str, Option<&Distance>, String) {
    let different = |detail: String| ("DIFFERENT", None, detail);
    match comparison {
        Comparison::Identical => ("identical", None, String::new()),
        Comparison::Close(distance) => ("close", Some(distance), String::new()),
        Comparison::Different(distance) => {
            let first = match &distance.first_index[..] {
                [only] => only.to_string(),
                several => several.iter().map(u64::to_string).collect::<Vec<_>>().join(","),
            };
            let detail = format!("{}, first at {first}", count(distance.count as usize, "element"));
            ("DIFFERENT", Some(distance), detail)
        }
        Comparison::DifferentBits => different("bits".to_owned()),
        Comparison::Types { left, right } => different(format!("type {left} / {right}")),
        Comparison::Shapes { left, right } => different(format!("shape {} / {}", shape(left), shape(right))),
        Comparison::OnlyLeft => different("only in the first file".to_owned()),
        Comparison::OnlyRight => different("only in the second file".to_owned()),
    }
}
