//! The languages: one table, which the command line, the matrix of generated code and the documents read.

use super::{Error, File, Options, c, cpp, csharp, graphql, js, markdown, python, rust, ts, wireshark};
use fw_schema::Schema;
use std::fmt;
use std::str::FromStr;

/// What the files of a language are for.
///
/// Complete on purpose, as [`Lang`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LangKind {
    /// Source code that encodes and decodes; the matrix runs it against the vectors.
    Code,
    /// A plugin that shows captured frames.
    Dissector,
    /// Text that describes the protocol.
    Document,
}

/// Makes the enum and every property from one row per language.
macro_rules! languages {
    ($($(#[$doc:meta])* $variant:ident, $module:ident, $name:literal, $title:literal, $kind:ident, $extensions:expr, $aliases:expr;)*) => {
        /// What can be generated.
        ///
        /// Complete on purpose: code that has something to say about every language (the matrix, the tests of golden files)
        /// matches all of them, so that the compiler names each place where a new one is missing.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Lang {
            $($(#[$doc])* $variant,)*
        }

        impl Lang {
            /// Every one, in the order `fw gen --help` lists them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The name in prose.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }

            /// True when one of its files lists all packages, so that packages must be generated together.
            pub const fn lists_packages(self) -> bool {
                matches!(self, Self::Rust | Self::Python | Self::TypeScript | Self::JavaScript)
            }

            /// What its files are for.
            pub const fn kind(self) -> LangKind {
                match self { $(Self::$variant => LangKind::$kind,)* }
            }

            /// How the names of its files end.
            pub const fn extensions(self) -> &'static [&'static str] {
                match self { $(Self::$variant => &$extensions,)* }
            }

            /// Other words for it that the command line accepts.
            pub const fn aliases(self) -> &'static [&'static str] {
                match self { $(Self::$variant => &$aliases,)* }
            }

            /// Its files, in any order.
            pub(super) fn files(self, schema: &Schema, options: &Options) -> Result<Vec<File>, Error> {
                match self { $(Self::$variant => $module::files(schema, options),)* }
            }
        }
    };
}

languages! {
    // variant, module, name, title, kind, extensions, aliases

    /// Rust, `no_std`, on the `fw-structframe` runtime.
    Rust, rust, "rust", "Rust", Code, ["rs"], ["rs"];
    /// C99.
    C, c, "c", "C", Code, ["c", "h"], [];
    /// C++17, header-only.
    Cpp, cpp, "cpp", "C++", Code, ["hpp"], ["c++", "cxx"];
    /// Python 3.10 or newer.
    Python, python, "python", "Python", Code, ["py", "typed"], ["py"];
    /// TypeScript, ES modules.
    TypeScript, ts, "ts", "TypeScript", Code, ["ts"], ["typescript"];
    /// JavaScript, ES modules.
    JavaScript, js, "js", "JavaScript", Code, ["js", "d.ts", "json"], ["javascript"];
    /// C# 7.2 or newer.
    CSharp, csharp, "csharp", "C#", Code, ["cs"], ["cs", "c#"];
    /// A GraphQL schema.
    GraphQl, graphql, "graphql", "GraphQL", Document, ["graphql"], ["gql"];
    /// A Wireshark dissector in Lua.
    Wireshark, wireshark, "wireshark", "Wireshark", Dissector, ["lua"], ["lua"];
    /// A protocol reference in Markdown.
    Markdown, markdown, "markdown", "Markdown", Document, ["md"], ["md"];
}

impl Lang {
    /// The languages of one kind, in the order of [`ALL`](Self::ALL).
    ///
    /// ```
    /// use fw_codegen::{Lang, LangKind};
    ///
    /// assert!(Lang::of_kind(LangKind::Dissector).eq([Lang::Wireshark]));
    /// ```
    pub fn of_kind(kind: LangKind) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |lang| lang.kind() == kind)
    }

    /// Every name, separated by commas.
    pub fn names() -> String {
        Self::ALL.iter().map(|lang| lang.name()).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Lang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Lang {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        // People write C and C++ with capital letters.
        let is = |name: &str| name.eq_ignore_ascii_case(word);
        let named = |lang: &Self| is(lang.name()) || lang.aliases().iter().any(|alias| is(alias));
        Self::ALL.iter().copied().find(named).ok_or_else(|| Error::UnknownLanguage { word: word.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_word_names_one_language() {
        let mut seen = BTreeSet::new();
        for &lang in Lang::ALL {
            for word in lang.aliases().iter().copied().chain([lang.name()]) {
                assert_eq!(word.parse(), Ok(lang));
                assert_eq!(word.to_uppercase().parse(), Ok(lang));
                assert!(seen.insert(word), "{word} names two languages");
            }
        }
        assert_eq!("cobol".parse::<Lang>().unwrap_err().code(), "unknown_language");
    }

    #[test]
    fn files_end_as_the_table_says() {
        let text = "package demo; message Ping { option msgid = 7; uint16 seq = 1; }";
        let schema = fw_schema::check_text("demo.sf", text).into_result().unwrap();
        for &lang in Lang::ALL {
            let files = lang.files(&schema, &Options::default()).unwrap();
            let ends = |file: &File, extension: &str| file.path.ends_with(&format!(".{extension}"));
            let known = |file: &File| lang.extensions().iter().any(|extension| ends(file, extension));
            assert!(files.iter().all(known), "{lang}: {:?}", files.iter().map(|file| &file.path).collect::<Vec<_>>());
            for extension in lang.extensions() {
                assert!(files.iter().any(|file| ends(file, extension)), "{lang}: no file .{extension}");
            }
        }
    }
}
