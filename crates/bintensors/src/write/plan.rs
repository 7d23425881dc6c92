//! Sorted infos, offsets and header bytes: everything about a file except its data (BT-6).

use super::WriteOptions;
use crate::describe::first_duplicate;
use crate::error::BinTensorError;
use crate::wire::{Fields, MAX_HEADER_LEN, PADDING, SIZE_LEN, text_len, varint_len};
use crate::{Dtype, Shape};
use std::collections::BTreeMap;

/// The layout of a file that has not been written yet.
#[derive(Clone, Debug)]
pub struct Plan {
    head: Vec<u8>,
    tensors: Vec<PlannedTensor>,
    data_len: u64,
}

/// One tensor of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTensor {
    /// Name.
    pub name: String,
    /// Element type.
    pub dtype: Dtype,
    /// Dimensions.
    pub shape: Shape,
    /// First byte and one past the last, counted from the beginning of the data section.
    pub data_offsets: (u64, u64),
}

impl Plan {
    /// Plans a file from descriptions alone.
    ///
    /// # Errors
    /// `ValidationOverflow`, `ValidationMismatch` for a name given twice, `HeaderTooLarge`.
    pub fn new<S: Into<String>, D: Into<Shape>>(
        tensors: impl IntoIterator<Item = (S, Dtype, D)>,
        options: &WriteOptions,
    ) -> Result<Self, BinTensorError> {
        let mut items: Vec<(String, Dtype, Shape)> =
            tensors.into_iter().map(|(name, dtype, shape)| (name.into(), dtype, shape.into())).collect();
        let order = canonical_order(&items, |(name, dtype, _)| (*dtype, name))?;
        let mut place = vec![0u32; items.len()];
        order.iter().zip(0..).for_each(|(from, to)| place[*from as usize] = to);
        sort_to(&mut items, place);
        let lens =
            items.iter().map(|(name, dtype, shape)| byte_len(name, *dtype, shape)).collect::<Result<Vec<_>, _>>()?;
        let rows =
            items.iter().zip(&lens).map(|((name, dtype, shape), len)| Row { name, dtype: *dtype, shape, len: *len });
        let (head, data_len) = encode_head(&rows.collect::<Vec<_>>(), options)?;
        let mut start = 0u64;
        let tensors = items.into_iter().zip(lens).map(|((name, dtype, shape), len)| {
            let end = start.saturating_add(len);
            let planned = PlannedTensor { name, dtype, shape, data_offsets: (start, end) };
            start = end;
            planned
        });
        Ok(Self { head, tensors: tensors.collect(), data_len })
    }

    /// The tensors, in file order.
    pub fn tensors(&self) -> &[PlannedTensor] {
        &self.tensors
    }

    /// Size field and header, ready to write.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Bytes of the whole file.
    pub fn file_len(&self) -> u64 {
        (self.head.len() as u64).saturating_add(self.data_len)
    }

    /// Bytes of the data section.
    pub const fn data_len(&self) -> u64 {
        self.data_len
    }
}

/// What the header needs to know of one tensor; rows come in canonical order.
pub(super) struct Row<'a> {
    pub(super) name: &'a str,
    pub(super) dtype: Dtype,
    pub(super) shape: &'a [u64],
    pub(super) len: u64,
}

/// The places of `items` in canonical order: descending type, then ascending name bytes (BT-6.1).
///
/// Most comparisons are settled by sixteen bytes beside the place: the type, and what follows the names' common prefix. The same
/// name twice under one type is `ValidationMismatch`.
pub(super) fn canonical_order<T>(items: &[T], key: impl Fn(&T) -> (Dtype, &str)) -> Result<Vec<u32>, BinTensorError> {
    let first = items.first().map_or(&[][..], |item| key(item).1.as_bytes());
    let shared = items.iter().fold(first.len(), |shared, item| {
        let name = key(item).1.as_bytes();
        first.iter().take(shared).zip(name).take_while(|(a, b)| a == b).count()
    });
    let mut places: Vec<(u128, u32)> = Vec::with_capacity(items.len());
    for (item, place) in items.iter().zip(0u32..) {
        let (dtype, name) = key(item);
        let rest = name.as_bytes().get(shared..).unwrap_or(&[]);
        let mut bytes = [0u8; 16];
        bytes[0] = u8::MAX - dtype.number() as u8;
        match rest.first_chunk::<15>() {
            Some(chunk) => bytes[1..].copy_from_slice(chunk),
            None => bytes.iter_mut().skip(1).zip(rest).for_each(|(to, from)| *to = *from),
        }
        places.push((u128::from_be_bytes(bytes), place));
    }
    let name = |place: u32| items.get(place as usize).map_or(&[][..], |item| key(item).1.as_bytes());
    places.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| name(a.1).cmp(name(b.1))));
    let same = |pair: &&[(u128, u32)]| matches!(pair, [a, b] if a.0 == b.0 && name(a.1) == name(b.1));
    match places.windows(2).find(same).and_then(|pair| items.get(pair.first()?.1 as usize)) {
        Some(item) => Err(BinTensorError::ValidationMismatch { name: key(item).1.to_owned() }),
        None => Ok(places.iter().map(|(_, place)| *place).collect()),
    }
}

