//! Payloads to columns.

use super::Column;
use super::gather::{gather, is_blank};
use super::plan::{Plan, Role, Source};
use crate::codec::Codec;
use crate::error::Error;
use crate::image::trim;
use fw_schema::layout::Message;
use fw_structframe::{Header, Layout};
use std::collections::BTreeMap;
use std::collections::HashMap;

/// Bytes of images collected before they are taken apart: small enough to stay in a core's cache.
const BLOCK_LEN: usize = 128 << 10;

/// The same for rows, whose images may have no bytes at all.
const BLOCK_ROWS: usize = 8 << 10;

/// Takes payloads one by one and sorts them into columns.
#[derive(Debug)]
pub struct Decoder<'c, 's> {
    codec: &'c Codec<'s>,
    layout: Layout,
    arrivals: u64,
    by_id: HashMap<u16, usize>,
    /// The table of the message before: the next one is often of the same kind.
    recent: Option<(u16, usize)>,
    tables: Vec<Open<'s>>,
    strays: Vec<Stray>,
}

/// A payload that is in no table: of an unknown id, or not readable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stray {
    /// Place among all payloads.
    pub arrival: u64,
    /// Effective id.
    pub id: u16,
    /// The rest of its header.
    pub header: Header,
    /// Its bytes.
    pub payload: Vec<u8>,
    /// Why it could not be read; `None` when the schema does not know the id.
    pub fault: Option<Error>,
}

impl Stray {
    /// A payload that is in no table.
    pub fn new(arrival: u64, id: u16, header: Header, payload: Vec<u8>) -> Self {
        Self { arrival, id, header, payload, fault: None }
    }
}

/// All columns of a capture.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Capture<'s> {
    /// One table per message type, in order of first arrival.
    pub tables: Vec<Table<'s>>,
    /// Payloads that are in no table, in order of arrival.
    pub strays: Vec<Stray>,
    /// Which layout the payloads have.
    pub layout: Layout,
}

/// All payloads of one message type.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Table<'s> {
    /// The message.
    pub message: &'s Message,
    /// How many payloads.
    pub rows: usize,
    /// Place of each payload among all of the capture.
    pub arrival: Vec<u64>,
    /// SEQ of each.
    pub sequence: Vec<u8>,
    /// SYS of each.
    pub system: Vec<u8>,
    /// COMP of each.
    pub component: Vec<u8>,
    /// The leaves, in wire order.
    pub columns: Vec<Column>,
    /// Payloads that a careful encoder would have written otherwise, by row: the columns say what they mean, this how
    /// they were spelt.
    pub irregular: BTreeMap<u64, Vec<u8>>,
    pub(super) plan: Plan,
    pub(super) layout: Layout,
}

impl Table<'_> {
    /// The column of this path.
    pub fn column(&self, path: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.path == path)
    }
}

/// A table being filled.
#[derive(Debug)]
struct Open<'s> {
    table: Table<'s>,
    /// Images not yet taken apart.
    block: Vec<u8>,
    /// Arrivals and headers not yet taken apart.
    headers: Vec<(u64, Header)>,
    /// How many rows have been taken apart.
    flushed: usize,
}

impl<'c, 's> Decoder<'c, 's> {
    /// A decoder for payloads in one layout.
    pub fn new(codec: &'c Codec<'s>, layout: Layout) -> Self {
        Self { codec, layout, arrivals: 0, by_id: HashMap::new(), recent: None, tables: Vec::new(), strays: Vec::new() }
    }

