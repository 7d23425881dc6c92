//! Every rule of the header, record by record (BT-5, BT-7, BT-8).

use crate::describe::carried;
use crate::wire::{Fault, PADDING, SIZE_LEN, Scan};
use crate::{Dtype, HeaderLimits, Metadata, Profile, ReadOptions, Shape, TensorInfo, budget_exceeded_at};
use fw_report::{Finding, Report, Severity};
use std::collections::{BTreeMap, HashSet};

/// Walks the whole header and reports each broken rule. Faults of the grammar end the walk; the reader names those.
pub(super) fn check(header: &[u8], file_len: u64, profile: Profile, report: &mut Report) {
    let mut walk = Walk { scan: Scan::new(header), profile, report, user: BTreeMap::new(), infos: Vec::new() };
    if walk.header().is_err() {
        return;
    }
    walk.padding(header.len());
    walk.records(file_len, header.len() as u64);
    let report = walk.report;
    if let Some(at) = budget_exceeded_at(header) {
        let message = "the reference readers refuse this file: it exceeds their internal memory budget (BT-7.8)";
        report.push(Finding::warning("over_reference_budget", message).at(at..at).level("compatibility"));
    }
    if report.is_ok() && profile != Profile::Canonical {
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend_from_slice(header);
        let canonical = ReadOptions::new().with_profile(Profile::Canonical).with_limits(HeaderLimits::default());
        if let Err(error) = Metadata::parse(&file, None, &canonical) {
            let at = error.position().unwrap_or(SIZE_LEN as u64);
            report.push(Finding::new(Severity::Note, "non_canonical", error.detail()).at(at..at).level("canonical"));
        }
    }
}

struct Walk<'a, 'r> {
    scan: Scan<'a>,
    profile: Profile,
    report: &'r mut Report,
    user: BTreeMap<&'a str, &'a str>,
    /// Position of the record, and what it says.
    infos: Vec<(u64, u64, TensorInfo<'a>)>,
}

impl Walk<'_, '_> {
    fn at(&self) -> u64 {
        (self.scan.consumed() as u64).saturating_add(SIZE_LEN as u64)
    }

    /// What only the default profile refuses is a warning to lenient readers.
    fn strictness(&self) -> Severity {
        if self.profile == Profile::Compat { Severity::Warning } else { Severity::Error }
    }

    fn header(&mut self) -> Result<(), Fault> {
        if self.scan.byte()? == 1 {
            for _ in 0..self.scan.varint()? {
                let start = self.at();
                let (key, value) = (self.scan.text()?, self.scan.text()?);
                if self.user.insert(key, value).is_some() {
                    let message = format!("metadata key {key:?} appears more than once");
                    let finding = Finding::new(self.strictness(), "duplicate_metadata_key", message);
                    self.report.push(finding.at(start..self.at()).on(format!("metadata[{key:?}]")).level("structure"));
                }
            }
        }
        for _ in 0..self.scan.varint()? {
            let start = self.at();
            let name = self.scan.text()?;
            let dtype = Dtype::from_number(self.scan.varint32()?).ok_or(Fault::Integer)?;
            let rank = usize::try_from(self.scan.varint()?).map_err(|_| Fault::End)?;
            if rank > self.scan.remaining() {
                return Err(Fault::End);
            }
            let shape = Shape::collect(rank, || self.scan.varint())?;
            let data_offsets = (self.scan.varint()?, self.scan.varint()?);
            self.infos.push((start, self.at(), TensorInfo { name, dtype, shape, data_offsets }));
        }
        Ok(())
    }

    fn padding(&mut self, header_len: usize) {
        let padding = self.scan.rest();
        if let Some(position) = padding.iter().position(|byte| *byte != PADDING) {
            let start = self.at().saturating_add(position as u64);
            let end = (header_len as u64).saturating_add(SIZE_LEN as u64);
            let message =
                "bytes other than spaces after the last record: readers ignore them, so they can hide anything";
            let finding = Finding::new(self.strictness(), "invalid_padding", message);
            self.report.push(finding.at(start..end).on("header.padding").level("structure"));
        }
    }

    fn records(&mut self, file_len: u64, header_len: u64) {
        let mut names = HashSet::new();
        let mut end_before = 0u64;
        let data_start = header_len.saturating_add(SIZE_LEN as u64);
        for (index, (start, end, info)) in self.infos.iter().enumerate() {
            let (from, to) = info.data_offsets;
            let mut push = |severity, code: &'static str, message: String| {
                let path = format!("tensors[{:?}]", info.name);
                let finding = Finding::new(severity, code, message).at(*start..*end).on(path);
                self.report.push(finding.object(index as u64).level("layout"));
            };
            if !names.insert(info.name) {
                push(Severity::Error, "duplicate_tensor_name", "this name was used before".to_owned());
            }
            if from != end_before || to < from {
                let message = format!("claims bytes {from}..{to}, must begin at {end_before} and not end before");
                push(Severity::Error, "invalid_offset", message);
            }
            match fw_tensor::byte_len(info.dtype.common(), &info.shape) {
                Err(_) => {
                    let message = format!("the size of shape {:?} does not fit in 64 bits", info.shape);
                    push(Severity::Error, "shape_overflow", message);
                }
                Ok(len) if to >= from && len != to.saturating_sub(from) => {
                    let found = to.saturating_sub(from);
                    let message = format!("{} {:?} needs {len} bytes, has {found}", info.dtype, info.shape);
                    push(Severity::Error, "tensor_size_mismatch", message);
                }
                Ok(_) => {}
            }
            let address = data_start.saturating_add(from);
            if address.checked_rem(info.dtype.size()).is_some_and(|rest| rest != 0) && to > from {
                let message = format!(
                    "starts at byte {address}, which is not a multiple of its element size: it cannot be viewed in place"
                );
                push(Severity::Note, "misaligned_tensor", message);
            }
            if let Some(Err(why)) = carried(info, |key| self.user.get(key).copied()) {
                push(Severity::Warning, "invalid_carried_type", why);
            }
            end_before = to;
        }
        let expected = data_start.saturating_add(end_before);
        if expected != file_len {
            let message = format!("header and tensors make {expected} bytes, the file has {file_len}");
            let span = expected.min(file_len)..expected.max(file_len);
            self.report.push(Finding::error("data_length_mismatch", message).at(span).on("data").level("layout"));
        }
    }
}
