//! Lengths and codes from how often each symbol occurs.

use std::cmp::Reverse;

/// A prefix code over the symbols that occur, canonical: shorter codes first, equal lengths in symbol order.
#[derive(Debug)]
pub(in super::super) struct CodeBook {
    /// In the order of their codes.
    leaves: Vec<Leaf>,
    bit_len: u64,
}

/// A symbol and its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    pub(super) symbol: u16,
    pub(super) len: u8,
    pub(super) code: u32,
}

impl CodeBook {
    /// The best code for the symbols of a histogram.
    pub(in super::super) fn new(histogram: &[(u16, u32)]) -> Self {
        let mut weights: Vec<(u64, u16)> =
            histogram.iter().map(|(symbol, count)| (u64::from(*count), *symbol)).collect();
        let mut lengths = code_lengths(&mut weights);
        while lengths.iter().any(|(len, _)| *len > MAX_LEN) {
            // Flattening the weights shortens the longest codes; few symbols are that rare, so little is lost.
            weights.iter_mut().for_each(|(weight, _)| *weight = *weight / 2 + 1);
            lengths = code_lengths(&mut weights);
        }
        lengths.sort_unstable_by_key(|(_, symbol)| *symbol);
        let bit_len =
            histogram.iter().zip(&lengths).map(|((_, count), (len, _))| u64::from(*count) * u64::from(*len)).sum();
        lengths.sort_unstable();
        let mut code = 0u32;
        let mut previous = lengths.first().map_or(0, |(len, _)| *len);
        let leaves = lengths
            .iter()
            .map(|&(len, symbol)| {
                code <<= len - previous;
                previous = len;
                let leaf = Leaf { symbol, len, code };
                code = code.wrapping_add(1);
                leaf
            })
            .collect();
        Self { leaves, bit_len }
    }

    /// The symbols and their codes, in code order.
    pub(super) fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// How many bits all the symbols of the histogram take.
    pub(in super::super) fn bit_len(&self) -> u64 {
        self.bit_len
    }
}

/// The length of each symbol's code, by merging the two lightest groups until one is left.
///
/// Leaves are taken from a sorted list and merged groups come out in order of weight by themselves, so two queues
/// take the place of a heap.
fn code_lengths(weights: &mut [(u64, u16)]) -> Vec<(u8, u16)> {
    weights.sort_unstable_by_key(|(weight, symbol)| (*weight, Reverse(*symbol)));
    let leaf_count = weights.len();
    if leaf_count < 2 {
        return weights.iter().map(|(_, symbol)| (0, *symbol)).collect();
    }
    let mut merged: Vec<u64> = Vec::with_capacity(leaf_count - 1);
    // For leaves first and merged groups behind them: the number of the merged group they went into.
    let mut parent = vec![0u32; 2 * leaf_count - 1];
    let (mut next_leaf, mut next_merged) = (0, 0);
    for group in 0..leaf_count - 1 {
        let mut take = || {
            let leaf = weights.get(next_leaf).map(|(weight, _)| *weight);
            let (weight, member) = match (leaf, merged.get(next_merged)) {
                (Some(leaf), Some(inner)) if leaf <= *inner => (leaf, next_leaf),
                (Some(leaf), None) => (leaf, next_leaf),
                (_, inner) => (inner.copied().unwrap_or(0), leaf_count + next_merged),
            };
            if member < leaf_count {
                next_leaf += 1;
            } else {
                next_merged += 1;
            }
            parent[member] = group as u32;
            weight
        };
        let weight = take();
        let weight = weight + take();
        merged.push(weight);
    }
    // The last group is the root; every other lies one below the group it went into, which comes later.
    let mut depth = vec![0u8; leaf_count - 1];
    for group in (0..leaf_count - 2).rev() {
        depth[group] = depth[parent[leaf_count + group] as usize].saturating_add(1);
    }
    let depth_of = |leaf: usize| depth[parent[leaf] as usize].saturating_add(1);
    weights.iter().enumerate().map(|(leaf, (_, symbol))| (depth_of(leaf), *symbol)).collect()
}

/// Codes this long fit the bit writer with room to spare.
const MAX_LEN: u8 = 28;

#[cfg(test)]
mod tests {
    use super::*;

    fn book(counts: &[u32]) -> (CodeBook, u64) {
        let occurring = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let book = CodeBook::new(&occurring.map(|(symbol, count)| (symbol as u16, *count)).collect::<Vec<_>>());
        let bits = book.bit_len();
        (book, bits)
    }

    #[test]
    fn the_textbook_code_is_found() {
        let (book, bits) = book(&[45, 13, 12, 16, 9, 5]);
        assert_eq!(bits, 224);
        assert_eq!(book.leaves()[0], Leaf { symbol: 0, len: 1, code: 0 });
        assert_eq!(book.leaves().len(), 6);
    }

    #[test]
    fn codes_fill_the_space_exactly_and_never_grow_too_long() {
        let mut fibonacci = vec![1u32, 1];
        while fibonacci.len() < 44 {
            fibonacci.push(fibonacci[fibonacci.len() - 1] + fibonacci[fibonacci.len() - 2]);
        }
        for counts in [vec![1, 1], vec![0, 7, 0, 9, 1], vec![1; 1000], fibonacci] {
            let (book, _) = book(&counts);
            let filled: f64 = book.leaves().iter().map(|leaf| (-f64::from(leaf.len)).exp2()).sum();
            assert_eq!(filled, 1.0);
            assert!(book.leaves().iter().all(|leaf| leaf.len <= MAX_LEN));
            assert!(book.leaves().windows(2).all(|pair| pair[0].code << (pair[1].len - pair[0].len) < pair[1].code));
        }
    }

    #[test]
    fn one_symbol_or_none() {
        assert_eq!(book(&[0, 0, 5]).0.leaves(), [Leaf { symbol: 2, len: 0, code: 0 }]);
        assert!(book(&[0, 0]).0.leaves().is_empty());
    }
}
