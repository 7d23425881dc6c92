//! Files in stores, by URL: metadata, listings and single tensors are read part by part; what needs everything says so.

use crate::args::{Cat, Command, Dump, Store};
use crate::commands::{self, cat, dump, info, ls, print, print_report};
use crate::exit::{Failure, Outcome, Usage};
use crate::input;
use anyhow::{Context, Result};
use framewright::convert::{self, Format, Named, named_objects};
use framewright::source::ReadAt;
use framewright::source::nonblocking::wait_for;
use framewright::source::remote::{RemoteError, RemoteErrorKind, StoreOptions, StoreSource, is_url, open_source};
use framewright::tensogram::{DecodeOptions, RemoteFile, Survey};
use framewright::tensor::{ByteOrder, swap_in_place};
use serde_json::json;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Runs a command: in parts when its file is in a store and the command can do with them, else as always.
///
/// # Errors
/// Whatever the command could not do; `Usage` naming `--allow-full-read` when the whole file would be needed.
pub(crate) fn run(command: &mut Command, store: &Store) -> Result<Outcome> {
    if let Some(text) = command.read().into_iter().filter_map(Path::to_str).find(|text| is_url(text)) {
        let text =
            format!("{text}: fw {} reads files only; info, ls, dump, validate and cat take URLs", command.name());
        return Err(Usage(text).into());
    }
    let Some(url) = command.looked_at().and_then(|file| file.to_str()).map(str::to_owned) else {
        return commands::run(command);
    };
    if !is_url(&url) {
        return match url.split_once("://") {
            Some((scheme, _)) if !Path::new(&url).exists() => {
                let text = format!("{url}: no store for {scheme}://; there are http, https, s3, gs, az, abfs and file");
                Err(Usage(text).into())
            }
            _ => commands::run(command),
        };
    }
    let source = open_source(&url, &options(store)?).map_err(|error| hinted(error, &url, command.name()))?;
    if let Some(done) = in_parts(command, &url, &source)? {
        return Ok(done);
    }
    if !store.allow_full_read {
        let len = source.object_len();
        let text = format!(
            "fw {} would have to read all {len} bytes of {}; say --allow-full-read to let it",
            command.name(),
            source.url()
        );
        return Err(Usage(text).into());
    }
    let folder = tempfile::tempdir()?;
    let name = url.split(['?', '#']).next().and_then(|path| path.rsplit('/').next()).filter(|name| !name.is_empty());
    let local = folder.path().join(name.unwrap_or("object"));
    download(&source, &local).with_context(|| source.url().to_owned())?;
    input::stand_in(command, local, source.url().to_owned());
    commands::run(command)
}

/// What to do where a server has no ranges.
fn hinted(error: io::Error, url: &str, command: &str) -> anyhow::Error {
    match RemoteError::of(&error) {
        Some(RemoteError { kind: RemoteErrorKind::NoRanges, .. }) => {
            let text = format!("{error}; fetch it whole: curl -s {url} | fw {command} -");
            anyhow::Error::new(error).context(text)
        }
        _ => error.into(),
    }
}

fn options(store: &Store) -> Result<StoreOptions> {
    let mut options = StoreOptions::new();
    for setting in &store.store_option {
        let Some((name, value)) = setting.split_once('=') else {
            return Err(Usage(format!("--store-option {setting}: KEY=VALUE is needed")).into());
        };
        options = options.with_setting(name, value);
    }
    Ok(options)
}

/// Serves a command without reading everything; `None` when that cannot be.
fn in_parts(command: &Command, url: &str, source: &StoreSource) -> Result<Option<Outcome>> {
    let mut head = vec![0; source.object_len().min(16) as usize];
    source.read_exact_at(0, &mut head)?;
    let path = url.split(['?', '#']).next().unwrap_or(url);
    match Format::of_bytes(&head).or_else(|| Format::of_name(Path::new(path))) {
        Some(Format::Tensogram) => messages(command, source),
        Some(Format::SafeTensors | Format::BinTensors) => tensors(command, source, path),
        _ => Ok(None),
    }
}

