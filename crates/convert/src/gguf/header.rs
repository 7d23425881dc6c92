//! The header, checked: names appear once, tensors lie in the file, aligned, and share no byte.

use super::cursor::Cursor;
use super::types::Kind;
use super::value::{self, TextForm};
use crate::ConvertError;
use fw_bytes::Span;
use fw_source::ReadAt;
use fw_tensor::ByteOrder;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What a header says.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) version: u32,
    pub(super) order: ByteOrder,
    pub(super) alignment: u64,
    pub(super) metadata: BTreeMap<String, String>,
    /// Keys whose texts are the JSON of a value.
    pub(super) json_keys: BTreeSet<String>,
    /// Keys whose texts do not give the value back.
    pub(super) lossy_keys: Vec<String>,
    /// Where each entry of the metadata stands, in file order.
    pub(super) places: Vec<(String, Span)>,
    pub(super) tensors: Vec<Tensor>,
    /// Where the header ends, and where the data begins.
    pub(super) end: u64,
    pub(super) data_start: u64,
}

/// One tensor.
#[derive(Debug)]
pub(super) struct Tensor {
    pub(super) name: String,
    pub(super) kind: &'static Kind,
    /// Row-major: the file has the dimensions the other way round.
    pub(super) shape: Vec<u64>,
    /// Where it is described, and where its data lies.
    pub(super) info: Span,
    pub(super) span: Span,
}

impl Tensor {
    /// The shape of its blocks as bytes: the last axis in bytes.
    pub(super) fn byte_shape(&self) -> Vec<u64> {
        match self.shape.split_last() {
            Some((last, outer)) => [outer, &[self.kind.len_of(*last).unwrap_or(0)]].concat(),
            None => vec![self.span.len()],
        }
    }
}

/// Reads the header of a file.
pub(super) fn read(source: &dyn ReadAt) -> Result<Header, ConvertError> {
    let mut cursor = Cursor::new(source)?;
    if cursor.bytes(4, "the magic")? != MAGIC {
        return Err(ConvertError::format("bad_magic", "the magic is not GGUF", 0));
    }
    let version = version(&mut cursor)?;
    let tensor_count = cursor.count(24, "tensors")?;
    let entry_count = cursor.count(13, "metadata entries")?;
    let mut header = Header {
        version,
        order: cursor.order,
        alignment: DEFAULT_ALIGNMENT,
        metadata: BTreeMap::new(),
        json_keys: BTreeSet::new(),
        lossy_keys: Vec::new(),
        places: Vec::new(),
        tensors: Vec::new(),
        end: 0,
        data_start: 0,
    };
    for _ in 0..entry_count {
        header.entry(&mut cursor)?;
    }
    let mut names = HashSet::new();
    for _ in 0..tensor_count {
        let tensor = tensor(&mut cursor, header.alignment)?;
        if !names.insert(tensor.name.clone()) {
            let message = format!("tensor {:?} appears twice", tensor.name);
            return Err(ConvertError::format("duplicate_tensor_name", message, tensor.info.start));
        }
        header.tensors.push(tensor);
    }
    header.end = cursor.position();
    header.data_start = header.end.next_multiple_of(header.alignment);
    header.place(cursor.source_len())?;
    Ok(header)
}

/// The version, which also tells the byte order: it is a small number.
fn version(cursor: &mut Cursor<'_>) -> Result<u32, ConvertError> {
    let at = cursor.position();
    let mut version = cursor.u32("the version")?;
    if version != 0 && version & 0xffff == 0 {
        cursor.order = ByteOrder::Big;
        version = version.swap_bytes();
    }
    if !(2..=3).contains(&version) {
        let message = format!("unsupported GGUF version {version}, expected 2 or 3");
        return Err(ConvertError::format("unknown_version", message, at));
    }
    Ok(version)
}

