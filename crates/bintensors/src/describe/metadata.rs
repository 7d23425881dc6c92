//! The header as users hold it: borrowed from a buffer, or owning its bytes.

use super::table::{Entry, check_padding};
use super::{Profile, ReadOptions, Shape, Table, TensorInfo, UserMetadata, check_canonical, logical};
use crate::error::BinTensorError;
use crate::wire::{MAX_HEADER_LEN, SIZE_LEN};
use fw_bytes::{Span, Step};
use fw_source::Buffers;
use fw_tensor::DType;
use std::fmt;

/// Everything a header says, borrowed from its bytes: opening costs one pass and four bytes of heap per tensor.
#[derive(Clone)]
pub struct Metadata<'a> {
    header: &'a [u8],
    table: Table,
}

impl<'a> Metadata<'a> {
    /// Reads the header at the beginning of `bytes`, which may end anywhere after it. `file_len` is the length of the
    /// whole file; without it, the length of the data section goes unchecked.
    ///
    /// # Errors
    /// The faults of BT-7, and those of the profile.
    #[inline]
    pub fn parse(bytes: &'a [u8], file_len: Option<u64>, options: &ReadOptions) -> Result<Self, BinTensorError> {
        let header = split_size(bytes, file_len, options)?;
        let before = (header.len() as u64).saturating_add(SIZE_LEN as u64);
        let data_len = file_len.map(|len| len.saturating_sub(before));
        let table = parse_table(header, data_len, options)?;
        Ok(Self { header, table })
    }

    /// The tensor of that name.
    pub fn info(&self, name: &str) -> Option<TensorInfo<'a>> {
        self.table.find(self.header, name)
    }

    /// The tensor of that name, without the header's copy of the name.
    pub(crate) fn entry(&self, name: &str) -> Option<Entry> {
        self.table.find_entry(self.header, name)
    }

    /// The tensor at a place in file order.
    pub fn info_at(&self, index: usize) -> Option<TensorInfo<'a>> {
        self.table.info(self.header, index)
    }

    /// Tensors in file order.
    pub fn infos(&self) -> impl ExactSizeIterator<Item = TensorInfo<'a>> + '_ {
        (0..self.table.len()).map(|index| info_or_empty(&self.table, self.header, index))
    }

    /// Names in file order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &'a str> + '_ {
        (0..self.table.len()).map(|index| self.table.name(self.header, index).unwrap_or_default())
    }

    /// Names in file order, owned.
    pub fn offset_keys(&self) -> Vec<String> {
        self.names().map(str::to_owned).collect()
    }

    /// The user's map, when the file has one.
    pub fn metadata(&self) -> Option<UserMetadata<'a>> {
        self.table.user.map(|span| UserMetadata::new(self.header, span))
    }

    /// What a tensor is to its user: element type and shape after undoing the carriage of newer types (BT-9).
    ///
    /// Looks through the user metadata each time; for many tensors, put it in a map once and use [`logical`].
    pub fn logical(&self, info: &TensorInfo<'_>) -> (DType, Vec<u64>) {
        let user = self.metadata();
        logical(info, |key| user.and_then(|user| user.get(key)))
    }

    /// Tensors.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the header, without the size field.
    pub fn header_len(&self) -> u64 {
        self.header.len() as u64
    }

    /// Bytes of the header before its padding.
    pub fn body_len(&self) -> u64 {
        u64::from(self.table.body_len)
    }

    /// Where the data section begins in the file.
    pub fn data_start(&self) -> u64 {
        self.header_len().saturating_add(SIZE_LEN as u64)
    }

    /// Bytes of the data section.
    pub fn data_len(&self) -> u64 {
        self.table.data_len
    }

    /// The bytes of a tensor in the file.
    pub fn span(&self, info: &TensorInfo<'_>) -> Span {
        // The check of the whole header has bounded both ends.
        let (start, end) = info.data_offsets;
        Span::new(self.data_start().saturating_add(start), self.data_start().saturating_add(end))
    }

    /// Builds the hash index for lookups now; otherwise it is built once lookups are frequent enough to pay for it.
    pub fn build_index(&self) {
        self.table.index(self.header);
    }

    /// Heap bytes this value holds.
    pub fn heap_len(&self) -> usize {
        self.table.heap_len()
    }

    /// A copy that owns the header.
    pub fn to_owned(&self) -> OwnedMetadata {
        OwnedMetadata { header: self.header.to_vec(), table: self.table.clone() }
    }

    /// The header's bytes, without the size field.
    pub const fn header(&self) -> &'a [u8] {
        self.header
    }
}

impl fmt::Debug for Metadata<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metadata").field("tensors", &self.len()).field("data_len", &self.data_len()).finish()
    }
}

/// A header that owns its bytes, for readers of files and ranges.
#[derive(Clone)]
pub struct OwnedMetadata {
    header: Vec<u8>,
    table: Table,
}

impl OwnedMetadata {
    /// Looks at the bytes at hand and either finishes or says which bytes it needs next: two requests at most, one for
    /// most files. Never asks for the data section.
    ///
    /// # Errors
    /// The faults of BT-7, and those of the profile.
    pub fn step(have: &Buffers, file_len: u64, options: &ReadOptions) -> Result<Step<Self>, BinTensorError> {
        let first = Span::new(0, file_len.min(FIRST_READ));
        let Some(bytes) = have.get(first) else {
            if first.is_empty() {
                return Err(BinTensorError::HeaderTooSmall { len: 0 });
            }
            return Ok(Step::need(first));
        };
        let len = read_size(bytes, Some(file_len), options)?;
        let span = Span::new(SIZE_LEN as u64, len.saturating_add(SIZE_LEN as u64));
        let Some(header) = have.get(span).or_else(|| span.slice_of(bytes, 0)) else { return Ok(Step::need(span)) };
        let table = parse_table(header, Some(file_len.saturating_sub(span.end)), options)?;
        Ok(Step::Done(Self { header: header.to_vec(), table }))
    }

