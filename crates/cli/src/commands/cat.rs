//! `fw cat`: the elements of one tensor, or of a part of it.

use crate::args::{Cat, Select, Widened};
use crate::exit::{Outcome, Unwritten, Usage};
use crate::input::Input;
use crate::opened::look_failure;
use crate::render::{Progress, count as counted};
use crate::selected::KeyNotes;
use anyhow::Result;
use framewright::convert::{
    AsFloat32, CatFormat, ConvertError, Format, TensorFile, cat, cat_object, npy_header, objects_named, to_float32,
    write_elements,
};
use framewright::look::Catalog;
use framewright::tensogram::{DecodeOptions, ErrorKind, TensogramError, TensogramFile};
use framewright::tensor::{ByteOrder, DType, TensorBuf, swap_in_place};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{BufWriter, IsTerminal, StdoutLock, Write};

pub(crate) fn run(args: &Cat, input: &Input) -> Result<Outcome> {
    let format = input.format()?;
    if !args.select.filter().is_empty() {
        let catalog = Catalog::open_as(input.path(), format, input.name()).map_err(look_failure)?;
        return run(&by_keys(args, &catalog)?, input);
    }
    if format == Format::Tensogram && args.tensor.is_none() {
        return object(args, input);
    }
    if format != Format::Tensogram && (args.message.is_some() || args.object.is_some()) {
        let text = format!(
            "{}: {format} files have no messages\nhint: choose a tensor with --tensor NAME; fw ls lists the names",
            input.name()
        );
        return Err(Usage(text).into());
    }
    let file = input.tensors(&args.trust, args.json)?;
    let name = chosen(args, input, &*file)?;
    if format == Format::Tensogram && args.slice.is_some() && args.widen.is_none() {
        return named_part(args, input, &*file, &name);
    }
    named_tensor(args, input, &*file, &name)
}

/// The same request with the place of the one object that `--where` selects.
pub(crate) fn by_keys(args: &Cat, catalog: &Catalog) -> Result<Cat> {
    let (filter, name) = (args.select.filter(), catalog.name());
    let (mut notes, mut hits) = (KeyNotes::new(filter.paths()), Vec::new());
    for record in catalog.records_where(&filter) {
        let record = record.map_err(look_failure)?;
        notes.see(&record);
        if catalog.format() != Format::Tensogram || args.message.is_none_or(|message| message == record.index()) {
            let place = |object| (record.index(), object, record.name(object).into_owned());
            hits.extend(record.selected(&filter).into_iter().map(place));
        }
    }
    match &hits[..] {
        [(message, object, tensor)] => {
            let one = Cat { select: Select::default(), ..args.clone() };
            Ok(match catalog.format() {
                Format::Tensogram => Cat { message: Some(*message), object: Some(*object), ..one },
                _ => Cat { tensor: Some(tensor.clone()), ..one },
            })
        }
        [] => {
            notes.tell(args.json);
            Err(Usage(format!("{name}: --where selects nothing\nhint: fw ls lists the objects")).into())
        }
        [(first, ..), .., (last, ..)] => {
            let more = if first == last { "more conditions" } else { "more conditions, or --message" };
            let text =
                format!("{name}: --where selects {}, expected one\nhint: add {more}", counted(hits.len(), "object"));
            Err(Usage(text).into())
        }
    }
}

/// The tensor that was asked for, or the only one.
fn chosen(args: &Cat, input: &Input, file: &dyn TensorFile) -> Result<String> {
    match (&args.tensor, file.entries()) {
        (Some(name), _) => found(args, input, file, name),
        (None, [only]) => Ok(only.name.clone()),
        (None, all) => {
            let text = several_tensors(input.name(), all.len());
            Err(Usage(text).into())
        }
    }
}

/// A file has more than one tensor, and none was chosen.
pub(crate) fn several_tensors(shown: &str, count: usize) -> String {
    format!("{shown}: the file has {count} tensors\nhint: choose one with --tensor NAME; fw ls lists the names")
}

