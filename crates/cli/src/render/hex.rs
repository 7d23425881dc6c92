//! The annotated byte map: every range of a message with its bytes and its meaning.

use framewright::report::Tree;

/// One line per leaf: range, bytes (long runs abbreviated in the middle), meaning; containers open a section.
pub(crate) fn byte_map(tree: &Tree, bytes: &[u8], base: u64) -> String {
    let mut text = String::new();
    let width = digits(base + tree.span.end);
    for child in &tree.children {
        if child.children.is_empty() {
            line(child, bytes, base, width, 0, &mut text);
        } else {
            text.push_str(&format!("-- {}\n", child.label));
            section(child, bytes, base, width, 0, &mut text);
        }
    }
    text
}

fn section(node: &Tree, bytes: &[u8], base: u64, width: usize, depth: usize, text: &mut String) {
    for (index, child) in node.children.iter().enumerate() {
        if child.children.is_empty() {
            // The head of a CBOR container stands at the level of the container, its members one deeper.
            let own_head = index == 0 && child.label == node.label;
            line(child, bytes, base, width, if own_head { depth.saturating_sub(1) } else { depth }, text);
        } else {
            section(child, bytes, base, width, depth + 1, text);
        }
    }
}

fn line(leaf: &Tree, bytes: &[u8], base: u64, width: usize, depth: usize, text: &mut String) {
    let shown = leaf.span.slice_of(bytes, 0).map_or_else(String::new, abbreviated);
    let (start, end) = (base + leaf.span.start, base + leaf.span.end);
    let indent = "  ".repeat(depth);
    let value = if leaf.value.is_empty() { String::new() } else { format!(" {}", leaf.value) };
    text.push_str(&format!("{start:0width$}..{end:0width$}  {indent}{shown}  {}{value}\n", leaf.label));
}

fn abbreviated(bytes: &[u8]) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    if bytes.len() <= 40 {
        return hex(bytes);
    }
    format!("{}…{}", hex(&bytes[..16]), hex(&bytes[bytes.len() - 8..]))
}

fn digits(number: u64) -> usize {
    number.to_string().len().max(4)
}
