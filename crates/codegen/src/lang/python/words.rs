//! Words that Python and our runtime have taken, in one table per place.

use crate::names::Taken;

const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield", "match", "case", "type",
];

/// Modules of the generated package; `_field` is what a module calls the function of `dataclasses`.
pub(super) const MODULES: Taken = Taken { words: &[KEYWORDS, &["field", "runtime"]], suffix: "_" };

/// Classes of a module: what it imports, the builtins it uses, and the local names of its functions.
pub(super) const TYPES: Taken = Taken { words: &[KEYWORDS, BESIDE_TYPES], suffix: "_" };

/// Attributes of a message: its methods and constants, and the builtins that annotations beside them name.
pub(super) const FIELDS: Taken = Taken { words: &[KEYWORDS, BESIDE_FIELDS], suffix: "_" };

/// Entries of an enum: upper case keeps them away from everything else.
pub(super) const ENTRIES: Taken = Taken { words: &[KEYWORDS], suffix: "_" };

/// Members of a union without a tag, behind `as_` and `from_`.
pub(super) const VIEWS: Taken = Taken { words: &[], suffix: "_" };

/// What a module imports, the builtins it uses, and the local names of its functions.
const BESIDE_TYPES: &[&str] = &[
    // In the body of a class these are its own.
    "BASE_SIZE",
    "INFO",
    "MAX_SIZE",
    "MIN_SIZE",
    "MSG_ID",
    "VARIABLE",
    "decode",
    "encode",
    "to_dict",
    "unwrap",
    "wrap",
    "Any",
    "ClassVar",
    "Column",
    "Enum",
    "Mapping",
    "Message",
    "MessageInfo",
    "OpenEnum",
    "PREFIXED",
    "FULL",
    "Struct",
    "TRIMMED",
    "Union",
    "UnknownVariant",
    "Untagged",
    "Variant",
    "WireReader",
    "MESSAGES",
    "annotations",
    "at",
    "bool",
    "bytearray",
    "bytes",
    "classmethod",
    "cls",
    "content",
    "data",
    "dataclass",
    "dict",
    "fields",
    "float",
    "int",
    "isinstance",
    "item",
    "len",
    "list",
    "message",
    "object",
    "out",
    "property",
    "self",
    "str",
    "struct",
    "super",
    "tuple",
    "type",
    "v",
    "value",
    "wire",
    "message_info",
    "message_class",
];

/// What every message has, and the local names of its functions.
const BESIDE_FIELDS: &[&str] = &[
    "BASE_SIZE",
    "INFO",
    "MAX_SIZE",
    "MIN_SIZE",
    "MSG_ID",
    "VARIABLE",
    "ClassVar",
    "Column",
    "MessageInfo",
    "Struct",
    "Any",
    "Mapping",
    "Message",
    "OpenEnum",
    "UnknownVariant",
    "Untagged",
    "Variant",
    "WireReader",
    "bool",
    "bytearray",
    "bytes",
    "classmethod",
    "cls",
    "decode",
    "dict",
    "encode",
    "float",
    "int",
    "list",
    "self",
    "str",
    "to_dict",
    "tuple",
    "unwrap",
    "wrap",
];
