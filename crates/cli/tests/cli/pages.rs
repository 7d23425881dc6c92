//! The pages about struct-frame run from top to bottom, as a reader would follow them: blocks after a file name are written to
//! that file, commands are run, and print what the page says.
//!
//! Besides the schema of the examples, a page finds the project as `framewright` in its directory. A line `…` stands for any lines.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[test]
fn c() {
    follow("struct-frame/c.md", &["cc"]);
}

#[test]
fn cpp() {
    follow("struct-frame/cpp.md", &["c++"]);
}

#[test]
fn python() {
    follow("struct-frame/python.md", &["python3"]);
}

#[test]
fn typescript() {
    follow("struct-frame/typescript.md", &["tsc", "node"]);
}

#[test]
fn javascript() {
    follow("struct-frame/javascript.md", &["node"]);
}

#[test]
fn csharp() {
    follow("struct-frame/csharp.md", &["mcs", "mono"]);
}

#[test]
fn rust() {
    follow("struct-frame/rust.md", &["cargo"]);
}

/// The reference package generates the programs' code before they move: both print the same.
#[test]
fn migrating() {
    let Some(folder) = follow("struct-frame/migrating.md", &["cc", "c++", "python3", "tsc", "node", "struct-frame"])
    else {
        return;
    };
    names_exist(folder.path(), &fs::read_to_string(docs().join("struct-frame/migrating.md")).expect("the page"));
}

#[test]
fn from_a_schema_to_a_plot() {
    let needed = ["arm-none-eabi-gcc", "qemu-system-arm", "python3"];
    let Some(folder) = follow("struct-frame.md", &needed) else { return };
    assert!(fs::read(folder.path().join("altitude.png")).expect("drawn").starts_with(b"\x89PNG"));
}

