//! What tools show of a file: a summary, a list, a tree of byte ranges, a list of faults.

use crate::model::{Entry, TensorFile, Unreadable};
use crate::{ConvertError, Format, detect, open};
use fw_bintensors::validate::ValidateOptions;
use fw_report::{Finding, Report, Tree};
use fw_source::{FileSource, ReadAt};
use fw_stats::Stats;
use fw_tensor::DType;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A summary of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Info {
    /// Its format.
    pub format: Format,
    /// Bytes of the file. For a checkpoint in several files those of its index and, where they are on this machine, of its shards.
    pub file_len: u64,
    /// Files that hold its tensors, for a checkpoint in several.
    pub shard_count: Option<usize>,
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
    /// The file that holds it, where an index of several files was opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
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
    let file = open(path)?;
    match path.is_dir() {
        true => summary(&*file, 0),
        false => info_of(&*file, &FileSource::open(path)?),
    }
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
    let shards: BTreeSet<&str> = file.entries().iter().filter_map(|entry| entry.shard.as_deref()).collect();
    let mut info = Info {
        format: file.format(),
        file_len: file_len.saturating_add(file.shards_len().unwrap_or(0)),
        shard_count: (file.format() == Format::ShardIndex).then_some(shards.len()),
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
            shard: entry.shard.as_deref().map(str::to_owned),
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

/// Counts NaN and infinite elements: a warning per tensor that has some.
///
/// # Errors
/// When the file fails or is wrong.
pub fn non_finite(file: &dyn TensorFile) -> Result<Vec<Finding>, ConvertError> {
    let mut found = Vec::new();
    for (index, entry) in file.entries().iter().enumerate() {
        // Integers have none, and neither have the floats below a byte.
        if matches!(
            entry.dtype,
            DType::Bool
                | DType::Int8
                | DType::Int16
                | DType::Int32
                | DType::Int64
                | DType::UInt8
                | DType::UInt16
                | DType::UInt32
                | DType::UInt64
        ) {
            continue;
        }
        let Ok(mut stats) = Stats::new(entry.dtype) else { continue };
        file.stream(index, &mut |piece| {
            match fw_tensor::ByteOrder::NATIVE {
                fw_tensor::ByteOrder::Little => stats.update(piece),
                fw_tensor::ByteOrder::Big => {
                    let mut native = piece.to_vec();
                    fw_tensor::swap_in_place(&mut native, entry.dtype.swap_unit());
                    stats.update(&native);
                }
            }
            Ok(())
        })?;
        let length = |error: fw_stats::StatsError| ConvertError::format("length_mismatch", error.to_string(), None);
        let summary = stats.finish().map_err(length)?;
        let infinite = summary.pos_inf.saturating_add(summary.neg_inf);
        for (code, count, what) in [("nan_detected", summary.nan, "NaN"), ("inf_detected", infinite, "infinite")] {
            if count > 0 {
                let message = format!("{:?}: {count} of {} elements are {what}", entry.name, summary.count);
                found.push(Finding::warning(code, message).object(index as u64).level("fidelity"));
            }
        }
    }
    Ok(found)
}
