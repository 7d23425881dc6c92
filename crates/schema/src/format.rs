//! Canonical text: one form for every schema that says the same, comments kept.
//!
//! Two blanks of indentation, one declaration per line, at most one empty line between declarations where the author
//! had some. What was written on one line stays there if it fits and holds no comment. Comments between the words of a
//! declaration move in front of it.

use crate::ast::{
    Body, Comment, EnumEntry, EnumItem, Field, File, Item, MessageEntry, MessageItem, Node, OneofEntry, OneofItem,
    OptionItem,
};
use crate::diagnose::Diagnostics;
use crate::parse::parse_text;

/// Longest line that a declaration with braces may take.
const MAX_WIDTH: usize = 100;

/// Formats a schema text. `name` is used in messages only.
///
/// # Errors
/// All syntax faults, when there are any: text that cannot be read is never rewritten.
pub fn format(name: &str, text: &str) -> Result<String, Diagnostics> {
    parse_text(name, text).map(|file| print(&file))
}

/// The canonical text of a syntax tree.
pub(crate) fn print(file: &File) -> String {
    let mut printer = Printer { out: String::new(), depth: 0 };
    printer.items(file);
    printer.out
}

/// Something between braces or in a file.
trait Entry {
    /// On one line, without comments; `None` when it must be spread.
    fn one_line(&self) -> Option<String>;
    /// Spread over lines: head, then the body.
    fn spread(&self, printer: &mut Printer);
}

struct Printer {
    out: String,
    depth: usize,
}

impl Printer {
    fn line(&mut self, text: &str) {
        self.indent();
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn indent(&mut self) {
        self.out.extend(std::iter::repeat_n("  ", self.depth));
    }

    fn items<T: Entry>(&mut self, body: &Body<T>) {
        let mut first = true;
        for node in &body.items {
            self.comments(&node.comments, &mut first);
            self.blank(node.spread.blank_before, &mut first);
            self.node(node);
        }
        self.comments(&body.tail, &mut first);
    }

    fn comments(&mut self, comments: &[Comment], first: &mut bool) {
        for comment in comments {
            self.blank(comment.spread.blank_before, first);
            self.line(&comment.text);
        }
    }

    fn blank(&mut self, wanted: bool, first: &mut bool) {
        if wanted && !*first {
            self.out.push('\n');
        }
        *first = false;
    }

    fn node<T: Entry>(&mut self, node: &Node<T>) {
        let room = MAX_WIDTH.saturating_sub(2 * self.depth);
        let line = node.value.one_line().filter(|line| node.spread.one_line && line.len() <= room);
        match line {
            Some(line) => {
                self.indent();
                self.out.push_str(&line);
            }
            None => node.value.spread(self),
        }
        for comment in &node.trailing {
            self.out.push(' ');
            self.out.push_str(&comment.text);
        }
        self.out.push('\n');
    }

    /// `head { … }`, without the last line break.
    fn braces<T: Entry>(&mut self, head: &str, body: &Body<T>) {
        if body.items.is_empty() && body.tail.is_empty() {
            self.indent();
            self.out.push_str(head);
            self.out.push_str(" {}");
            return;
        }
        self.line(&format!("{head} {{"));
        self.depth += 1;
        self.items(body);
        self.depth -= 1;
        self.indent();
        self.out.push('}');
    }

    fn simple(&mut self, text: &str) {
        self.indent();
        self.out.push_str(text);
    }
}

/// `head { a; b; }` on one line, if nothing in it is spread or commented.
fn inline<T: Entry>(head: &str, body: &Body<T>) -> Option<String> {
    if !body.tail.is_empty() {
        return None;
    }
    let mut out = format!("{head} {{");
    for node in &body.items {
        let plain = node.comments.is_empty() && node.trailing.is_empty() && node.spread.one_line;
        let line = node.value.one_line().filter(|_| plain)?;
        out.push(' ');
        out.push_str(&line);
        if out.len() > MAX_WIDTH {
            return None;
        }
    }
    out.push_str(if body.items.is_empty() { "}" } else { " }" });
    Some(out)
}

fn option(option: &OptionItem) -> String {
    format!("option {} = {};", option.name.text, option.value.written())
}

fn brackets(options: &[OptionItem]) -> String {
    if options.is_empty() {
        return String::new();
    }
    let list: Vec<_> =
        options.iter().map(|option| format!("{}={}", option.name.text, option.value.written())).collect();
    format!(" [{}]", list.join(", "))
}

fn field(field: &Field) -> String {
    let label = field.label.map(|label| format!("{} ", label.keyword())).unwrap_or_default();
    let Field { ty, name, number, options, .. } = field;
    format!("{label}{} {} = {}{};", ty.text, name.text, number.written(), brackets(options))
}

impl Entry for Item {
    fn one_line(&self) -> Option<String> {
        Some(match self {
            Self::Syntax { keyword, value } => format!("{keyword} = {};", value.written()),
            Self::Import(import) => {
                let modifier = import.modifier.as_ref().map(|word| format!("{word} ")).unwrap_or_default();
                format!("import {modifier}{};", import.path.written())
            }
            Self::Package(name) => format!("package {};", name.text),
            Self::Option(item) => option(item),
            Self::Enum(item) => return item.one_line(),
            Self::Message(item) => return item.one_line(),
            Self::Ignored(item) => item.text.clone(),
        })
    }

