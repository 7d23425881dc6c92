//! The header, parsed and checked in one pass (BT-7).
//!
//! The header is its own index: the table remembers where each record begins, four bytes per tensor, and reads a
//! record again when it is asked for. Nothing is copied out of the header.

use super::index::{Groups, NameIndex, first_duplicate};
use super::{ReadOptions, Shape, TensorInfo};
use crate::dtype::Dtype;
use crate::error::{BinTensorError, DecodeError, DecodeKind};
use crate::wire::{Fault, MIN_ENTRY_LEN, MIN_RECORD_LEN, PADDING, SIZE_LEN, Scan};
use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where things are in a header. All positions count from the first byte after the size field.
#[derive(Debug)]
pub(crate) struct Table {
    /// Where each record begins, in file order. A header is at most 100 000 000 bytes long.
    records: Records,
    /// Runs of equal element type with ascending names; present when the whole file is in canonical order.
    groups: Option<Groups>,
    /// The user metadata's entries, when there is a map at all.
    pub(crate) user: Option<UserSpan>,
    /// Bytes before the padding.
    pub(crate) body_len: u32,
    /// Bytes of all tensors together.
    pub(crate) data_len: u64,
    index: OnceLock<NameIndex>,
    lookups: AtomicU32,
}

/// The entries of the user metadata.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserSpan {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) count: u32,
    pub(crate) ascending: bool,
}

impl Table {
    /// Parses `header` (the bytes after the size field). `data_len` is the length of the data section when it is
    /// known.
    pub(crate) fn parse(header: &[u8], data_len: Option<u64>, options: &ReadOptions) -> Result<Self, BinTensorError> {
        let mut scan = Scan::new(header);
        let user = read_user(&mut scan, options)?;
        let claimed = read_count(&mut scan, options)?;

        // A count that the bytes cannot hold is found out by reading on, as the references do; memory follows the bytes.
        let mut records = Records::with_capacity(bounded(claimed, scan.remaining(), MIN_RECORD_LEN));
        let mut first_fault = None;
        let mut end_before = 0u64;
        let mut groups = Groups::default();
        let mut ordered = true;
        let mut name_before: &[u8] = &[];
        let mut dtype_before = u32::MAX;
        let max_name = options.limits.name_len;
        let max_rank = options.limits.rank;

        for index in 0..claimed {
            let at = scan.consumed();
            let record = match Record::read(&mut scan, max_name, max_rank) {
                Ok(record) => record,
                Err(fault) => return Err(fault.into_error(&scan, index)),
            };
            if record.dtype == dtype_before {
                ordered &= name_before < record.name;
            } else {
                ordered &= record.dtype < dtype_before;
                groups.begin(index as u32);
                dtype_before = record.dtype;
            }
            name_before = record.name;
            if !record.is_consistent(end_before) && first_fault.is_none() {
                first_fault = Some((at as u32, end_before));
            }
            end_before = record.end;
            records.push(at as u32);
        }

        let body_len = scan.consumed() as u32;
        let groups = (ordered && !groups.overflowed()).then_some(groups);
        let table = Self {
            records,
            groups,
            user,
            body_len,
            data_len: end_before,
            index: OnceLock::new(),
            lookups: AtomicU32::new(0),
        };
        table.check_names(header)?;
        if let Some((at, expected)) = first_fault {
            return Err(consistency_error(header, at, expected));
        }
        if let Some(found) = data_len
            && found != end_before
        {
            let before = (header.len() as u64).saturating_add(SIZE_LEN as u64);
            return Err(BinTensorError::MetadataIncompleteBuffer {
                expected: before.saturating_add(end_before),
                found: before.saturating_add(found),
            });
        }
        Ok(table)
    }

    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// The record at `index` in file order.
    pub(crate) fn info<'a>(&self, header: &'a [u8], index: usize) -> Option<TensorInfo<'a>> {
        read_record(header, *self.records.get(index)?)
    }

    /// The name of the record at `index`.
    pub(crate) fn name<'a>(&self, header: &'a [u8], index: usize) -> Option<&'a str> {
        std::str::from_utf8(name_at(header, *self.records.get(index)?)).ok()
    }

    /// Finds a record by name and reads it.
    pub(crate) fn find<'a>(&self, header: &'a [u8], name: &str) -> Option<TensorInfo<'a>> {
        read_record(header, self.position(header, name)?)
    }

    /// Finds a record by name and reads all but the name.
    pub(crate) fn find_entry(&self, header: &[u8], name: &str) -> Option<Entry> {
        let mut scan = Scan::new(header.get(self.position(header, name)? as usize..)?);
        let len = scan.varint().ok()?;
        scan.take(len).ok()?;
        Entry::read(&mut scan)
    }

    /// Builds the hash index now rather than after some lookups.
    pub(crate) fn index(&self, header: &[u8]) -> &NameIndex {
        let build = || NameIndex::build(&self.records, |at| name_at(header, at)).unwrap_or_else(|(index, _)| index);
        self.index.get_or_init(build)
    }

    fn position(&self, header: &[u8], name: &str) -> Option<u32> {
        let name_of = |at: u32| name_at(header, at);
        if let Some(index) = self.index.get() {
            return index.find(name.as_bytes(), name_of);
        }
        if let Some(groups) = &self.groups {
            // A search in the sorted header needs nothing built; a hash index pays off only after some lookups.
            let seen = self.lookups.fetch_add(1, Ordering::Relaxed) as usize;
            if seen.saturating_mul(LOOKUPS_PER_INDEX) < self.records.len() {
                let found = groups.find(self.records.len(), name.as_bytes(), |index| self.name_bytes(header, index));
                return self.records.get(found?).copied();
            }
        }
        self.index(header).find(name.as_bytes(), name_of)
    }

    /// True when records are sorted as the canonical writer sorts them.
    pub(crate) const fn is_ordered(&self) -> bool {
        self.groups.is_some()
    }

    /// Heap bytes held.
    pub(crate) fn heap_len(&self) -> usize {
        self.records.heap_len() + self.index.get().map_or(0, NameIndex::heap_len)
    }

    #[inline]
    fn name_bytes<'a>(&self, header: &'a [u8], index: u32) -> &'a [u8] {
        self.records.get(index as usize).map_or(&[], |at| name_at(header, *at))
    }

    /// No name twice (BT-7.5). Sorted files prove it by their order; others pay for an index, which lookups then use.
    fn check_names(&self, header: &[u8]) -> Result<(), BinTensorError> {
        let duplicate = match &self.groups {
            Some(groups) if groups.is_single() => None,
            Some(groups) if groups.is_mergeable() => {
                let runs = groups.ranges(self.records.len());
                first_duplicate(&runs, |index| self.name_bytes(header, index))
                    .map(|index| self.name_bytes(header, index))
            }
            _ => match NameIndex::build(&self.records, |at| name_at(header, at)) {
                Ok(index) => {
                    // Nothing has looked anything up yet, so the cell is empty.
                    let _ = self.index.set(index);
                    None
                }
                Err((_, at)) => Some(name_at(header, at)),
            },
        };
        match duplicate {
            None => Ok(()),
            Some(name) => Err(BinTensorError::ValidationMismatch { name: String::from_utf8_lossy(name).into_owned() }),
        }
    }
}