/// Tensogram: what the messages say about themselves, or one object.
fn messages(command: &Command, source: &StoreSource) -> Result<Option<Outcome>> {
    let opened = source.clone();
    let file = wait_for(async move { RemoteFile::with_source(opened).await })?;
    let (name, len) = (source.url().to_owned(), source.object_len());
    let looks = !matches!(command, Command::Validate(_) | Command::Dump(Dump { hex: true, .. }));
    if looks && file.message_count()? == 0 {
        return Err(match len {
            0 => Failure::new("empty_file", format!("{name}: the file is empty")),
            _ => {
                Failure::new("no_message", format!("{name}: no readable message in {len} bytes; fw validate says more"))
            }
        }
        .into());
    }
    match command {
        Command::Info(args) if args.schema.is_none() => {
            let (spans, surveys) = all(&file)?;
            let summary = info::Summary::of_parts(name, len, &spans, surveys)?;
            if args.json { print_report("info", true, summary.json())? } else { print(&summary.text())? }
        }
        Command::Ls(args) => {
            let (spans, surveys) = all(&file)?;
            if args.json {
                print_report("ls", true, ls::listing_json_of(&name, &spans, surveys)?)?;
            } else {
                print(&ls::listing_of(surveys)?)?;
            }
        }
        Command::Dump(args) if !args.hex => dumped(args, &file)?,
        Command::Cat(args) => object(args, &file)?,
        _ => return Ok(None),
    }
    Ok(Some(Outcome::Fine))
}

type Surveyed = (Vec<framewright::bytes::Span>, std::vec::IntoIter<Result<Survey>>);

fn all(file: &RemoteFile) -> Result<Surveyed> {
    let spans = file.message_layouts()?;
    let surveys = file.surveys(&(0..spans.len()).collect::<Vec<_>>())?;
    Ok((spans.to_vec(), surveys.into_iter().map(Ok).collect::<Vec<_>>().into_iter()))
}

fn dumped(args: &Dump, file: &RemoteFile) -> Result<()> {
    let wanted: Vec<usize> = match args.message {
        Some(index) => vec![index],
        None => (0..file.message_count()?).collect(),
    };
    let mut shown = Vec::new();
    for (index, survey) in wanted.iter().zip(file.surveys(&wanted)?) {
        let span = file.find(*index)?;
        if args.json {
            shown.push(dump::message_json(&survey, *index, span));
        } else {
            print(&dump::message_text(&survey, *index, span))?;
        }
    }
    if args.json {
        let name = file.source().url();
        print_report("dump", true, json!({ "file": name, "format": "tensogram", "messages": shown }))?;
    }
    Ok(())
}

/// One object, or a part of it: its frame and nothing else is fetched, or what its codec needs for the part.
fn object(args: &Cat, file: &RemoteFile) -> Result<()> {
    let url = file.source().url();
    let (message, object) = place(args, file)?;
    let head = file.object_head(message, object).map_err(|error| cat::misfit(url, error))?;
    // Only names and numbers need to know what the bytes of a carried type stand for.
    let named = match args.tensor.is_some() || args.text {
        true => Named::new(&head.descriptor, &*file.metadata(message)?, object),
        false => Named::of(&head.descriptor),
    };
    if args.slice.is_some() && !named.carried {
        let part = file.slice(message, object, &args.selection(), &DecodeOptions::default());
        return cat::write_part(args, part.map_err(|error| cat::misfit(url, error))?, url);
    }
    // What carries a digest is checked before it is handed on.
    let options = DecodeOptions { verify_hash: head.frame.has_hash(), ..DecodeOptions::default() };
    let (descriptor, mut bytes) = file.decode_object(message, object, &options)?;
    if ByteOrder::NATIVE == ByteOrder::Big {
        swap_in_place(&mut bytes, descriptor.dtype.swap_unit());
    }
    match &args.slice {
        None => cat::write(args, named.dtype, &named.shape, &bytes, url),
        Some(selection) => {
            let (shape, part) = named.cut(&bytes, selection).map_err(|error| Usage(format!("{url}: {error}")))?;
            cat::write(args, named.dtype, &shape, &part, url)
        }
    }
}

