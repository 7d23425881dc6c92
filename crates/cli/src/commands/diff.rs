//! `fw diff`: two tensor files, tensor by tensor.

use super::{print, print_report};
use crate::args;
use crate::exit::{Outcome, Usage};
use crate::input::Input;
use crate::render::{Table, count, shape};
use anyhow::Result;
use framewright::convert::{Comparison, ConvertError, Diff, DiffOptions, Side, Types, diff};
use serde_json::json;

pub(crate) fn run(args: &args::Diff) -> Result<Outcome> {
    if [&args.left, &args.right].iter().all(|file| file.as_os_str() == "-") {
        return Err(Usage("standard input can be one of the files, not both".to_owned()).into());
    }
    let left = Input::of(&args.left, &args.store, "diff")?;
    let right = Input::of(&args.right, &args.store, "diff")?;
    let found = compare(args, &left, &right).map_err(|error| left.retold(right.retold(error)))?;
    if args.json {
        let different = found.rows.iter().filter(|row| !row.comparison.is_equal()).count();
        let report = json!({
            "files": [left.name(), right.name()],
            "different_count": different,
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
            return Err(Usage(format!("{name} {tolerance}: a number from 0 on is needed")).into());
        }
    }
    let types = if args.values { Types::Values } else { Types::Strict };
    let options = DiffOptions::new().with_tolerance(args.atol, args.rtol).with_types(types);
    match diff(&*left.tensors()?, &*right.tensors()?, &options) {
        Err(ConvertError::Compared { side: Side::Left, error }) => left.named(*error),
        Err(ConvertError::Compared { side: Side::Right, error }) => right.named(*error),
        found => Ok(found?),
    }
}

fn text(found: &Diff) -> String {
    let mut table = Table::new(&["tensor", "verdict", ">max abs", ">max rel", "detail"]);
    for row in &found.rows {
        let (verdict, absolute, relative, detail) = cells(&row.comparison);
        let name = row.right_name.as_ref().map_or_else(|| row.name.clone(), |other| format!("{} / {other}", row.name));
        table.row([name, verdict.to_owned(), number(absolute), number(relative), detail]);
    }
    let mut text = if found.rows.is_empty() { String::new() } else { table.render() };
    if !found.metadata.is_empty() {
        text.push_str(&format!("metadata differs (not counted): {}\n", found.metadata.join(", ")));
    }
    let different = found.rows.iter().filter(|row| !row.comparison.is_equal()).count();
    text.push_str(&format!("{}, {different} different\n", count(found.rows.len(), "tensor")));
    text
}

fn cells(comparison: &Comparison) -> (&'static str, Option<f64>, Option<f64>, String) {
    match comparison {
        Comparison::Identical => ("identical", None, None, String::new()),
        Comparison::Close { max_absolute, max_relative } => {
            ("close", Some(*max_absolute), Some(*max_relative), String::new())
        }
        Comparison::Different { max_absolute, max_relative, count: beyond, first } => {
            let detail = format!("{}, first at {first}", count(*beyond as usize, "element"));
            ("DIFFERENT", Some(*max_absolute), Some(*max_relative), detail)
        }
        Comparison::DifferentBits => ("DIFFERENT", None, None, "bits".to_owned()),
        Comparison::Types { left, right } => ("DIFFERENT", None, None, format!("type {left} / {right}")),
        Comparison::Shapes { left, right } => {
            ("DIFFERENT", None, None, format!("shape {} / {}", shape(left), shape(right)))
        }
        Comparison::OnlyLeft => ("DIFFERENT", None, None, "only in the first".to_owned()),
        Comparison::OnlyRight => ("DIFFERENT", None, None, "only in the second".to_owned()),
        _ => ("DIFFERENT", None, None, String::new()),
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format!("{value:.3e}"))
}
