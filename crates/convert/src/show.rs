//! What tools show of a file: a summary, a list, a tree of byte ranges, a list of faults.

use crate::model::{TensorFile, Unreadable, open};
use crate::{ConvertError, Format, detect, numpy, safetensors};
use fw_bintensors::validate::ValidateOptions;
use fw_bytes::Span;
use fw_report::{Finding, Report, Tree};
use fw_source::{FileSource, ReadAt};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// A summary of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Info {
    /// Its format.
    pub format: Format,
    /// Bytes of the file (of the index, for a checkpoint in several files).
    pub file_len: u64,
    /// Tensors.
    pub tensor_count: usize,
    /// Bytes of all tensors.
    pub data_len: u64,
    /// Elements of all tensors.
    pub element_count: u64,
    /// Tensors and bytes by element type.
    pub types: BTreeMap<String, (usize, u64)>,
    /// Its own text map.
    pub metadata: Option<BTreeMap<String, String>>,
    /// Arrays that are no tensors.
    pub unreadable: Vec<Unreadable>,
    /// For BinTensors: whether the reference readers can open it.
    pub readable_by_reference: Option<bool>,
}

/// One line of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Row {
    /// Name.
    pub name: String,
    /// Element type.
    pub dtype: String,
    /// Dimensions.
    pub shape: Vec<u64>,
    /// Bytes of data.
    pub bytes: u64,
    /// Where the data lies in the file, when it lies there as it is.
    pub span: Option<[u64; 2]>,
}

/// Summarises a file.
///
/// # Errors
/// When it cannot be read or is wrong.
pub fn info(path: impl AsRef<Path>) -> Result<Info, ConvertError> {
    let path = path.as_ref();
    let file = open(path)?;
    if file.format() == Format::BinTensors {
        return info_of(&*file, &FileSource::open(path)?);
    }
    summary(&*file, std::fs::metadata(path)?.len())
}

/// Summarises an open file that `source` holds the bytes of: its header is read again at most.
///
/// # Errors
/// When the source cannot be read, or a size does not fit in 64 bits.
pub fn info_of(file: &dyn TensorFile, source: &impl ReadAt) -> Result<Info, ConvertError> {
    let mut info = summary(file, source.len()?)?;
    if info.format == Format::BinTensors {
        info.readable_by_reference = Some(fw_bintensors::readable_by_reference(&head_of(source)?));
    }
    Ok(info)
}

fn summary(file: &dyn TensorFile, file_len: u64) -> Result<Info, ConvertError> {
    let mut info = Info {
        format: file.format(),
        file_len,
        tensor_count: file.entries().len(),
        data_len: 0,
        element_count: 0,
        types: BTreeMap::new(),
        metadata: file.metadata().cloned(),
        unreadable: file.unreadable().to_vec(),
        readable_by_reference: None,
    };
    for entry in file.entries() {
        let len = entry.byte_len()?;
        info.data_len = info.data_len.saturating_add(len);
        info.element_count = info.element_count.saturating_add(fw_tensor::element_count(&entry.shape)?);
        let (count, bytes) = info.types.entry(entry.dtype.to_string()).or_default();
        *count = count.saturating_add(1);
        *bytes = bytes.saturating_add(len);
    }
    Ok(info)
}

/// Lists the tensors of a file, in file order.
///
/// # Errors
/// When it cannot be read or is wrong.
pub fn ls(path: impl AsRef<Path>) -> Result<Vec<Row>, ConvertError> {
    rows(&*open(path)?)
}

/// Lists the tensors of an open file, in file order.
///
/// # Errors
/// When a size does not fit in 64 bits.
pub fn rows(file: &dyn TensorFile) -> Result<Vec<Row>, ConvertError> {
    let row = |entry: &crate::Entry| {
        Ok(Row {
            name: entry.name.clone(),
            dtype: entry.dtype.to_string(),
            shape: entry.shape.clone(),
            bytes: entry.byte_len()?,
            span: entry.span.map(|span| [span.start, span.end]),
        })
    };
    file.entries().iter().map(row).collect()
}

