//! `fw gen`: source code, a dissector and documents from a struct-frame schema.

use super::{print, print_report};
use crate::args::Gen;
use crate::exit::{Outcome, Usage, aside, complain};
use crate::render::count;
use anyhow::Result;
use framewright::codegen::{
    self, File, Freshness, Lang, Options, Remembered,
    lang::{Packing, RustRuntime, RustSerde},
};
use framewright::schema::{self, Compilation, Disk, Schema};
use serde_json::json;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &Gen) -> Result<Outcome> {
    for schema in &args.schemas {
        super::schema::readable(schema)?;
    }
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
    if args.standalone && !langs.contains(&Lang::Rust) {
        return Err(Usage("--standalone applies to Rust; --lang does not include rust".to_owned()).into());
    }
    let compiled = compile(args, &args.schemas);
    let findings = compiled.diagnostics.to_report();
    let Some(schema) = told(args, compiled)? else { return Ok(Outcome::Invalid) };

    let mut options =
        Options::default().with_packing(if args.packing.no_packed { Packing::Natural } else { Packing::Packed });
    if args.serde {
        options = options.with_rust_serde(RustSerde::Feature);
    }
    if args.standalone {
        options = options.with_rust_runtime(RustRuntime::Module);
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
        // One language fills the folder itself, as a build wants it; several must not mix.
        let prefix = if langs.len() > 1 { format!("{lang}/") } else { String::new() };
        let folder = if langs.len() > 1 { args.output.join(lang.name()) } else { args.output.clone() };
        let mut of_one = if lang.lists_packages() {
            let all = together(args, lang, &folder, &schema)?;
            let roots: Vec<PathBuf> = of_lang(&all, lang).map(|one| one.schema.clone()).collect();
            let compiled = compile(args, &roots);
            let compiled = if roots == args.schemas { compiled.schema } else { told(args, compiled)? };
            let Some(schema) = compiled else { return Ok(Outcome::Invalid) };
            let mut files = codegen::generate(&schema, lang, &options)?;
            files.push(codegen::memory(&folder, &all)?);
            files
        } else {
            codegen::generate(&schema, lang, &options)?
        };
        of_one.sort_by(|a, b| a.path.cmp(&b.path));
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

fn compile(args: &Gen, roots: &[PathBuf]) -> Compilation {
    let roots: Vec<&Path> = roots.iter().map(PathBuf::as_path).collect();
    schema::check_all(&Disk, &roots, &args.packing.options())
}

/// The schema, after telling what there is to say about it; `None`, and all is reported, when it has faults.
fn told(args: &Gen, compiled: Compilation) -> Result<Option<Schema>> {
    match (args.json, &compiled.schema) {
        (true, _) => {}
        (false, None) => complain(format_args!("{}", compiled.diagnostics)),
        (false, Some(_)) => aside(format_args!("{}", compiled.diagnostics)),
    }
    if args.json && compiled.schema.is_none() {
        let findings = compiled.diagnostics.to_report();
        print_report("gen", false, json!({ "files": [], "findings": findings.findings() }))?;
    }
    Ok(compiled.schema)
}

fn of_lang(all: &[Remembered], lang: Lang) -> impl Iterator<Item = &Remembered> {
    all.iter().filter(move |one| one.lang == lang)
}

/// The schemas of a directory after this run: those of earlier runs that are still there and whose packages this run does
/// not bring itself, and those that were given.
fn together(args: &Gen, lang: Lang, folder: &Path, given: &Schema) -> Result<Vec<Remembered>> {
    let no_packed = args.packing.no_packed;
    let identity = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let identities: Vec<PathBuf> = args.schemas.iter().map(|schema| identity(schema)).collect();
    let mut all = Vec::new();
    let mut taken = vec![false; args.schemas.len()];
    for earlier in codegen::remembered(folder)? {
        if earlier.lang != lang {
            all.push(earlier);
            continue;
        }
        let shown = earlier.schema.display();
        if let Some(at) = identities.iter().position(|given| *given == identity(&earlier.schema)) {
            if !std::mem::replace(&mut taken[at], true) {
                all.push(Remembered { lang, no_packed, schema: args.schemas[at].clone() });
            }
            continue;
        }
        if !earlier.schema.is_file() {
            aside(format_args!(
                "note: {shown}, from which {} was generated before, no longer exists: its packages are left out\n",
                folder.display()
            ));
            continue;
        }
        let brought = |name: &str| given.packages().iter().any(|package| package.name == name);
        let root = compile(args, std::slice::from_ref(&earlier.schema)).schema;
        if root.is_some_and(|schema| schema.packages().first().is_some_and(|package| brought(&package.name))) {
            continue;
        }
        if earlier.no_packed != no_packed {
            let (was, is) = if no_packed { ("without", "with") } else { ("with", "without") };
            return Err(Usage(format!(
                "{} holds packages of {shown}, generated {was} --no-packed; this run is {is} it: use another directory",
                folder.display()
            ))
            .into());
        }
        all.push(earlier);
    }
    for (schema, taken) in args.schemas.iter().zip(taken) {
        if !taken {
            all.push(Remembered { lang, no_packed, schema: schema.clone() });
        }
    }
    Ok(all)
}

fn summary(args: &Gen, found: &[(&File, Freshness)], changed: usize) -> String {
    let mut text = String::new();
    for (file, was) in found.iter().filter(|(_, was)| *was != Freshness::Fresh) {
        let what = if args.check { word(*was) } else { "written" };
        text += &format!("{what:8} {}\n", crate::render::shown(&args.output.join(&file.path)));
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
