//! `fw gen`: source code, a dissector and documents from a struct-frame schema.

use super::{print, print_report};
use crate::args::Gen;
use crate::exit::{Outcome, Usage, aside, complain};
use crate::render::count;
use anyhow::Result;
use framewright::codegen::{
    self, File, Freshness, Lang, Options,
    lang::{Packing, RustSerde},
};
use framewright::schema::{self, Disk};
use serde_json::json;

pub(crate) fn run(args: &Gen) -> Result<Outcome> {
    super::schema::readable(&args.schema)?;
    let mut langs: Vec<Lang> = Vec::new();
    for word in &args.lang {
        let lang = word.parse().map_err(|error: codegen::Error| Usage(error.to_string()))?;
        if !langs.contains(&lang) {
            langs.push(lang);
        }
    }
    if args.serde && !langs.contains(&Lang::Rust) {
        return Err(Usage("--serde applies to Rust; --lang does not include rust".to_owned()).into());
    }
    let compiled = schema::check_with(&Disk, &args.schema, &args.packing.options());
    let findings = compiled.diagnostics.to_report();
    match (args.json, &compiled.schema) {
        (true, _) => {}
        (false, None) => complain(format_args!("{}", compiled.diagnostics)),
        (false, Some(_)) => aside(format_args!("{}", compiled.diagnostics)),
    }
    let Some(schema) = compiled.schema else {
        if args.json {
            print_report("gen", false, json!({ "files": [], "findings": findings.findings() }))?;
        }
        return Ok(Outcome::Invalid);
    };

    let mut options =
        Options::default().with_packing(if args.packing.no_packed { Packing::Natural } else { Packing::Packed });
    if args.serde {
        options = options.with_rust_serde(RustSerde::Feature);
    }
    if let Some(namespace) = &args.csharp_namespace {
        let is_name = |name: &str| {
            let letters = |c: char| c.is_alphanumeric() || c == '_';
            name.chars().all(letters) && name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        };
        if !namespace.split('.').all(is_name) {
            let text =
                format!("--csharp-namespace {namespace:?}: must be identifiers separated by dots, such as Acme.Robots");
            return Err(Usage(text).into());
        }
        options = options.with_csharp_namespace(namespace);
    }
    let mut files: Vec<File> = Vec::new();
    for &lang in &langs {
        let of_one = codegen::generate(&schema, lang, &options)?;
        // One language fills the folder itself, as a build wants it; several must not mix.
        let prefix = if langs.len() > 1 { format!("{lang}/") } else { String::new() };
        files.extend(of_one.into_iter().map(|file| File { path: prefix.clone() + &file.path, text: file.text }));
    }
    let found =
        if args.check { codegen::compare(&args.output, &files)? } else { codegen::write(&args.output, &files)? };
    let changed = found.iter().filter(|(_, was)| *was != Freshness::Fresh).count();
    if args.json {
        let list = found.iter().map(|(file, was)| json!({ "path": file.path, "was": word(*was) }));
        let report = json!({ "files": list.collect::<Vec<_>>(), "findings": findings.findings() });
        print_report("gen", !args.check || changed == 0, report)?;
    } else {
        print(&summary(args, &found, changed))?;
    }
    Ok(if args.check && changed > 0 { Outcome::Invalid } else { Outcome::Fine })
}

fn summary(args: &Gen, found: &[(&File, Freshness)], changed: usize) -> String {
    let mut text = String::new();
    for (file, was) in found.iter().filter(|(_, was)| *was != Freshness::Fresh) {
        let what = if args.check { word(*was) } else { "written" };
        text += &format!("{what:8} {}\n", args.output.join(&file.path).display());
    }
    let same = count(found.len() - changed, "file");
    text + &match (args.check, changed) {
        (true, 0) => format!("{same} up to date\n"),
        (true, _) => format!("{} to write; run without --check\n", count(changed, "file")),
        (false, _) => format!("{} written, {same} unchanged\n", count(changed, "file")),
    }
}

const fn word(was: Freshness) -> &'static str {
    match was {
        Freshness::Fresh => "fresh",
        Freshness::Stale => "stale",
        Freshness::Missing => "missing",
    }
}