/// Every language has a page, and each page is listed where people look for it.
#[test]
fn every_page_is_linked() {
    let overview = fs::read_to_string(docs().join("struct-frame.md")).expect("the page");
    let readme = fs::read_to_string(docs().join("../README.md")).expect("the page");
    assert!(readme.contains("(docs/struct-frame.md)"));
    for entry in fs::read_dir(docs().join("struct-frame")).expect("pages") {
        let name = entry.expect("a page").file_name().into_string().expect("a name");
        assert!(overview.contains(&format!("(struct-frame/{name})")), "{name}");
    }
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Directories of tools: `fw` itself, and what `cargo xtask test` installed.
fn path() -> String {
    let beside = |variable: &str| {
        let tool = PathBuf::from(std::env::var_os(variable)?);
        Some(tool.parent()?.to_owned())
    };
    let fw = Path::new(env!("CARGO_BIN_EXE_fw")).parent().map(Path::to_owned);
    let mut path = String::new();
    for folder in [fw, beside("FW_PYTHON"), beside("FW_TSC")].into_iter().flatten() {
        write!(path, "{}:", folder.display()).expect("text grows");
    }
    path + &std::env::var("PATH").unwrap_or_default()
}

fn has(tool: &str) -> bool {
    // One of them is a module.
    let line = match tool {
        "struct-frame" => "python3 -c 'import struct_frame'".to_owned(),
        tool => format!("command -v {tool}"),
    };
    let mut bash = Command::new("bash");
    bash.args(["-c", &line]).env("PATH", path()).stdin(Stdio::null());
    bash.output().is_ok_and(|output| output.status.success())
}

fn skip(what: &str) {
    eprintln!("skipped: {what}");
    if let Some(log) = std::env::var_os("FW_SKIPPED") {
        let mut log = fs::OpenOptions::new().append(true).create(true).open(log).expect("the log opens");
        writeln!(log, "{what}").expect("the log is written");
    }
}

/// Follows a page; the directory where that happened, or `None` when a tool is missing.
fn follow(page: &str, tools: &[&str]) -> Option<tempfile::TempDir> {
    if let Some(missing) = tools.iter().find(|tool| !has(tool)) {
        skip(&format!("docs/{page} was not followed: no {missing}"));
        return None;
    }
    let root = docs().join("..").canonicalize().expect("the project");
    let folder = tempfile::tempdir().expect("a directory");
    fs::copy(root.join("examples/struct-frame/robot.proto"), folder.path().join("robot.proto")).expect("copied");
    std::os::unix::fs::symlink(&root, folder.path().join("framewright")).expect("linked");
    if let Some(modules) =
        std::env::var_os("FW_TSC").and_then(|tsc| Some(Path::new(&tsc).parent()?.parent()?.to_owned()))
    {
        std::os::unix::fs::symlink(modules, folder.path().join("node_modules")).expect("linked");
    }
    // Pages name a port; here it is one that is free.
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
    let text = fs::read_to_string(docs().join(page)).expect("the page").replace("7001", &port.to_string());
    let (mut lines, mut name, mut printed) = (text.lines(), None::<&str>, String::new());
    let mut commands = 0;
    while let Some(line) = lines.next() {
        let Some(kind) = line.strip_prefix("```") else {
            if !line.is_empty() {
                name = line.strip_prefix('`').and_then(|rest| rest.strip_suffix("`:"));
            }
            continue;
        };
        let block: String = lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
        match (kind, name.take()) {
            (_, Some(name)) => {
                let to = folder.path().join(name);
                let parent = to.parent().expect("a directory");
                fs::create_dir_all(parent).expect("made");
                fs::write(&to, block).expect("written");
                if name.ends_with("Cargo.toml") {
                    // The versions that the workspace has tried, and has at hand.
                    fs::copy(root.join("Cargo.lock"), parent.join("Cargo.lock")).expect("copied");
                }
            }
            ("sh", None) => {
                printed = run(page, folder.path(), &block);
                commands += 1;
            }
            ("text", None) => assert!(agree(&block, &printed), "docs/{page} says\n{block}but it is\n{printed}"),
            (kind, None) => panic!("docs/{page}: a block of {kind:?} that nobody runs:\n{block}"),
        }
    }
    assert!(commands > 1, "docs/{page} has commands");
    Some(folder)
}

fn run(page: &str, folder: &Path, commands: &str) -> String {
    let mut bash = Command::new("timeout");
    bash.args(["120", "bash", "-euo", "pipefail", "-c", commands]).current_dir(folder);
    bash.env("PATH", path()).env("COLUMNS", "100").env("PYTHONDONTWRITEBYTECODE", "1").stdin(Stdio::null());
    bash.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages"));
    let output = bash.output().expect("bash runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "docs/{page}: {commands}{out}{err}");
    out.into_owned()
}

/// Whether a page tells what was printed; its line `…` stands for any number of lines.
fn agree(told: &str, printed: &str) -> bool {
    fn lines_agree(told: &[&str], printed: &[&str]) -> bool {
        match told.split_first() {
            None => printed.is_empty(),
            Some((&"…", rest)) => (0..=printed.len()).any(|skipped| lines_agree(rest, &printed[skipped..])),
            Some((line, rest)) => printed.first() == Some(line) && lines_agree(rest, &printed[1..]),
        }
    }
    lines_agree(&told.lines().collect::<Vec<_>>(), &printed.lines().collect::<Vec<_>>())
}

/// Every name in the tables of the guide occurs in the code that its side generates.
fn names_exist(folder: &Path, page: &str) {
    let languages = [
        ("## C\n", "c", "c"),
        ("## C++\n", "cpp", "cpp"),
        ("## Python\n", "py", "python"),
        ("## TypeScript\n", "ts", "ts"),
    ];
    for (title, theirs, ours) in languages {
        let section = page.split(title).nth(1).and_then(|rest| rest.split("\n## ").next()).expect("a section");
        let sides = [below(&folder.join("generated").join(theirs)), below(&folder.join("ours").join(ours))];
        let mut checked = 0;
        for row in section.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| struct-frame")) {
            let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
            for (cell, text) in cells.iter().zip(&sides) {
                for code in cell.split('`').skip(1).step_by(2) {
                    for word in code.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
                    {
                        assert!(text.contains(word), "{title}{row}: nothing is called {word}");
                        checked += 1;
                    }
                }
            }
        }
        assert!(checked > 20, "{title}");
    }
}

/// The text of all files in a directory.
fn below(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true if path.ends_with("asio") || path.ends_with("asio-repo") => {}
            true => text += &below(&path),
            false => text += &String::from_utf8_lossy(&fs::read(&path).expect("a file")),
        }
    }
    text
}