impl Clone for Table {
    fn clone(&self) -> Self {
        Self {
            records: self.records.clone(),
            groups: self.groups.clone(),
            user: self.user,
            body_len: self.body_len,
            data_len: self.data_len,
            index: self.index.clone(),
            lookups: AtomicU32::new(self.lookups.load(Ordering::Relaxed)),
        }
    }
}

/// Where records begin: in place for small files, which then open without any allocation.
#[derive(Clone, Debug)]
enum Records {
    Few { len: u8, at: [u32; FEW_RECORDS] },
    Many(Vec<u32>),
}

const FEW_RECORDS: usize = 12;

impl Records {
    /// Room for `count` records, and for no more than that.
    fn with_capacity(count: usize) -> Self {
        if count <= FEW_RECORDS {
            return Self::Few { len: 0, at: [0; FEW_RECORDS] };
        }
        Self::Many(Vec::with_capacity(count))
    }

    #[inline(always)]
    fn push(&mut self, position: u32) {
        match self {
            Self::Many(all) => all.push(position),
            Self::Few { len, at } => match at.get_mut(usize::from(*len)) {
                Some(place) => {
                    *place = position;
                    *len += 1;
                }
                // No header has more records than its bytes have room for; if one had, they would still all be kept.
                None => {
                    let mut all = at.to_vec();
                    all.push(position);
                    *self = Self::Many(all);
                }
            },
        }
    }

    fn heap_len(&self) -> usize {
        match self {
            Self::Few { .. } => 0,
            Self::Many(all) => all.capacity().saturating_mul(size_of::<u32>()),
        }
    }
}

impl Deref for Records {
    type Target = [u32];
    #[inline]
    fn deref(&self) -> &[u32] {
        match self {
            Self::Few { len, at } => at.get(..usize::from(*len)).unwrap_or(at),
            Self::Many(all) => all,
        }
    }
}

/// A record without its name.
pub(crate) struct Entry {
    pub(crate) dtype: Dtype,
    pub(crate) shape: Shape,
    pub(crate) data_offsets: (u64, u64),
}

