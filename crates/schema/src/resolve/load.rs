//! Files and imports (SF-2.12).

use crate::ast::{File, Item};
use crate::diagnose::{Code, Diagnostic, Faults};
use crate::parse::parse;
use crate::resolve::Options;
use crate::source::{FileId, Loader, SourceMap, Span};
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// A file that was read, in load order.
pub(super) struct Loaded {
    pub(super) id: FileId,
    pub(super) file: File,
    pub(super) dropped: Vec<String>,
    /// Imports that were found: the file's place in the list, and the import's place in the text.
    pub(super) imports: Vec<(usize, Span)>,
    /// An import was not found; names may be missing because of it.
    pub(super) import_missing: bool,
}

/// Reads the roots and everything they import, each file once, an importing file before what it imports.
pub(super) fn load(
    loader: &dyn Loader,
    roots: &[&Path],
    options: &Options,
    diagnostics: &mut Faults,
) -> (SourceMap, Vec<Loaded>) {
    let include = &options.include;
    let mut state = Loading {
        loader,
        options,
        allowed: include.iter().filter_map(|path| loader.directory(path)).collect(),
        sources: SourceMap::including(include),
        files: Vec::new(),
        wanted: Vec::new(),
        known: HashMap::new(),
        diagnostics,
    };
    state.allowed.extend(roots.iter().filter_map(|root| loader.directory(root.parent()?)));
    // A root may be a link to a file with imports beside it.
    state.allowed.extend(roots.iter().filter_map(|root| loader.identify(root)?.parent().map(Path::to_path_buf)));
    for root in roots {
        state.root(root);
    }
    (state.sources, state.files)
}

fn imports(file: &File) -> Vec<(String, Span)> {
    let imports = file.items.iter().filter_map(|node| match &node.value {
        Item::Import(import) => Some(&import.path),
        _ => None,
    });
    imports.map(|path| (path.string().unwrap_or("").to_owned(), path.site.0)).collect()
}

struct Loading<'a> {
    loader: &'a dyn Loader,
    options: &'a Options,
    /// Directories that files must be in, as the loader names them: what a schema imports is not chosen by who compiles it.
    allowed: Vec<PathBuf>,
    sources: SourceMap,
    files: Vec<Loaded>,
    /// By file: the imports it asks for.
    wanted: Vec<Vec<(String, Span)>>,
    known: HashMap<PathBuf, Option<usize>>,
    diagnostics: &'a mut Faults,
}

