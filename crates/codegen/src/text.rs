//! Text as an indent tree: generators say what stands inside what, and the depth follows.

use std::fmt::Display;

/// A piece of source text.
///
/// Lines are added with [`line`](Self::line); whatever stands inside them is another text, added with
/// [`nest`](Self::nest) or [`block`](Self::block).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text {
    nodes: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Line(String),
    Nested(Text),
}

impl Text {
    pub(crate) const fn new() -> Self {
        Self { nodes: Vec::new() }
    }

    /// One line, or several when `line` has line breaks; each gets the indent of this place.
    pub(crate) fn line(&mut self, line: impl Display) -> &mut Self {
        self.nodes.extend(line.to_string().split('\n').map(|line| Node::Line(line.trim_end().to_owned())));
        self
    }

    /// As [`line`](Self::line), where nothing follows.
    pub(crate) fn put(&mut self, line: impl Display) {
        self.line(line);
    }

    /// Every item as a line.
    pub(crate) fn lines<T: Display>(&mut self, lines: impl IntoIterator<Item = T>) -> &mut Self {
        for line in lines {
            self.line(line);
        }
        self
    }

    /// An empty line, unless the text so far ends with one or is empty.
    pub(crate) fn gap(&mut self) -> &mut Self {
        if !matches!(self.nodes.last(), None | Some(Node::Line(_))) || self.ends_with_words() {
            self.nodes.push(Node::Line(String::new()));
        }
        self
    }

    /// What `fill` adds stands one step further in.
    pub(crate) fn nest(&mut self, fill: impl FnOnce(&mut Self)) -> &mut Self {
        let mut inner = Self::new();
        fill(&mut inner);
        self.nodes.push(Node::Nested(inner));
        self
    }

    /// `open`, what `fill` adds one step further in, `close`.
    pub(crate) fn block(&mut self, open: impl Display, close: impl Display, fill: impl FnOnce(&mut Self)) -> &mut Self {
        self.line(open).nest(fill).line(close)
    }

    /// Another text at this depth.
    pub(crate) fn append(&mut self, other: Self) -> &mut Self {
        self.nodes.extend(other.nodes);
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The text with `step` per depth; empty lines stay empty, the last line ends.
    pub(crate) fn render(&self, step: &str) -> String {
        let mut out = String::new();
        self.render_into(step, 0, &mut out);
        out
    }

    fn render_into(&self, step: &str, depth: usize, out: &mut String) {
        for node in &self.nodes {
            match node {
                Node::Line(line) if line.is_empty() => out.push('\n'),
                Node::Line(line) => {
                    (0..depth).for_each(|_| out.push_str(step));
                    out.push_str(line);
                    out.push('\n');
                }
                Node::Nested(inner) => inner.render_into(step, depth + 1, out),
            }
        }
    }

    fn ends_with_words(&self) -> bool {
        matches!(self.nodes.last(), Some(Node::Line(line)) if !line.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_follows_the_tree() {
        let mut text = Text::new();
        text.gap().block("a {", "}", |inner| {
            inner.line("b\nc").gap().gap().block("d {", "}", |inner| {
                inner.line("e");
            });
        });
        assert_eq!(text.render("  "), "a {\n  b\n  c\n\n  d {\n    e\n  }\n}\n");
    }
}
