//! Words that C++ and the runtime have taken.

use crate::lang::c::words::{C, CPP, MACROS};
use crate::names::Taken;

/// Members of structs.
pub(super) const MEMBERS: Taken = Taken { words: &[C, CPP, MACROS, SPELLED], suffix: "_" };

/// Types of a package: besides keywords, what generated code defines or names beside them.
pub(super) const TYPES: Taken = Taken { words: &[C, CPP, MACROS, SPELLED, BESIDE], suffix: "_" };

/// Namespaces of packages: what the runtime has in the same place.
pub(super) const NAMESPACES: Taken = Taken { words: &[C, CPP, MACROS, SPELLED, RUNTIME], suffix: "_" };

/// Entries of an enum of tags.
pub(super) const TAGS: Taken = Taken { words: &[C, CPP, MACROS, SPELLED, &["None"]], suffix: "_" };

/// Names that generated code spells in every scope.
const SPELLED: &[&str] = &["std", "structframe"];

/// What a package has beside its types.
const BESIDE: &[&str] = &["to_string", "messages", "package", "packages", "lookup", "dispatch", "a", "b"];

const RUNTIME: &[&str] = &[
    "Array",
    "TextView",
    "OneOf",
    "Status",
    "name",
    "Written",
    "HeaderKind",
    "PayloadKind",
    "Layout",
    "Framing",
    "standard",
    "sensor",
    "ipc",
    "bulk",
    "network",
    "max_overhead",
    "MessageInfo",
    "Package",
    "Lookup",
    "Merged",
    "Codec",
    "Header",
    "Bounded",
    "detail",
    "Text",
    "FixedText",
    "Unknown",
    "encode",
    "decode",
    "write",
    "write_payload",
    "EventKind",
    "Event",
    "read",
    "Counters",
    "BufferReader",
    "parse",
    "Stream",
    "Transport",
    "Client",
];