    /// Takes the payload of one frame. Payloads of unknown ids and unreadable ones are kept as strays.
    ///
    /// # Errors
    /// When the message has so many leaves that columns make no sense.
    pub fn push(&mut self, id: u16, header: Header, payload: &[u8]) -> Result<(), Error> {
        let arrival = self.arrivals;
        self.arrivals += 1;
        let stray = |fault| Stray { arrival, id, header, payload: payload.to_vec(), fault };
        let Some(at) = self.table(id)? else {
            self.strays.push(stray(None));
            return Ok(());
        };
        let open = &mut self.tables[at];
        let message = open.table.message;
        let begin = open.block.len();
        let expanded = match self.codec.append_image(message, self.layout, payload, &mut open.block) {
            Ok(expanded) => expanded,
            Err(fault) => {
                self.strays.push(stray(Some(fault)));
                return Ok(());
            }
        };
        let image = open.block.get(begin..).unwrap_or_default();
        let blank = open.table.plan.blanks.iter().all(|blank| is_blank(blank, image));
        let irregular = expanded.short || expanded.irregular || !blank;
        if irregular {
            open.table.irregular.insert(open.table.rows as u64, payload.to_vec());
        }
        open.table.rows += 1;
        open.headers.push((arrival, header));
        if open.block.len() >= BLOCK_LEN || open.headers.len() >= BLOCK_ROWS {
            open.flush();
        }
        Ok(())
    }

    /// The columns of everything taken so far.
    pub fn finish(mut self) -> Capture<'s> {
        for open in &mut self.tables {
            open.flush();
        }
        let tables = self.tables.into_iter().map(|open| open.table).collect();
        Capture { tables, strays: self.strays, layout: self.layout }
    }

    fn table(&mut self, id: u16) -> Result<Option<usize>, Error> {
        if let Some((recent, at)) = self.recent
            && recent == id
        {
            return Ok(Some(at));
        }
        let found = match self.by_id.get(&id) {
            Some(at) => Some(*at),
            None => match self.codec.schema().by_id(id) {
                Some(message) => {
                    let open =
                        Open::new(self.codec, message, self.layout).map_err(|fault| fault.inside(&message.name))?;
                    self.tables.push(open);
                    self.by_id.insert(id, self.tables.len() - 1);
                    Some(self.tables.len() - 1)
                }
                None => None,
            },
        };
        self.recent = found.map(|at| (id, at));
        Ok(found)
    }
}

impl<'s> Open<'s> {
    fn new(codec: &Codec<'s>, message: &'s Message, layout: Layout) -> Result<Self, Error> {
        let plan = Plan::new(codec.schema(), message)?;
        let columns = plan.leaves.iter().map(|leaf| Column {
            path: leaf.path.clone(),
            role: leaf.role,
            dtype: leaf.dtype,
            dims: leaf.dims.clone(),
            data: Vec::new(),
        });
        let table = Table {
            message,
            rows: 0,
            arrival: Vec::new(),
            sequence: Vec::new(),
            system: Vec::new(),
            component: Vec::new(),
            columns: columns.collect(),
            irregular: BTreeMap::new(),
            plan,
            layout,
        };
        Ok(Self { table, block: Vec::new(), headers: Vec::new(), flushed: 0 })
    }

    fn flush(&mut self) {
        self.table.arrival.extend(self.headers.iter().map(|(arrival, _)| *arrival));
        self.table.sequence.extend(self.headers.iter().map(|(_, header)| header.sequence));
        self.table.system.extend(self.headers.iter().map(|(_, header)| header.system));
        self.table.component.extend(self.headers.iter().map(|(_, header)| header.component));
        self.headers.clear();
        let Table { plan, columns, irregular, message, layout, .. } = &mut self.table;
        let len = message.sizes.max;
        if len == 0 {
            return;
        }
        for (leaf, column) in plan.leaves.iter().zip(columns) {
            for row in gather(leaf, &self.block, len, &mut column.data) {
                // The payload was regular but for this: it is its image, trimmed if need be.
                let image = crate::image::part(&self.block, row * len, len);
                irregular.entry((self.flushed + row) as u64).or_insert_with(|| {
                    let mut payload = Vec::new();
                    if message.variable && *layout == Layout::Wire {
                        trim(message, image, &mut payload);
                    } else {
                        payload.extend_from_slice(image);
                    }
                    payload
                });
            }
        }
        self.flushed += self.block.len() / len;
        self.block.clear();
    }
}

impl Role {
    /// True when the column adds nothing that another does not hold.
    pub(super) fn is_derived(self, source: Source) -> bool {
        self == Self::Valid || matches!(source, Source::UpToZero(_))
    }
}
