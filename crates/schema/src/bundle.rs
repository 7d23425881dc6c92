//! A schema as text that travels with its data.

use crate::layout::{Schema, Variable};
use crate::resolve::{Compilation, Options, check_with};
use crate::source::{Memory, normalise};
use std::path::{Component, Path, PathBuf};

/// The text of a schema with everything it imports, and how it is compiled: all that a file needs to explain its frames.
///
/// ```
/// let schema = fw_schema::check_text("demo.sf", "package demo; message Ping { option msgid = 7; uint16 seq = 1; }")
///     .into_result()
///     .unwrap();
/// let bundle = fw_schema::Bundle::of(&schema);
/// assert_eq!(bundle.root, "demo.sf");
/// assert!(bundle.compile().into_result().unwrap().by_id(7).is_some());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    /// The path of the root file.
    pub root: String,
    /// Paths and texts of all files, in load order. Paths are relative to the directory of the root file where they can be.
    pub files: Vec<(String, String)>,
    /// Include directories, relative like the files: imports are looked for in them in this order.
    pub include: Vec<String>,
    /// Which messages are variable: the texts alone do not tell what is on the wire.
    pub variable: Variable,
}

impl Bundle {
    /// The texts that a schema was compiled from.
    pub fn of(schema: &Schema) -> Self {
        let files = schema.sources().files();
        let root = files.first().map_or(Path::new(""), |file| file.path.as_path());
        let folder = absolute(root.parent().unwrap_or(Path::new("")));
        let relative = |path: &Path| relative(&absolute(path), &folder).to_string_lossy().into_owned();
        Self {
            root: relative(root),
            files: files.iter().map(|file| (relative(&file.path), file.text.clone())).collect(),
            include: schema.sources().include().iter().map(|directory| relative(directory)).collect(),
            variable: schema.variable(),
        }
    }

    /// Compiles the texts again.
    pub fn compile(&self) -> Compilation {
        let files = self.files.iter().fold(Memory::new(), |files, (path, text)| files.with(path, text.as_str()));
        let mut options = Options::default().with_variable(self.variable).with_include(&self.include);
        // Where imports may be was judged when the files were read; now there are no others.
        options.anywhere = true;
        check_with(&files, Path::new(&self.root), &options)
    }
}

/// A path from the root of the file system, without asking it: `a/../b` and `b` are one name.
fn absolute(path: &Path) -> PathBuf {
    let here = || if path.as_os_str().is_empty() { std::env::current_dir() } else { std::path::absolute(path) };
    normalise(&here().unwrap_or_else(|_| path.to_path_buf()))
}

/// The way from a directory to a path; the path itself when there is none, as between drives.
fn relative(path: &Path, from: &Path) -> PathBuf {
    let shared = path.components().zip(from.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(shared);
    if shared == 0 || up.clone().any(|part| !matches!(part, Component::Normal(_))) {
        return path.to_path_buf();
    }
    up.map(|_| Component::ParentDir).chain(path.components().skip(shared)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::check_with;
    use crate::source::Disk;

    #[test]
    fn ways_lead_up_and_down() {
        let way = |path, from| relative(Path::new(path), Path::new(from));
        assert_eq!(way("/a/b/c.sf", "/a/b"), Path::new("c.sf"));
        assert_eq!(way("/a/c.sf", "/a/b/d"), Path::new("../../c.sf"));
        assert_eq!(way("/a/b", "/a/b"), Path::new(""));
        assert_eq!(way("c.sf", "/a/b"), Path::new("c.sf"));
    }

    #[test]
    fn imports_of_include_directories_are_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("robot")).unwrap();
        std::fs::create_dir_all(at("shared/units")).unwrap();
        // Two files of one name: the order of the directories decides which is meant.
        let unit = |width| format!("package units; option pkgid = 5; message U {{ uint{width} u = 1; }}");
        std::fs::write(at("shared/units/u.sf"), unit(16)).unwrap();
        std::fs::write(at("shared/u.sf"), unit(32)).unwrap();
        let text = "package main; option pkgid = 3; import 'u.sf'; import '../base.sf';\n\
                    message M { option msgid = 1; units.U u = 1; base.B b = 2; }";
        std::fs::write(at("robot/main.sf"), text).unwrap();
        std::fs::write(at("base.sf"), "package base; option pkgid = 6; message B { uint8 b = 1; }").unwrap();
        let options = Options::default().with_include([at("shared/units"), at("shared"), at("robot/..")]);
        let schema = check_with(&Disk, &at("robot/main.sf"), &options).into_result().unwrap();
        let bundle = Bundle::of(&schema);
        let paths: Vec<_> = bundle.files.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["main.sf", "../shared/units/u.sf", "../base.sf"]);
        assert_eq!(bundle.include, ["../shared/units", "../shared", ".."]);
        let again = bundle.compile().into_result().unwrap();
        assert_eq!(Bundle::of(&again), bundle);
        let size = |schema: &Schema| schema.messages().iter().map(|message| message.sizes.max).collect::<Vec<_>>();
        assert_eq!(size(&again), size(&schema));
    }
}