/// The tensor's full name. In a file of several messages names begin with the number of theirs; the bare name will do where
/// the message is given, or only one has such a tensor.
fn found(args: &Cat, input: &Input, file: &dyn TensorFile, name: &str) -> Result<String> {
    let path = input.name();
    let entries = file.entries();
    if file.format() != Format::Tensogram {
        if entries.iter().any(|entry| entry.name == name) {
            return Ok(name.to_owned());
        }
        let array = file.unreadable().iter().find(|array| array.name == name);
        let known = entries.iter().map(|entry| entry.name.as_str());
        let why = array.map_or_else(|| missing(name, known), |array| format!("array {name:?}: {}", array.what));
        return Err(Usage(format!("{path}: {why}")).into());
    }
    let several = entries.iter().any(|entry| entry.name.starts_with("1/"));
    // The objects of each message, by their bare names.
    let mut messages: BTreeMap<usize, Vec<(&str, &str)>> = BTreeMap::new();
    for entry in entries {
        let numbered = entry.name.split_once('/').and_then(|(number, bare)| Some((number.parse().ok()?, bare)));
        let (message, bare) = numbered.filter(|_| several).unwrap_or((0, entry.name.as_str()));
        messages.entry(message).or_default().push((bare, &entry.name));
    }
    let (only, wanted) = match (args.message, name.split_once('/')) {
        (Some(message), _) => (Some(message), name),
        (None, Some((number, bare))) if several && number.parse::<usize>().is_ok() => (number.parse().ok(), bare),
        _ => (None, name),
    };
    let mut hits = Vec::new();
    for (message, objects) in messages.iter().filter(|(message, _)| only.is_none_or(|only| only == **message)) {
        let names: Vec<&str> = objects.iter().map(|(bare, _)| *bare).collect();
        let places = objects_named(&names, wanted);
        match &places[..] {
            [] => {}
            [one] => hits.extend(objects.get(*one).map(|(_, full)| (*message, *full))),
            several => return Err(duplicate(path, wanted, *message, several).into()),
        }
    }
    let known = || messages.values().flatten().map(|(bare, _)| *bare);
    match (&hits[..], only) {
        ([(_, full)], _) => Ok((*full).to_owned()),
        ([], Some(message)) => Err(Usage(format!("{path}: message {message}: {}", missing(wanted, known()))).into()),
        ([], None) => Err(Usage(format!("{path}: {}", missing(wanted, known()))).into()),
        ([(first, _), ..], _) => Err(in_messages(path, wanted, hits.len(), *first).into()),
    }
}

/// No tensor has this name; one of `known` may be meant.
pub(crate) fn missing<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    let near = framewright::query::closest(name, known);
    let near = near.map_or_else(String::new, |near| format!("did you mean {near:?}? "));
    format!("no tensor is named {name:?}\nhint: {near}fw ls lists the names")
}

/// Several objects of one message have this name.
pub(crate) fn duplicate(shown: &str, name: &str, message: usize, objects: &[usize]) -> Usage {
    let choices: Vec<String> = objects.iter().map(|object| format!("{name}#{object}")).collect();
    let (first, count) = (choices.first().cloned().unwrap_or_default(), objects.len());
    Usage(format!(
        "{shown}: message {message}: {count} objects are named {name:?}: {}\nhint: choose one of them, such as --tensor {first}",
        choices.join(", ")
    ))
}

/// Several messages have a tensor of this name.
pub(crate) fn in_messages(shown: &str, name: &str, count: usize, first: usize) -> Usage {
    Usage(format!(
        "{shown}: {count} messages have a tensor named {name:?}\nhint: add --message {first}, or use --tensor {first}/{name}"
    ))
}

fn named_tensor(args: &Cat, input: &Input, file: &dyn TensorFile, name: &str) -> Result<Outcome> {
    let shown = input.name();
    let is_streamed = args.slice.is_none() && matches!(args.form(), CatFormat::Raw | CatFormat::Npy);
    if let Some(index) = file.find(name).ok().filter(|index| is_streamed && file.verifies(*index))
        && file.format() != Format::Tensogram
        // Compared before any of it is written.
        && let Err(error) = file.stream(index, &mut |_| Ok(()))
    {
        return input.named(error);
    }
    match write_tensor(args, file, name, shown) {
        Ok(()) => Ok(Outcome::Fine),
        Err(error) if is_own(&error) => Err(error),
        Err(error) => input.named(error),
    }
}

/// Whether an error needs no name of a file: a request, or standard output that cannot be written.
pub(crate) fn is_own(error: &anyhow::Error) -> bool {
    error.is::<Usage>() || error.is::<Unwritten>()
}

/// Writes a tensor of a file that people know as `shown`.
pub(crate) fn write_tensor(args: &Cat, file: &dyn TensorFile, name: &str, shown: &str) -> Result<()> {
    let wide = args.widen.map(|Widened::F32| AsFloat32::new(file));
    let file = wide.as_ref().map_or(file, |wide| wide);
    let entry = file.find(name).ok().and_then(|index| file.entries().get(index));
    if entry.is_none() {
        let known = file.entries().iter().map(|entry| entry.name.as_str());
        return Err(Usage(format!("{shown}: {}", missing(name, known))).into());
    }
    let len = entry.filter(|_| args.slice.is_none()).and_then(|entry| entry.byte_len().ok());
    let whole = file.find(name).ok().filter(|_| args.slice.is_none());
    let mut out = output(args, shown, len)?;
    out.is_verified = whole.is_some_and(|index| file.verifies(index));
    let written = cat(file, name, &args.selection(), args.form(), &mut out);
    out.ended(written.map_err(|error| as_usage(shown, error)))
}

