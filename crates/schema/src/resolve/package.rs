//! Packages and their ids (SF-2.10, SF-2.12, SF-2.13).

use super::load::Loaded;
use super::option::{Level, OptionSet};
use crate::ast::{Ident, Item, OptionItem};
use crate::diagnose::{Code, Diagnostic, Faults};
use crate::layout::{Package, PackageIndex};
use crate::source::Span;
use std::collections::HashMap;

/// The packages, and which one each file belongs to.
pub(super) struct Packages {
    pub(super) list: Vec<Package>,
    /// By file; `None` for a file without package.
    pub(super) of_file: Vec<Option<PackageIndex>>,
    /// By name.
    pub(super) by_name: HashMap<String, PackageIndex>,
}

/// Collects packages, checks their imports and settles their ids.
pub(super) fn packages(files: &[Loaded], diagnostics: &mut Faults) -> Packages {
    let mut packages = Packages { list: Vec::new(), of_file: Vec::new(), by_name: HashMap::new() };
    let mut names: Vec<Span> = Vec::new();
    for loaded in files {
        let name = package_of(loaded, diagnostics);
        let index = name.map(|name| {
            *packages.by_name.entry(name.text.clone()).or_insert_with(|| {
                let index = PackageIndex(packages.list.len() as u32);
                packages.list.push(Package {
                    name: name.text.clone(),
                    id: None,
                    inherited: false,
                    imports: Vec::new(),
                    enums: Vec::new(),
                    messages: Vec::new(),
                });
                names.push(name.site.0);
                index
            })
        });
        packages.of_file.push(index);
    }

    let edges = edges(files, &packages);
    for (from, to, _) in &edges {
        let imports = &mut packages.list[from.get()].imports;
        if !imports.contains(to) {
            imports.push(*to);
        }
    }
    cycles(&packages.list, &edges, diagnostics);
    let faulty = explicit_ids(files, &mut packages, diagnostics);
    inherit(&mut packages.list);

    if !faulty {
        // Schemas that know nothing of each other may have no ids; their messages must differ in id all the same.
        let related = related(packages.list.len(), &edges);
        let without = packages.list.iter().zip(&names).zip(related).filter(|((package, _), _)| package.id.is_none());
        for ((package, span), together) in without.filter(|(_, together)| *together > 1) {
            let message = format!("package `{}` has no id, and {together} packages are loaded", package.name);
            diagnostics.push(
                Diagnostic::new(Code::PackageIdMissing, *span, message)
                    .hint("add `option pkgid = N;` after the package line, here or in the file that imports it"),
            );
        }
    }
    packages
}

/// The package of a file, after checking where its package line stands.
fn package_of<'a>(loaded: &'a Loaded, diagnostics: &mut Faults) -> Option<&'a Ident> {
    let mut package: Option<&Ident> = None;
    let mut early: Option<Span> = None;
    for node in &loaded.file.items {
        match &node.value {
            Item::Package(name) => match package {
                Some(first) => diagnostics.push(
                    Diagnostic::new(Code::PackageDuplicate, name.site.0, "a file has one package line")
                        .related(first.site.0, "the first is")
                        .hint("put the declarations of another package into another file"),
                ),
                None => package = Some(name),
            },
            Item::Option(_) | Item::Enum(_) | Item::Message(_) if package.is_none() => {
                early = early.or(Some(node.site.0));
            }
            _ => {}
        }
    }
    if let Some(name) = package.filter(|name| name.text.contains('.')) {
        diagnostics.push(
            Diagnostic::new(Code::DottedPackage, name.site.0, format!("package name `{}` contains a dot", name.text))
                .hint("use one word: `package.Type` is split at its first dot"),
        );
    }
    // A package line may be among what could not be read.
    let unknown = package.is_none() && loaded.file.damaged;
    if (early.is_some() || package.is_none()) && !unknown {
        let span = early.unwrap_or(Span { file: loaded.id, start: 0, end: 0 });
        let message = match package {
            Some(_) => "a declaration before the package line",
            None => "the file has no package line",
        };
        diagnostics
            .push(Diagnostic::new(Code::PackageMissing, span, message).hint("start the file with `package name;`"));
    }
    package
}

type Edge = (PackageIndex, PackageIndex, Span);

