//! Where rustfmt breaks lines, as far as names of any length can change it.

use crate::text::Text;

/// A struct literal: on one line while its content has up to 18 characters.
pub(super) fn literal(text: &mut Text, open: &str, items: &[String], close: &str) {
    let one = items.join(", ");
    if one.len() <= 18 && !one.contains("..") {
        text.line(format!("{open}{{ {one} }}{close}"));
    } else {
        let rest = items.iter().map(|item| if item.starts_with("..") { item.clone() } else { format!("{item},") });
        text.block(format!("{open}{{"), format!("}}{close}"), |text| {
            text.lines(rest);
        });
    }
}

/// An array of long items: on one line while it has up to 60 characters and the line up to 100.
pub(super) fn array(text: &mut Text, open: &str, items: &[String], close: &str) {
    let one = items.join(", ");
    if one.len() + 2 <= 60 && open.len() + one.len() + close.len() + 2 <= 100 {
        text.line(format!("{open}[{one}]{close}"));
    } else if one.len() + 2 <= 60 {
        text.line(open).nest(|text| {
            text.line(format!("[{one}]{close}"));
        });
    } else {
        text.block(format!("{open}["), format!("]{close}"), |text| {
            text.lines(items.iter().map(|item| format!("{item},")));
        });
    }
}

/// An arm of a match at this depth: in a block when the line would be longer than 100.
pub(super) fn arm(text: &mut Text, depth: usize, pattern: &str, body: &str) {
    let line = format!("{pattern} => {body},");
    if 4 * depth + line.len() <= 100 {
        text.line(line);
    } else {
        text.block(format!("{pattern} => {{"), "}", |text| {
            text.line(body);
        });
    }
}

/// An attribute with arguments: on one line while they have up to 70 characters.
pub(super) fn attribute(text: &mut Text, name: &str, arguments: &[String]) {
    let one = arguments.join(", ");
    if one.len() <= 70 {
        text.line(format!("#[{name}({one})]"));
        return;
    }
    let last = arguments.len().saturating_sub(1);
    text.block(format!("#[{name}("), ")]", |text| {
        text.lines(arguments.iter().enumerate().map(|(at, argument)| match at {
            _ if at == last => argument.clone(),
            _ => format!("{argument},"),
        }));
    });
}