impl Header {
    /// One entry of the metadata.
    fn entry(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ConvertError> {
        let at = cursor.position();
        let key = cursor.name("a key")?;
        let value = value::read(cursor)?;
        if key == ALIGNMENT_KEY {
            let alignment = value.number.filter(|number| number.is_power_of_two()).ok_or_else(|| {
                let message = format!("{ALIGNMENT_KEY} must be a power of two of type uint32, found {}", value.text);
                ConvertError::format("invalid_alignment", message, at)
            })?;
            self.alignment = alignment.into();
        }
        match value.form {
            TextForm::Plain => {}
            TextForm::Json => drop(self.json_keys.insert(key.clone())),
            TextForm::Lossy => self.lossy_keys.push(key.clone()),
        }
        if self.metadata.insert(key.clone(), value.text).is_some() {
            return Err(ConvertError::format("duplicate_key", format!("the key {key:?} appears twice"), at));
        }
        self.places.push((key, Span::new(at, cursor.position())));
        Ok(())
    }

    /// Turns offsets into places of the file, and proves that tensors lie in it side by side.
    fn place(&mut self, file_len: u64) -> Result<(), ConvertError> {
        for tensor in &mut self.tensors {
            let start = self.data_start.checked_add(tensor.span.start);
            let span =
                start.and_then(|start| Span::sized(start, tensor.span.len())).filter(|span| span.end <= file_len);
            tensor.span = span.ok_or_else(|| {
                let message = format!(
                    "tensor {:?} claims {} bytes at byte {} of the data, the file has {} bytes of data",
                    tensor.name,
                    tensor.span.len(),
                    tensor.span.start,
                    file_len.saturating_sub(self.data_start)
                );
                ConvertError::format("invalid_offset", message, tensor.info.start)
            })?;
        }
        let mut sorted: Vec<&Tensor> = self.tensors.iter().filter(|tensor| !tensor.span.is_empty()).collect();
        sorted.sort_by_key(|tensor| tensor.span.start);
        for pair in sorted.windows(2) {
            if let [first, second] = pair
                && first.span.end > second.span.start
            {
                let message = format!("tensors {:?} and {:?} share bytes", first.name, second.name);
                return Err(ConvertError::format("overlapping_tensors", message, second.span.start));
            }
        }
        Ok(())
    }
}

/// One tensor; its span is still counted from the beginning of the data.
fn tensor(cursor: &mut Cursor<'_>, alignment: u64) -> Result<Tensor, ConvertError> {
    let at = cursor.position();
    let name = cursor.name("a tensor name")?;
    let wrong = |code, what: String| Err(ConvertError::format(code, format!("tensor {name:?}: {what}"), at));
    let dim_count = cursor.u32("a number of dimensions")?;
    if dim_count > MAX_DIMS {
        return wrong("too_many_dimensions", format!("{dim_count} dimensions, at most {MAX_DIMS} are allowed"));
    }
    let mut shape = Vec::new();
    for _ in 0..dim_count {
        shape.push(cursor.u64("a dimension")?);
    }
    let code = cursor.u32("an element type")?;
    let offset = cursor.u64("an offset")?;
    let Some(kind) = Kind::of(code) else {
        return wrong("unknown_dtype", format!("unknown element type {code}"));
    };
    let row = shape.first().copied().unwrap_or(1);
    if !row.is_multiple_of(kind.block_count) {
        let what = format!("rows of {row} elements do not fill blocks of {} ({})", kind.block_count, kind.name);
        return wrong("invalid_shape", what);
    }
    shape.reverse();
    let len = fw_tensor::element_count(&shape).ok().and_then(|count| kind.len_of(count));
    // What a decoded tensor takes must be countable, too.
    let Some(len) = len.filter(|_| fw_tensor::byte_len(fw_tensor::DType::Float64, &shape).is_ok()) else {
        return wrong("shape_overflow", format!("the size of {shape:?} overflows"));
    };
    if !offset.is_multiple_of(alignment) {
        return wrong("misaligned_offset", format!("its offset {offset} is not a multiple of {alignment}"));
    }
    let Some(span) = Span::sized(offset, len) else {
        return wrong("invalid_offset", format!("{len} bytes at byte {offset} of the data overflow"));
    };
    Ok(Tensor { name, kind, shape, info: Span::new(at, cursor.position()), span })
}

pub(super) const MAGIC: &[u8] = b"GGUF";
const ALIGNMENT_KEY: &str = "general.alignment";
const DEFAULT_ALIGNMENT: u64 = 32;
const MAX_DIMS: u32 = 4;
