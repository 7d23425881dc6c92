//! What a frame reader looks up by id (SF-13.4): sizes and seed bytes, nothing else.

use crate::layout::Schema;
use serde::Serialize;

/// One row of the lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Record {
    /// Effective id.
    pub id: u16,
    /// `MAX_SIZE`.
    pub max_size: usize,
    /// `BASE_SIZE`.
    pub base_size: usize,
    /// `MIN_SIZE`.
    pub min_size: usize,
    /// Seed bytes of the checksum.
    pub magic: [u8; 2],
}

/// The rows of all messages that can be framed, by ascending id.
pub fn records(schema: &Schema) -> Vec<Record> {
    let record = |(id, message): (u16, &crate::layout::Message)| Record {
        id,
        max_size: message.sizes.max,
        base_size: message.sizes.base,
        min_size: message.sizes.min,
        magic: message.magic,
    };
    schema.ids().map(record).collect()
}
