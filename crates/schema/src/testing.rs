//! Random valid schemas for property tests, here and in the crates that consume layouts.
//!
//! A schema grows from a string of bytes: every choice takes one, and when they run out every choice is the first, which
//! is always the simplest. Shrinking the bytes therefore shrinks the schema.
//!
//! ```
//! let text = fw_schema::testing::schema(&[9, 200, 31, 7, 5, 5, 81, 2]);
//! assert!(fw_schema::check_text("random.sf", &text).schema.is_some(), "{text}");
//! ```

use crate::diagnose::Faults;
use crate::lex::{Kind, lex};
use crate::source::FileId;
use std::fmt::Write as _;

/// Choices taken from bytes.
#[derive(Clone, Debug)]
pub struct Entropy<'a> {
    bytes: &'a [u8],
}

impl<'a> Entropy<'a> {
    /// Choices from these bytes.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The next byte; 0 when there is none.
    pub fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((first, rest)) => {
                self.bytes = rest;
                *first
            }
            None => 0,
        }
    }

    /// A number below `count`; 0 when bytes have run out.
    pub fn below(&mut self, count: usize) -> usize {
        if count <= 1 {
            return 0;
        }
        let word = if count > 256 { usize::from(self.byte()) << 8 } else { 0 };
        (word | usize::from(self.byte())) % count
    }

    /// True once in `one_in` times; false when bytes have run out.
    pub fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 1
    }
}

/// The text of a valid schema.
pub fn schema(bytes: &[u8]) -> String {
    let mut grower = Grower {
        entropy: Entropy::new(bytes),
        out: String::new(),
        enums: Vec::new(),
        messages: Vec::new(),
        next_id: 0,
        package_id: None,
    };
    grower.schema();
    grower.out
}

/// The same schema with random white space and comments between its words.
pub fn noisy(text: &str, bytes: &[u8]) -> String {
    let mut entropy = Entropy::new(bytes);
    let mut out = String::new();
    let mut count = 0;
    for token in lex(FileId(0), text, &mut Faults::default()).tokens {
        match entropy.below(12) {
            1 => out.push('\n'),
            2 => out.push_str("\n\n\n"),
            3 => {
                count += 1;
                let _ = write!(out, " /* note {count} */ ");
            }
            4 => {
                count += 1;
                let _ = writeln!(out, " // note {count}");
            }
            5 => {
                count += 1;
                let _ = write!(out, "\n\t/* note\n * {count} */");
            }
            _ => out.push(' '),
        }
        if token.kind != Kind::End {
            out.push_str(text.get(token.span.start as usize..token.span.end as usize).unwrap_or(""));
        }
    }
    out
}

/// A message that later ones may contain.
struct Grown {
    name: String,
    size: usize,
    has_id: bool,
    fields: Vec<String>,
}

struct Grower<'a> {
    entropy: Entropy<'a>,
    out: String,
    enums: Vec<(String, usize)>,
    messages: Vec<Grown>,
    next_id: usize,
    package_id: Option<usize>,
}