impl Entry {
    /// Reads on after the name; the table's parse has checked these bytes before.
    #[inline]
    fn read(scan: &mut Scan<'_>) -> Option<Self> {
        let dtype = Dtype::from_number(scan.varint32().ok()?)?;
        let rank = scan.varint().ok()?;
        // Each dimension takes at least one byte.
        let rank = usize::try_from(rank).ok().filter(|rank| *rank <= scan.remaining())?;
        let shape = Shape::collect(rank, || scan.varint()).ok()?;
        Some(Self { dtype, shape, data_offsets: (scan.varint().ok()?, scan.varint().ok()?) })
    }
}

/// Reads the record that begins at `at`; the table's parse has checked it before.
fn read_record(header: &[u8], at: u32) -> Option<TensorInfo<'_>> {
    let mut scan = Scan::new(header.get(at as usize..)?);
    let name = scan.text().ok()?;
    let Entry { dtype, shape, data_offsets } = Entry::read(&mut scan)?;
    Some(TensorInfo { name, dtype, shape, data_offsets })
}

/// The name of the record that begins at `at`. Parsing read it before; an empty name keeps the function total.
#[inline]
fn name_at(header: &[u8], at: u32) -> &[u8] {
    let read = || {
        let mut scan = Scan::new(header.get(at as usize..)?);
        let len = scan.varint().ok()?;
        scan.take(len).ok()
    };
    read().unwrap_or(&[])
}

/// Checks that the bytes after the last record are all spaces (BT-5.8).
pub(crate) fn check_padding(header: &[u8], body_len: u32) -> Result<(), BinTensorError> {
    let padding = header.get(body_len as usize..).unwrap_or(&[]);
    match padding.iter().position(|byte| *byte != PADDING) {
        None => Ok(()),
        Some(position) => {
            let at = u64::from(body_len).saturating_add(position as u64).saturating_add(SIZE_LEN as u64);
            Err(BinTensorError::InvalidPadding { byte: padding.get(position).copied().unwrap_or(0), at })
        }
    }
}

/// The fields of a record that checking needs.
struct Record<'a> {
    name: &'a [u8],
    dtype: u32,
    /// Elements, or `None` when the product overflows.
    elements: Option<u64>,
    start: u64,
    end: u64,
}

/// Why a record could not be read; small, so that the loop stays fast.
struct RecordFault {
    kind: DecodeKind,
    what: &'static str,
    found: Option<u64>,
}

impl<'a> Record<'a> {
    #[inline(always)]
    fn read(scan: &mut Scan<'a>, max_name: u64, max_rank: u64) -> Result<Self, RecordFault> {
        let name_len = scan.varint().map_err(|fault| RecordFault::wire(fault, "name length"))?;
        if name_len > max_name {
            return Err(RecordFault::limit("name length", name_len));
        }
        let name = scan.take(name_len).map_err(|fault| RecordFault::wire(fault, "name"))?;
        if !is_utf8(name) {
            return Err(RecordFault::wire(Fault::Utf8, "name"));
        }
        let dtype = scan.varint32().map_err(|fault| RecordFault::wire(fault, "dtype"))?;
        if dtype as usize >= Dtype::ALL.len() {
            return Err(RecordFault {
                kind: DecodeKind::UnexpectedVariant,
                what: "dtype",
                found: Some(u64::from(dtype)),
            });
        }
        let rank = scan.varint().map_err(|fault| RecordFault::wire(fault, "ndim"))?;
        if rank > max_rank {
            return Err(RecordFault::limit("ndim", rank));
        }
        let mut elements = Some(1u64);
        for _ in 0..rank {
            let dim = scan.varint().map_err(|fault| RecordFault::wire(fault, "dimension"))?;
            elements = elements.and_then(|count| count.checked_mul(dim));
        }
        let start = scan.varint().map_err(|fault| RecordFault::wire(fault, "start offset"))?;
        let end = scan.varint().map_err(|fault| RecordFault::wire(fault, "end offset"))?;
        Ok(Self { name, dtype, elements, start, end })
    }

    /// The rules of BT-5.1 to BT-5.5 for one record.
    #[inline(always)]
    fn is_consistent(&self, end_before: u64) -> bool {
        let size = DTYPE_SIZES.get(self.dtype as usize).copied().unwrap_or(0);
        self.start == end_before
            && self.end >= self.start
            && self.elements.and_then(|count| count.checked_mul(size)) == Some(self.end.wrapping_sub(self.start))
    }
}

impl RecordFault {
    #[cold]
    fn wire(fault: Fault, what: &'static str) -> Self {
        Self { kind: fault.kind(), what, found: None }
    }

    #[cold]
    fn limit(what: &'static str, found: u64) -> Self {
        Self { kind: DecodeKind::LimitExceeded, what, found: Some(found) }
    }

