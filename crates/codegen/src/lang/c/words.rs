//! Words that C, C++ (which may include our headers) and the runtime have taken.

use crate::names::Taken;

/// Names of struct members: keywords, and macros of the headers that ours include or that users often have before them.
pub(super) const MEMBERS: Taken = Taken { keywords: KEYWORDS, runtime: MACROS, suffix: "_" };

/// Names of types, functions and constants: ours begin with the package, so that only the runtime can be met.
pub(super) const GLOBALS: Taken = Taken { keywords: KEYWORDS, runtime: RUNTIME, suffix: "_" };

/// What a package's names begin with: `Sf` and `SF_` are the runtime's, `INT_` and `UINT_` those of `stdint.h`.
pub(super) const PREFIXES: Taken = Taken { keywords: &["Sf", "Int", "Uint"], runtime: &[], suffix: "Package" };

const KEYWORDS: &[&str] = &[
    // C99 and C11
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float",
    "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof",
    "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "_Bool", "_Complex",
    "_Imaginary", "_Alignas", "_Alignof", "_Atomic", "_Generic", "_Noreturn", "_Static_assert", "_Thread_local",
    // C++
    "alignas", "alignof", "and", "and_eq", "asm", "bitand", "bitor", "bool", "catch", "char16_t", "char32_t", "char8_t",
    "class", "co_await", "co_return", "co_yield", "compl", "concept", "const_cast", "consteval", "constexpr",
    "constinit", "decltype", "delete", "dynamic_cast", "explicit", "export", "false", "friend", "mutable", "namespace",
    "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public",
    "reinterpret_cast", "requires", "static_assert", "static_cast", "template", "this", "thread_local", "throw", "true",
    "try", "typeid", "typename", "typeof", "using", "virtual", "wchar_t", "xor", "xor_eq",
];

const MACROS: &[&str] = &[
    "NULL", "EOF", "BUFSIZ", "errno", "assert", "stdin", "stdout", "stderr", "signals", "slots", "emit", "linux",
    "unix", "i386", "near", "far", "small", "interface", "min", "max", "major", "minor", "INFINITY", "NAN", "HUGE_VAL",
    "I", "complex", "imaginary", "offsetof", "INT8_MAX", "INT16_MAX", "INT32_MAX", "INT64_MAX", "UINT8_MAX",
    "UINT16_MAX", "UINT32_MAX", "UINT64_MAX", "SIZE_MAX", "TRUE", "FALSE", "BOOL", "ERROR", "IN", "OUT", "OPTIONAL",
    "region",
];

const RUNTIME: &[&str] = &[
    "SfStatus", "SfHeaderKind", "SfPayloadKind", "SfFraming", "SfLayout", "SfMessageInfo", "SfPackage", "SfLookup",
    "SfMessageType", "SfHeader", "SfEventKind", "SfEvent", "SfCounters", "SfSpan", "SfMachine", "SfBufferReader",
    "SfEventHandler", "SfStream", "SfTransport", "SfMessageHandler", "SfPredicate", "SfSubscription", "SfClient",
    "SfView", "SfWriter", "SfPending",
];
