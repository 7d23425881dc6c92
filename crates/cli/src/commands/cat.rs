//! `fw cat`: the decoded elements of one object.

use crate::args::Cat;
use crate::exit::{Outcome, Usage};
use crate::input;
use anyhow::Result;
use framewright::tensogram::{DataObjectDescriptor, DecodeOptions, MessageView};
use framewright::tensor::{ByteOrder, DType, swap_in_place};
use std::io::Write;

pub(crate) fn run(args: &Cat) -> Result<Outcome> {
    let file = input::tensogram(&args.file)?;
    let count = file.message_count()?;
    if args.message >= count {
        return Err(Usage(format!("no message {}: {} has {count}", args.message, args.file.display())).into());
    }
    let message = file.read_message(args.message)?;
    let object = MessageView::open(&message)?.object(args.object)?;
    let mut bytes = object.decode(&DecodeOptions::default())?;
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
