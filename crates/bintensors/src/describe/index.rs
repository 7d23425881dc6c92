//! Names to records: by the order of a canonical file, or by a hash index built when it pays.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::OnceLock;

/// Runs of one element type in a file sorted as the canonical writer sorts. Inside a run, names ascend.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    starts: [u32; MAX_GROUPS],
    count: usize,
}

/// There are fifteen element types, and in a sorted file each forms at most one run.
const MAX_GROUPS: usize = 15;
/// Up to so many runs are merged by comparing their heads; beyond, hashing is cheaper.
const MERGEABLE: usize = 4;

impl Groups {
    /// A run begins at record `index`. Past fifteen the file cannot be sorted, and only the count matters.
    #[inline(always)]
    pub(crate) fn begin(&mut self, index: u32) {
        if let Some(slot) = self.starts.get_mut(self.count) {
            *slot = index;
        }
        self.count = self.count.saturating_add(1);
    }

    pub(crate) const fn overflowed(&self) -> bool {
        self.count > MAX_GROUPS
    }

    pub(crate) const fn is_single(&self) -> bool {
        self.count <= 1
    }

    pub(crate) const fn is_mergeable(&self) -> bool {
        self.count <= MERGEABLE
    }

    /// The runs, as ranges of record numbers.
    pub(crate) fn ranges(&self, total: usize) -> Vec<Range<u32>> {
        let starts = self.starts.get(..self.count).unwrap_or(&self.starts);
        let ends = starts.iter().skip(1).copied().chain(std::iter::once(total as u32));
        starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
    }

    /// Searches each run in halves.
    pub(crate) fn find<'a>(&self, total: usize, name: &[u8], name_of: impl Fn(u32) -> &'a [u8]) -> Option<usize> {
        let starts = self.starts.get(..self.count).unwrap_or(&self.starts);
        for (number, start) in starts.iter().enumerate() {
            let end = starts.get(number + 1).copied().unwrap_or(total as u32);
            let (mut low, mut high) = (*start, end);
            while low < high {
                let middle = low + (high - low) / 2;
                match name_of(middle).cmp(name) {
                    std::cmp::Ordering::Less => low = middle + 1,
                    std::cmp::Ordering::Greater => high = middle,
                    std::cmp::Ordering::Equal => return Some(middle as usize),
                }
            }
        }
        None
    }
}

/// The first name that two runs share, as a record number; names ascend inside each run.
pub(crate) fn first_duplicate<'a>(runs: &[Range<u32>], name_of: impl Fn(u32) -> &'a [u8]) -> Option<u32> {
    if runs.len() < 2 {
        return None;
    }
    let mut heads: Vec<(Range<u32>, &[u8])> =
        runs.iter().filter(|run| !run.is_empty()).map(|run| (run.clone(), name_of(run.start))).collect();
    while heads.len() > 1 {
        let mut least = 0;
        let mut least_name = heads.first()?.1;
        for (position, (run, name)) in heads.iter().enumerate().skip(1) {
            match (*name).cmp(least_name) {
                std::cmp::Ordering::Less => (least, least_name) = (position, name),
                std::cmp::Ordering::Equal => return Some(run.start),
                std::cmp::Ordering::Greater => {}
            }
        }
        let (run, name) = heads.get_mut(least)?;
        run.start += 1;
        if run.start >= run.end {
            heads.swap_remove(least);
        } else {
            *name = name_of(run.start);
        }
    }
    None
}

/// An open-addressing table from names to records. A slot holds the record's position in the header plus one in its low
/// bits and a few bits of the hash above them, so that most wrong slots are passed over without looking at a name.
#[derive(Clone, Debug)]
pub(crate) struct NameIndex {
    slots: Vec<u32>,
}

/// A header has at most 100 000 000 bytes, whose positions 27 bits can number.
const POSITION_BITS: u32 = 27;
const POSITION_MASK: u32 = (1 << POSITION_BITS) - 1;

