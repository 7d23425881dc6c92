//! The words of C and C++, as their standards list them.

/// A schema that uses each word as the name of a field, a value of an enum, a member of a union and a message.
pub(crate) fn schema() -> String {
    let words: Vec<&str> = WORDS.iter().flat_map(|line| line.split(' ')).collect();
    let each = |entry: &dyn Fn(usize, &str) -> String| -> String {
        words.iter().enumerate().map(|(at, word)| entry(at + 1, word)).collect()
    };
    format!(
        "package words;\noption pkgid = 3;\nmessage Fields {{ option msgid = 1;\n{}}}\nenum Values {{ ZERO = 0;\n{}}}\n\
         message Members {{ option msgid = 2; oneof which {{\n{}}} }}\n{}",
        each(&|at, word| format!("  uint8 {word} = {at};\n")),
        each(&|at, word| format!("  {word} = {at};\n")),
        each(&|at, word| format!("  uint8 {word} = {at};\n")),
        each(&|at, word| format!("message {word} {{ option msgid = {}; Values {word} = 1; }}\n", at + 2)),
    )
}

const WORDS: &[&str] = &[
    // C23, 6.4.1
    "alignas alignof auto bool break case char const constexpr continue default do double else enum extern false float for",
    "goto if inline int long nullptr register restrict return short signed sizeof static static_assert struct switch",
    "thread_local true typedef typeof typeof_unqual union unsigned void volatile while _Atomic _BitInt _Complex",
    "_Decimal128 _Decimal32 _Decimal64 _Generic _Imaginary _Noreturn _Alignas _Alignof _Bool _Static_assert _Thread_local",
    // C++23, 5.11, without those of C
    "asm catch char8_t char16_t char32_t class co_await co_return co_yield concept const_cast consteval constinit decltype",
    "delete dynamic_cast explicit export friend mutable namespace new noexcept operator private protected public",
    "reinterpret_cast requires static_cast template this throw try typeid typename using virtual wchar_t",
    "and and_eq bitand bitor compl not not_eq or or_eq xor xor_eq final import module override",
];
