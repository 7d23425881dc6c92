//! Files in stores, by URL: metadata, listings and single tensors are read part by part; what needs everything says so.

use crate::args::{Cat, Command, Store, Trust};
use crate::commands::cat;
use crate::exit::{Failure, Outcome, Usage};
use crate::input::Input;
use crate::opened::look_failure;
use crate::render::Progress;
use anyhow::{Context, Result};
use framewright::bintensors::ReadOptions;
use framewright::bintensors::validate::{DataChecks, ValidateOptions};
use framewright::convert::{
    self, ConvertError, Format, Named, TensorFile, index_files, index_text, named_objects, objects_named, open_index,
    validate_index,
};
use framewright::look::Catalog;
use framewright::primitives::Span;
use framewright::report::Report;
use framewright::source::nonblocking::wait_for;
use framewright::source::remote::{
    FullRead, RemoteError, RemoteErrorKind, StoreOptions, StoreSource, is_url, open_source, sibling_url,
};
use framewright::source::{ReadAt, stream};
use framewright::tensogram::{DecodeOptions, DecodedObject, MessageIndex, RemoteFile};
use framewright::tensor::{ByteOrder, swap_in_place};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// What became of a look at a file in a store.
pub(crate) enum Looked {
    /// Parts of it were enough.
    Done(Outcome),
    /// All of it was needed, and is here.
    Copied(Input),
}

/// The URL of a store that a word on the command line is; files of this machine are paths, however they are written.
pub(crate) fn url(word: &Path) -> Option<&str> {
    word.to_str().filter(|text| is_url(text) && !text.to_ascii_lowercase().starts_with("file:"))
}

/// Serves a command that looks at a file in a store: in parts where it can do with them.
///
/// # Errors
/// Whatever the command could not do; `Usage` naming `--allow-full-read` when the whole file would be needed.
pub(crate) fn look(command: &Command, url: &str, store: &Store) -> Result<Looked> {
    let source = opened(url, store, command.name())?;
    match in_parts(command, url, &source)? {
        Some(outcome) => Ok(Looked::Done(outcome)),
        None => Ok(Looked::Copied(copied(&source, url, store, command.name())?)),
    }
}

/// What became of opening a file in a store.
pub(crate) enum InStore {
    /// It is read in parts.
    Parts(Catalog, StoreSource),
    /// All of it was needed, and is here.
    Copied(Input),
}

/// Opens a file in a store for a command that looks into it: in parts, where its format can be read so.
///
/// # Errors
/// As [`look`].
pub(crate) fn catalog(url: &str, store: &Store, command: &str, (trust, json): (&Trust, bool)) -> Result<InStore> {
    let source = opened(url, store, command)?;
    let (name, len) = (source.url().to_owned(), source.object_len());
    match format(url, &source)? {
        Some(Format::Tensogram) => {
            let opened = source.clone();
            let file = wait_for(async move { RemoteFile::with_source(opened).await })?;
            some_message(command, &file)?;
            Ok(InStore::Parts(Catalog::of_remote(file).map_err(look_failure)?, source))
        }
        Some(format) if is_in_parts(format) => {
            let file = open_tensors(url, &source, store, format, &ReadOptions::default())?;
            let file = trust.open(file, &name, json);
            Ok(InStore::Parts(Catalog::of_tensors(file, len, &name), source))
        }
        _ => Ok(InStore::Copied(copied(&source, url, store, command)?)),
    }
}

/// A file of tensors in a store, where it can be read in parts; digests are left to the caller.
///
/// # Errors
/// As [`look`].
pub(crate) fn tensor_file(url: &str, store: &Store, command: &str) -> Result<Option<Box<dyn TensorFile>>> {
    let source = opened(url, store, command)?;
    match format(url, &source)? {
        Some(format) if is_in_parts(format) && format != Format::Tensogram => {
            open_tensors(url, &source, store, format, &ReadOptions::default()).map(Some)
        }
        _ => Ok(None),
    }
}

