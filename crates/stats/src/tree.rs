//! Sums along a fixed binary tree over the blocks: the same result for every division of the work, and rounding errors
//! that grow with the logarithm of the length.

/// Two neighbouring parts become one.
pub(crate) trait Merge {
    fn merge(self, next: Self) -> Self;
}

/// Parts of a run of blocks, merged as far as the tree allows: a few per level.
#[derive(Clone, Debug)]
pub(crate) struct Tree<P> {
    nodes: Vec<Node<P>>,
}

/// The blocks `index << level .. (index + 1) << level`.
#[derive(Clone, Debug)]
struct Node<P> {
    level: u32,
    index: u64,
    part: P,
}

impl<P: Merge> Tree<P> {
    pub(crate) const fn new() -> Self {
        Self { nodes: Vec::new() }
    }

    /// Adds the block with number `index`, the one after the last.
    pub(crate) fn push(&mut self, index: u64, part: P) {
        self.add(Node { level: 0, index, part });
    }

    /// Adds the parts of the blocks that follow.
    pub(crate) fn append(&mut self, next: Self) {
        next.nodes.into_iter().for_each(|node| self.add(node));
    }

    /// All parts as one.
    pub(crate) fn finish(self) -> Option<P> {
        // From the right, where the small parts are.
        self.nodes.into_iter().map(|node| node.part).rev().reduce(|after, before| before.merge(after))
    }

    fn add(&mut self, mut node: Node<P>) {
        // A left child and its right sibling are always merged at once, whoever computed them.
        while node.index % 2 == 1
            && let Some(left) = self.nodes.pop_if(|left| left.level == node.level && left.index + 1 == node.index)
        {
            node = Node { level: node.level + 1, index: node.index / 2, part: left.part.merge(node.part) };
        }
        self.nodes.push(node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Remembers how it was merged.
    impl Merge for String {
        fn merge(self, next: Self) -> Self {
            format!("({self}{next})")
        }
    }

    fn tree(blocks: std::ops::Range<u64>) -> Tree<String> {
        let mut tree = Tree::new();
        blocks.for_each(|block| tree.push(block, format!("{block} ")));
        tree
    }

    proptest! {
        #[test]
        fn every_division_gives_the_same_tree(count in 1u64..70, cuts in prop::collection::vec(0u64..70, 0..5)) {
            let mut cuts: Vec<u64> = cuts.into_iter().map(|cut| cut.min(count)).collect();
            cuts.extend([0, count]);
            cuts.sort_unstable();
            let mut parts = Tree::new();
            for pair in cuts.windows(2) {
                parts.append(tree(pair[0]..pair[1]));
            }
            prop_assert!(parts.nodes.len() <= 7);
            prop_assert_eq!(parts.finish(), tree(0..count).finish());
        }
    }
}
