//! `fw diff`: two tensor files, tensor by tensor.

use super::{print, print_report};
use crate::args;
use crate::exit::{Outcome, Usage};
use crate::input::Input;
use crate::render::{Table, count, shape};
use anyhow::Result;
use framewright::convert::{
    Comparison, ConvertError, Diff, DiffOptions, DiffRow, Distance, Metadata, MetadataDifference, Side, Types, diff,
};
use framewright::report::visible;
use serde_json::{Value, json};

pub(crate) fn run(args: &args::Diff) -> Result<Outcome> {
    if [&args.left, &args.right].iter().all(|file| file.as_os_str() == "-") {
        return Err(Usage("standard input can be only one of the two files".to_owned()).into());
    }
    let left = Input::of(&args.left, &args.store, "diff")?;
    let right = Input::of(&args.right, &args.store, "diff")?;
    let found = compare(args, &left, &right).map_err(|error| left.retold(right.retold(error)))?;
    if args.json {
        let report = json!({
            "files": [left.name(), right.name()],
            "different_count": found.rows.iter().filter(|row| !row.is_equal()).count(),
            "metadata_count": found.metadata_count(),
            "tensors": found.rows,
            "metadata": found.metadata,
        });
        print_report("diff", found.is_equal(), report)?;
    } else {
        print(&text(&found))?;
    }
    Ok(if found.is_equal() { Outcome::Fine } else { Outcome::Invalid })
}

fn compare(args: &args::Diff, left: &Input, right: &Input) -> Result<Diff> {
    for (name, tolerance) in [("--rtol", args.rtol), ("--atol", args.atol)] {
        if !tolerance.is_finite() || tolerance < 0.0 {
            return Err(Usage(format!("{name} {tolerance}: must be 0 or greater")).into());
        }
    }
    let options = DiffOptions::new()
        .with_tolerance(args.atol, args.rtol)
        .with_types(if args.values { Types::Values } else { Types::Strict })
        .with_metadata(if args.ignore_metadata { Metadata::Ignore } else { Metadata::Compare })
        .with_by(args.by.iter().cloned());
    match diff(&*left.tensors()?, &*right.tensors()?, &options) {
        Err(ConvertError::Compared { side: Side::Left, error }) => left.named(*error),
        Err(ConvertError::Compared { side: Side::Right, error }) => right.named(*error),
        Err(error) if error.code() == "unknown_key" => Err(Usage(format!("--by: {error}")).into()),
        found => Ok(found?),
    }
}

fn text(found: &Diff) -> String {
    let mut table = Table::new(&["tensor", "verdict", ">max abs", ">rmse", ">bias", "detail"]);
    let (identical, shown): (Vec<_>, Vec<_>) =
        found.rows.iter().partition(|row| row.comparison == Comparison::Identical && row.metadata.is_empty());
    for row in &shown {
        let (verdict, distance, mut detail) = cells(&row.comparison);
        if !row.metadata.is_empty() {
            detail = format!("{detail}{}{}", if detail.is_empty() { "" } else { "; " }, keys(row.metadata.len()));
        }
        let verdict = if row.is_equal() { verdict } else { "DIFFERENT" };
        let column = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.3e}"));
        let [largest, rmse, bias] = match distance {
            Some(distance) => [Some(distance.max_absolute), distance.rmse, distance.bias],
            None => [None; 3],
        };
        table.row([name(row), verdict.to_owned(), column(largest), column(rmse), column(bias), detail]);
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
            let detail = format!("{}, first at {}", count(distance.count as usize, "element"), distance.first);
            ("DIFFERENT", Some(distance), detail)
        }
        Comparison::DifferentBits => different("bits".to_owned()),
        Comparison::Types { left, right } => different(format!("type {left} / {right}")),
        Comparison::Shapes { left, right } => different(format!("shape {} / {}", shape(left), shape(right))),
        Comparison::OnlyLeft => different("only in the first file".to_owned()),
        Comparison::OnlyRight => different("only in the second file".to_owned()),
        _ => different(String::new()),
    }
}
