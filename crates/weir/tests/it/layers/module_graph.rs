//! Which files of a crate use which others.
//!
//! A file is a module. What it uses is read from its `use` declarations and from paths in its code, also those in the
//! arguments of macros. A name that a module only imports or re-exports counts as a use of the file that has it.
//!
//! Not seen: what is reached through a value (methods, fields), names that a glob brings in (the glob counts as a use of
//! its module), and what a macro makes of its arguments. Code under `#[cfg(test)]` and files called `tests` are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, ItemFn, ItemImpl, ItemMod, ItemUse, Macro, Meta, UseTree};

/// Names from the crate's root, which has none itself.
type Names = Vec<String>;

/// The files of a crate, each with those that it uses.
#[derive(Debug)]
pub(super) struct ModuleGraph(BTreeMap<Names, BTreeSet<Names>>);

impl ModuleGraph {
    /// Reads the crate whose sources are in `src`.
    pub(super) fn read(src: &Path) -> Self {
        let files = files(src);
        let sources: BTreeMap<Names, Source> = files
            .iter()
            .map(|(module, text)| (module.clone(), Source::read(module, text)))
            .collect();
        let used = |source: &Source| {
            let paths = source.paths.iter();
            let paths = paths.filter_map(|path| absolute(path, &sources));
            paths.map(|path| owner(&path, &sources)).collect()
        };
        let graph = sources.iter();
        Self(
            graph
                .map(|(module, source)| (module.clone(), used(source)))
                .collect(),
        )
    }

    /// How many files there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Files that cannot be understood one after the other: each reaches all others of its circle.
    ///
    /// A file below another may use it (`super::Rule` in a rule's file, while `rules.rs` lists its rules): the two are read
    /// as one, and no circle is counted for that. All other uses count, from a file to those below it, too.
    pub(super) fn circles(&self) -> Vec<Vec<String>> {
        let reached: BTreeMap<_, _> = self
            .0
            .keys()
            .map(|from| (from, self.reached(from)))
            .collect();
        let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
        for (from, to) in &reached {
            let back = to.iter().filter(|other| reached[*other].contains(from));
            let circle: Vec<_> = back.map(|names| names.join("::")).collect();
            if circle.len() > 1 {
                circles.insert(circle);
            }
        }
        circles.into_iter().collect()
    }

    /// All files that `from` uses, by however many steps.
    fn reached(&self, from: &Names) -> BTreeSet<&Names> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&Names> = vec![from];
        while let Some(module) = open.pop() {
            let used = self.0[module].iter();
            for used in used.filter(|used| !module.starts_with(used)) {
                if reached.insert(used) {
                    open.push(used);
                }
            }
        }
        reached
    }
}

/// What a file says of others.
#[derive(Debug, Default)]
struct Source {
    /// The module that is being read: the file's, or one inside it.
    within: Names,
    /// Every path as it is written, with the module in which it stands.
    paths: Vec<(Names, Names)>,
    /// What a `use` brings in, under which name.
    imports: BTreeMap<String, (Names, Names)>,
}

impl Source {
    fn read(module: &Names, text: &str) -> Self {
        let mut source = Self {
            within: module.clone(),
            ..Self::default()
        };
        let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{module:?}: {error}"));
        source.visit_file(&file);
        source
    }

    fn import(&mut self, before: &Names, tree: &UseTree) {
        let with = |name: &syn::Ident| [before.clone(), vec![name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.import(&with(&path.ident), &path.tree),
            UseTree::Name(name) if name.ident == "self" => self.bring_in(before.last(), before),
            UseTree::Name(name) => self.bring_in(Some(&name.ident.to_string()), &with(&name.ident)),
            UseTree::Rename(name) => {
                self.bring_in(Some(&name.rename.to_string()), &with(&name.ident));
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(before, tree);
                }
            }
            UseTree::Glob(_) => self.bring_in(None, before),
        }
    }

