//! Words that TypeScript, JavaScript and our runtime have taken, in one table per place. Both languages use the same, so
//! that a project can move from one to the other.

use crate::names::Taken;

#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "abstract", "any", "arguments", "as", "asserts", "async", "await", "bigint", "boolean", "break", "case", "catch", "class",
    "const", "continue", "debugger", "declare", "default", "delete", "do", "else", "enum", "eval", "export", "extends",
    "false", "finally", "for", "from", "function", "get", "if", "implements", "import", "in", "infer", "instanceof",
    "interface", "is", "keyof", "let", "module", "namespace", "never", "new", "null", "number", "object", "of", "package",
    "private", "protected", "public", "readonly", "return", "satisfies", "set", "static", "string", "super", "switch",
    "symbol", "this", "throw", "true", "try", "type", "typeof", "undefined", "unique", "unknown", "using", "var", "void",
    "while", "with", "yield",
];

/// Modules beside each other.
pub(super) const MODULES: Taken = Taken { words: &[KEYWORDS, &["index", "runtime"]], suffix: "_" };

/// Types of a module: what it imports, the globals it uses, and the local names of its functions.
#[rustfmt::skip]
pub(super) const TYPES: Taken = Taken {
    words: &[KEYWORDS, &[
        "Array", "BigInt", "Infinity", "Layout", "MESSAGES", "Math", "Message", "MessageInfo", "MessageType", "NaN", "Number",
        "Object", "Partial", "Reader", "Record", "String", "Uint8Array", "UnknownVariant", "VariantCodec", "Writer", "a", "b",
        "content", "decodePayload", "defaultImage", "fault", "globalThis", "init", "item", "layout", "message", "messageInfo",
        "messageType", "onlyTruncated", "other", "payload", "r", "sameBytes", "sameList", "sameUnion", "value", "w", "wire",
        "zeroMessage",
    ]],
    suffix: "_",
};

/// Properties of a message.
#[rustfmt::skip]
pub(super) const FIELDS: Taken = Taken {
    words: &[&[
        "constructor", "encode", "equals", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toJSON",
        "toLocaleString", "toString", "unwrap", "valueOf",
    ]],
    suffix: "_",
};

/// Entries of an enum, and names of union members: only each other are in the way.
pub(super) const OWN: Taken = Taken { words: &[], suffix: "_" };
