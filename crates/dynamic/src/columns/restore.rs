//! Columns to payloads, also those that were stored elsewhere in between.

use super::Column;
use super::decode::{Capture, Stray, Table};
use super::gather::open;
use super::plan::Plan;
use crate::codec::Codec;
use crate::error::Error;
use crate::image::{part, trim};
use fw_schema::layout::Message;
use fw_structframe::{Header, Layout};
use std::collections::BTreeMap;

/// What a stored table consists of. Types and dimensions are those that the message dictates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Place of each payload among all of the capture; its length is the number of rows.
    pub arrival: Vec<u64>,
    /// SEQ of each.
    pub sequence: Vec<u8>,
    /// SYS of each.
    pub system: Vec<u8>,
    /// COMP of each.
    pub component: Vec<u8>,
    /// Path and bytes of each column, in any order.
    pub columns: Vec<(String, Vec<u8>)>,
    /// Payloads that the columns cannot give back, by row.
    pub irregular: BTreeMap<u64, Vec<u8>>,
}

impl<'s> Table<'s> {
    /// A table from its stored parts.
    ///
    /// # Errors
    /// When a column is missing, unknown or has another number of bytes than its rows need.
    pub fn from_parts(codec: &Codec<'s>, message: &'s Message, layout: Layout, parts: Parts) -> Result<Self, Error> {
        let plan = Plan::new(codec.schema(), message)?;
        let rows = parts.arrival.len();
        let check = |path: &str, need: Option<usize>, have: usize| match need {
            Some(need) if need == have => Ok(()),
            _ => Err(Error::new("column_length", format!("{have} bytes for {rows} rows")).inside(path)),
        };
        check("@sequence", Some(rows), parts.sequence.len())?;
        check("@system", Some(rows), parts.system.len())?;
        check("@component", Some(rows), parts.component.len())?;
        let Parts { arrival, sequence, system, component, columns: stored, irregular } = parts;
        let mut given: BTreeMap<String, Vec<u8>> = stored.into_iter().collect();
        let mut columns = Vec::with_capacity(plan.leaves.len());
        for leaf in &plan.leaves {
            let data = given.remove(&leaf.path);
            let data = data.ok_or_else(|| Error::new("missing_column", "no such column").inside(&leaf.path))?;
            check(&leaf.path, rows.checked_mul(leaf.run * leaf.places.len()), data.len())?;
            columns.push(Column {
                path: leaf.path.clone(),
                role: leaf.role,
                dtype: leaf.dtype,
                dims: leaf.dims.clone(),
                data,
            });
        }
        if let Some(stranger) = given.keys().next() {
            let words = format!("message `{}` has no such column", message.name);
            return Err(Error::new("unknown_column", words).inside(stranger));
        }
        Ok(Self { message, rows, arrival, sequence, system, component, columns, irregular, plan, layout })
    }
}

impl<'s> Capture<'s> {
    /// A capture from stored tables and strays.
    pub fn new(layout: Layout, tables: Vec<Table<'s>>, strays: Vec<Stray>) -> Self {
        Self { tables, strays, layout }
    }
}

impl Table<'_> {
    /// The payload of a row, byte by byte as it arrived; `None` when there is no such row.
    pub fn payload(&self, row: usize) -> Option<Vec<u8>> {
        if row >= self.rows {
            return None;
        }
        if let Some(payload) = self.irregular.get(&(row as u64)) {
            return Some(payload.clone());
        }
        let image = self.image(row);
        if self.layout == Layout::Fixed || !self.message.variable {
            return Some(image);
        }
        let mut payload = Vec::with_capacity(image.len());
        trim(self.message, &image, &mut payload);
        Some(payload)
    }

    /// The fixed layout of a row.
    fn image(&self, row: usize) -> Vec<u8> {
        let mut image = vec![0; self.message.sizes.max];
        // Tags come before what they guard, so a guard can be read from the image being built.
        for (leaf, column) in self.plan.leaves.iter().zip(&self.columns) {
            if leaf.role.is_derived(leaf.source) {
                continue;
            }
            let per_row = leaf.run * leaf.places.len();
            let cells = part(&column.data, row * per_row, per_row);
            for (index, (place, cell)) in leaf.places.iter().zip(cells.chunks_exact(leaf.run.max(1))).enumerate() {
                let place = *place as usize;
                if open(&leaf.guards, index, &image)
                    && let Some(bytes) = image.get_mut(place..place + leaf.run)
                {
                    bytes.copy_from_slice(cell);
                }
            }
        }
        image
    }
}

impl Capture<'_> {
    /// Every payload as it arrived, in the order of arrival: id, the rest of the header, bytes.
    pub fn payloads(&self) -> impl Iterator<Item = (u16, Header, Vec<u8>)> + '_ {
        let rows = self.tables.iter().enumerate();
        let mut order: Vec<(u64, Option<usize>, usize)> = rows
            .flat_map(|(at, table)| {
                table.arrival.iter().enumerate().map(move |(row, arrival)| (*arrival, Some(at), row))
            })
            .chain(self.strays.iter().enumerate().map(|(row, stray)| (stray.arrival, None, row)))
            .collect();
        order.sort_unstable();
        order.into_iter().filter_map(|(_, table, row)| match table {
            Some(at) => {
                let table = &self.tables[at];
                let header = Header {
                    sequence: *table.sequence.get(row)?,
                    system: *table.system.get(row)?,
                    component: *table.component.get(row)?,
                };
                Some((table.message.id?, header, table.payload(row)?))
            }
            None => self.strays.get(row).map(|stray| (stray.id, stray.header, stray.payload.clone())),
        })
    }
}