/// The same for a command that reads all of the data, which takes leave as a copy does: it is fetched in ranges as it is needed, and
/// nothing is copied.
///
/// # Errors
/// As [`look`].
pub(crate) fn weights(
    url: &str,
    store: &Store,
    command: &str,
    read: &ReadOptions,
) -> Result<Option<Box<dyn TensorFile>>> {
    let source = opened(url, store, command)?;
    match format(url, &source)? {
        Some(format) if is_in_parts(format) && format != Format::Tensogram => {
            leave(&source, store, command)?;
            open_tensors(url, &source, store, format, read).map(Some)
        }
        _ => Ok(None),
    }
}

/// A Tensogram file in a store.
///
/// # Errors
/// As [`look`].
pub(crate) fn message_source(url: &str, store: &Store, command: &str) -> Result<Option<StoreSource>> {
    let source = opened(url, store, command)?;
    Ok((format(url, &source)? == Some(Format::Tensogram)).then_some(source))
}

/// Reports the faults of a file in a store, by its header alone unless the options for its format ask for the data; `None` where the
/// format cannot be checked in parts.
///
/// # Errors
/// As [`look`].
pub(crate) fn validated(
    url: &str,
    store: &Store,
    options: impl FnOnce(Format) -> Result<ValidateOptions>,
) -> Result<Option<(Format, Report)>> {
    let source = opened(url, store, "validate")?;
    let Some(format) = format(url, &source)?.filter(|format| is_in_parts(*format)) else { return Ok(None) };
    if format == Format::Tensogram {
        return Ok(None);
    }
    let options = &options(format)?;
    if options.data == DataChecks::Full {
        leave(&source, store, "validate")?;
    }
    let name = source.url().to_owned();
    let report = match format == Format::ShardIndex {
        true => {
            let settings = self::options(store)?;
            let beside = |file: &str| -> Result<Box<dyn ReadAt + Send + Sync>, ConvertError> {
                Ok(Box::new(open_source(&sibling_url(url, file), &settings)?))
            };
            validate_index(&index_text(&source, &name)?, &name, options, &beside)
        }
        false => format.validate_source(source, file_name(&name), options).with_context(|| name.clone())?,
    };
    Ok(Some((format, report)))
}

/// Whether parts of a file will do.
fn is_in_parts(format: Format) -> bool {
    format.opens_sources() || format == Format::ShardIndex
}

/// Opens a file by its header; an index with the files beside it.
fn open_tensors(
    url: &str,
    source: &StoreSource,
    store: &Store,
    format: Format,
    read: &ReadOptions,
) -> Result<Box<dyn TensorFile>> {
    let name = source.url();
    if format != Format::ShardIndex {
        return format.open_source(source.clone(), file_name(name), read).with_context(|| name.to_owned());
    }
    let options = options(store)?;
    let open = |file: &str| convert::open_source(open_source(&sibling_url(url, file), &options)?, file);
    open_index(&index_text(source, name)?, name, &open).map_err(Into::into)
}

/// All of a file in a store.
///
/// # Errors
/// As [`look`].
pub(crate) fn whole(url: &str, store: &Store, command: &str) -> Result<Input> {
    copied(&opened(url, store, command)?, url, store, command)
}

/// Opens an object, which is read whole where its server has no ranges and leave was given.
fn opened(url: &str, store: &Store, command: &str) -> Result<StoreSource> {
    open_source(url, &options(store)?).map_err(|error| match RemoteError::of(&error) {
        Some(RemoteError { kind: RemoteErrorKind::NoRanges, url, .. }) => {
            let text = format!(
                "{url}: the server does not support range requests\nhint: add --allow-full-read to let fw {command} download the whole file"
            );
            Usage(text).into()
        }
        _ => error.into(),
    })
}