/// Names the byte ranges of a file. A broken BinTensors or safetensors file is shown as far as it can be read.
///
/// # Errors
/// When it cannot be read; for npy and npz also when it is wrong.
pub fn dump(path: impl AsRef<Path>) -> Result<Tree, ConvertError> {
    let path = path.as_ref();
    let file_len = FileSource::open(path)?.len()?;
    match detect(path)? {
        Format::Tensogram => dump_tensogram(path, file_len),
        Format::BinTensors => Ok(fw_bintensors::inspect(&head(path)?, file_len)),
        Format::SafeTensors => Ok(dump_safetensors(&head(path)?, file_len)),
        Format::Npy => Ok(dump_npy(&numpy::open_npy(path)?, file_len)),
        Format::Npz => Ok(dump_npz(&numpy::open_npz(path)?, file_len)),
        Format::ShardIndex => Ok(Tree::new("shard index", 0..file_len).value("JSON")),
    }
}

/// Reports every fault of a file. `options` are those of BinTensors; the other formats are read to their end.
///
/// # Errors
/// Only when it cannot be read.
pub fn validate(path: impl AsRef<Path>, options: &ValidateOptions) -> Result<Report, ConvertError> {
    let path = path.as_ref();
    let format = detect(path)?;
    if format == Format::BinTensors {
        return Ok(fw_bintensors::validate::validate(&FileSource::open(path)?, options)?);
    }
    if format == Format::Tensogram {
        return validate_tensogram(path, options);
    }
    let mut report = Report::new();
    match open(path) {
        Ok(file) => {
            for remark in file.remarks().into_iter().filter(|remark| !remark.feature.is_note()) {
                report.push(Finding::warning(remark.feature.name(), remark.what).level("structure"));
            }
            for array in file.unreadable() {
                let message = format!("array {:?}: {}", array.name, array.what);
                report.push(Finding::warning("not_a_tensor", message).level("structure"));
            }
            if options.data == fw_bintensors::validate::DataChecks::Full || format == Format::Npz {
                read_all(&*file, &mut report)?;
            }
            if format == Format::Npy {
                trailing(path, &mut report)?;
            }
        }
        Err(error) => report.push(finding(error)?),
    }
    Ok(report)
}

fn finding(error: ConvertError) -> Result<Finding, ConvertError> {
    match error {
        ConvertError::Io(error) => Err(error.into()),
        error => {
            let finding = Finding::error(error.code(), error.message()).level("structure");
            Ok(match error.position() {
                Some(at) => finding.at(at..at),
                None => finding,
            })
        }
    }
}

/// Reads every tensor, so that checksums of zips are compared and missing bytes noticed.
fn read_all(file: &dyn TensorFile, report: &mut Report) -> Result<(), ConvertError> {
    for (index, entry) in file.entries().iter().enumerate() {
        match file.stream(index, &mut |_| Ok(())) {
            Ok(()) => {}
            Err(ConvertError::Io(error)) => {
                let message = format!("{:?}: {error}", entry.name);
                report.push(Finding::error("unreadable_data", message).object(index as u64).level("data"));
            }
            Err(error) => report.push(finding(error)?.object(index as u64)),
        }
    }
    Ok(())
}

fn trailing(path: &Path, report: &mut Report) -> Result<(), ConvertError> {
    let file = numpy::open_npy(path)?;
    let len = FileSource::open(path)?.len()?;
    let end = file.header.len.saturating_add(fw_tensor::byte_len(file.header.dtype, &file.header.shape)?);
    if end < len {
        report.push(Finding::warning("trailing_bytes", "bytes after the array").at(end..len).level("structure"));
    }
    Ok(())
}

/// The length field and as much of the header as there is, for formats that begin so.
fn head(path: &Path) -> Result<Vec<u8>, ConvertError> {
    head_of(&FileSource::open(path)?)
}

fn head_of(source: &impl ReadAt) -> Result<Vec<u8>, ConvertError> {
    let file_len = source.len()?;
    let mut size = vec![0u8; file_len.min(safetensors::SIZE_LEN) as usize];
    source.read_exact_at(0, &mut size)?;
    let claimed = size.first_chunk::<8>().map_or(0, |size| u64::from_le_bytes(*size));
    if claimed > safetensors::MAX_HEADER_LEN {
        return Ok(size);
    }
    let len = claimed.saturating_add(safetensors::SIZE_LEN).min(file_len);
    let mut bytes = vec![0u8; usize::try_from(len).map_err(std::io::Error::other)?];
    source.read_exact_at(0, &mut bytes)?;
    Ok(bytes)
}

