//! The annotated byte map: every range of a message with its bytes and its meaning.

use framewright::primitives::Span;
use framewright::report::{Tree, visible};

/// Hands out the bytes of a range, as far as there are any.
type Read<'a> = dyn Fn(Span) -> Option<Vec<u8>> + 'a;

/// [`byte_map_by`] of a message in memory that begins at `base` in its file.
pub(crate) fn byte_map(tree: &Tree, bytes: &[u8], base: u64) -> String {
    byte_map_by(tree, &|span| span.slice_of(bytes, 0).map(<[u8]>::to_vec), base)
}

/// One line per leaf: range, bytes (long runs abbreviated in the middle), meaning; containers open a section.
pub(crate) fn byte_map_by(tree: &Tree, read: &Read<'_>, base: u64) -> String {
    let mut text = String::new();
    let width = digits(base + tree.span.end);
    for child in &tree.children {
        if child.children.is_empty() {
            line(child, read, base, width, 0, &mut text);
        } else {
            text.push_str(&format!("-- {}\n", visible(&child.label)));
            section(child, read, base, width, 0, &mut text);
        }
    }
    text
}

fn section(node: &Tree, read: &Read<'_>, base: u64, width: usize, depth: usize, text: &mut String) {
    for (index, child) in node.children.iter().enumerate() {
        if child.children.is_empty() {
            // The head of a CBOR container stands at the level of the container, its members one deeper.
            let own_head = index == 0 && child.label == node.label;
            line(child, read, base, width, if own_head { depth.saturating_sub(1) } else { depth }, text);
        } else {
            section(child, read, base, width, depth + 1, text);
        }
    }
}

fn line(leaf: &Tree, read: &Read<'_>, base: u64, width: usize, depth: usize, text: &mut String) {
    let shown = abbreviated(leaf.span, read);
    let (start, end) = (base + leaf.span.start, base + leaf.span.end);
    let indent = "  ".repeat(depth);
    let value = if leaf.value.is_empty() { String::new() } else { format!(" {}", visible(&leaf.value)) };
    text.push_str(&format!("{start:0width$}..{end:0width$}  {indent}{shown}  {}{value}\n", visible(&leaf.label)));
}

fn abbreviated(span: Span, read: &Read<'_>) -> String {
    let hex = |span: Span| read(span).unwrap_or_default().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    if span.len() <= 40 {
        return hex(span);
    }
    format!("{}…{}", hex(Span::new(span.start, span.start + 16)), hex(Span::new(span.end - 8, span.end)))
}

fn digits(number: u64) -> usize {
    number.to_string().len().max(4)
}