/// Refuses to read all of a file without leave.
fn leave(source: &StoreSource, store: &Store, command: &str) -> Result<()> {
    if store.allow_full_read {
        return Ok(());
    }
    let (name, len) = (source.url(), source.object_len());
    let what = match Format::of_name(Path::new(file_name(name))) {
        Some(Format::ShardIndex) => "all files of the index".to_owned(),
        _ => format!("the whole file ({len} bytes)"),
    };
    let text = format!("{name}: fw {command} must download {what}\nhint: add --allow-full-read to allow it");
    Err(Usage(text).into())
}

/// A copy of an object, fetched piece by piece.
fn copied(source: &StoreSource, url: &str, store: &Store, command: &str) -> Result<Input> {
    let name = source.url();
    leave(source, store, command)?;
    let is_index = Format::of_name(Path::new(file_name(url))) == Some(Format::ShardIndex);
    Input::copied(file_name(url), name.to_owned(), |copy| {
        download(source, copy).with_context(|| name.to_owned())?;
        if !is_index {
            return Ok(());
        }
        // The files that it names go beside it.
        for file in index_files(&index_text(source, name)?, name)? {
            let shard = opened(&sibling_url(url, &file), store, command)?;
            download(&shard, &copy.with_file_name(&file)).with_context(|| shard.url().to_owned())?;
        }
        Ok(())
    })
}

/// What a copy is called: formats are told by names, too.
fn file_name(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("object")
}

fn options(store: &Store) -> Result<StoreOptions> {
    let full_read = if store.allow_full_read { FullRead::Allow } else { FullRead::Refuse };
    let mut options = StoreOptions::new().with_full_read(full_read);
    for setting in &store.store_option {
        let Some((name, value)) = setting.split_once('=') else {
            return Err(Usage(format!("--store-option {setting}: must be KEY=VALUE")).into());
        };
        options = options.with_setting(name, value);
    }
    if store.allow_redirects {
        options = options.with_setting("allow_redirects", "true");
    }
    Ok(store.header.iter().fold(options, |options, header| options.with_setting("header", header)))
}

/// Serves a command without reading everything; `None` when that cannot be.
fn in_parts(command: &Command, url: &str, source: &StoreSource) -> Result<Option<Outcome>> {
    match format(url, source)? {
        Some(Format::Tensogram) => messages(command, source),
        Some(format) if is_in_parts(format) => tensors(command, (url, source), format),
        Some(_) | None => Ok(None),
    }
}

/// The format of an object: by its first bytes, else by its name.
fn format(url: &str, source: &StoreSource) -> Result<Option<Format>> {
    // Enough for the name of the first entry of an archive, too.
    let mut head = vec![0; source.object_len().min(512) as usize];
    source.read_exact_at(0, &mut head)?;
    let path = url.split(['?', '#']).next().unwrap_or(url);
    Ok(Format::of_bytes(&head).or_else(|| Format::of_name(Path::new(path))))
}

/// Tensogram: one object.
fn messages(command: &Command, source: &StoreSource) -> Result<Option<Outcome>> {
    let Command::Cat(args) = command else { return Ok(None) };
    let opened = source.clone();
    let file = wait_for(async move { RemoteFile::with_source(opened).await })?;
    // The other messages do not matter, unless there are none at all.
    if let Err(error) = file.message_span(args.message.unwrap_or(0))
        && error.code() == "message_index_out_of_range"
    {
        some_message(command.name(), &file)?;
    }
    object(args, &file)?;
    Ok(Some(Outcome::Fine))
}

/// Refuses a file without any message; an empty one may be looked at.
fn some_message(command: &str, file: &RemoteFile) -> Result<()> {
    let (name, len) = (file.source().url(), file.source().object_len());
    match (file.message_count()?, len, command) {
        (0, 0, "cat") => Err(Failure::new("empty_file", format!("{name}: the file is empty")).into()),
        (1.., ..) | (0, 0, _) => Ok(()),
        (0, ..) => {
            let text = format!("{name}: no readable message in {len} bytes\nhint: run fw validate for details");
            Err(Failure::new("no_message", text).into())
        }
    }
}

