//! The order of rooms inside a crate: `lib.rs` lists them in the order data flows, and a room uses only rooms listed before
//! it.
//!
//! Sources are read as text: `use` trees and paths that begin with `crate::` or `super::`. Names that `lib.rs` re-exports
//! count as the room they come from, and a file that `#[path = "…"]` names belongs to the room that names it. Code under
//! `#[cfg(test)]` may use everything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::tokens::{self, Token};

/// A crate's rooms in the order of its `lib.rs`, and where the names at its root come from.
#[derive(Debug, Default)]
pub(crate) struct Map {
    rooms: Vec<String>,
    /// Names that `lib.rs` re-exports, each with its room.
    exports: BTreeMap<String, String>,
    /// Names that `lib.rs` itself defines.
    own: BTreeSet<String>,
}

/// One use of a room by another one, or of a name that no room has.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Use {
    pub(crate) file: String,
    pub(crate) path: String,
    /// The room it leads to; `None` when that cannot be said.
    pub(crate) room: Option<String>,
}

impl Map {
    /// Reads the text of a `lib.rs`.
    pub(crate) fn read(text: &str) -> Self {
        let tokens = tokens::without_tests(&tokens::read(text));
        let mut map = Self::default();
        for (at, token) in tokens.iter().enumerate() {
            let next = tokens.get(at + 1).and_then(Token::name);
            match (token.name(), next) {
                (Some("mod"), Some(name)) if tokens.get(at + 2) == Some(&Token::Sign(';')) => {
                    map.rooms.push(name.to_owned());
                }
                (Some("use"), Some(_)) => {
                    for path in tokens::paths(&tokens, at + 1) {
                        if let [room, .., last] = &path[..] {
                            map.exports.insert(last.clone(), room.clone());
                        }
                    }
                }
                (Some("fn" | "struct" | "enum" | "trait" | "type" | "const" | "static"), Some(name)) => {
                    map.own.insert(name.to_owned());
                }
                (Some("macro_rules"), _) => map.own.extend(tokens.get(at + 2).and_then(Token::name).map(str::to_owned)),
                _ => {}
            }
        }
        map
    }

    /// The uses in one file of `room` that go against the order. `module` is the file's own path below the crate's root.
    fn against_order(&self, file: &str, module: &[String], text: &str) -> Vec<Use> {
        let room = module.first().map_or("", String::as_str);
        let place = self.place(room);
        let mut found = BTreeSet::new();
        let tokens = tokens::without_tests(&tokens::read(text));
        // An exported macro stands at the crate's root, wherever it is written.
        let is_macro = |at: usize| tokens.get(at).and_then(Token::name) == Some("macro_rules");
        let macros = (0..tokens.len()).filter(|at| is_macro(*at)).filter_map(|at| tokens.get(at + 2)?.name());
        let macros: BTreeSet<&str> = macros.collect();
        for path in tokens::local_paths(&tokens, module) {
            let Some(name) = path.first() else { continue };
            let target = if self.place(name).is_some() {
                Some(name)
            } else if self.own.contains(name) || macros.contains(name.as_str()) {
                continue;
            } else {
                self.exports.get(name)
            };
            let is_before = target.is_some_and(|target| target == room || self.place(target) < place);
            if !is_before {
                found.insert(Use { file: file.to_owned(), path: path.join("::"), room: target.cloned() });
            }
        }
        found.into_iter().collect()
    }

    fn place(&self, room: &str) -> Option<usize> {
        self.rooms.iter().position(|name| name == room)
    }
}

/// Every use against the order below `source`, the `src` folder of a crate.
pub(crate) fn check(source: &Path) -> Result<Vec<Use>> {
    let read = |path: &Path| fs::read_to_string(path).with_context(|| path.display().to_string());
    let map = Map::read(&read(&source.join("lib.rs"))?);
    let mut files = Vec::new();
    for room in &map.rooms {
        let (single, folder) = (source.join(format!("{room}.rs")), source.join(room));
        if single.is_file() {
            files.push(File { text: read(&single)?, path: single, module: vec![room.clone()] });
        }
        if folder.is_dir() {
            walk(&folder, std::slice::from_ref(room), &mut files)?;
        }
    }
    let claimed: BTreeMap<PathBuf, Vec<String>> = files.iter().flat_map(File::claims).collect();
    let mut found = Vec::new();
    for file in &files {
        let name = file.path.strip_prefix(source).unwrap_or(&file.path).display().to_string();
        found.extend(map.against_order(&name, claimed.get(&file.path).unwrap_or(&file.module), &file.text));
    }
    Ok(found)
}

/// A source file, and its own path below the crate's root.
struct File {
    path: PathBuf,
    module: Vec<String>,
    text: String,
}

impl File {
    /// The files that stand elsewhere and are modules of this one: `#[path = "../zstd/spec.rs"] mod zstd;`.
    fn claims(&self) -> Vec<(PathBuf, Vec<String>)> {
        let claim = |rest: &str| {
            let (path, rest) = rest.split_once("\"]")?;
            let name = rest.split_once("mod ")?.1.split_once(';')?.0;
            let mut full = self.path.parent()?.to_owned();
            for part in Path::new(path).components() {
                match part {
                    Component::ParentDir => drop(full.pop()),
                    part => full.push(part),
                }
            }
            Some((full, [&self.module[..], &[name.to_owned()]].concat()))
        };
        self.text.split("#[path = \"").skip(1).filter_map(claim).collect()
    }
}