/// Which object is meant: by its place, or by its name as fw ls shows it.
fn place(args: &Cat, file: &RemoteFile) -> Result<(usize, usize)> {
    let url = file.source().url();
    let Some(name) = &args.tensor else { return Ok((args.message.unwrap_or(0), args.object.unwrap_or(0))) };
    let find = |message: usize, name: &str| {
        let metadata = file.metadata(message).map_err(|error| cat::misfit(url, error))?;
        anyhow::Ok(named_objects(&metadata).iter().position(|known| known == name))
    };
    if let Some(message) = args.message {
        let found = find(message, name)?;
        let missing = || Usage(format!("no tensor {name:?} in message {message} of {url}; fw ls lists them"));
        return Ok((message, found.ok_or_else(missing)?));
    }
    let count = file.message_count()?;
    if let Some((number, bare)) = name.split_once('/')
        && let Some(message) = number.parse().ok().filter(|message| count > 1 && *message < count)
        && let Some(object) = find(message, bare)?
    {
        return Ok((message, object));
    }
    let surveys = file.surveys(&(0..count).collect::<Vec<_>>())?;
    let known = surveys.iter().enumerate().filter_map(|(message, survey)| {
        let names = named_objects(survey.metadata.as_ref().ok()?);
        Some((message, names.iter().position(|known| known == name)?))
    });
    match known.collect::<Vec<_>>()[..] {
        [one] => Ok(one),
        [] => Err(Usage(format!("no tensor {name:?} in {url}; fw ls lists them")).into()),
        [(first, _), ref others @ ..] => {
            let several = others.len().saturating_add(1);
            let text = format!(
                "{several} messages of {url} have a tensor {name:?}; say --message M, or --tensor {first}/{name}"
            );
            Err(Usage(text).into())
        }
    }
}

/// BinTensors and safetensors: the header, or one tensor.
fn tensors(command: &Command, source: &StoreSource, path: &str) -> Result<Option<Outcome>> {
    let name = source.url().to_owned();
    let file = match command {
        Command::Info(_) | Command::Ls(_) | Command::Cat(_) => {
            convert::open_source(source.clone(), path).with_context(|| name.clone())?
        }
        _ => return Ok(None),
    };
    match command {
        Command::Info(args) => {
            let found = convert::info_of(&*file, source)?;
            if args.json {
                print_report("info", true, info::tensors_json(&found, &name))?;
            } else {
                print(&info::tensors_text(&found, &name))?;
            }
        }
        Command::Ls(args) => {
            let rows = convert::rows(&*file)?;
            if args.json {
                let report = json!({
                    "file": name, "format": file.format(), "tensors": rows, "unreadable": [], "findings": [],
                });
                print_report("ls", true, report)?;
            } else {
                print(&ls::tensors_listing(&rows))?;
            }
        }
        Command::Cat(args) => {
            let only = match file.entries() {
                [only] => Some(only.name.clone()),
                _ => None,
            };
            let Some(wanted) = args.tensor.clone().or(only) else {
                return Err(Usage(format!("{name} has several tensors; say --tensor NAME (fw ls lists them)")).into());
            };
            cat::write_tensor(args, &*file, &wanted, &name).or_else(|error| match error.is::<Usage>() {
                true => Err(error),
                false => input::named(Path::new(&name), error),
            })?;
        }
        _ => return Ok(None),
    }
    Ok(Some(Outcome::Fine))
}

/// Copies an object to a local file, piece by piece.
fn download(source: &StoreSource, to: &Path) -> Result<()> {
    let mut file = BufWriter::new(File::create(to)?);
    let (mut at, len) = (0u64, source.object_len());
    while at < len {
        let mut piece = vec![0; len.saturating_sub(at).min(8 << 20) as usize];
        source.read_exact_at(at, &mut piece)?;
        file.write_all(&piece)?;
        at = at.saturating_add(piece.len() as u64);
    }
    file.flush()?;
    Ok(())
}
