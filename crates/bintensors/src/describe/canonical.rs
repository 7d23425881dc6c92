//! Is a header exactly what the canonical writer makes of its content (BT-8.3)?

use super::{Table, UserMetadata};
use crate::error::BinTensorError;
use crate::wire::{HEADER_ALIGNMENT, PADDING, SIZE_LEN, put_text, put_varint};

/// Writes the content again and compares. The table has passed every other check.
pub(crate) fn check(header: &[u8], table: &Table) -> Result<(), BinTensorError> {
    let fail = |reason, at: usize| Err(BinTensorError::NonCanonical { reason, at: (at + SIZE_LEN) as u64 });
    let user = table.user.map(|span| UserMetadata::new(header, span));
    if user.is_some_and(|user| !user.is_ascending()) {
        return fail("metadata keys are not sorted", table.user.map_or(0, |span| span.start as usize));
    }
    if !table.is_ordered() {
        let at = table.user.map_or(1, |span| span.end as usize);
        return fail("tensors are not sorted by descending type and ascending name", at);
    }
    let written = write_again(header, table, user);
    if written == header {
        return Ok(());
    }
    let at = written.iter().zip(header).position(|(a, b)| a != b).unwrap_or(written.len().min(header.len()));
    if at < table.body_len as usize {
        fail("a number is not in its shortest form", at)
    } else {
        fail("the header is not padded with the fewest spaces to a multiple of 8", at)
    }
}

fn write_again(header: &[u8], table: &Table, user: Option<UserMetadata<'_>>) -> Vec<u8> {
    let mut out = Vec::with_capacity(header.len());
    match user {
        None => out.push(0),
        Some(user) => {
            out.push(1);
            put_varint(&mut out, user.len() as u64);
            for (key, value) in user.iter() {
                put_text(&mut out, key);
                put_text(&mut out, value);
            }
        }
    }
    put_varint(&mut out, table.len() as u64);
    for info in (0..table.len()).filter_map(|index| table.info(header, index)) {
        put_text(&mut out, info.name);
        put_varint(&mut out, u64::from(info.dtype.number()));
        put_varint(&mut out, info.shape.len() as u64);
        info.shape.iter().for_each(|dim| put_varint(&mut out, *dim));
        put_varint(&mut out, info.data_offsets.0);
        put_varint(&mut out, info.data_offsets.1);
    }
    out.resize(out.len().next_multiple_of(HEADER_ALIGNMENT as usize), PADDING);
    out
}
