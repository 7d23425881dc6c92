//! Words that C, C++ and the runtime have taken. The tables of words are here once: headers in C are included by C++ as
//! well, and a C++ compiler knows the words of C.

use crate::names::Taken;

/// Names of struct members: keywords, and macros of the headers that ours include or that users often have before them.
pub(super) const MEMBERS: Taken = Taken { words: &[C, CPP, MACROS, BESIDE], suffix: "_" };

/// Names of types, functions and constants: ours begin with the package, so that only the runtime can be met.
pub(super) const GLOBALS: Taken = Taken { words: &[C, CPP, RUNTIME], suffix: "_" };

/// What a package's names begin with: `Sf` and `SF_` are the runtime's, `INT_` and `UINT_` those of `stdint.h`.
pub(super) const PREFIXES: Taken = Taken { words: &[&["Sf", "Int", "Uint"]], suffix: "Package" };

/// Keywords of C up to C23; those that it took from C++ stand there.
#[rustfmt::skip]
pub(in crate::lang) const C: &[&str] = &[
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern",
    "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed",
    "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "_Alignas",
    "_Alignof", "_Atomic", "_BitInt", "_Bool", "_Complex", "_Decimal128", "_Decimal32", "_Decimal64", "_Generic",
    "_Imaginary", "_Noreturn", "_Static_assert", "_Thread_local",
];

/// Keywords that C++ up to C++23 has besides, with those of C23 that are alike.
#[rustfmt::skip]
pub(in crate::lang) const CPP: &[&str] = &[
    "alignas", "alignof", "and", "and_eq", "asm", "bitand", "bitor", "bool", "catch", "char16_t", "char32_t",
    "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const_cast", "consteval",
    "constexpr", "constinit", "decltype", "delete", "dynamic_cast", "explicit", "export", "false", "friend",
    "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private",
    "protected", "public", "reinterpret_cast", "requires", "static_assert", "static_cast", "template", "this",
    "thread_local", "throw", "true", "try", "typeid", "typename", "typeof", "typeof_unqual", "using", "virtual",
    "wchar_t", "xor", "xor_eq",
];

/// Macros: no scope keeps them out.
#[rustfmt::skip]
pub(in crate::lang) const MACROS: &[&str] = &[
    "NULL", "EOF", "BUFSIZ", "errno", "assert", "stdin", "stdout", "stderr", "signals", "slots", "emit", "linux",
    "unix", "i386", "near", "far", "small", "interface", "min", "max", "major", "minor", "INFINITY", "NAN",
    "HUGE_VAL", "I", "complex", "imaginary", "offsetof", "INT8_MAX", "INT16_MAX", "INT32_MAX", "INT64_MAX",
    "UINT8_MAX", "UINT16_MAX", "UINT32_MAX", "UINT64_MAX", "SIZE_MAX", "TRUE", "FALSE", "BOOL", "ERROR", "IN", "OUT",
    "OPTIONAL",
];

/// What stands beside the members: types, which in C++ a member hides, and the bytes of a union.
#[rustfmt::skip]
const BESIDE: &[&str] = &[
    "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "region",
];

const RUNTIME: &[&str] = &[
    "SfStatus",
    "SfHeaderKind",
    "SfPayloadKind",
    "SfFraming",
    "SfLayout",
    "SfMessageInfo",
    "SfPackage",
    "SfLookup",
    "SfMessageType",
    "SfHeader",
    "SfEventKind",
    "SfEvent",
    "SfCounters",
    "SfSpan",
    "SfMachine",
    "SfBufferReader",
    "SfEventHandler",
    "SfStream",
    "SfTransport",
    "SfMessageHandler",
    "SfPredicate",
    "SfSubscription",
    "SfClient",
    "SfView",
    "SfWriter",
    "SfPending",
];
