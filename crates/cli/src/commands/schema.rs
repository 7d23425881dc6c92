//! `fw schema`: struct-frame schemas checked, formatted, explained and compared.

use super::{print, print_report};
use crate::args::{Packing, Schema, SchemaCheck, SchemaDiff, SchemaFmt, SchemaLayout};
use crate::exit::{Failure, Outcome, Usage, complain};
use crate::render::count;
use anyhow::{Context, Result};
use framewright::convert;
use framewright::dynamic::shown_name;
use framewright::recording::Recording;
use framewright::schema::layout::{Element, Message};
use framewright::schema::{self, Diagnostics, Disk, IdRoom};
use framewright::source::AtomicFile;
use serde_json::json;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &Schema) -> Result<Outcome> {
    match args {
        Schema::Check(args) => check(args),
        Schema::Fmt(args) => fmt(args),
        Schema::Layout(args) => layout(args),
        Schema::Diff(args) => diff(args),
    }
}

fn check(args: &SchemaCheck) -> Result<Outcome> {
    readable(&args.file)?;
    let compiled = schema::check_with(
        &Disk,
        &args.file,
        &args.packing.options().with_ids(match args.profile {
            None => IdRoom::Unknown,
            Some(framing) if framing.has_package() => IdRoom::TwoBytes,
            Some(_) => IdRoom::OneByte,
        }),
    );
    let found = &compiled.diagnostics;
    let (errors, warnings) = (found.errors().count(), found.warnings().count());
    if args.json {
        let messages = compiled.schema.as_ref().map(|schema| schema.messages().len());
        let report = json!({
            "file": args.file.display().to_string(),
            "message_count": messages,
            "error_count": errors,
            "warning_count": warnings,
            "findings": found.to_report().findings(),
        });
        print_report("schema check", found.is_ok(), report)?;
    } else {
        let faults = format!("{}, {}", count(errors, "error"), count(warnings, "warning"));
        let what = match &compiled.schema {
            Some(schema) => {
                let ids = count(schema.ids().count(), "message");
                format!("{ids} with an id, {} in all: valid", schema.messages().len())
            }
            None => "INVALID".to_owned(),
        };
        print(&format!("{}{}: {faults}, {what}\n", listed(found), crate::render::shown(&args.file)))?;
    }
    Ok(if found.is_ok() { Outcome::Fine } else { Outcome::Invalid })
}

fn fmt(args: &SchemaFmt) -> Result<Outcome> {
    let name = args.file.display().to_string();
    readable(&args.file)?;
    let bytes = std::fs::read(&args.file).with_context(|| name.clone())?;
    let text = String::from_utf8(bytes).map_err(|error| {
        anyhow::anyhow!("{name}: not UTF-8 text: the first wrong byte is {}", error.utf8_error().valid_up_to())
    })?;
    let formatted = match schema::format(&name, &text) {
        Ok(formatted) => formatted,
        Err(faults) => return refused("schema fmt", args.json, &faults),
    };
    let is_canonical = formatted == text;
    if args.write && !is_canonical {
        let mut file = AtomicFile::create(&args.file)?;
        file.write_all(formatted.as_bytes())?;
        file.commit()?;
    }
    let is_fine = is_canonical || !args.check;
    if args.json {
        let text = if args.check || args.write { json!(null) } else { json!(formatted) };
        print_report("schema fmt", is_fine, json!({ "file": name, "canonical": is_canonical, "text": text }))?;
    } else if !is_fine {
        print(&format!("{name}: not in canonical form\nhint: run fw schema fmt --write {name}\n"))?;
    } else if !args.check && !args.write {
        print(&formatted)?;
    }
    Ok(if is_fine { Outcome::Fine } else { Outcome::Invalid })
}

fn layout(args: &SchemaLayout) -> Result<Outcome> {
    let schema = match compiled(&args.file, &args.packing)? {
        Ok(schema) => schema,
        Err(faults) => return refused("schema layout", args.json, &faults),
    };
    let chosen = named(&schema, &args.messages)?;
    if args.json {
        let shown = if chosen.is_empty() { schema.messages().iter().collect() } else { contained(&schema, &chosen) };
        let report = json!({
            "variable": schema.variable(),
            "packages": schema.packages(),
            "enums": schema.enums(),
            "messages": shown,
        });
        print_report("schema layout", true, report)?;
    } else if chosen.is_empty() {
        print(&schema::layout_text(&schema))?;
    } else {
        let texts: Vec<String> = chosen.iter().map(|message| schema::layout_text_of(&schema, message)).collect();
        print(&texts.join("\n"))?;
    }
    Ok(Outcome::Fine)
}

/// The messages that were named, each once.
fn named<'s>(schema: &'s schema::Schema, names: &[String]) -> Result<Vec<&'s Message>> {
    let mut found: Vec<&Message> = Vec::new();
    for name in names {
        let by_id = || name.parse().ok().and_then(|id| schema.by_id(id));
        let Some(message) = schema.find(name).or_else(by_id) else {
            let known: Vec<_> = schema.messages().iter().map(|message| shown_name(schema, message)).collect();
            return Err(Usage(format!("{name}: no such message; the schema has {}", known.join(", "))).into());
        };
        if found.iter().all(|other| other.index != message.index) {
            found.push(message);
        }
    }
    Ok(found)
}