fn dump_tensogram(path: &Path, file_len: u64) -> Result<Tree, ConvertError> {
    let file = fw_tensogram::TensogramFile::open(path)?;
    let mut root = Tree::new("tensogram", 0..file_len);
    for (number, span) in file.message_layouts()?.into_iter().enumerate() {
        let mut message = fw_tensogram::inspect(&file.read_message(number)?);
        shift(&mut message, span.start);
        message.label = format!("message {number}");
        root.push(message);
    }
    Ok(root)
}

fn shift(tree: &mut Tree, by: u64) {
    tree.span = Span::new(tree.span.start.saturating_add(by), tree.span.end.saturating_add(by));
    for child in &mut tree.children {
        shift(child, by);
    }
}

fn validate_tensogram(path: &Path, options: &ValidateOptions) -> Result<Report, ConvertError> {
    use fw_tensogram::ValidateMode;
    let full = options.data == fw_bintensors::validate::DataChecks::Full;
    let mode = if full { ValidateMode::Full } else { ValidateMode::Default };
    let found = fw_tensogram::validate_file(path, &fw_tensogram::ValidateOptions::mode(mode))?;
    let mut report = found.report;
    for (_, message) in found.messages {
        report.extend(message.report.findings().iter().cloned());
    }
    Ok(report)
}

fn dump_safetensors(bytes: &[u8], file_len: u64) -> Tree {
    let mut root = Tree::new("safetensors", 0..file_len);
    match safetensors::parse(bytes, file_len) {
        Err(error) => root.push(Tree::new("unreadable", 0..file_len).value(error.to_string())),
        Ok(header) => {
            let json = bytes.get(safetensors::SIZE_LEN as usize..).unwrap_or(&[]);
            let text = json.len().saturating_sub(json.iter().rev().take_while(|byte| **byte == b' ').count());
            let body = safetensors::SIZE_LEN.saturating_add(text as u64);
            root.push(Tree::new("header size", 0..safetensors::SIZE_LEN).value(json.len().to_string()));
            let count = match header.entries.len() {
                1 => "1 tensor".to_owned(),
                count => format!("{count} tensors"),
            };
            root.push(Tree::new("header", safetensors::SIZE_LEN..body).value(format!("JSON, {count}")));
            if body < header.data_start {
                root.push(Tree::new("padding", body..header.data_start).value("spaces"));
            }
            let mut data = Tree::new("data", header.data_start..file_len);
            for entry in header.entries {
                let what = format!("{} {:?}", entry.dtype, entry.shape);
                data.push(Tree::new(entry.name, entry.span.unwrap_or_default()).value(what));
            }
            root.push(data);
        }
    }
    root
}

fn dump_npy(file: &numpy::NpyFile, file_len: u64) -> Tree {
    let header = &file.header;
    let len = file.entries().first().and_then(|entry| entry.byte_len().ok()).unwrap_or(0);
    let end = header.len.saturating_add(len).min(file_len);
    let before = if header.len > u64::from(u16::MAX) { 12 } else { 10 };
    let mut root = Tree::new("npy", 0..file_len)
        .with(Tree::new("magic and version", 0..8))
        .with(Tree::new("header length", 8..before))
        .with(Tree::new("header", before..header.len).value(format!("{} {:?}", header.dtype, header.shape)))
        .with(Tree::new("data", header.len..end).value(format!("{len} bytes, {} endian", header.order)));
    if end < file_len {
        root.push(Tree::new("trailing bytes", end..file_len));
    }
    root
}

fn dump_npz(file: &numpy::NpzFile, file_len: u64) -> Tree {
    let mut root = Tree::new("npz", 0..file_len);
    let mut members: Vec<_> = file.entries().iter().zip(file.members()).collect();
    members.sort_by_key(|(_, member)| member.start);
    let mut reached = 0u64;
    for (entry, member) in members {
        if reached < member.start {
            root.push(Tree::new("zip header", reached..member.start));
        }
        let end = member.start.saturating_add(member.stored_len).min(file_len);
        let how = if member.deflated { "deflated" } else { "stored" };
        let what = format!("{} {:?}, {how}", entry.dtype, entry.shape);
        root.push(Tree::new(entry.name.clone(), Span::new(member.start, end)).value(what));
        reached = end;
    }
    if reached < file_len {
        root.push(Tree::new("zip directory", reached..file_len));
    }
    root
}