impl Grower<'_> {
    fn schema(&mut self) {
        if self.entropy.chance(4) {
            self.out.push_str("syntax = \"proto3\";\n");
        }
        self.out.push_str("package grown;\n");
        if self.entropy.chance(3) {
            let id = self.entropy.below(256);
            self.package_id = Some(id);
            let _ = writeln!(self.out, "option pkgid = {id};");
        }
        for _ in 0..self.entropy.below(3) {
            let name = format!("E{}", self.enums.len());
            self.enumeration(&name, "");
        }
        for _ in 0..=self.entropy.below(6) {
            self.message();
        }
    }

    /// Declares an enum and remembers how many values it has.
    fn enumeration(&mut self, name: &str, indent: &str) {
        let count = 1 + self.entropy.below(4);
        let step = 1 + self.entropy.below(60);
        let _ = write!(self.out, "{indent}enum {name} {{");
        for value in 0..count {
            let _ = write!(self.out, " V{value} = {};", value * step);
        }
        self.out.push_str(" }\n");
        self.enums.push((name.to_owned(), count));
    }

    fn message(&mut self) {
        let index = self.messages.len();
        let name = format!("{}{index}", ["Ping", "Zeta", "Q", "Message_with_a_long_name"][self.entropy.below(4)]);
        let _ = writeln!(self.out, "message {name} {{");
        let has_id = !self.entropy.chance(4);
        if has_id {
            // Id 0 means "unset" in a tag, so it never comes first.
            self.next_id += 1 + self.entropy.below(20);
            let _ = writeln!(self.out, "  option msgid = {};", self.next_id);
        }
        let variable = self.entropy.chance(3);
        if variable {
            self.out.push_str("  option variable = true;\n");
        }
        if self.entropy.chance(8) {
            let (a, b) = (1 + self.entropy.below(255), 1 + self.entropy.below(255));
            let _ = writeln!(self.out, "  option magic_bytes = \"{a}, 0x{b:02X}\";");
        }
        let nested_enum = self.entropy.chance(6);
        if nested_enum {
            self.enumeration(&format!("N{index}"), "  ");
        }

        let unions = [0, 0, 0, 1, 1, 2][self.entropy.below(6)];
        let count = self.entropy.below(7) + usize::from(unions == 0);
        let extensions = if unions == 0 && count > 1 && self.entropy.chance(3) {
            Some(2 + self.entropy.below(count - 1))
        } else {
            None
        };
        // Names that no other message has, so that this one can be flattened anywhere.
        let prefix = if self.entropy.chance(3) { format!("g{index}_") } else { "f".to_owned() };
        let mut size = 0;
        let mut fields = Vec::new();
        for number in 1..=count {
            if extensions == Some(number) {
                let _ = writeln!(self.out, "  option extensions_start = {number};");
            }
            size += self.field(&prefix, number, &mut fields);
        }
        for union in 0..unions {
            size += self.union(index, union, variable, union + 1 == unions);
            fields.push(format!("u{index}_{union}"));
        }
        self.out.push_str("}\n");
        // An enum nested in this message is not known to the next.
        if nested_enum {
            self.enums.pop();
        }
        self.messages.push(Grown { name, size, has_id, fields });
    }

    /// Declares a plain field; returns its size.
    fn field(&mut self, prefix: &str, number: usize, fields: &mut Vec<String>) -> usize {
        let name = format!("{prefix}{number}");
        let kind = self.entropy.below(8);
        let bound = self.bound();
        let (words, size) = match kind {
            4 => self.text(&name, number, bound),
            5 => {
                let (ty, unit) = self.element(32);
                let (option, prefix) = self.extent(bound);
                (format!("repeated {ty} {name} = {number} [{option}={bound}]"), prefix + bound * unit)
            }
            6 => {
                let element = 1 + self.entropy.below(6);
                let count = 1 + self.entropy.below(4);
                let ty = ["string", "bytes"][self.entropy.below(2)];
                let (option, prefix) = self.extent(count);
                let words = format!("repeated {ty} {name} = {number} [{option}={count}, element_size={element}]");
                (words, prefix + count * element)
            }
            7 => self.flattened(&name, number, fields),
            _ => self.single(&name, number),
        };
        let _ = writeln!(self.out, "  {words};");
        fields.push(name);
        size
    }

    /// A scalar, enum or message, perhaps with a default.
    fn single(&mut self, name: &str, number: usize) -> (String, usize) {
        let (ty, size) = self.element(400);
        let default = if self.entropy.chance(4) { self.default(&ty) } else { None };
        let options = default.map(|value| format!(" [default={value}]")).unwrap_or_default();
        (format!("{ty} {name} = {number}{options}"), size)
    }

    fn default(&mut self, ty: &str) -> Option<String> {
        let byte = self.entropy.byte();
        Some(match ty {
            "bool" => (byte % 2 == 1).to_string(),
            "float" | "double" => ["0.5", "-1.25", "3", "-inf", "1e10"][usize::from(byte) % 5].to_owned(),
            "int8" | "int16" | "int32" | "int64" => (i32::from(byte) - 128).to_string(),
            "uint8" | "uint16" | "uint32" | "uint64" => byte.to_string(),
            _ if self.enums.iter().any(|(name, _)| name == ty) => "V0".to_owned(),
            _ => return None,
        })
    }

    fn text(&mut self, name: &str, number: usize, bound: usize) -> (String, usize) {
        let ty = ["string", "bytes"][self.entropy.below(2)];
        let (option, prefix) = self.extent(bound);
        let default = if self.entropy.chance(4) { ", default='x'" } else { "" };
        (format!("{ty} {name} = {number} [{option}={bound}{default}]"), prefix + bound)
    }

    /// A message field that is flattened when no name collides.
    fn flattened(&mut self, name: &str, number: usize, fields: &mut Vec<String>) -> (String, usize) {
        let found = self.messages.iter().find(|message| {
            let free = |inner: &String| !inner.starts_with('f') && !fields.contains(inner);
            message.size > 0 && message.size < 100 && message.fields.iter().all(free)
        });
        match found {
            Some(message) => {
                let out = (format!("{} {name} = {number} [flatten=true]", message.name), message.size);
                fields.extend(message.fields.clone());
                out
            }
            None => self.single(name, number),
        }
    }

    fn bound(&mut self) -> usize {
        match self.entropy.below(12) {
            11 => 256 + self.entropy.below(10),
            10 => 254 + self.entropy.below(3),
            _ => 1 + self.entropy.below(9),
        }
    }

    fn extent(&mut self, bound: usize) -> (&'static str, usize) {
        if self.entropy.chance(2) { ("max_size", 1 + usize::from(bound > 255)) } else { ("size", 0) }
    }

    /// A type without size options, of at most `limit` bytes.
    fn element(&mut self, limit: usize) -> (String, usize) {
        const SCALARS: [(&str, usize); 11] = [
            ("uint8", 1),
            ("int8", 1),
            ("uint16", 2),
            ("int16", 2),
            ("uint32", 4),
            ("int32", 4),
            ("uint64", 8),
            ("int64", 8),
            ("float", 4),
            ("double", 8),
            ("bool", 1),
        ];
        match self.entropy.below(4) {
            2 if !self.enums.is_empty() => {
                let at = self.entropy.below(self.enums.len());
                (self.enums[at].0.clone(), 1)
            }
            3 if !self.messages.is_empty() => {
                let at = self.entropy.below(self.messages.len());
                let message = &self.messages[at];
                if message.size > 0 && message.size <= limit {
                    (message.name.clone(), message.size)
                } else {
                    ("uint8".to_owned(), 1)
                }
            }
            _ => {
                let (name, size) = SCALARS[self.entropy.below(SCALARS.len())];
                (name.to_owned(), size)
            }
        }
    }

    /// Declares a oneof; returns its size.
    fn union(&mut self, message: usize, index: usize, variable: bool, last: bool) -> usize {
        let _ = writeln!(self.out, "  oneof u{message}_{index} {{");
        let count = 1 + self.entropy.below(4);
        let mut members: Vec<(String, usize, bool)> = Vec::new();
        let by_id = self.entropy.chance(3);
        let framed: Vec<(String, usize)> =
            self.messages.iter().filter(|m| m.has_id && m.size <= 400).map(|m| (m.name.clone(), m.size)).collect();
        for number in 1..=count {
            if by_id && number <= framed.len() {
                let (name, size) = &framed[number - 1];
                members.push((format!("{name} m{number} = {number}"), *size, true));
            } else if self.entropy.chance(4) {
                let bound = 1 + self.entropy.below(8);
                let (option, prefix) = self.extent(bound);
                members.push((format!("string m{number} = {number} [{option}={bound}]"), prefix + bound, false));
            } else {
                let (ty, size) = self.element(400);
                members.push((format!("{ty} m{number} = {number}"), size, false));
            }
        }
        let largest = members.iter().map(|(_, size, _)| *size).max().unwrap_or(0);
        let all_ids = members.iter().all(|(_, _, id)| *id);
        let kind = if all_ids { self.entropy.below(3) } else { 1 + self.entropy.below(2) };
        let prefixed = variable && self.entropy.chance(3);
        // Without a tag every member needs bytes, and there is no length prefix.
        let untagged = !prefixed && self.entropy.chance(6) && members.iter().all(|(_, size, _)| *size > 0);
        let tag = if untagged {
            self.out.push_str("    option discriminator = none;\n");
            0
        } else if kind > 0 || !all_ids {
            self.out.push_str("    option discriminator = field_order;\n");
            1
        } else {
            2
        };
        if prefixed {
            self.out.push_str("    option variable = true;\n");
        }
        let mut room = largest;
        if self.entropy.chance(5) {
            room = largest + 1 + self.entropy.below(6);
            let _ = writeln!(self.out, "    option max_size = {room};");
        }
        if room > 0 && self.entropy.chance(5) {
            let _ = writeln!(self.out, "    option min_size = {};", 1 + self.entropy.below(room));
        }
        let extensions = (last && count > 1 && self.entropy.chance(3)).then(|| 2 + self.entropy.below(count - 1));
        let by_comment = self.entropy.chance(2);
        for (number, (words, _, _)) in (1..).zip(&members) {
            if extensions == Some(number) {
                if by_comment {
                    self.out.push_str("    // Extension:: later additions\n");
                } else {
                    let _ = writeln!(self.out, "    option extensions_start = {number};");
                }
            }
            let _ = writeln!(self.out, "    {words};");
        }
        self.out.push_str("  }\n");
        tag + if prefixed { 2 } else { 0 } + room
    }
}
