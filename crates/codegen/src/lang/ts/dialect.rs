//! Types beside the code, or in comments.

use crate::text::Text;

/// Which of the two languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lang) enum Dialect {
    /// Types beside the code.
    TypeScript,
    /// Types in comments.
    JavaScript,
}

/// A parameter: its name, type and default.
pub(super) type Parameter<'a> = (&'a str, String, Option<&'a str>);

impl Dialect {
    pub(super) const fn extension(self) -> &'static str {
        match self {
            Self::TypeScript => "ts",
            Self::JavaScript => "js",
        }
    }

    /// `const name: Type = value;`, or a comment with the type in front.
    pub(super) fn typed(self, text: &mut Text, docs: &[String], head: &str, ty: &str, value: &str) {
        let value = if value.is_empty() { String::new() } else { format!(" = {value}") };
        match self {
            Self::TypeScript => {
                comment(text, docs);
                text.line(format!("{head}: {ty}{value};"));
            }
            Self::JavaScript => {
                comment(text, &[docs, &[format!("@type {{{ty}}}")]].concat());
                text.line(format!("{head}{value};"));
            }
        }
    }

    /// A function or method up to its opening brace.
    pub(super) fn signature(
        self,
        text: &mut Text,
        docs: &[String],
        head: &str,
        parameters: &[Parameter<'_>],
        result: Option<&str>,
    ) -> String {
        let mut lines = docs.to_vec();
        let mut inside = Vec::new();
        for (name, ty, default) in parameters {
            let default_text = default.map_or(String::new(), |default| format!(" = {default}"));
            match self {
                Self::TypeScript => inside.push(format!("{name}: {ty}{default_text}")),
                Self::JavaScript => {
                    inside.push(format!("{name}{default_text}"));
                    let shown = if default.is_some() { format!("[{name}]") } else { (*name).to_owned() };
                    lines.push(format!("@param {{{ty}}} {shown}"));
                }
            }
        }
        let mut after = String::new();
        if let Some(result) = result {
            match self {
                Self::TypeScript => after = format!(": {result}"),
                Self::JavaScript => lines.push(format!("@returns {{{result}}}")),
            }
        }
        comment(text, &lines);
        format!("{head}({}){after} {{", inside.join(", "))
    }

    /// A value taken for one of a narrower type.
    pub(super) fn cast(self, value: &str, ty: &str) -> String {
        match self {
            Self::TypeScript => format!("{value} as {ty}"),
            Self::JavaScript => format!("/** @type {{{ty}}} */ ({value})"),
        }
    }

    /// `readonly` where the language has it.
    pub(super) const fn fixed(self) -> &'static str {
        match self {
            Self::TypeScript => "static readonly",
            Self::JavaScript => "static",
        }
    }
}

/// The comments of a schema, in which nothing is a tag.
pub(super) fn plain(docs: &[String]) -> Vec<String> {
    docs.iter().map(|line| untagged(line)).collect()
}

/// Text without the tags of documentation, which are types where JavaScript is checked. An address such as `a@b.c` has none.
fn untagged(line: &str) -> String {
    let mut before = ' ';
    let mut out = String::with_capacity(line.len());
    for letter in line.chars() {
        if letter == '@' && !before.is_alphanumeric() {
            out.push('\\');
        }
        out.push(letter);
        before = letter;
    }
    out
}

/// A documentation comment.
pub(super) fn comment(text: &mut Text, lines: &[String]) {
    let clean = |line: &String| line.trim().replace("*/", "* /");
    match lines {
        [] => {}
        [one] => {
            text.line(format!("/** {} */", clean(one)));
        }
        lines => {
            text.line("/**");
            text.lines(lines.iter().map(|line| format!(" * {}", clean(line)).trim_end().to_owned()));
            text.line(" */");
        }
    }
}