    fn bring_in(&mut self, name: Option<&String>, path: &Names) {
        let path = (self.within.clone(), path.clone());
        if let Some(name) = name {
            self.imports.insert(name.clone(), path.clone());
        }
        self.paths.push(path);
    }
}

impl<'ast> Visit<'ast> for Source {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if !is_of_tests(&item.attrs) {
            self.import(&Vec::new(), &item.tree);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_of_tests(&item.attrs) {
            self.within.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.within.pop();
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if !is_of_tests(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if !is_of_tests(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_of_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path.segments.iter();
        let names = names.map(|segment| segment.ident.to_string()).collect();
        self.paths.push((self.within.clone(), names));
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast Macro) {
        let within = self.within.clone();
        let paths = paths_in(&item.tokens).into_iter();
        self.paths.extend(paths.map(|path| (within.clone(), path)));
    }
}

/// Whether something is compiled for tests only.
pub(super) fn is_of_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            let tokens = list.tokens.clone().into_iter();
            let mut words = tokens.map(|token| token.to_string());
            words.next().as_deref() == Some("test") && words.next().is_none()
        }
        _ => false,
    })
}

/// Names with `::` between them, in the arguments of a macro.
fn paths_in(tokens: &TokenStream) -> Vec<Names> {
    let (mut paths, mut path, mut colons) = (Vec::new(), Names::new(), 0);
    for token in tokens.clone() {
        match token {
            TokenTree::Punct(sign) if sign.as_char() == ':' => colons += 1,
            TokenTree::Ident(name) => {
                if colons != 2 {
                    paths.push(std::mem::take(&mut path));
                }
                path.push(name.to_string());
                colons = 0;
            }
            other => {
                paths.push(std::mem::take(&mut path));
                colons = 0;
                if let TokenTree::Group(group) = other {
                    paths.extend(paths_in(&group.stream()));
                }
            }
        }
    }
    paths.push(path);
    paths.retain(|path| path.len() > 1);
    paths
}

/// `path` from the crate's root; `None` where it begins with something of elsewhere.
fn absolute((within, path): &(Names, Names), sources: &BTreeMap<Names, Source>) -> Option<Names> {
    let first = path.first()?;
    let mut from = within.clone();
    let mut rest = path.as_slice();
    match first.as_str() {
        "crate" => {
            from.clear();
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|name| name == "super") {
                from.pop();
                rest = &rest[1..];
            }
        }
        _ => {
            let below = [from.as_slice(), &rest[..1]].concat();
            if !sources.contains_key(&below) {
                return None;
            }
        }
    }
    Some([&from, rest].concat())
}

/// The file that has what `path` names, through all modules that only import it.
fn owner(path: &[String], sources: &BTreeMap<Names, Source>) -> Names {
    let mut path = path.to_vec();
    let mut met = BTreeSet::new();
    loop {
        let length = (0..=path.len())
            .rev()
            .find(|&length| sources.contains_key(&path[..length]))
            .expect("the root is a file");
        let (module, rest) = path.split_at(length);
        let import = rest
            .first()
            .and_then(|name| sources[module].imports.get(name));
        let imported = import.and_then(|import| absolute(import, sources));
        match imported {
            Some(imported) if met.insert(path.clone()) => path = [&imported, &rest[1..]].concat(),
            _ => return module.to_vec(),
        }
    }
}

/// The text of each file below `src` by its module; without those of tests, and without the program where there is a
/// library beside it, which is another crate.
fn files(src: &Path) -> Vec<(Names, String)> {
    let mut paths = Vec::new();
    super::sources(src, &mut paths);
    let has_library = src.join("lib.rs").exists();
    let mut files = Vec::new();
    for path in paths {
        let below = path.strip_prefix(src).unwrap().with_extension("");
        let names = below.iter().map(|name| name.to_str().unwrap().to_owned());
        let mut module: Names = names.collect();
        if module == ["main"] && has_library {
            continue;
        }
        if module == ["lib"] || module == ["main"] {
            module.clear();
        }
        files.push((module, fs::read_to_string(&path).unwrap()));
    }
    files
}