impl Loading<'_> {
    /// Reads a root and what it imports, unless an earlier root has imported it.
    fn root(&mut self, root: &Path) {
        let root_dir = root.parent().map(Path::to_path_buf).unwrap_or_default();
        let Some(identity) = self.loader.identify(root) else {
            let id = self.sources.add(root.to_path_buf(), String::new());
            let message = format!("{} is not a readable file", root.display());
            self.diagnostics.push(Diagnostic::new(Code::ImportNotFound, start_of(id), message));
            return;
        };
        if self.known.contains_key(&identity) {
            return;
        }
        let first = self.read(root.to_path_buf(), identity, None);

        // Depth first without recursion: (file, how many of its imports are done).
        let mut stack: Vec<(usize, usize)> = first.map(|at| (at, 0)).into_iter().collect();
        while let Some((at, done)) = stack.pop() {
            let Some((path, span)) = self.wanted[at].get(done).cloned() else { continue };
            stack.push((at, done + 1));
            let own = self.sources.file(self.files[at].id).and_then(|file| file.path.parent()).map(Path::to_path_buf);
            let own = own.unwrap_or_default();
            let directories = [&root_dir, &own].into_iter().chain(&self.options.include);
            let candidates: Vec<_> = directories.map(|from| from.join(&path)).collect();
            let identified = |shown: PathBuf| self.loader.identify(&shown).map(|identity| (shown, identity));
            let Some((shown, identity)) = candidates.into_iter().find_map(identified) else {
                self.files[at].import_missing = true;
                self.diagnostics.push(
                    Diagnostic::new(Code::ImportNotFound, span, format!("no file `{path}` to import")).hint(
                        "a path is tried from the directory of the root file, from that of the importing file, then from include \
                         directories",
                    ),
                );
                continue;
            };
            if !self.is_allowed(&identity) {
                self.files[at].import_missing = true;
                let message = format!("`{path}` is outside of the directories of this schema");
                self.diagnostics.push(
                    Diagnostic::new(Code::ImportOutside, span, message).hint(
                        "imports must be below the directory of the root file or an include directory (--include)",
                    ),
                );
                continue;
            }
            let (target, new) = match self.known.get(&identity) {
                Some(target) => (*target, false),
                None => (self.read(shown, identity, Some(span)), true),
            };
            match target {
                Some(target) => {
                    self.files[at].imports.push((target, span));
                    if new {
                        stack.push((target, 0));
                    }
                }
                None => self.files[at].import_missing = true,
            }
        }
    }

    fn is_allowed(&self, identity: &Path) -> bool {
        self.options.anywhere
            || self.allowed.iter().any(|directory| {
                // What is left above a directory in memory cannot be told from what is below it.
                identity
                    .strip_prefix(directory)
                    .is_ok_and(|rest| !rest.components().any(|part| part == Component::ParentDir))
            })
    }

    /// Reads and parses a file; `None` after a reported fault.
    fn read(&mut self, path: PathBuf, identity: PathBuf, import: Option<Span>) -> Option<usize> {
        let bytes = match self.loader.read(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let span = import.unwrap_or_else(|| start_of(self.sources.add(path.clone(), String::new())));
                let message = format!("cannot read {}: {error}", path.display());
                self.diagnostics.push(Diagnostic::new(Code::ImportNotFound, span, message));
                self.known.insert(identity, None);
                return None;
            }
        };
        let (text, fault) = match String::from_utf8(bytes) {
            Ok(text) => (text, None),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                (String::from_utf8_lossy(error.as_bytes()).into_owned(), Some(at))
            }
        };
        // Faults of a file that is not a schema stay unsaid: they would quote it, and it may be anything that a schema names.
        let mut faults = Faults::default();
        let id = self.sources.next();
        if let Some(at) = fault {
            let span = Span { file: id, start: at as u32, end: at as u32 + REPLACEMENT_LEN };
            let message = format!("byte {at} (0x{at:x}) is not UTF-8");
            faults.push(Diagnostic::new(Code::NotUtf8, span, message).hint("save the file as UTF-8"));
        }
        let parsed = parse(id, &text, &mut faults);
        if let Some(missing) = missing(&parsed.file, &text, import.is_some()) {
            let message = format!("{} is not a schema: {missing}", path.display());
            let span = import.unwrap_or_else(|| start_of(self.sources.add(path, String::new())));
            self.diagnostics.push(Diagnostic::new(Code::NotASchema, span, message));
            self.known.insert(identity, None);
            return None;
        }
        self.sources.add(path, text);
        self.diagnostics.append(faults);
        let at = self.files.len();
        self.wanted.push(imports(&parsed.file));
        self.files.push(Loaded {
            id,
            file: parsed.file,
            dropped: parsed.dropped,
            imports: Vec::new(),
            import_missing: false,
        });
        self.known.insert(identity, Some(at));
        Some(at)
    }
}

/// Bytes of the character that stands in the text for what is not UTF-8.
const REPLACEMENT_LEN: u32 = 3;

/// What a file lacks that every schema has: an imported one its `package` line, a root any declaration.
fn missing(file: &File, text: &str, imported: bool) -> Option<&'static str> {
    let has_package = file.items.iter().any(|node| matches!(node.value, Item::Package(_)));
    match imported {
        true => (!has_package).then_some("it has no `package` line"),
        false => (file.items.is_empty() && !text.trim().is_empty()).then_some("nothing in it is a declaration"),
    }
}

fn start_of(file: FileId) -> Span {
    Span { file, start: 0, end: 0 }
}