    /// The tensor of that name.
    pub fn info(&self, name: &str) -> Option<TensorInfo<'_>> {
        self.table.find(&self.header, name)
    }

    /// The tensor at a place in file order.
    pub fn info_at(&self, index: usize) -> Option<TensorInfo<'_>> {
        self.table.info(&self.header, index)
    }

    /// Tensors in file order.
    pub fn infos(&self) -> impl ExactSizeIterator<Item = TensorInfo<'_>> + '_ {
        (0..self.table.len()).map(|index| info_or_empty(&self.table, &self.header, index))
    }

    /// Names in file order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> + '_ {
        (0..self.table.len()).map(|index| self.table.name(&self.header, index).unwrap_or_default())
    }

    /// The user's map, when the file has one.
    pub fn metadata(&self) -> Option<UserMetadata<'_>> {
        self.table.user.map(|span| UserMetadata::new(&self.header, span))
    }

    /// What a tensor is to its user: element type and shape after undoing the carriage of newer types (BT-9).
    ///
    /// Looks through the user metadata each time; for many tensors, put it in a map once and use [`logical`].
    pub fn logical(&self, info: &TensorInfo<'_>) -> (DType, Vec<u64>) {
        let user = self.metadata();
        logical(info, |key| user.and_then(|user| user.get(key)))
    }

    /// Tensors.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the header, without the size field.
    pub fn header_len(&self) -> u64 {
        self.header.len() as u64
    }

    /// Bytes of the header before its padding.
    pub fn body_len(&self) -> u64 {
        u64::from(self.table.body_len)
    }

    /// Where the data section begins in the file.
    pub fn data_start(&self) -> u64 {
        (self.header.len() as u64).saturating_add(SIZE_LEN as u64)
    }

    /// Bytes of the data section.
    pub fn data_len(&self) -> u64 {
        self.table.data_len
    }

    /// The bytes of a tensor in the file.
    pub fn span(&self, info: &TensorInfo<'_>) -> Span {
        let (start, end) = info.data_offsets;
        Span::new(self.data_start().saturating_add(start), self.data_start().saturating_add(end))
    }

    /// The header's bytes, without the size field.
    pub fn header(&self) -> &[u8] {
        &self.header
    }
}

impl fmt::Debug for OwnedMetadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedMetadata").field("tensors", &self.len()).field("data_len", &self.data_len()).finish()
    }
}

/// The header's bytes, after the checks of BT-7.1 to BT-7.3.
fn split_size<'a>(bytes: &'a [u8], file_len: Option<u64>, options: &ReadOptions) -> Result<&'a [u8], BinTensorError> {
    let len = read_size(bytes, file_len, options)?;
    let available = (bytes.len() as u64).saturating_sub(SIZE_LEN as u64);
    let rest = bytes.get(SIZE_LEN..).unwrap_or(&[]);
    usize::try_from(len)
        .ok()
        .and_then(|len| rest.get(..len))
        .ok_or(BinTensorError::InvalidHeaderLength { len, available })
}

fn read_size(bytes: &[u8], file_len: Option<u64>, options: &ReadOptions) -> Result<u64, BinTensorError> {
    let Some(size) = bytes.first_chunk::<SIZE_LEN>() else {
        return Err(BinTensorError::HeaderTooSmall { len: file_len.unwrap_or(bytes.len() as u64) });
    };
    let len = u64::from_le_bytes(*size);
    let cap = options.limits.header_len.min(MAX_HEADER_LEN);
    if len > cap {
        return Err(BinTensorError::HeaderTooLarge { len, cap });
    }
    match file_len.map(|file_len| file_len.saturating_sub(SIZE_LEN as u64)) {
        Some(available) if len > available => Err(BinTensorError::InvalidHeaderLength { len, available }),
        _ => Ok(len),
    }
}

/// The checks of BT-7 first, then those of the profile, so that a file the references refuse keeps its class.
#[inline(always)]
fn parse_table(header: &[u8], data_len: Option<u64>, options: &ReadOptions) -> Result<Table, BinTensorError> {
    let table = Table::parse(header, data_len, options)?;
    if options.profile == Profile::Compat {
        return Ok(table);
    }
    check_padding(header, table.body_len)?;
    if let Some(key) = table.user.and_then(|span| UserMetadata::new(header, span).duplicate_key()) {
        return Err(BinTensorError::DuplicateMetadataKey { key: key.to_owned() });
    }
    if options.profile == Profile::Canonical {
        check_canonical(header, &table)?;
    }
    Ok(table)
}

/// Every record was read once by the parse; an empty description keeps iteration total.
fn info_or_empty<'a>(table: &Table, header: &'a [u8], index: usize) -> TensorInfo<'a> {
    let empty = TensorInfo { name: "", dtype: crate::dtype::Dtype::U8, shape: Shape::from([0]), data_offsets: (0, 0) };
    table.info(header, index).unwrap_or(empty)
}

/// What the first request of a file asks for: the header of most files, in one read.
const FIRST_READ: u64 = 64 << 10;
