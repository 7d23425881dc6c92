//! `fw cat`: the elements of one tensor, or of a part of it.

use crate::args::Cat;
use crate::exit::{Outcome, Usage};
use crate::input::Input;
use anyhow::Result;
use framewright::convert::{CatFormat, ConvertError, Format, TensorFile, cat, npy_header, write_elements};
use framewright::tensogram::{DecodeOptions, DecodedObject, TensogramFile};
use framewright::tensor::{ByteOrder, DType, TensorBuf, swap_in_place};
use serde_json::json;
use std::io::{BufWriter, IsTerminal, StdoutLock, Write};

pub(crate) fn run(args: &Cat, input: &Input) -> Result<Outcome> {
    let format = input.format()?;
    if format == Format::Tensogram && args.tensor.is_none() {
        return object(args, input);
    }
    if format != Format::Tensogram && (args.message.is_some() || args.object.is_some()) {
        let text = format!("{}: {format} files have no messages; say --tensor NAME", input.name());
        return Err(Usage(text).into());
    }
    let file = input.tensors()?;
    let name = chosen(args, input, &*file)?;
    if format == Format::Tensogram && args.slice.is_some() {
        return named_part(args, input, &*file, &name);
    }
    named_tensor(args, input, &*file, &name)
}

/// The tensor that was asked for, or the only one.
fn chosen(args: &Cat, input: &Input, file: &dyn TensorFile) -> Result<String> {
    match (&args.tensor, file.entries()) {
        (Some(name), _) => found(args, input, file, name),
        (None, [only]) => Ok(only.name.clone()),
        (None, all) => {
            let text = format!("{} has {} tensors; say --tensor NAME (fw ls lists them)", input.name(), all.len());
            Err(Usage(text).into())
        }
    }
}

/// The tensor's full name. In a file of several messages names begin with the number of theirs; the bare name will do where
/// the message is given, or only one has such a tensor.
fn found(args: &Cat, input: &Input, file: &dyn TensorFile, name: &str) -> Result<String> {
    let path = input.name();
    let named = |wanted: &str| file.entries().iter().find(|entry| entry.name == wanted).map(|entry| entry.name.clone());
    if let Some(message) = args.message {
        let several = file.entries().iter().any(|entry| entry.name.starts_with("1/"));
        let full = if several { format!("{message}/{name}") } else { name.to_owned() };
        let held = named(&full).filter(|_| several || message == 0);
        return held.ok_or_else(|| {
            Usage(format!("no tensor {name:?} in message {message} of {path}; fw ls lists them")).into()
        });
    }
    if let Some(full) = named(name) {
        return Ok(full);
    }
    let bare =
        |full: &str| full.split_once('/').is_some_and(|(number, bare)| bare == name && number.parse::<u64>().is_ok());
    let alike: Vec<&str> = file.entries().iter().map(|entry| entry.name.as_str()).filter(|full| bare(full)).collect();
    let array = file.unreadable().iter().find(|array| array.name == name);
    let text = match (&alike[..], array) {
        ([one], _) => return Ok((*one).to_owned()),
        ([], Some(array)) => format!("{path}: array {name:?}: {}", array.what),
        ([], None) => format!("no tensor {name:?} in {path}; fw ls lists them"),
        ([first, ..], _) => {
            format!("{} messages of {path} have a tensor {name:?}; say --message M, or --tensor {first}", alike.len())
        }
    };
    Err(Usage(text).into())
}

fn named_tensor(args: &Cat, input: &Input, file: &dyn TensorFile, name: &str) -> Result<Outcome> {
    let shown = input.name();
    match write_tensor(args, file, name, shown) {
        Ok(()) => Ok(Outcome::Fine),
        Err(error) if error.is::<Usage>() => Err(error),
        Err(error) => input.named(error),
    }
}

/// Writes a tensor of a file that people know as `shown`.
pub(crate) fn write_tensor(args: &Cat, file: &dyn TensorFile, name: &str, shown: &str) -> Result<()> {
    let mut out = output(args, shown)?;
    cat(file, name, &args.selection(), args.form(), &mut out).map_err(|error| as_usage(shown, error))?;
    out.finish()?;
    Ok(())
}

