//! The syntax tree: what is written, comments included, before anything is looked up.
//!
//! Two trees are equal when they say the same; where it stands in the file ([`Site`]) and how it was spread over lines
//! ([`Spread`]) do not count.

use crate::source::Span;

/// A place in the text that never makes two trees differ.
#[derive(Clone, Copy, Debug, Default)]
pub struct Site(pub Span);

impl PartialEq for Site {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Site {}

/// How an item was spread over lines: advice for the formatter, no meaning.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spread {
    /// An empty line stood in front.
    pub blank_before: bool,
    /// It was written on one line.
    pub one_line: bool,
}

impl PartialEq for Spread {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Spread {}

/// A comment as written, with its markers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// `// …` or `/* … */`.
    pub text: String,
    /// Where.
    pub site: Site,
    /// How it was spread over lines.
    pub spread: Spread,
}

impl Comment {
    /// The words alone, line by line, without markers and decoration.
    ///
    /// What a line is: the text between two line breaks of any language that code is generated for, so that no part of a comment can
    /// become code there. Control characters and marks that change the direction of text are spelled out.
    pub fn words(&self) -> Vec<String> {
        let (body, block) = match self.text.strip_prefix("//") {
            Some(rest) => (rest.trim_start_matches(['/', '!']), false),
            None => {
                let body = self.text.strip_prefix("/*").unwrap_or(&self.text);
                (body.strip_suffix("*/").unwrap_or(body), true)
            }
        };
        let body = body.replace("\r\n", "\n");
        let lines = body.split(breaks_line).map(|line| {
            let line = line.trim();
            spelled_out(if block { line.trim_start_matches('*').trim() } else { line })
        });
        let lines: Vec<_> = lines.skip_while(String::is_empty).collect();
        if lines.is_empty() && !block {
            // An empty line comment separates paragraphs.
            return vec![String::new()];
        }
        let used = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
        lines.into_iter().take(used).collect()
    }
}

/// Line breaks of C#, JavaScript, Rust, Python and C, and what editors take for one.
const fn breaks_line(letter: char) -> bool {
    matches!(letter, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn spelled_out(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for letter in line.chars() {
        match letter {
            '\t' => out.push(' '),
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => {
                out.extend(letter.escape_unicode());
            }
            _ if letter.is_control() => out.extend(letter.escape_unicode()),
            _ => out.push(letter),
        }
    }
    out
}

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub text: String,
    /// Where.
    pub site: Site,
}

/// One declaration with the comments around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node<T> {
    /// Comments in front, or between the tokens of, the declaration.
    pub comments: Vec<Comment>,
    /// The declaration.
    pub value: T,
    /// Comments behind it on the same line.
    pub trailing: Vec<Comment>,
    /// Where the declaration stands, comments excluded.
    pub site: Site,
    /// How it was spread over lines.
    pub spread: Spread,
}

impl<T> Node<T> {
    /// The comment text directly in front and behind on the same line, line by line: what generated code carries
    /// (SF-2.2). A comment set apart by an empty line is about something else.
    pub fn docs(&self) -> Vec<String> {
        let first = self.comments.iter().rposition(|comment| comment.spread.blank_before).unwrap_or(0);
        let first = if self.spread.blank_before { self.comments.len() } else { first };
        self.comments.iter().skip(first).chain(&self.trailing).flat_map(Comment::words).collect()
    }

    /// The same for a declaration with a body. A comment after its closing brace is about the brace: formatting may move the brace
    /// to a line of its own, and must not change what is documented.
    pub fn body_docs(&self) -> Vec<String> {
        let after: usize = self.trailing.iter().map(|comment| comment.words().len()).sum();
        let mut docs = self.docs();
        docs.truncate(docs.len() - after);
        docs
    }
}

/// What stands between braces, or in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body<T> {
    /// The declarations, in order.
    pub items: Vec<Node<T>>,
    /// Comments after the last declaration.
    pub tail: Vec<Comment>,
    /// Something inside could not be read: what is missing must not lead to further faults.
    pub damaged: bool,
}

impl<T> Default for Body<T> {
    fn default() -> Self {
        Self { items: Vec::new(), tail: Vec::new(), damaged: false }
    }
}

/// A schema file.
pub type File = Body<Item>;

/// A declaration at file level.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Item {
    /// `syntax = "…";` or `edition = "…";`: read, without effect.
    Syntax {
        /// `syntax` or `edition`.
        keyword: String,
        /// The quoted value.
        value: Value,
    },
    /// `import "path";`
    Import(Import),
    /// `package name;`
    Package(Ident),
    /// `option name = value;`
    Option(OptionItem),
    /// `enum Name { … }`
    Enum(EnumItem),
    /// `message Name { … }`
    Message(MessageItem),
    /// A construct without meaning here, kept for the formatter.
    Ignored(Ignored),
}

/// `import ["weak" | "public"] "path";`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// `weak` or `public`, without effect.
    pub modifier: Option<String>,
    /// The quoted path.
    pub path: Value,
}

/// A construct that is skipped with a warning: its words, joined by blanks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// `reserved`, `extensions`, `service`.
    pub keyword: String,
    /// Everything from the keyword to the closing `;` or `}`.
    pub text: String,
}

