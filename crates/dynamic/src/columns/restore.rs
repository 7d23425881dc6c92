//! Columns to payloads.

use super::decode::{Capture, Header, Table};
use super::gather::open;
use crate::codec::Layout;
use crate::image::{part, trim};

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