impl NameIndex {
    /// Indexes the records at `positions`. A record whose name came before is the error, beside what was indexed so far.
    pub(crate) fn build<'a>(positions: &[u32], name_of: impl Fn(u32) -> &'a [u8]) -> Result<Self, (Self, u32)> {
        let count = positions.len();
        let capacity = count.saturating_add(count / 2).saturating_add(1).next_power_of_two();
        let mut index = Self { slots: vec![0; capacity] };
        for position in positions {
            let name = name_of(*position);
            let (mut place, tag) = index.place(name);
            while let Some(slot) = index.slots.get_mut(place) {
                if *slot == 0 {
                    *slot = tag | position.wrapping_add(1);
                    break;
                }
                if *slot & !POSITION_MASK == tag && name_of((*slot & POSITION_MASK).wrapping_sub(1)) == name {
                    return Err((index, *position));
                }
                place = (place + 1) & (capacity - 1);
            }
        }
        Ok(index)
    }

    /// The position of the record with this name.
    pub(crate) fn find<'a>(&self, name: &[u8], name_of: impl Fn(u32) -> &'a [u8]) -> Option<u32> {
        let (mut place, tag) = self.place(name);
        // The table is never full, so an empty slot ends every search.
        loop {
            let slot = *self.slots.get(place)?;
            if slot == 0 {
                return None;
            }
            if slot & !POSITION_MASK == tag {
                let position = (slot & POSITION_MASK).wrapping_sub(1);
                if name_of(position) == name {
                    return Some(position);
                }
            }
            place = (place + 1) & (self.slots.len() - 1);
        }
    }

    pub(crate) fn heap_len(&self) -> usize {
        self.slots.capacity() * size_of::<u32>()
    }

    #[inline]
    fn place(&self, name: &[u8]) -> (usize, u32) {
        let hash = hash(name);
        (hash as usize & (self.slots.len() - 1), ((hash >> 32) as u32) & !POSITION_MASK)
    }
}

/// A keyed hash by folded multiplication. The keys are random for each process: a file cannot be made to collide.
#[inline]
fn hash(bytes: &[u8]) -> u64 {
    static KEYS: OnceLock<[u64; 2]> = OnceLock::new();
    let [first, second] = *KEYS.get_or_init(|| {
        let state = RandomState::new();
        [state.hash_one(1u8), state.hash_one(2u8) | 1]
    });
    let mut hash = first ^ (bytes.len() as u64);
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        hash = fold(hash ^ u64::from_le_bytes(*word), second);
    }
    // The last bytes, overlapping what was hashed before when there is something to overlap.
    let tail = match (bytes.last_chunk::<8>(), rest) {
        (_, []) => 0,
        (Some(last), _) => u64::from_le_bytes(*last),
        (None, rest) => match (rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
            (Some(head), Some(last)) => {
                u64::from(u32::from_le_bytes(*head)) << 32 | u64::from(u32::from_le_bytes(*last))
            }
            _ => rest.iter().fold(0, |tail, byte| tail << 8 | u64::from(*byte)),
        },
    };
    fold(fold(hash ^ tail, second) ^ second, first | 1)
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    (wide as u64) ^ ((wide >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn names(set: &[BTreeSet<String>]) -> (Vec<String>, Groups) {
        let mut all = Vec::new();
        let mut groups = Groups::default();
        for run in set.iter().filter(|run| !run.is_empty()) {
            groups.begin(all.len() as u32);
            all.extend(run.iter().cloned());
        }
        (all, groups)
    }

    proptest! {
        /// Both ways of finding a name agree with a plain search, and both ways of finding a duplicate with each other.
        #[test]
        fn search_and_hash_agree(
            runs in prop::collection::vec(prop::collection::btree_set("[a-c]{0,3}", 0..20), 0..4), asked in "[a-d]{0,3}"
        ) {
            let (all, groups) = names(&runs);
            let name_of = |index: u32| all[index as usize].as_bytes();
            let merged = first_duplicate(&groups.ranges(all.len()), name_of).map(|index| all[index as usize].clone());
            let distinct: BTreeSet<_> = all.iter().collect();
            prop_assert_eq!(merged.is_some(), distinct.len() < all.len());
            let numbers: Vec<u32> = (0..all.len() as u32).collect();
            match NameIndex::build(&numbers, name_of) {
                Err((_, number)) => prop_assert!(all[..number as usize].contains(&all[number as usize])),
                Ok(index) => {
                    prop_assert!(merged.is_none());
                    let plain = all.iter().position(|name| *name == asked);
                    prop_assert_eq!(index.find(asked.as_bytes(), name_of).map(|number| number as usize), plain);
                    prop_assert_eq!(groups.find(all.len(), asked.as_bytes(), name_of), plain);
                }
            }
        }
    }

    #[test]
    fn an_empty_index_finds_nothing() {
        let index = NameIndex::build(&[], |_| &[]).unwrap();
        assert_eq!(index.find(b"", |_| &[]), None);
    }
}