/// `option name = value;`, or one `name = value` between brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionItem {
    /// The name, with parentheses if written.
    pub name: Ident,
    /// The value.
    pub value: Value,
}

/// An option's value, or a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Which kind of literal.
    pub kind: ValueKind,
    /// A minus sign stood in front.
    pub negative: bool,
    /// The literal as written, without sign; strings with their quotes.
    pub text: String,
    /// Where, sign included.
    pub site: Site,
}

/// Kinds of literals. Complete: the grammar has no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Quoted text.
    Str,
    /// Decimal or hexadecimal integer.
    Int,
    /// Number with a point or exponent.
    Float,
    /// A bare word, such as `true`, `inf` or an enum value.
    Name,
}

impl Value {
    /// The characters between the quotes; no escape is replaced (SF-2.3).
    pub fn string(&self) -> Option<&str> {
        (self.kind == ValueKind::Str).then(|| self.text.get(1..self.text.len().saturating_sub(1)).unwrap_or(""))
    }

    /// The integer. `None` for other literals, and for integers beyond 127 bits, which no field can hold.
    pub fn integer(&self) -> Option<i128> {
        if self.kind != ValueKind::Int {
            return None;
        }
        let magnitude = match self.text.strip_prefix("0x").or_else(|| self.text.strip_prefix("0X")) {
            Some(hex) => i128::from_str_radix(hex, 16),
            None => self.text.parse(),
        };
        magnitude.ok().map(|magnitude: i128| if self.negative { -magnitude } else { magnitude })
    }

    /// The bare word.
    pub fn name(&self) -> Option<&str> {
        (self.kind == ValueKind::Name && !self.negative).then_some(self.text.as_str())
    }

    /// As written, sign included.
    pub fn written(&self) -> String {
        format!("{}{}", if self.negative { "-" } else { "" }, self.text)
    }
}

/// `enum Name { … }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumItem {
    /// Its name.
    pub name: Ident,
    /// Its values and options.
    pub body: Body<EnumEntry>,
}

/// Inside an enum.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EnumEntry {
    /// `NAME = 1;`
    Value(EnumValue),
    /// `option name = value;`
    Option(OptionItem),
    /// `reserved …;`
    Ignored(Ignored),
}

/// `NAME = 1 [options];`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumValue {
    /// Its name.
    pub name: Ident,
    /// Its number.
    pub number: Value,
    /// Options, without effect.
    pub options: Vec<OptionItem>,
}

/// `message Name { … }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageItem {
    /// Its name.
    pub name: Ident,
    /// Its fields, unions, enums and options.
    pub body: Body<MessageEntry>,
}

/// Inside a message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageEntry {
    /// A plain field.
    Field(Field),
    /// `oneof name { … }`
    Oneof(OneofItem),
    /// A nested enum.
    Enum(EnumItem),
    /// `option name = value;`
    Option(OptionItem),
    /// `reserved …;` or `extensions …;`
    Ignored(Ignored),
}

/// The word in front of a field. Complete: the grammar has no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// An array.
    Repeated,
    /// Without effect.
    Optional,
    /// Without effect.
    Required,
}

impl Label {
    /// The keyword.
    pub const fn keyword(self) -> &'static str {
        match self {
            Self::Repeated => "repeated",
            Self::Optional => "optional",
            Self::Required => "required",
        }
    }
}

/// `[label] type name = number [options];`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// `repeated`, `optional`, `required`.
    pub label: Option<Label>,
    /// The type as written, dots included.
    pub ty: Ident,
    /// Its name.
    pub name: Ident,
    /// Its number.
    pub number: Value,
    /// Its options.
    pub options: Vec<OptionItem>,
}

/// `oneof name { … }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneofItem {
    /// Its name.
    pub name: Ident,
    /// Its members and options.
    pub body: Body<OneofEntry>,
}

/// Inside a oneof.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OneofEntry {
    /// A member.
    Member(Field),
    /// `option name = value;`
    Option(OptionItem),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comment_words() {
        let words =
            |text: &str| Comment { text: text.to_owned(), site: Site::default(), spread: Spread::default() }.words();
        assert_eq!(words("/// one"), ["one"]);
        assert_eq!(words("/**\n * two\n *\n * three\n */"), ["two", "", "three"]);
        assert!(words("/* */").is_empty());
        assert_eq!(words("//"), [""]);
    }

    #[test]
    fn comment_lines_end_where_any_language_ends_them() {
        let words =
            |text: &str| Comment { text: text.to_owned(), site: Site::default(), spread: Spread::default() }.words();
        assert_eq!(words("/* a\r\nb */"), ["a", "b"]);
        for end in ['\r', '\u{b}', '\u{c}', '\u{1c}', '\u{85}', '\u{2028}', '\u{2029}'] {
            assert_eq!(words(&format!("// a{end}b")), ["a", "b"]);
            assert_eq!(words(&format!("/* a{end}b */")), ["a", "b"]);
        }
        assert_eq!(words("// a\0b \u{202e}c\td"), ["a\\u{0}b \\u{202e}c d"]);
    }
}
