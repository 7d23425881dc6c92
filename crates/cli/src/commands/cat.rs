//! `fw cat`: the elements of one tensor.

use crate::args::Cat;
use crate::exit::{Outcome, Usage};
use crate::input;
use anyhow::Result;
use framewright::convert::{CatFormat, ConvertError, Format, TensorFile, cat};
use framewright::tensogram::{DataObjectDescriptor, DecodeOptions, MessageView, TensogramFile};
use framewright::tensor::{ByteOrder, DType, Selection, swap_in_place};
use std::io::{BufWriter, Write};

pub(crate) fn run(args: &Cat) -> Result<Outcome> {
    let format = input::format_of(&args.file)?;
    if format == Format::Tensogram && args.tensor.is_none() {
        return object(args);
    }
    if args.message.is_some() || args.object.is_some() {
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
        (Some(name), _) => Ok(name.clone()),
        (None, [only]) => Ok(only.name.clone()),
        (None, all) => {
            let text =
                format!("{} has {} tensors; say --tensor NAME (fw ls lists them)", args.file.display(), all.len());
            Err(Usage(text).into())
        }
    }
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
    let message = file.read_message(wanted)?;
    let view = MessageView::open(&message)?;
    if place >= view.object_count() {
        let text =
            format!("no object {place}: message {wanted} of {} has {}", args.file.display(), view.object_count());
        return Err(Usage(text).into());
    }
    if args.text {
        let all = input::tensors(&args.file)?;
        let name = all.entries().get(objects_before(&file, wanted)?.saturating_add(place)).map(|entry| &entry.name);
        return named_tensor(args, &*all, name.map_or("", String::as_str));
    }
    let object = view.object(place)?;
    // What carries a digest is checked before it is handed on.
    let options = DecodeOptions { verify_hash: object.frame().has_hash(), ..DecodeOptions::default() };
    let mut bytes = object.decode(&options)?;
    if ByteOrder::NATIVE == ByteOrder::Big {
        swap_in_place(&mut bytes, object.descriptor().dtype.swap_unit());
    }
    let mut out = std::io::stdout().lock();
    if args.npy {
        out.write_all(&npy_header(object.descriptor())?)?;
    }
    out.write_all(&bytes)?;
    out.flush()?;
    Ok(Outcome::Fine)
}

fn objects_before(file: &TensogramFile, message: usize) -> Result<usize> {
    let mut count = 0usize;
    for earlier in 0..message {
        count = count.saturating_add(MessageView::open(&file.read_message(earlier)?)?.object_count());
    }
    Ok(count)
}

/// The header of a version 1 NumPy file for little-endian, row-major elements.
fn npy_header(descriptor: &DataObjectDescriptor) -> Result<Vec<u8>> {
    let kind = match descriptor.dtype {
        DType::Float16 => "<f2",
        DType::Float32 => "<f4",
        DType::Float64 => "<f8",
        DType::Complex64 => "<c8",
        DType::Complex128 => "<c16",
        DType::Int8 => "|i1",
        DType::Int16 => "<i2",
        DType::Int32 => "<i4",
        DType::Int64 => "<i8",
        DType::UInt8 => "|u1",
        DType::UInt16 => "<u2",
        DType::UInt32 => "<u4",
        DType::UInt64 => "<u8",
        other => return Err(Usage(format!("NumPy has no element type for {other}; leave out --npy")).into()),
    };
    let dimensions: Vec<_> = descriptor.shape.iter().map(|length| format!("{length},")).collect();
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}), }}", dimensions.join(" "));
    // Magic, version and length take ten bytes; the elements begin at a multiple of 64.
    let padding = 63 - (10 + text.len()) % 64;
    text.push_str(&" ".repeat(padding));
    text.push('\n');
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend_from_slice(&(text.len() as u16).to_le_bytes());
    header.extend_from_slice(text.as_bytes());
    Ok(header)
}