/// Writes little-endian elements that were read.
pub(crate) fn write(args: &Cat, dtype: DType, shape: &[u64], data: &[u8], shown: &str) -> Result<()> {
    if let Some(Widened::F32) = args.widen {
        let wide = to_float32(dtype, shape, data).map_err(|error| as_usage(shown, error))?;
        return elements(args, DType::Float32, shape, &wide, shown);
    }
    elements(args, dtype, shape, data, shown)
}

fn elements(args: &Cat, dtype: DType, shape: &[u64], data: &[u8], shown: &str) -> Result<()> {
    if args.npy && npy_header(dtype, shape).is_none() {
        return Err(Usage(no_numpy_type(dtype)).into());
    }
    let mut out = output(args, shown, Some(data.len() as u64))?;
    let written = write_elements(dtype, shape, data, args.form(), &mut out);
    out.ended(written.map_err(|error| as_usage(shown, error)))
}

/// What else can be done.
const NO_NUMPY_TYPE: &str = "hint: leave out --npy to write the raw elements, or add --as f32 to write float32";

fn no_numpy_type(dtype: DType) -> String {
    format!("NumPy has no {dtype}\n{NO_NUMPY_TYPE}")
}

/// Standard output, unless it is a terminal that would be fed bytes. `len` is how many bytes of elements there will be, where that
/// is known.
fn output(args: &Cat, shown: &str, len: Option<u64>) -> Result<Output> {
    let out = std::io::stdout().lock();
    let is_binary = matches!(args.form(), CatFormat::Raw | CatFormat::Npy);
    if is_binary && out.is_terminal() {
        let text =
            "binary elements are not written to a terminal\nhint: use --text, or redirect the output to a file or pipe";
        return Err(Usage(text.to_owned()).into());
    }
    let head = args.json.then(|| format!("{{\"command\":\"cat\",\"ok\":true,\"file\":{},\"tensor\":", json!(shown)));
    let progress = if is_binary { Progress::of(shown) } else { Progress::of_output(shown) };
    // Text has another length than the elements.
    let total = len.filter(|_| is_binary).unwrap_or(0);
    let (name, is_json) = (shown.to_owned(), args.json);
    let (out, is_verified, fault) = (BufWriter::new(out), false, None);
    Ok(Output { out, head, is_json, is_verified, name, progress, written: 0, total, fault })
}

/// Where elements go. JSON becomes a member of the object that every command prints; nothing of it is written before the
/// first element, so that a failure is an object of its own.
struct Output {
    out: BufWriter<StdoutLock<'static>>,
    head: Option<String>,
    is_json: bool,
    /// Whether all elements were compared with a digest.
    is_verified: bool,
    name: String,
    progress: Progress,
    written: u64,
    /// All bytes that will be written, or 0.
    total: u64,
    /// What went wrong with writing.
    fault: Option<std::io::Error>,
}

impl Output {
    /// Ends the output, unless writing the elements failed (`written`). Errors name the input or standard output, whichever failed.
    fn ended(mut self, written: Result<()>) -> Result<()> {
        if let Some(error) = self.fault.take() {
            return Err(Unwritten(error).into());
        }
        written?;
        Ok(self.finish().map_err(Unwritten)?)
    }

    fn put(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if let Some(head) = self.head.take() {
            self.out.write_all(head.as_bytes())?;
        }
        self.out.write(bytes)
    }

