//! The stored tree, checked: every node is reached exactly once, so walking it always ends at a leaf.

use super::super::{fault, quantizer::MAX_SYMBOL};
use crate::CodecError;
use fw_bytes::{Cursor, Detail};

/// A node: a leaf with its symbol, or the numbers of its two children.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node {
    Leaf(u32),
    Branch(u32, u32),
}

/// A proper binary tree; node 0 is the root.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Self, CodecError> {
        let at = cursor.position();
        let offset = cursor.i32_le("symbol offset").map_err(fault::inner)?;
        let count = cursor.u32_be("number of tree nodes").map_err(fault::inner)?;
        cursor.u32_be("half of the state count").map_err(fault::inner)?;
        let order = cursor.u8("tree byte order").map_err(fault::inner)?;
        if order != 0 {
            let (expected, found) = (Detail::Text("0 (little-endian)"), Detail::Number(order.into()));
            return Err(fault::wrong_inside("bad_tree", "tree byte order", expected, found, at + 12));
        }
        if count > MAX_NODES {
            let (expected, found) = (Detail::AtMost(MAX_NODES.into()), Detail::Number(count.into()));
            return Err(fault::wrong_inside("bad_tree", "number of tree nodes", expected, found, at + 4));
        }
        let width = link_width(count);
        let links_len = u64::from(count) * width as u64;
        let left = cursor.take_u64(links_len, "left children").map_err(fault::inner)?;
        let right = cursor.take_u64(links_len, "right children").map_err(fault::inner)?;
        let symbols = cursor.take_u64(u64::from(count) * 4, "tree symbols").map_err(fault::inner)?;
        let leaves = cursor.take_u64(count.into(), "leaf marks").map_err(fault::inner)?;

        // All four arrays lie in memory, so `count` nodes are justified.
        let links = left.chunks_exact(width).zip(right.chunks_exact(width));
        let nodes = links
            .zip(symbols.chunks_exact(4))
            .zip(leaves)
            .map(|(((left, right), symbol), leaf)| {
                if *leaf == 0 {
                    return Ok(Node::Branch(little(left), little(right)));
                }
                let value = i64::from(little(symbol) as i32) + i64::from(offset);
                match u32::try_from(value) {
                    Ok(symbol) if symbol <= MAX_SYMBOL as u32 => Ok(Node::Leaf(symbol)),
                    _ => {
                        let (expected, found) = (Detail::AtMost(MAX_SYMBOL as u64), Detail::Hex(value as u64));
                        Err(fault::wrong_inside("bad_tree", "tree symbol", expected, found, at))
                    }
                }
            })
            .collect::<Result<Vec<_>, _>>()?;
        let tree = Self { nodes };
        tree.check(at)?;
        Ok(tree)
    }

    /// The node with this number; the tree was checked, so a child's number is always valid.
    pub(super) fn node(&self, number: u32) -> Node {
        self.nodes.get(number as usize).copied().unwrap_or(Node::Leaf(0))
    }

    /// How many leaves there are: a proper binary tree has one more than branches.
    pub(super) fn leaf_count(&self) -> usize {
        self.nodes.len() / 2 + 1
    }

    /// Visits every node down to `depth`: number, depth and the bits that lead there.
    pub(super) fn visit_to_depth(&self, depth: u32, mut visit: impl FnMut(u32, Node, u32, u32)) {
        let mut stack = vec![(0u32, 0u32, 0u32)];
        while let Some((number, at, bits)) = stack.pop() {
            let node = self.node(number);
            visit(number, node, at, bits);
            if let Node::Branch(left, right) = node
                && at < depth
            {
                stack.push((right, at + 1, bits << 1 | 1));
                stack.push((left, at + 1, bits << 1));
            }
        }
    }

    fn check(&self, at: u64) -> Result<(), CodecError> {
        let bad = |found: &'static str| {
            Err(fault::wrong_inside("bad_tree", "Huffman tree", Detail::Text("a binary tree"), Detail::Text(found), at))
        };
        let mut reached = vec![false; self.nodes.len()];
        let mut stack = vec![0u32];
        let mut count = 0;
        while let Some(number) = stack.pop() {
            match reached.get_mut(number as usize) {
                Some(seen) if !*seen => *seen = true,
                Some(_) => return bad("a node with two parents"),
                None => return bad("a child outside the tree"),
            }
            count += 1;
            if let Some(Node::Branch(left, right)) = self.nodes.get(number as usize) {
                stack.extend([*right, *left]);
            }
        }
        if count == self.nodes.len() { Ok(()) } else { bad("unreachable nodes") }
    }
}

/// Bytes per child number.
pub(super) const fn link_width(node_count: u32) -> usize {
    match node_count {
        0..=256 => 1,
        257..=65_536 => 2,
        _ => 4,
    }
}

/// Far above the 131 071 that 65 536 symbols need.
const MAX_NODES: u32 = 1 << 20;

fn little(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(left: &[u8], right: &[u8], leaf: &[u8]) -> Vec<u8> {
        let count = left.len() as u32;
        let mut out = 5i32.to_le_bytes().to_vec();
        out.extend(count.to_be_bytes());
        out.extend(count.to_be_bytes());
        out.push(0);
        out.extend(left);
        out.extend(right);
        out.extend((0..count).flat_map(|symbol| symbol.to_le_bytes()));
        out.extend(leaf);
        out
    }

    fn parse(bytes: &[u8]) -> Result<Tree, CodecError> {
        Tree::parse(&mut Cursor::new(bytes))
    }

    #[test]
    fn a_small_tree_is_read() {
        let tree = parse(&stored(&[1, 0, 3, 0, 0], &[2, 0, 4, 0, 0], &[0, 1, 0, 1, 1])).unwrap();
        let mut leaves = Vec::new();
        tree.visit_to_depth(9, |_, node, depth, bits| {
            if let Node::Leaf(symbol) = node {
                leaves.push((symbol, depth, bits));
            }
        });
        assert_eq!(leaves, [(6, 1, 0), (8, 2, 0b10), (9, 2, 0b11)]);
    }

    #[test]
    fn loops_shared_children_and_strays_are_refused() {
        for (left, right, leaf) in [
            (&[0u8][..], &[0u8][..], &[0u8][..]),
            (&[1, 0, 0], &[1, 0, 0], &[0, 1, 1]),
            (&[1, 0, 0], &[0, 0, 0], &[0, 1, 1]),
            (&[1, 0, 0], &[7, 0, 0], &[0, 1, 1]),
            (&[0, 0, 0], &[0, 0, 0], &[1, 1, 1]),
        ] {
            assert_eq!(parse(&stored(left, right, leaf)).unwrap_err().code, "bad_tree");
        }
        assert_eq!(parse(&stored(&[], &[], &[])).unwrap_err().code, "bad_tree");
    }

    #[test]
    fn a_huge_node_count_is_refused_before_anything_is_reserved() {
        let mut bytes = stored(&[0], &[0], &[1]);
        bytes[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
        assert_eq!(parse(&bytes).unwrap_err().code, "bad_tree");
        bytes[4..8].copy_from_slice(&MAX_NODES.to_be_bytes());
        assert_eq!(parse(&bytes).unwrap_err().code, "truncated");
    }
}
