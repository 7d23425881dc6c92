//! Comments of a schema stay comments: with and without them, generated code is the same program. The schema has every character that
//! ends a line or a comment in one of the languages; `c.rs`, `cpp.rs`, `csharp.rs`, `python.rs`, `rust.rs` and `script.rs` compile it too.

mod common;

use common::{has, run, skip};
use fw_codegen::{File, Lang, Options, generate};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Characters that end a line somewhere, and marks that change the order in which text is shown.
const NEVER: [char; 17] = [
    '\0', '\r', '\u{b}', '\u{c}', '\u{1b}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{7f}', '\u{85}', '\u{2028}', '\u{2029}',
    '\u{202e}', '\u{2066}', '\u{200f}', '\u{feff}', '\u{7}',
];

#[test]
fn no_language_gets_a_character_that_ends_a_line_elsewhere() {
    for lang in Lang::ALL {
        for file in commented(*lang) {
            // Runtime files are ours and do not change with the schema.
            if let Some(at) = file.text.find(NEVER).filter(|_| !bare(*lang).contains(&file)) {
                panic!("{}: byte {at}: {:?}", file.path, file.text[at..].chars().next());
            }
        }
    }
}

#[test]
fn c_is_the_same_program() {
    same_tokens("gcc", Lang::C, ".h", &["-x", "c", "-std=c99"]);
}

/// Strict C++14 still reads trigraphs.
#[test]
fn cpp_is_the_same_program() {
    same_tokens("g++", Lang::Cpp, ".hpp", &["-x", "c++", "-std=c++14"]);
}

#[test]
fn python_is_the_same_program() {
    let (with, without) = (commented(Lang::Python), bare(Lang::Python));
    assert_eq!(names(&with), names(&without));
    let folder = tempfile::tempdir().unwrap();
    let tree = "import ast, sys\n\
        tree = ast.parse(open(sys.argv[1], 'rb').read())\n\
        for node in ast.walk(tree):\n    \
            if isinstance(getattr(node, 'body', None), list):\n        \
                text = lambda line: isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)\n        \
                node.body = [line for line in node.body if not text(line)]\n\
        print(ast.dump(tree))\n";
    let dump = |file: &File| {
        let path = folder.path().join("module.py");
        fs::write(&path, &file.text).unwrap();
        run(Command::new("python3").args(["-c", tree]).arg(path))
    };
    for (with, without) in with.iter().zip(&without).filter(|(file, _)| file.path.ends_with(".py")) {
        assert_eq!(dump(with), dump(without), "{}", with.path);
    }
}

/// Compares what the preprocessor leaves: it replaces comments by nothing, so the compiler gets the same text.
fn same_tokens(compiler: &str, lang: Lang, extension: &str, options: &[&str]) {
    if !has(compiler) {
        return skip(&format!("comments: {compiler} is not installed"));
    }
    let (with, without) = (commented(lang), bare(lang));
    assert_eq!(names(&with), names(&without));
    let preprocessed = |files: &[File], at: usize| {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(&file.path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &file.text).unwrap();
        }
        let mut command = Command::new(compiler);
        command.current_dir(folder.path()).args(options).args(["-E", "-P", "-I."]).arg(&files[at].path);
        run(&mut command).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for at in (0..with.len()).filter(|at| with[*at].path.ends_with(extension) || with[*at].path.ends_with(".c")) {
        assert!(preprocessed(&with, at) == preprocessed(&without, at), "{}", with[at].path);
    }
}

fn commented(lang: Lang) -> Vec<File> {
    common::generated(&schema(), lang)
}

/// The same schema without comments, made by the lexer's own account of where they stand.
fn bare(lang: Lang) -> Vec<File> {
    let text = fs::read_to_string(schema()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("comments.sf");
    fs::write(&path, without_comments(&text)).unwrap();
    let schema = fw_schema::check(&path).into_result().unwrap_or_else(|faults| panic!("{faults}"));
    generate(&schema, lang, &Options::default().with_rust_serde(fw_codegen::lang::RustSerde::Feature)).unwrap()
}

/// The schema has no text literals, so every `//` and `/*` outside of a comment begins one.
fn without_comments(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('/') {
        out += &rest[..at];
        let (end, after) = if rest[at..].starts_with("//") { ("\n", "\n") } else { ("*/", " ") };
        let comment = rest[at..].find(end).expect("every comment ends");
        rest = &rest[at + comment + end.len()..];
        out += after;
    }
    out + rest
}

fn names(files: &[File]) -> Vec<&str> {
    files.iter().map(|file| file.path.as_str()).collect()
}

fn schema() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas/comments.sf")
}
