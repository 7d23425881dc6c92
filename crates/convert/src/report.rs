//! What formats report: the faults of a file, and trees of its byte ranges.

use crate::ConvertError;
use crate::digests::{Job, Pass, described, stored_digests};
use crate::model::{Entry, TensorFile};
use fw_bintensors::digest_subject;
use fw_bintensors::validate::{DIGESTS_CHECKED, TENSORS};
use fw_report::{Finding, Report, Tree};
use fw_source::ReadAt;
use std::collections::BTreeMap;
use std::ops::Range;

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
        check_data(&*file, &mut report)?;
    }
    Ok(report)
}

pub(crate) fn finding(error: ConvertError) -> Result<Finding, ConvertError> {
    match error {
        ConvertError::Io(error) => Err(error.into()),
        error => Ok(fault(&error).level("structure")),
    }
}

/// An error as a finding.
pub(crate) fn fault(error: &ConvertError) -> Finding {
    let finding = Finding::error(error.code(), error.message());
    match error.position() {
        Some(at) => finding.at(at..at),
        None => finding,
    }
}

/// Reads every tensor, and reports data that differs from its digest, that is missing, or that cannot be read.
pub(crate) fn check_data(file: &dyn TensorFile, report: &mut Report) -> Result<(), ConvertError> {
    let stored = stored_digests(file);
    let all = 0..file.entries().len();
    let jobs = all.map(|place| Job { place, wanted: None }).collect();
    let verdicts = Pass { file, stored: Some(&stored) }.verdicts(jobs, &|_| {});
    let mut found: BTreeMap<usize, ConvertError> =
        verdicts.into_iter().filter_map(|(place, verdict)| Some((place, verdict.err()?))).collect();
    for (place, entry) in file.entries().iter().enumerate() {
        let Some(error) = found.remove(&place) else { continue };
        let on = |finding: Finding| finding.object(place as u64).level("data");
        report.push(match error {
            ConvertError::Io(error) => on(Finding::error("unreadable_data", format!("{:?}: {error}", entry.name))),
            ConvertError::BinTensors(error) => {
                let finding = on(Finding::error(error.code(), error.detail())).on(format!("tensors[{:?}]", entry.name));
                match entry.span {
                    Some(span) => finding.at(span),
                    None => finding,
                }
            }
            error => finding(error)?.object(place as u64),
        });
    }
    for key in stored.strays() {
        let name = digest_subject(key).unwrap_or_default();
        let message = format!("a digest is kept for {name:?}, but there is no such tensor");
        report.push(Finding::warning("digest_without_tensor", message).on(format!("metadata[{key:?}]")));
    }
    if let Err(error) = stored.check_manifest(described(file)) {
        report.push(Finding::error(error.code(), error.detail()).level("data"));
    }
    if file.format().contract().keeps_digests() {
        report.tally(TENSORS, file.entries().len() as u64);
        report.tally(DIGESTS_CHECKED, stored.count() as u64);
    }
    Ok(())
}

/// The length field and as much of the header as there is, for formats that begin with an eight-byte length.
pub(crate) fn sized_head(source: &dyn ReadAt) -> Result<Vec<u8>, ConvertError> {
    let file_len = source.len()?;
    let mut size = vec![0u8; file_len.min(SIZE_LEN) as usize];
    source.read_exact_at(0, &mut size)?;
    let claimed = size.first_chunk::<8>().map_or(0, |size| u64::from_le_bytes(*size));
    if claimed > MAX_HEADER_LEN {
        return Ok(size);
    }
    let len = claimed.saturating_add(SIZE_LEN).min(file_len);
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

/// The reference of safetensors refuses longer headers.
pub(crate) const MAX_HEADER_LEN: u64 = 100_000_000;
/// Bytes of the length that a header begins with.
pub(crate) const SIZE_LEN: u64 = 8;
