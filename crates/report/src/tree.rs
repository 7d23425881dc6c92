//! Bytes named range by range: the model behind hex maps and explorers.

use fw_bytes::Span;

/// One named range of bytes and the ranges inside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// What these bytes are, in the words of the specification.
    pub label: String,
    /// What they say, ready to show; empty for pure containers.
    pub value: String,
    /// Which bytes, counted from the beginning of the input.
    pub span: Span,
    /// The ranges inside, in byte order.
    pub children: Vec<Tree>,
}

impl Tree {
    /// A named range without a value.
    pub fn new(label: impl Into<String>, span: impl Into<Span>) -> Self {
        Self { label: label.into(), value: String::new(), span: span.into(), children: Vec::new() }
    }

    /// Says what the bytes mean.
    #[must_use]
    pub fn value(mut self, value: impl Into<String>) -> Self {
        self.value = value.into();
        self
    }

    /// Adds an inner range.
    pub fn push(&mut self, child: Tree) {
        self.children.push(child);
    }

    /// Adds an inner range, for building in one expression.
    #[must_use]
    pub fn with(mut self, child: Tree) -> Self {
        self.children.push(child);
        self
    }

    /// The innermost ranges, depth first, each with its depth.
    pub fn leaves(&self) -> Vec<(usize, &Tree)> {
        let mut leaves = Vec::new();
        let mut stack = vec![(0, self)];
        while let Some((depth, node)) = stack.pop() {
            if node.children.is_empty() {
                leaves.push((depth, node));
            }
            stack.extend(node.children.iter().rev().map(|child| (depth + 1, child)));
        }
        leaves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_come_in_byte_order() {
        let tree = Tree::new("message", 0..10)
            .with(Tree::new("a", 0..4).with(Tree::new("a1", 0..2)).with(Tree::new("a2", 2..4)))
            .with(Tree::new("b", 4..10).value("6 bytes"));
        let names: Vec<_> = tree.leaves().into_iter().map(|(depth, node)| (depth, node.label.as_str())).collect();
        assert_eq!(names, [(2, "a1"), (2, "a2"), (1, "b")]);
    }
}
