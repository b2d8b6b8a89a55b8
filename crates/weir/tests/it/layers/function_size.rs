//! How long the functions of a file are, and how many arguments they take.
//!
//! A function counts from its line with `fn` to its closing brace, arguments count with `self`. Code under
//! `#[cfg(test)]` is left out.

use syn::visit::{self, Visit};
use syn::{Block, ImplItemFn, ItemFn, ItemImpl, ItemMod, Signature, TraitItemFn};

use super::module_graph::is_of_tests;

/// Longest function, lines.
const LINES_MAX: usize = 70;
/// Most arguments of a function.
const ARGUMENTS_MAX: usize = 6;
/// Traits of other projects, which say how many arguments their methods take.
const FOREIGN_TRAITS: [&str; 1] = ["Filesystem"];

/// The functions of a file that are too large.
#[derive(Debug, Default)]
pub(super) struct FunctionSizes {
    /// The code that is being read implements a foreign trait.
    is_foreign: bool,
    /// How many functions there are.
    pub(super) count: usize,
    /// What is wrong with each that is too large.
    pub(super) too_large: Vec<String>,
}

impl FunctionSizes {
    pub(super) fn read(text: &str) -> Self {
        let mut sizes = Self::default();
        sizes.visit_file(&syn::parse_file(text).unwrap());
        sizes
    }

    fn measure(&mut self, signature: &Signature, block: &Block) {
        self.count += 1;
        let name = &signature.ident;
        let first = signature.fn_token.span.start().line;
        let lines = block.brace_token.span.close().end().line - first + 1;
        if lines > LINES_MAX {
            let line = format!("{first}: `{name}` has {lines} lines, at most {LINES_MAX}");
            self.too_large.push(line);
        }
        self.count_arguments(signature);
    }

    fn count_arguments(&mut self, signature: &Signature) {
        let arguments = signature.inputs.len();
        if arguments > ARGUMENTS_MAX && !self.is_foreign {
            let (first, name) = (signature.fn_token.span.start().line, &signature.ident);
            let line =
                format!("{first}: `{name}` has {arguments} arguments, at most {ARGUMENTS_MAX}");
            self.too_large.push(line);
        }
    }
}

impl<'ast> Visit<'ast> for FunctionSizes {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_of_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if !is_of_tests(&item.attrs) {
            self.measure(&item.sig, &item.block);
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if !is_of_tests(&item.attrs) {
            let of_trait = item
                .trait_
                .as_ref()
                .and_then(|found| found.0.segments.last());
            self.is_foreign = of_trait
                .is_some_and(|last| FOREIGN_TRAITS.iter().any(|foreign| last.ident == foreign));
            visit::visit_item_impl(self, item);
            self.is_foreign = false;
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        if !is_of_tests(&item.attrs) {
            self.measure(&item.sig, &item.block);
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        match &item.default {
            Some(block) => self.measure(&item.sig, block),
            None => self.count_arguments(&item.sig),
        }
        visit::visit_trait_item_fn(self, item);
    }
}
