//! What tools show of a file: a summary, a list, a tree of byte ranges, a list of faults.

use crate::model::{Entry, TensorFile, Unreadable, open};
use crate::{ConvertError, Format, detect, safetensors};
use fw_bintensors::validate::ValidateOptions;
use fw_report::{Finding, Report, Tree};
use fw_source::{FileSource, ReadAt};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;
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
    /// Tensors and bytes by element type, or by the type of their blocks.
    pub types: BTreeMap<String, (usize, u64)>,
    /// Its own text map.
    pub metadata: Option<BTreeMap<String, String>>,
    /// Arrays that are not tensors.
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
    /// The file's own name for its element type, where it keeps elements in quantised blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_type: Option<&'static str>,
}

/// Summarises a file.
///
/// # Errors
/// When it cannot be read or is wrong.
pub fn info(path: impl AsRef<Path>) -> Result<Info, ConvertError> {
    let path = path.as_ref();
    info_of(&*open(path)?, &FileSource::open(path)?)
}

/// Summarises an open file that `source` holds the bytes of: its header is read again at most.
///
/// # Errors
/// When the source cannot be read, or a size does not fit in 64 bits.
pub fn info_of(file: &dyn TensorFile, source: &impl ReadAt) -> Result<Info, ConvertError> {
    let mut info = summary(file, source.len()?)?;
    info.readable_by_reference = file.format().contract().readable_by_reference(source)?;
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
        let (count, bytes) = info.types.entry(entry.type_name().to_owned()).or_default();
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
    let row = |entry: &Entry| {
        Ok(Row {
            name: entry.name.clone(),
            dtype: entry.dtype.to_string(),
            shape: entry.shape.clone(),
            bytes: entry.byte_len()?,
            span: entry.span.map(|span| [span.start, span.end]),
            block_type: entry.block_type,
        })
    };
    file.entries().iter().map(row).collect()
}

/// Names the byte ranges of a file. A broken BinTensors or safetensors file is shown as far as it can be read. A file whose
/// format is known is shown by [`Format::dump`].
///
/// # Errors
/// When it cannot be read; for npy and npz also when it is wrong.
pub fn dump(path: impl AsRef<Path>) -> Result<Tree, ConvertError> {
    let path = path.as_ref();
    detect(path)?.dump(path)
}

/// Reports every fault of a file. `options` are those of BinTensors; the other formats are read to their end. A file whose
/// format is known is checked by [`Format::validate`].
///
/// # Errors
/// Only when it cannot be read.
pub fn validate(path: impl AsRef<Path>, options: &ValidateOptions) -> Result<Report, ConvertError> {
    let path = path.as_ref();
    detect(path)?.validate(path, options)
}

/// What there is to report about a file that was opened, or not; `read_all` reads every tensor, too.
pub(crate) fn opened_report(
    opened: Result<Box<dyn TensorFile>, ConvertError>,
    read_all: bool,
) -> Result<Report, ConvertError> {
    let mut report = Report::new();
    let file = match opened {
        Ok(file) => file,
        Err(error) => {
            report.push(finding(error)?);
            return Ok(report);
        }
    };
    for remark in file.remarks().into_iter().filter(|remark| !remark.feature.is_note()) {
        report.push(Finding::warning(remark.feature.name(), remark.what).level("structure"));
    }
    for array in file.unreadable() {
        let message = format!("array {:?}: {}", array.name, array.what);
        report.push(Finding::warning("not_a_tensor", message).level("structure"));
    }
    if read_all {
        self::read_all(&*file, &mut report)?;
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

/// The length field and as much of the header as there is, for formats that begin with an eight-byte length.
pub(crate) fn sized_head(source: &dyn ReadAt) -> Result<Vec<u8>, ConvertError> {
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

/// The tensors of a data section, by their place in the file.
pub(crate) fn data_tree(span: Range<u64>, entries: &[Entry]) -> Tree {
    let mut data = Tree::new("data", span);
    for entry in entries {
        let what = format!("{} {:?}", entry.dtype, entry.shape);
        data.push(Tree::new(entry.name.clone(), entry.span.unwrap_or_default()).value(what));
    }
    data
}

/// A text for a line of a tree or a list: its beginning, where it is long.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}… ({} bytes)", text.get(..end).unwrap_or_default(), text.len()),
        None => text.to_owned(),
    }
}

/// Enough to recognise a text by.
const SHOWN_CHARS: usize = 200;

/// `1 tensor`, `2 tensors`.
pub(crate) fn tensor_count(count: usize) -> String {
    match count {
        1 => "1 tensor".to_owned(),
        count => format!("{count} tensors"),
    }
}
