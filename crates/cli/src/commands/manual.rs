//! `fw completions` and `fw man`: what shells and `man` read, made from the same arguments as the help.

use super::{print, print_report};
use crate::args::{Args, Completions, Man};
use crate::exit::{Outcome, Usage};
use anyhow::{Context, Result};
use clap::CommandFactory;
use framewright::source::AtomicFile;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(crate) fn completions(args: &Completions) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "fw", &mut script);
    let script = String::from_utf8(script)?;
    match args.json {
        true => print_report("completions", true, json!({ "shell": args.shell.to_string(), "script": script }))?,
        false => print(&script)?,
    }
    Ok(Outcome::Fine)
}

pub(crate) fn man(args: &Man) -> Result<Outcome> {
    let mut program = Args::command().disable_help_subcommand(true);
    program.build();
    if let Some(folder) = &args.output {
        let files = pages(&program, folder)?;
        let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        match args.json {
            true => print_report("man", true, json!({ "files": files }))?,
            false => super::print_done(&format!("wrote {} pages to {}\n", files.len(), crate::render::shown(folder)))?,
        }
        return Ok(Outcome::Fine);
    }
    let mut chosen = &program;
    for word in &args.command {
        chosen = chosen.find_subcommand(word).ok_or_else(|| {
            let name = args.command.join(" ");
            let known = chosen.get_subcommands().map(clap::Command::get_name);
            let near = framewright::query::closest(word, known).map(|near| format!("did you mean {near}? "));
            Usage(format!(
                "there is no command `{name}`\nhint: {}fw --help lists the commands",
                near.unwrap_or_default()
            ))
        })?;
    }
    let text = page(chosen)?;
    match args.json {
        true => print_report("man", true, json!({ "page": chosen.get_display_name(), "text": text }))?,
        false => print(&text)?,
    }
    Ok(Outcome::Fine)
}

fn page(command: &clap::Command) -> Result<String> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).manual("Framewright").render(&mut text)?;
    Ok(String::from_utf8(text)?)
}

/// A page per command, written into a directory; the files.
fn pages(command: &clap::Command, folder: &Path) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let path = folder.join(format!("{}.1", command.get_display_name().unwrap_or("fw")));
    let mut file = AtomicFile::create(&path).with_context(|| path.display().to_string())?;
    file.write_all(page(command)?.as_bytes())?;
    file.commit().with_context(|| path.display().to_string())?;
    let mut files = vec![path];
    for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        files.extend(pages(one, folder)?);
    }
    Ok(files)
}