    #[cold]
    fn into_error(self, scan: &Scan<'_>, record: u64) -> BinTensorError {
        decode_error(self.kind, self.what, Some(record), self.found, scan)
    }
}

/// Says which rule the record at `at` breaks (BT-7.6), in the order the references check them.
#[cold]
fn consistency_error(header: &[u8], at: u32, expected: u64) -> BinTensorError {
    let mut scan = Scan::new(header.get(at as usize..).unwrap_or(&[]));
    let Ok(record) = Record::read(&mut scan, u64::MAX, u64::MAX) else { return BinTensorError::InvalidHeader };
    let name = String::from_utf8_lossy(record.name).into_owned();
    if record.start != expected || record.end < record.start {
        let at = u64::from(at).saturating_add(SIZE_LEN as u64);
        return BinTensorError::InvalidOffset { name, expected, found: (record.start, record.end), at };
    }
    let size = DTYPE_SIZES.get(record.dtype as usize).copied().unwrap_or(0);
    match record.elements.and_then(|count| count.checked_mul(size)) {
        None => BinTensorError::ValidationOverflow { name },
        Some(expected) => {
            BinTensorError::TensorInvalidInfo { name, expected, found: record.end.saturating_sub(record.start) }
        }
    }
}

fn read_user(scan: &mut Scan<'_>, options: &ReadOptions) -> Result<Option<UserSpan>, BinTensorError> {
    let fail = |fault: Fault, what, scan: &Scan<'_>| decode_error(fault.kind(), what, None, None, scan);
    let tag_at = *scan;
    match scan.byte().map_err(|fault| fail(fault, "metadata option tag", scan))? {
        0 => return Ok(None),
        1 => {}
        other => {
            let found = Some(u64::from(other));
            return Err(decode_error(DecodeKind::UnexpectedVariant, "metadata option tag", None, found, &tag_at));
        }
    }
    let count = scan.varint().map_err(|fault| fail(fault, "metadata count", scan))?;
    let start = scan.consumed();
    let mut ascending = true;
    let mut key_before: Option<&str> = None;
    for _ in 0..count {
        let key = scan.text().map_err(|fault| fail(fault, "metadata key", scan))?;
        scan.text().map_err(|fault| fail(fault, "metadata value", scan))?;
        ascending &= key_before.is_none_or(|before| before < key);
        key_before = Some(key);
        let len = scan.consumed().saturating_sub(start) as u64;
        if len > options.limits.metadata_len {
            return Err(decode_error(DecodeKind::LimitExceeded, "metadata", None, Some(len), scan));
        }
    }
    // Each entry took two bytes or more of a header below 2^32 bytes.
    debug_assert!(count <= (scan.consumed() / MIN_ENTRY_LEN) as u64);
    Ok(Some(UserSpan { start: start as u32, end: scan.consumed() as u32, count: count as u32, ascending }))
}

fn read_count(scan: &mut Scan<'_>, options: &ReadOptions) -> Result<u64, BinTensorError> {
    let count = scan.varint().map_err(|fault| decode_error(fault.kind(), "tensor count", None, None, scan))?;
    if count > options.limits.tensor_count {
        return Err(decode_error(DecodeKind::LimitExceeded, "tensor count", None, Some(count), scan));
    }
    Ok(count)
}

#[cold]
fn decode_error(
    kind: DecodeKind,
    what: &'static str,
    record: Option<u64>,
    found: Option<u64>,
    scan: &Scan<'_>,
) -> BinTensorError {
    let at = (scan.consumed() as u64).saturating_add(SIZE_LEN as u64);
    BinTensorError::DecoderError(DecodeError { kind, what, record, found, at })
}

/// Items to reserve memory for: what is claimed, but no more than the bytes left could hold.
fn bounded(claimed: u64, remaining: usize, least: usize) -> usize {
    usize::try_from(claimed).unwrap_or(usize::MAX).min(remaining / least)
}

/// Strict UTF-8. Names are short and nearly always ASCII: eight bytes at a time settle those.
#[inline(always)]
fn is_utf8(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut high = words.iter().fold(0u64, |high, word| high | u64::from_le_bytes(*word));
    if let Some(last) = bytes.last_chunk::<8>() {
        high |= u64::from_le_bytes(*last);
    } else {
        high |= rest.iter().fold(0u64, |high, byte| high | u64::from(*byte));
    }
    high & 0x8080_8080_8080_8080 == 0 || std::str::from_utf8(bytes).is_ok()
}

const DTYPE_SIZES: [u64; 16] = {
    let mut sizes = [0; 16];
    let mut index = 0;
    while index < Dtype::ALL.len() {
        sizes[index] = Dtype::ALL[index].size();
        index += 1;
    }
    sizes
};

/// The hash index is built once lookups number more than one in this many tensors.
const LOOKUPS_PER_INDEX: usize = 32;