    fn finish(mut self) -> std::io::Result<()> {
        if self.is_json {
            self.out.write_all(format!(",\"verified\":{}}}\n", self.is_verified).as_bytes())?;
        }
        self.out.flush()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let len = match self.put(bytes) {
            Ok(len) => len,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return Err(error),
            Err(error) => {
                let kind = error.kind();
                self.fault = Some(error);
                return Err(kind.into());
            }
        };
        let before = self.written;
        self.written = before.saturating_add(len as u64);
        // Text comes number by number.
        if before / STEP != self.written / STEP {
            self.progress.show(self.written, self.total, &self.name);
        }
        Ok(len)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// Bytes after which it is time to tell how far the work is.
const STEP: u64 = 64 << 10;

fn as_usage(shown: &str, error: ConvertError) -> anyhow::Error {
    match error {
        ConvertError::NotFound(name) => Usage(format!("{shown}: {}", missing(&name, []))).into(),
        error if error.code() == "invalid_slice" => Usage(format!("{shown}: {error}")).into(),
        // The form cannot hold the elements; another one can.
        ConvertError::Unsupported { code: "no_counterpart", message } => {
            Usage(format!("{message}\n{NO_NUMPY_TYPE}")).into()
        }
        ConvertError::Unsupported { code: "no_text" | "inexact_type", message } => Usage(message).into(),
        ConvertError::Tensogram(error) => misfit(shown, error),
        error => error.into(),
    }
}

/// A part of a tensor of a Tensogram file, by name: through the object itself, which knows its codec.
fn named_part(args: &Cat, input: &Input, all: &dyn TensorFile, name: &str) -> Result<Outcome> {
    let file = input.tensogram()?;
    let entry = all.find(name).ok().and_then(|index| Some((index, all.entries().get(index)?)));
    let Some((index, entry)) = entry else { return named_tensor(args, input, all, name) };
    let (mut message, mut object) = (0, index);
    while let Some(later) = object.checked_sub(file.object_count(message)?) {
        (message, object) = (message.saturating_add(1), later);
    }
    // Elements that Tensogram has no type for stand there as bytes.
    if file.object_head(message, object)?.descriptor.dtype != entry.dtype {
        return named_tensor(args, input, all, name);
    }
    part(args, input, &file, message, object)
}

/// One object of a Tensogram file, by its place.
fn object(args: &Cat, input: &Input) -> Result<Outcome> {
    let file = input.tensogram()?;
    let (wanted, place) = (args.message.unwrap_or(0), args.object.unwrap_or(0));
    let count = file.message_count()?;
    if wanted >= count {
        let text =
            format!("{}: message {wanted} does not exist: the file has {}", input.name(), counted(count, "message"));
        return Err(Usage(text).into());
    }
    let objects = file.object_count(wanted)?;
    if place >= objects {
        let text = format!(
            "{}: object {place} does not exist: message {wanted} has {}",
            input.name(),
            counted(objects, "object")
        );
        return Err(Usage(text).into());
    }
    if matches!(args.form(), CatFormat::Text | CatFormat::Json) || args.widen.is_some() {
        let all = input.tensors(&args.trust, args.json)?;
        let name = all.entries().get(objects_before(&file, wanted)?.saturating_add(place)).map(|entry| &entry.name);
        let name = name.map_or("", String::as_str);
        return match args.slice.as_ref().filter(|_| args.widen.is_none()) {
            Some(_) => named_part(args, input, &*all, name),
            None => named_tensor(args, input, &*all, name),
        };
    }
    if args.slice.is_some() {
        return part(args, input, &file, wanted, place);
    }
    let len = file.object_head(wanted, place).ok().and_then(|head| head.descriptor.decoded_len().ok());
    let mut out = output(args, input.name(), len)?;
    let written = cat_object(&file, wanted, place, args.form(), &mut out);
    out.ended(written.map_err(|error| match as_usage(input.name(), error) {
        error if error.is::<Usage>() || error.to_string().contains(input.name()) => error,
        error => error.context(input.name().to_owned()),
    }))?;
    Ok(Outcome::Fine)
}

/// A part of an object: what its codec needs for it is read, and no digest verified, which would take everything.
fn part(args: &Cat, input: &Input, file: &TensogramFile, message: usize, object: usize) -> Result<Outcome> {
    let shown = input.name();
    let taken = file.slice(message, object, args.selection(), &DecodeOptions::default());
    write_part(args, taken.map_err(|error| misfit(shown, error))?, shown)?;
    Ok(Outcome::Fine)
}

/// A place or a selection that does not fit is usage; what is wrong with a file names it.
pub(crate) fn misfit(shown: &str, error: TensogramError) -> anyhow::Error {
    // Objects that no codec reads are faults of the file, not of the request.
    let asked = error.kind() == ErrorKind::Misuse && error.code() != "unsupported_combination";
    match asked {
        true => Usage(format!("{shown}: {error}")).into(),
        false => anyhow::Error::new(error).context(shown.to_owned()),
    }
}

/// Writes a part that was read, in whatever order this machine has.
pub(crate) fn write_part(args: &Cat, part: TensorBuf, shown: &str) -> Result<()> {
    let (dtype, shape) = (part.dtype(), part.shape().to_vec());
    let mut data = part.into_data();
    if ByteOrder::NATIVE == ByteOrder::Big {
        swap_in_place(&mut data, dtype.swap_unit());
    }
    write(args, dtype, &shape, &data, shown)
}

fn objects_before(file: &TensogramFile, message: usize) -> Result<usize> {
    let mut count = 0usize;
    for earlier in 0..message {
        count = count.saturating_add(file.object_count(earlier)?);
    }
    Ok(count)
}