/// Imports between different packages, in load order.
fn edges(files: &[Loaded], packages: &Packages) -> Vec<Edge> {
    let mut edges = Vec::new();
    for (loaded, from) in files.iter().zip(&packages.of_file) {
        for (target, span) in &loaded.imports {
            if let (Some(from), Some(to)) = (*from, packages.of_file[*target])
                && from != to
            {
                edges.push((from, to, *span));
            }
        }
    }
    edges
}

/// For every package, how many packages there are that imports connect with it, itself included.
fn related(count: usize, edges: &[Edge]) -> Vec<usize> {
    let mut group: Vec<usize> = (0..count).collect();
    for (from, to, _) in edges {
        let (one, other) = (group[from.get()], group[to.get()]);
        group.iter_mut().filter(|of| **of == other).for_each(|of| *of = one);
    }
    group.iter().map(|of| group.iter().filter(|other| *other == of).count()).collect()
}

/// Reports each import that closes a cycle of packages.
fn cycles(packages: &[Package], edges: &[Edge], diagnostics: &mut Faults) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; packages.len()];
    for start in 0..packages.len() {
        if marks[start] != Mark::New {
            continue;
        }
        marks[start] = Mark::Open;
        let mut stack = vec![(start, 0)];
        while let Some((at, done)) = stack.pop() {
            let Some(next) = packages[at].imports.get(done) else {
                marks[at] = Mark::Done;
                continue;
            };
            stack.push((at, done + 1));
            match marks[next.get()] {
                Mark::New => {
                    marks[next.get()] = Mark::Open;
                    stack.push((next.get(), 0));
                }
                Mark::Open => {
                    let closing = edges.iter().find(|(from, to, _)| from.get() == at && to == next);
                    let Some((_, _, span)) = closing else { continue };
                    let (from, to) = (&packages[at].name, &packages[next.get()].name);
                    let message = format!("package `{from}` imports `{to}`, which imports `{from}`");
                    diagnostics.push(
                        Diagnostic::new(Code::ImportCycle, *span, message)
                            .hint("move what both need into a third package"),
                    );
                }
                Mark::Done => {}
            }
        }
    }
}

/// Reads `option pkgid`; true when one of them is faulty.
fn explicit_ids(files: &[Loaded], packages: &mut Packages, diagnostics: &mut Faults) -> bool {
    let mut faulty = false;
    let mut given: HashMap<PackageIndex, (u8, Span)> = HashMap::new();
    let mut owners: HashMap<u8, (PackageIndex, Span)> = HashMap::new();
    for (loaded, package) in files.iter().zip(packages.of_file.clone()) {
        let items: Vec<&OptionItem> = loaded.file.items.iter().filter_map(file_option).collect();
        let options = OptionSet::new(Level::File, items, diagnostics);
        let Some(package) = package else { continue };
        for option in options.all("pkgid") {
            let span = option.value.site.0;
            let Some(id) = option.value.integer().and_then(|id| u8::try_from(id).ok()) else {
                faulty = true;
                let message = format!("package id {} is not an integer from 0 to 255", option.value.written());
                diagnostics.push(Diagnostic::new(Code::PackageIdRange, span, message));
                continue;
            };
            match given.get(&package) {
                Some((first, _)) if *first == id => {}
                Some((first, at)) => diagnostics.push(
                    Diagnostic::new(Code::ConflictingPackageId, span, format!("package id {id}, but also {first}"))
                        .related(*at, "the other is")
                        .hint("a package has one id"),
                ),
                None => {
                    given.insert(package, (id, span));
                    if let Some((owner, at)) = owners.insert(id, (package, span)) {
                        let owner = &packages.list[owner.get()].name;
                        diagnostics.push(
                            Diagnostic::new(Code::DuplicatePackageId, span, format!("package id {id} is taken"))
                                .related(at, format!("package `{owner}` has it"))
                                .hint("give each package its own id"),
                        );
                    }
                }
            }
        }
    }
    for (package, (id, _)) in given {
        packages.list[package.get()].id = Some(id);
    }
    faulty
}

fn file_option(node: &crate::ast::Node<Item>) -> Option<&OptionItem> {
    match &node.value {
        Item::Option(option) => Some(option),
        _ => None,
    }
}

/// An imported package without an id takes the importer's, importers in load order.
fn inherit(packages: &mut [Package]) {
    for at in 0..packages.len() {
        let Some(id) = packages[at].id else { continue };
        for imported in packages[at].imports.clone() {
            let imported = &mut packages[imported.get()];
            if imported.id.is_none() {
                imported.id = Some(id);
                imported.inherited = true;
            }
        }
    }
}