/// Moves each item to its place.
fn sort_to<T>(items: &mut [T], mut place: Vec<u32>) {
    for index in 0..items.len() {
        while place[index] as usize != index {
            let to = place[index] as usize;
            items.swap(index, to);
            place.swap(index, to);
        }
    }
}

/// Bytes that shape and element type ask for.
#[inline]
pub(super) fn byte_len(name: &str, dtype: Dtype, shape: &[u64]) -> Result<u64, BinTensorError> {
    let elements = shape.iter().try_fold(1u64, |count, dim| count.checked_mul(*dim));
    let bytes = elements.and_then(|count| count.checked_mul(dtype.size()));
    bytes.ok_or_else(|| BinTensorError::ValidationOverflow { name: name.to_owned() })
}

/// Size field and header for `rows`, and the length of the data section.
pub(super) fn encode_head(rows: &[Row<'_>], options: &WriteOptions) -> Result<(Vec<u8>, u64), BinTensorError> {
    check_names(rows)?;
    let mut body_len = user_len(options.metadata.as_ref()).saturating_add(varint_len(rows.len() as u64));
    let mut end = 0u64;
    for row in rows {
        let start = end;
        end = start
            .checked_add(row.len)
            .ok_or_else(|| BinTensorError::ValidationOverflow { name: row.name.to_owned() })?;
        let dims = row.shape.iter().map(|dim| varint_len(*dim)).fold(0, u64::saturating_add);
        body_len =
            [text_len(row.name), 1, varint_len(row.shape.len() as u64), dims, varint_len(start), varint_len(end)]
                .into_iter()
                .fold(body_len, u64::saturating_add);
    }
    let header_len = padded_len(body_len, options);
    if header_len > MAX_HEADER_LEN {
        return Err(BinTensorError::HeaderTooLarge { len: header_len, cap: MAX_HEADER_LEN });
    }

    let total = header_len as usize + SIZE_LEN;
    let mut head = Fields::with_len(total);
    head.bytes(&header_len.to_le_bytes());
    put_user(&mut head, options.metadata.as_ref());
    head.varint(rows.len() as u64);
    let mut start = 0u64;
    for row in rows {
        head.text(row.name);
        head.byte(row.dtype.number() as u8);
        head.varint(row.shape.len() as u64);
        row.shape.iter().for_each(|dim| head.varint(*dim));
        head.varint(start);
        start = start.saturating_add(row.len);
        head.varint(start);
    }
    debug_assert_eq!(head.len() as u64, body_len + SIZE_LEN as u64);
    Ok((head.filled(total, PADDING), end))
}

/// The header's length: the canonical multiple of 8, or more so that the data section begins at a wider multiple.
fn padded_len(body_len: u64, options: &WriteOptions) -> u64 {
    let align = options.align.bytes();
    let size = SIZE_LEN as u64;
    body_len.saturating_add(size).checked_next_multiple_of(align).unwrap_or(u64::MAX).saturating_sub(size)
}

/// No name under two types; the sort has found names twice under one.
fn check_names(rows: &[Row<'_>]) -> Result<(), BinTensorError> {
    if rows.first().map(|row| row.dtype) == rows.last().map(|row| row.dtype) {
        return Ok(());
    }
    let name_of = |index: u32| rows.get(index as usize).map_or(&[][..], |row| row.name.as_bytes());
    let mut runs = Vec::new();
    let mut start = 0u32;
    for run in rows.chunk_by(|a, b| a.dtype == b.dtype) {
        let end = start.saturating_add(run.len() as u32);
        runs.push(start..end);
        start = end;
    }
    match first_duplicate(&runs, name_of).and_then(|index| rows.get(index as usize)) {
        None => Ok(()),
        Some(row) => Err(BinTensorError::ValidationMismatch { name: row.name.to_owned() }),
    }
}

fn user_len(user: Option<&BTreeMap<String, String>>) -> u64 {
    user.map_or(1, |user| {
        user.iter()
            .map(|(key, value)| text_len(key).saturating_add(text_len(value)))
            .fold(varint_len(user.len() as u64).saturating_add(1), u64::saturating_add)
    })
}

fn put_user(out: &mut Fields, user: Option<&BTreeMap<String, String>>) {
    match user {
        None => out.byte(0),
        Some(user) => {
            out.byte(1);
            out.varint(user.len() as u64);
            // A B-tree of strings iterates in the order of their UTF-8 bytes, which is the canonical one.
            for (key, value) in user {
                out.text(key);
                out.text(value);
            }
        }
    }
}