/// One object, or a part of it: its frame and nothing else is fetched, or what its codec needs for the part.
fn object(args: &Cat, file: &RemoteFile) -> Result<()> {
    let url = file.source().url();
    let (message, object) = place(args, file)?;
    let head = file.object_head(message, object).map_err(|error| cat::misfit(url, error))?;
    // Only names and numbers need to know what the bytes of a carried type stand for.
    let named = match args.tensor.is_some() || args.text || args.json {
        true => Named::new(&head.descriptor, &file.metadata(message)?, object),
        false => Named::of(&head.descriptor),
    };
    if args.slice.is_some() && !named.carried {
        let part = file.slice(message, object, args.selection(), &DecodeOptions::default());
        return cat::write_part(args, part.map_err(|error| cat::misfit(url, error))?, url);
    }
    // What carries a digest is checked before it is handed on.
    let options = DecodeOptions { verify_hash: head.frame.has_hash(), ..DecodeOptions::default() };
    let DecodedObject { descriptor, mut bytes } =
        file.decode_object(message, object, &options).map_err(|error| cat::misfit(url, error))?;
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
        match &objects_named(&named_objects(&metadata), name)[..] {
            [] => anyhow::Ok(None),
            [one] => Ok(Some(*one)),
            several => Err(cat::duplicate(url, name, message, several).into()),
        }
    };
    if let Some(message) = args.message {
        let found = find(message, name)?;
        let missing = || Usage(format!("{url}: message {message}: {}", cat::missing(name, [])));
        return Ok((message, found.ok_or_else(missing)?));
    }
    let count = file.message_count()?;
    if let Some((number, bare)) = name.split_once('/')
        && let Some(message) = number.parse().ok().filter(|message| count > 1 && *message < count)
        && let Some(object) = find(message, bare)?
    {
        return Ok((message, object));
    }
    let surveys = file.surveys(&(0..count).map(MessageIndex::from).collect::<Vec<_>>())?;
    let mut known = Vec::new();
    for (message, survey) in surveys.iter().enumerate() {
        let Ok(metadata) = &survey.metadata else { continue };
        match &objects_named(&named_objects(metadata), name)[..] {
            [] => {}
            [one] => known.push((message, *one)),
            several => return Err(cat::duplicate(url, name, message, several).into()),
        }
    }
    match known[..] {
        [one] => Ok(one),
        [] => Err(Usage(format!("{url}: {}", cat::missing(name, []))).into()),
        [(first, _), ..] => Err(cat::in_messages(url, name, known.len(), first).into()),
    }
}

/// Formats that can do with parts of a file: the header, or one tensor.
fn tensors(command: &Command, (url, source): (&str, &StoreSource), format: Format) -> Result<Option<Outcome>> {
    let Command::Cat(args) = command else { return Ok(None) };
    let name = source.url().to_owned();
    let file = open_tensors(url, source, &args.store, format, &ReadOptions::default())?;
    let file = args.trust.open(file, &name, args.json);
    let only = match file.entries() {
        [only] => Some(only.name.clone()),
        _ => None,
    };
    let Some(wanted) = args.tensor.clone().or(only) else {
        return Err(Usage(cat::several_tensors(&name, file.entries().len())).into());
    };
    cat::write_tensor(args, &*file, &wanted, &name).map_err(|error| match cat::is_own(&error) {
        true => error,
        false if error.to_string().contains(&name) => error,
        false => error.context(name),
    })?;
    Ok(Some(Outcome::Fine))
}

/// Copies an object to a local file, piece by piece.
fn download(source: &StoreSource, to: &Path) -> Result<()> {
    let (mut file, len) = (BufWriter::new(File::create(to)?), source.object_len());
    let (progress, mut done) = (Progress::of(source.url()), 0u64);
    stream::<std::io::Error>(source, Span::new(0, len), |piece| {
        done = done.saturating_add(piece.len() as u64);
        progress.show(done, len, source.url());
        file.write_all(piece)
    })?;
    file.flush()?;
    Ok(())
}