    fn spread(&self, printer: &mut Printer) {
        match self {
            Self::Enum(item) => item.spread(printer),
            Self::Message(item) => item.spread(printer),
            other => printer.simple(&other.one_line().unwrap_or_default()),
        }
    }
}

impl Entry for EnumItem {
    fn one_line(&self) -> Option<String> {
        inline(&format!("enum {}", self.name.text), &self.body)
    }

    fn spread(&self, printer: &mut Printer) {
        printer.braces(&format!("enum {}", self.name.text), &self.body);
    }
}

impl Entry for MessageItem {
    fn one_line(&self) -> Option<String> {
        inline(&format!("message {}", self.name.text), &self.body)
    }

    fn spread(&self, printer: &mut Printer) {
        printer.braces(&format!("message {}", self.name.text), &self.body);
    }
}

impl Entry for OneofItem {
    fn one_line(&self) -> Option<String> {
        inline(&format!("oneof {}", self.name.text), &self.body)
    }

    fn spread(&self, printer: &mut Printer) {
        printer.braces(&format!("oneof {}", self.name.text), &self.body);
    }
}

impl Entry for EnumEntry {
    fn one_line(&self) -> Option<String> {
        Some(match self {
            Self::Value(value) => {
                format!("{} = {}{};", value.name.text, value.number.written(), brackets(&value.options))
            }
            Self::Option(item) => option(item),
            Self::Ignored(item) => item.text.clone(),
        })
    }

    fn spread(&self, printer: &mut Printer) {
        printer.simple(&self.one_line().unwrap_or_default());
    }
}

impl Entry for MessageEntry {
    fn one_line(&self) -> Option<String> {
        Some(match self {
            Self::Field(item) => field(item),
            Self::Option(item) => option(item),
            Self::Ignored(item) => item.text.clone(),
            Self::Enum(item) => return item.one_line(),
            Self::Oneof(item) => return item.one_line(),
        })
    }

    fn spread(&self, printer: &mut Printer) {
        match self {
            Self::Enum(item) => item.spread(printer),
            Self::Oneof(item) => item.spread(printer),
            other => printer.simple(&other.one_line().unwrap_or_default()),
        }
    }
}

impl Entry for OneofEntry {
    fn one_line(&self) -> Option<String> {
        Some(match self {
            Self::Member(item) => field(item),
            Self::Option(item) => option(item),
        })
    }

    fn spread(&self, printer: &mut Printer) {
        printer.simple(&self.one_line().unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_form() {
        let text = "// head\n\nsyntax='proto3' ;package  p ;\n\n\n\n/* E */ enum E{A=0;B=0x1;}\nmessage M{ option msgid=1 ; // id\nrepeated   uint8 a/*in*/=1[ max_size = 4 ,default=-1];\n oneof o { // first\n E e=1;\n// tail\n} enum N { X=0; } reserved 5 to 6; }\n// end";
        let expected = "// head\n\nsyntax = 'proto3';\npackage p;\n\n/* E */\nenum E { A = 0; B = 0x1; }\nmessage M {\n  option msgid = 1; // id\n  /*in*/\n  repeated uint8 a = 1 [max_size=4, default=-1];\n  oneof o {\n    // first\n    E e = 1;\n    // tail\n  }\n  enum N { X = 0; }\n  reserved 5 to 6 ;\n}\n// end\n";
        let once = format("x.sf", text).unwrap();
        assert_eq!(once, expected);
        assert_eq!(format("x.sf", &once).unwrap(), once);
    }

    #[test]
    fn faulty_text_is_not_rewritten() {
        assert!(format("x.sf", "package p; message M { uint8 a = 1 }").is_err());
    }
}
