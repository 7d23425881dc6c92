//! `cargo xtask dist`: what users without Rust unpack: `fw`, its manual pages, completions and the first documents, in one archive.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, ensure};
use lexopt::prelude::*;

use crate::context::Context;
use crate::outcome::Outcome;

/// Documents that lie at the top of the archive.
const DOCUMENTS: &[&str] = &["README.md", "CHANGELOG.md", "LICENSE"];

/// Where each shell looks for completions, below a prefix such as `~/.local` or `/usr`.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "share/bash-completion/completions/fw"),
    ("zsh", "share/zsh/site-functions/_fw"),
    ("fish", "share/fish/vendor_completions.d/fw.fish"),
];

pub(crate) fn main(context: &Context, mut args: lexopt::Parser) -> Result<ExitCode> {
    let mut program = None;
    while let Some(argument) = args.next()? {
        match argument {
            Long("program") => program = Some(PathBuf::from(args.value()?)),
            _ => return Err(argument.unexpected().into()),
        }
    }
    let program = match program {
        Some(program) => program.canonicalize().with_context(|| program.display().to_string())?,
        None => {
            let mut build = context.cargo();
            build.args(["build", "--release", "--locked", "--package", "fw", "--all-features"]);
            ensure!(build.status()?.success(), "fw does not build");
            context.target.join("release/fw")
        }
    };
    let archive = archive(context, &program)?;
    let outcome = inspected(context, &archive)?;
    ensure!(outcome.failed == 0, "{}", outcome.failures.join("\n"));
    println!("{}", archive.display());
    Ok(ExitCode::SUCCESS)
}

/// The step of `cargo xtask test`: an archive around the development build is complete when it is unpacked.
pub(crate) fn check(context: &mut Context) -> Result<Outcome> {
    // The features that the tests of the workspace have built already.
    let built = context.cargo().args(["build", "--quiet", "--workspace", "--bin", "fw"]).status()?;
    ensure!(built.success(), "fw does not build");
    inspected(context, &archive(context, &context.target.join("debug/fw"))?)
}

/// Whether an archive has all that it should have.
fn inspected(context: &Context, archive: &Path) -> Result<Outcome> {
    let unpacked = context.target.join("dist/unpacked");
    fresh(&unpacked)?;
    done(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&unpacked))?;
    let tree = unpacked.join(stem(archive)?);
    let mut outcome = Outcome::default();
    let mut show = |what: String, is_shown: bool| {
        if is_shown {
            outcome.passed += 1;
        } else {
            outcome.failed += 1;
            outcome.failures.push(format!("{}: {what}", archive.display()));
        }
    };
    let program = tree.join("bin/fw");
    let help = text_of(Command::new(&program).arg("--help"))?;
    let commands = help.split("\nCommands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap_or_default();
    let is_name = |word: &&str| !word.is_empty() && *word != "help";
    // A line that begins with two blanks begins with a command; the others go on with its description.
    let names: Vec<&str> = commands
        .lines()
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(is_name)
        .collect();
    show(format!("fw --help lists {} commands", names.len()), names.len() > 20);
    for name in names {
        let page = fs::read_to_string(tree.join(format!("share/man/man1/fw-{name}.1"))).unwrap_or_default();
        show(format!("no manual page of fw {name}"), page.contains(".SH SYNOPSIS"));
    }
    for (shell, path) in COMPLETIONS {
        let script = fs::read_to_string(tree.join(path)).unwrap_or_default();
        show(format!("no completions for {shell}"), script.contains("fw") && script.contains("reshuffle"));
    }
    for name in DOCUMENTS {
        show(format!("no {name}"), fs::metadata(tree.join(name)).is_ok_and(|found| found.len() > 0));
    }
    Ok(outcome)
}

/// Packs a program with all that belongs to it; the archive.
fn archive(context: &Context, program: &Path) -> Result<PathBuf> {
    let doctor: serde_json::Value = serde_json::from_str(&text_of(Command::new(program).args(["doctor", "--json"]))?)?;
    let fact = |key: &str| doctor["build"][key].as_str().with_context(|| format!("fw doctor does not state its {key}"));
    let name = format!("fw-{}-{}", fact("version")?, fact("target")?);
    let dist = context.target.join("dist");
    let tree = dist.join(&name);
    fresh(&tree)?;
    fs::create_dir_all(tree.join("bin"))?;
    fs::copy(program, tree.join("bin/fw"))?;
    done(Command::new(program).args(["man", "--quiet", "--output"]).arg(tree.join("share/man/man1")))?;
    for (shell, path) in COMPLETIONS {
        let path = tree.join(path);
        fs::create_dir_all(path.parent().context("completions lie in a directory")?)?;
        fs::write(path, text_of(Command::new(program).args(["completions", shell]))?)?;
    }
    for document in DOCUMENTS {
        fs::copy(context.root.join(document), tree.join(document))?;
    }
    let archive = dist.join(format!("{name}.tar.gz"));
    // Owned by nobody in particular, and in the same order every time.
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "-czf"]).arg(&archive);
    done(tar.arg("-C").arg(&dist).arg(&name))?;
    Ok(archive)
}

/// The name of the one directory in an archive.
fn stem(archive: &Path) -> Result<&str> {
    let name = archive.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".tar.gz"));
    name.context("an archive is named by us")
}

/// An empty directory.
fn fresh(directory: &Path) -> Result<()> {
    if directory.exists() {
        fs::remove_dir_all(directory)?;
    }
    Ok(fs::create_dir_all(directory)?)
}

fn done(command: &mut Command) -> Result<()> {
    text_of(command).map(drop)
}

/// What a command prints, when it succeeds.
fn text_of(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}