/// Writes little-endian elements that were read.
pub(crate) fn write(args: &Cat, dtype: DType, shape: &[u64], data: &[u8], shown: &str) -> Result<()> {
    if args.npy && npy_header(dtype, shape).is_none() {
        return Err(Usage(format!("NumPy has no element type for {dtype}; leave out --npy")).into());
    }
    let mut out = output(args, shown)?;
    write_elements(dtype, shape, data, args.form(), &mut out).map_err(|error| as_usage(shown, error))?;
    out.finish()?;
    Ok(())
}

/// Standard output, unless it is a terminal that would be fed bytes.
fn output(args: &Cat, shown: &str) -> Result<Output> {
    let out = std::io::stdout().lock();
    if matches!(args.form(), CatFormat::Raw | CatFormat::Npy) && out.is_terminal() {
        let text =
            "binary elements are not written to a terminal\nhint: use --text, or redirect the output to a file or pipe";
        return Err(Usage(text.to_owned()).into());
    }
    let head = args.json.then(|| format!("{{\"command\":\"cat\",\"ok\":true,\"file\":{},\"tensor\":", json!(shown)));
    Ok(Output { out: BufWriter::new(out), head, is_json: args.json })
}

/// Where elements go. JSON becomes a member of the object that every command prints; nothing of it is written before the
/// first element, so that a failure is an object of its own.
struct Output {
    out: BufWriter<StdoutLock<'static>>,
    head: Option<String>,
    is_json: bool,
}

impl Output {
    fn finish(mut self) -> std::io::Result<()> {
        if self.is_json {
            self.out.write_all(b"}\n")?;
        }
        self.out.flush()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if let Some(head) = self.head.take() {
            self.out.write_all(head.as_bytes())?;
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

fn as_usage(shown: &str, error: ConvertError) -> anyhow::Error {
    match error {
        ConvertError::NotFound(name) => Usage(format!("no tensor {name:?} in {shown}; fw ls lists them")).into(),
        error if error.code() == "invalid_slice" => Usage(format!("{shown}: {error}")).into(),
        ConvertError::Unsupported { message, .. } => Usage(message).into(),
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
        return Err(Usage(format!("no message {wanted}: {} has {count}", input.name())).into());
    }
    let objects = file.object_count(wanted)?;
    if place >= objects {
        let text = format!("no object {place}: message {wanted} of {} has {objects}", input.name());
        return Err(Usage(text).into());
    }
    if matches!(args.form(), CatFormat::Text | CatFormat::Json) {
        let all = input.tensors()?;
        let name = all.entries().get(objects_before(&file, wanted)?.saturating_add(place)).map(|entry| &entry.name);
        let name = name.map_or("", String::as_str);
        return match args.slice {
            Some(_) => named_part(args, input, &*all, name),
            None => named_tensor(args, input, &*all, name),
        };
    }
    if args.slice.is_some() {
        return part(args, input, &file, wanted, place);
    }
    // What carries a digest is checked before it is handed on.
    let wrong = |error| misfit(input.name(), error);
    let verify_hash = file.object_head(wanted, place).map_err(wrong)?.frame.has_hash();
    let options = DecodeOptions { verify_hash, ..DecodeOptions::default() };
    let DecodedObject { descriptor, mut bytes } = file.decode_object(wanted, place, &options).map_err(wrong)?;
    if ByteOrder::NATIVE == ByteOrder::Big {
        swap_in_place(&mut bytes, descriptor.dtype.swap_unit());
    }
    write(args, descriptor.dtype, &descriptor.shape, &bytes, input.name())?;
    Ok(Outcome::Fine)
}

/// A part of an object: what its codec needs for it is read, and no digest verified, which would take everything.
fn part(args: &Cat, input: &Input, file: &TensogramFile, message: usize, object: usize) -> Result<Outcome> {
    let shown = input.name();
    let taken = file.slice(message, object, args.selection(), &DecodeOptions::default());
    write_part(args, taken.map_err(|error| misfit(shown, error))?, shown)?;
    Ok(Outcome::Fine)
}

/// A selection that does not fit is usage; what is wrong with a file names it.
pub(crate) fn misfit(shown: &str, error: framewright::tensogram::TensogramError) -> anyhow::Error {
    match error.kind() {
        framewright::tensogram::ErrorKind::Misuse => Usage(format!("{shown}: {error}")).into(),
        _ => anyhow::Error::new(error).context(shown.to_owned()),
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
