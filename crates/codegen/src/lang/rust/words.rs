//! Words that are taken in Rust.

use crate::names::Taken;

/// Types of a package: what generated code uses by its bare name.
pub(super) const TYPES: Taken =
    Taken { words: &[&["Self"], &["Default", "Err", "From", "None", "Ok", "Option", "Result", "Some"]], suffix: "_" };

/// Fields, methods of views, and modules.
pub(super) const FIELDS: Taken = Taken { words: &[KEYWORDS], suffix: "_" };

/// Methods of a view beside those of its fields.
pub(super) const VIEWS: Taken = Taken { words: &[KEYWORDS, &["fixed", "read"]], suffix: "_" };

/// Variants of a union: each has these two of its own.
pub(super) const VARIANTS: Taken = Taken { words: &[&["Self"], &["Unknown", "Unset"]], suffix: "_" };

/// Constants.
pub(super) const CONSTANTS: Taken = Taken { words: &[&["SIZE"]], suffix: "_" };

/// Strict and reserved words of every edition so far.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true",
    "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
