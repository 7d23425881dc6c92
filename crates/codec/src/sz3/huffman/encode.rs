//! Symbols to bits.

use super::Count;
use super::code::{CodeBook, Leaf};
use super::histogram::histogram;
use super::tree::link_width;
use crate::CodecError;

/// Appends a whole section.
///
/// # Errors
/// When the histogram would overflow: more than 2^32 - 1 symbols.
pub(in super::super) fn write_section(symbols: &[u16], count: Count, out: &mut Vec<u8>) -> Result<(), CodecError> {
    let book = CodeBook::new(&histogram(symbols)?);
    write_tree(book.leaves(), out);
    if count == Count::Stored {
        out.extend_from_slice(&(symbols.len() as u64).to_le_bytes());
    }
    let byte_len = book.bit_len().div_ceil(8) as usize;
    out.extend_from_slice(&(byte_len as u64).to_le_bytes());
    write_bits(book.leaves(), symbols, byte_len, out);
    Ok(())
}

/// The tree in preorder, so that a left child always follows its parent.
fn write_tree(leaves: &[Leaf], out: &mut Vec<u8>) {
    let smallest = leaves.iter().map(|leaf| leaf.symbol).min().unwrap_or(0);
    let largest = leaves.iter().map(|leaf| leaf.symbol).max().unwrap_or(0);
    let mut nodes = Vec::with_capacity(leaves.len() * 2);
    let mut rest = leaves;
    preorder(&mut rest, 0, smallest, &mut nodes);

    out.extend_from_slice(&i32::from(smallest).to_le_bytes());
    out.extend_from_slice(&(nodes.len() as u32).to_be_bytes());
    out.extend_from_slice(&((u32::from(largest - smallest) + 2) / 2).to_be_bytes());
    out.push(0);
    let width = link_width(nodes.len() as u32);
    for child in [|node: &Stored| node.left, |node: &Stored| node.right] {
        nodes.iter().for_each(|node| out.extend_from_slice(&child(node).to_le_bytes()[..width]));
    }
    nodes.iter().for_each(|node| out.extend_from_slice(&node.symbol.to_le_bytes()));
    out.extend(nodes.iter().map(|node| u8::from(node.is_leaf)));
}

#[derive(Clone, Copy, Default)]
struct Stored {
    left: u32,
    right: u32,
    symbol: u32,
    is_leaf: bool,
}

/// Appends the subtree at `depth` whose first leaf is the next one in `rest`; recursion is as deep as a code is long.
fn preorder(rest: &mut &[Leaf], depth: u8, offset: u16, nodes: &mut Vec<Stored>) -> u32 {
    let number = nodes.len();
    nodes.push(Stored::default());
    let Some((leaf, others)) = rest.split_first() else { return 0 };
    if leaf.len <= depth {
        *rest = others;
        nodes[number] = Stored { symbol: u32::from(leaf.symbol - offset), is_leaf: true, ..Stored::default() };
    } else {
        let left = preorder(rest, depth + 1, offset, nodes);
        let right = preorder(rest, depth + 1, offset, nodes);
        nodes[number] = Stored { left, right, ..Stored::default() };
    }
    number as u32
}

fn write_bits(leaves: &[Leaf], symbols: &[u16], byte_len: usize, out: &mut Vec<u8>) {
    let largest = leaves.iter().map(|leaf| leaf.symbol).max().unwrap_or(0);
    // Code in the low half, length above: one load per symbol.
    let mut table = vec![0u64; usize::from(largest) + 1];
    for leaf in leaves {
        table[usize::from(leaf.symbol)] = u64::from(leaf.len) << 32 | u64::from(leaf.code);
    }
    let start = out.len();
    // Whole words are stored, of which only the full bytes count; the last one may reach past the end.
    out.resize(start + byte_len + 8, 0);
    let target = &mut out[start..];
    let longest = leaves.iter().map(|leaf| leaf.len).max().unwrap_or(0);
    if longest <= 14 {
        write_groups::<4>(&table, symbols, target);
    } else {
        write_groups::<2>(&table, symbols, target);
    }
    out.truncate(start + byte_len);
}

/// Stores a word for every `GROUP` symbols: their codes and the up to 7 bits before them must fit it.
fn write_groups<const GROUP: usize>(table: &[u64], symbols: &[u16], target: &mut [u8]) {
    let (mut pending, mut held, mut at) = (0u64, 0u32, 0usize);
    let mut groups = symbols.chunks_exact(GROUP);
    let mut store = |group: &[u16]| {
        for symbol in group {
            let entry = table[usize::from(*symbol)];
            let len = (entry >> 32) as u32;
            pending = pending << len | entry & 0xffff_ffff;
            held += len;
        }
        // Two shifts, since `held` may be 0.
        let word = (pending << 1) << (63 - held);
        target[at..at + 8].copy_from_slice(&word.to_be_bytes());
        at += (held / 8) as usize;
        held %= 8;
    };
    for group in &mut groups {
        store(group);
    }
    store(groups.remainder());
}