fn walk(folder: &Path, module: &[String], files: &mut Vec<File>) -> Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<std::io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    let root = fs::read_to_string(folder.join("mod.rs")).unwrap_or_default();
    let only_tests = tokens::test_modules(&tokens::read(&root));
    for entry in entries {
        let path = entry.path();
        let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
        if only_tests.contains(stem) {
            continue;
        }
        let inner = [module, &[stem.to_owned()]].concat();
        if path.is_dir() {
            walk(&path, &inner, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let module = if stem == "mod" { module.to_vec() } else { inner };
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            files.push(File { path, module, text });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIB: &str = "//! mod ghost;\nmod error; // first\npub mod wire;\nmod read;\nmod write;\n\
                       #[cfg(test)]\nmod fixture;\npub use read::file::{File as Door, open};\npub use wire::MAGIC;\n\
                       pub fn version() {}\n";

    fn against(module: &[&str], text: &str) -> Vec<(String, Option<String>)> {
        let module: Vec<String> = module.iter().map(|&part| part.to_owned()).collect();
        let uses = Map::read(LIB).against_order("here.rs", &module, text);
        uses.into_iter().map(|found| (found.path, found.room)).collect()
    }

    fn to(path: &str, room: &str) -> (String, Option<String>) {
        (path.to_owned(), Some(room.to_owned()))
    }

    #[test]
    fn rooms_and_names_of_a_lib() {
        let map = Map::read(LIB);
        assert_eq!(map.rooms, ["error", "wire", "read", "write"]);
        assert_eq!(map.exports.get("Door").map(String::as_str), Some("read"));
        assert_eq!(map.exports.get("open").map(String::as_str), Some("read"));
        assert_eq!(map.exports.get("MAGIC").map(String::as_str), Some("wire"));
    }

    #[test]
    fn earlier_rooms_may_be_used_and_later_ones_not() {
        assert!(
            against(&["read"], "use crate::{error::Error, wire};\nuse crate::MAGIC; fn f() { crate::version() }")
                .is_empty()
        );
        assert_eq!(against(&["read"], "use crate::write::Sink;"), [to("write::Sink", "write")]);
        assert_eq!(
            against(&["wire"], "use crate::{error::{A, B}, read::{self, C}};"),
            [to("read", "read"), to("read::C", "read")]
        );
    }

    #[test]
    fn names_that_lib_re_exports_lead_to_their_room() {
        assert_eq!(against(&["wire"], "fn f(door: &crate::Door) {}"), [to("Door", "read")]);
        assert!(against(&["write"], "fn f(door: &crate::Door) {}").is_empty());
    }

    #[test]
    fn super_is_followed_to_the_room_it_reaches() {
        assert!(against(&["wire", "flags"], "use super::write::X; use self::deep::Y;").is_empty(), "wire::write");
        assert_eq!(against(&["wire", "flags"], "use super::super::write::X;"), [to("write::X", "write")]);
        assert_eq!(against(&["wire"], "use super::write::X;"), [to("write::X", "write")]);
        assert_eq!(against(&["wire"], "mod sealed { use super::super::write::X; }"), [to("write::X", "write")]);
        assert!(against(&["wire"], "mod sealed { use super::write::X; }").is_empty(), "wire::write");
    }

    #[test]
    fn tests_comments_and_texts_are_left_out() {
        let text = "// crate::write::X\n/* crate::write /* crate::write::Y */ */\n/// [`crate::write`]\nconst A: &str = \"crate::write::X\";\n\
                    const B: &str = r#\"crate::write \" \"#; const C: char = '\"';\nfn f<'a>(x: &'a u8) {}\n\
                    #[cfg(test)]\nmod tests { use crate::write::X; fn f() { let _ = '}'; } }\n\
                    #[cfg(test)]\nuse crate::write::Y;\n#[cfg(test)]\nfn g() { crate::write::h() }\npub(crate) struct S;";
        assert_eq!(against(&["read"], text), []);
        assert_eq!(against(&["read"], &format!("{text} use crate::write::Z;")), [to("write::Z", "write")]);
    }

    #[test]
    fn an_exported_macro_may_call_itself() {
        let text = "#[macro_export] macro_rules! list { () => { $crate::list!(1) }; ($x:expr) => { $x } }";
        assert_eq!(against(&["wire"], text), []);
        assert_eq!(against(&["wire"], "fn f() { crate::list!() }"), [("list".to_owned(), None)]);
    }

    #[test]
    fn what_cannot_be_told_is_named() {
        assert_eq!(against(&["read"], "use crate::*;"), [("*".to_owned(), None)]);
        assert_eq!(against(&["read"], "use crate::nowhere::X;"), [("nowhere::X".to_owned(), None)]);
    }

    #[test]
    fn files_of_a_crate_are_found() {
        let folder = std::env::temp_dir().join(format!("fw-rooms-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("lib.rs", LIB);
        write("error.rs", "use crate::wire::X;");
        write("wire/mod.rs", "#[cfg(test)]\nmod proof;\nmod deep;");
        write("wire/proof.rs", "use crate::write::X;");
        write("wire/deep/mod.rs", "use super::super::read::X;");
        write("wire/deep/hole.rs", "use super::super::super::read::Y; use super::super::read::Z;");
        // Files of a room that another one names: they are that room's.
        write("read/spec.rs", "use crate::write::Z;");
        write("read/mod.rs", "#[cfg(all(test, unix))]\nmod only;");
        write("read/only.rs", "use crate::write::W;");
        write("write/mod.rs", "#[path = \"../read/spec.rs\"]\nmod read;");
        let found: Vec<String> =
            check(&folder).unwrap().into_iter().map(|found| format!("{} {}", found.file, found.path)).collect();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, ["error.rs wire::X", "wire/deep/hole.rs read::Y", "wire/deep/mod.rs read::X"]);
    }
}
