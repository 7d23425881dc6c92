//! `fw cat`: the elements of one tensor.

use crate::args::Cat;
use crate::exit::{Outcome, Usage};
use crate::input;
use anyhow::Result;
use framewright::convert::{CatFormat, ConvertError, Format, TensorFile, cat, npy_header};
use framewright::tensogram::{DataObjectDescriptor, DecodeOptions, TensogramFile};
use framewright::tensor::{ByteOrder, Selection, swap_in_place};
use std::io::{BufWriter, Write};

pub(crate) fn run(args: &Cat) -> Result<Outcome> {
    let format = input::format_of(&args.file)?;
    if format == Format::Tensogram && args.tensor.is_none() {
        return object(args);
    }
    if format != Format::Tensogram && (args.message.is_some() || args.object.is_some()) {
        let text = format!("{}: {format} files have no messages; say --tensor NAME", args.file.display());
        return Err(Usage(text).into());
    }
    let file = input::tensors(&args.file)?;
    let name = chosen(args, &*file)?;
    named_tensor(args, &*file, &name)
}

/// The tensor that was asked for, or the only one.
fn chosen(args: &Cat, file: &dyn TensorFile) -> Result<String> {
    match (&args.tensor, file.entries()) {
        (Some(name), _) => found(args, file, name),
        (None, [only]) => Ok(only.name.clone()),
        (None, all) => {
            let text =
                format!("{} has {} tensors; say --tensor NAME (fw ls lists them)", args.file.display(), all.len());
            Err(Usage(text).into())
        }
    }
}

/// The tensor's full name. In a file of several messages names begin with the number of theirs; the bare name will do where
/// the message is given, or only one has such a tensor.
fn found(args: &Cat, file: &dyn TensorFile, name: &str) -> Result<String> {
    let path = args.file.display();
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

fn named_tensor(args: &Cat, file: &dyn TensorFile, name: &str) -> Result<Outcome> {
    let format = match (args.npy, args.text) {
        (true, _) => CatFormat::Npy,
        (_, true) => CatFormat::Text,
        _ => CatFormat::Raw,
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    match cat(file, name, &Selection::new(), format, &mut out) {
        Ok(()) => {}
        Err(ConvertError::NotFound(name)) => {
            return Err(Usage(format!("no tensor {name:?} in {}; fw ls lists them", args.file.display())).into());
        }
        Err(ConvertError::Unsupported { message, .. }) => return Err(Usage(message).into()),
        Err(error) => return input::named(&args.file, error),
    }
    out.flush()?;
    Ok(Outcome::Fine)
}

/// One object of a Tensogram file, by its place.
fn object(args: &Cat) -> Result<Outcome> {
    let file = input::tensogram(&args.file)?;
    let (wanted, place) = (args.message.unwrap_or(0), args.object.unwrap_or(0));
    let count = file.message_count()?;
    if wanted >= count {
        return Err(Usage(format!("no message {wanted}: {} has {count}", args.file.display())).into());
    }
    let objects = file.object_count(wanted)?;
    if place >= objects {
        let text = format!("no object {place}: message {wanted} of {} has {objects}", args.file.display());
        return Err(Usage(text).into());
    }
    if args.text {
        let all = input::tensors(&args.file)?;
        let name = all.entries().get(objects_before(&file, wanted)?.saturating_add(place)).map(|entry| &entry.name);
        return named_tensor(args, &*all, name.map_or("", String::as_str));
    }
    // What carries a digest is checked before it is handed on.
    let verify_hash = file.object_head(wanted, place)?.frame.has_hash();
    let (descriptor, mut bytes) =
        file.decode_object(wanted, place, &DecodeOptions { verify_hash, ..DecodeOptions::default() })?;
    if ByteOrder::NATIVE == ByteOrder::Big {
        swap_in_place(&mut bytes, descriptor.dtype.swap_unit());
    }
    let mut out = std::io::stdout().lock();
    if args.npy {
        let DataObjectDescriptor { dtype, shape, .. } = &descriptor;
        let missing = || Usage(format!("NumPy has no element type for {dtype}; leave out --npy"));
        out.write_all(&npy_header(*dtype, shape).ok_or_else(missing)?)?;
    }
    out.write_all(&bytes)?;
    out.flush()?;
    Ok(Outcome::Fine)
}

fn objects_before(file: &TensogramFile, message: usize) -> Result<usize> {
    let mut count = 0usize;
    for earlier in 0..message {
        count = count.saturating_add(file.object_count(earlier)?);
    }
    Ok(count)
}