/// These messages and all that stand in them, in the order of the schema.
fn contained<'s>(schema: &'s schema::Schema, chosen: &[&'s Message]) -> Vec<&'s Message> {
    let mut wanted = vec![false; schema.messages().len()];
    let mut open: Vec<&Message> = chosen.to_vec();
    while let Some(message) = open.pop() {
        if std::mem::replace(&mut wanted[message.index.get()], true) {
            continue;
        }
        let members = message.unions.iter().flat_map(|union| &union.members).map(|member| member.element);
        for element in message.fields.iter().map(|field| field.ty.element()).chain(members) {
            if let Element::Message(index) = element {
                open.push(&schema[index]);
            }
        }
    }
    schema.messages().iter().filter(|message| wanted[message.index.get()]).collect()
}

fn diff(args: &SchemaDiff) -> Result<Outcome> {
    let (old, new) = match (compiled(&args.old, &args.packing)?, compiled(&args.new, &args.packing)?) {
        (Ok(old), Ok(new)) => (old, new),
        (Err(faults), _) | (_, Err(faults)) => return refused("schema diff", args.json, &faults),
    };
    let found = schema::diff(&old, &new);
    if args.json {
        let report = json!({ "break": found.is_break(), "messages": found.messages });
        print_report("schema diff", !found.is_break(), report)?;
    } else {
        let verdict = if found.is_break() { "peers BREAK" } else { "peers understand each other" };
        print(&format!(
            "{found}{} -> {}: {verdict}\n",
            crate::render::shown(&args.old),
            crate::render::shown(&args.new)
        ))?;
    }
    Ok(if found.is_break() { Outcome::Invalid } else { Outcome::Fine })
}

pub(crate) fn compiled(path: &Path, packing: &Packing) -> Result<Result<schema::Schema, Diagnostics>> {
    readable(path)?;
    Ok(schema::check_with(&Disk, path, &packing.options()).into_result())
}

/// The schema in a recording.
///
/// # Errors
/// When it holds none.
pub(crate) fn recorded(recording: &Recording) -> Result<Result<schema::Schema, Diagnostics>> {
    let bundle = recording.schema().ok_or_else(|| {
        let path = recording.path().display();
        Usage(format!("{path}: requires --schema: the recording was made without one"))
    })?;
    Ok(bundle.compile().into_result())
}

/// A schema that cannot be used: its faults go to standard error, so that pipes see nothing half made, or into a report.
pub(super) fn refused(command: &str, json: bool, faults: &Diagnostics) -> Result<Outcome> {
    if json {
        print_report(command, false, json!({ "findings": faults.to_report().findings() }))?;
    } else {
        complain(format_args!("{}", listed(faults)));
    }
    Ok(Outcome::Invalid)
}

fn listed(faults: &Diagnostics) -> String {
    let text = faults.to_string();
    if text.is_empty() { text } else { format!("{}\n\n", text.trim_end()) }
}

/// Says in plain words when there is no such file, or it cannot be a schema.
pub(super) fn readable(path: &Path) -> Result<()> {
    let kind = std::fs::metadata(path).with_context(|| path.display().to_string())?;
    if kind.is_dir() {
        return Err(Usage(format!("{}: is a directory; name a schema file{}", path.display(), schemas_in(path))).into());
    }
    if !kind.is_file() {
        return Err(Usage(format!("{}: not a regular file", path.display())).into());
    }
    let mut head = Vec::new();
    std::fs::File::open(path)
        .with_context(|| path.display().to_string())?
        .take(4096)
        .read_to_end(&mut head)
        .with_context(|| path.display().to_string())?;
    if let Some(at) = head.iter().position(|byte| *byte == 0) {
        let what = match convert::detect(path) {
            Ok(format) => format!("is a {format} file, not a schema\nhint: fw info shows it"),
            Err(_) => format!("is not a schema: byte {at} is 0x00, and a schema is text"),
        };
        return Err(Failure::new("not_a_schema", format!("{}: {what}", path.display())).into());
    }
    Ok(())
}

/// The schemas of a folder, for who named the folder.
fn schemas_in(folder: &Path) -> String {
    let is_schema = |path: &PathBuf| path.extension().is_some_and(|end| end == "sf" || end == "proto");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_schema).collect();
    found.sort();
    let more = if found.len() > SCHEMAS_SHOWN { ", …" } else { "" };
    let names: Vec<_> = found.iter().take(SCHEMAS_SHOWN).map(|path| path.display().to_string()).collect();
    if names.is_empty() { String::new() } else { format!(": {}{more}", names.join(", ")) }
}

/// Enough to see what is meant.
const SCHEMAS_SHOWN: usize = 8;
