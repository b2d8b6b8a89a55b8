//! Types as TypeScript, for the tests of the crates whose JSON the pages in `web/` read.

use std::collections::BTreeMap;
use std::path::Path;

use ts_rs::{Config, TS, TypeVisitor};

/// Declarations of types and of all that they name: name -> declaration.
#[derive(Debug, Default)]
pub struct TypeScript(BTreeMap<String, String>);

/// Numbers are doubles in JSON as JavaScript reads it.
fn config() -> Config {
    Config::new().with_large_int("number")
}

impl TypeScript {
    /// Adds the type `T`.
    #[must_use]
    pub fn with<T: TS + 'static>(mut self) -> Self {
        self.visit::<T>();
        self
    }

    /// Returns true if the file at `path` is the same; with `WEIR_UPDATE_FIXTURES` in the environment, it is written
    /// first.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub fn is_kept_in(&self, path: &str) -> std::io::Result<bool> {
        let mut text = "// Made of Weir's types by `make types`.\n".to_owned();
        for declaration in self.0.values() {
            text.push_str("\nexport ");
            text.push_str(declaration);
            text.push('\n');
        }
        if std::env::var_os("WEIR_UPDATE_FIXTURES").is_some() {
            std::fs::write(Path::new(path), &text)?;
        }
        Ok(std::fs::read_to_string(path)? == text)
    }
}

impl TypeVisitor for TypeScript {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Others are TypeScript's own.
        if T::output_path().is_none() {
            return;
        }
        let name = T::ident(&config());
        if self.0.insert(name, T::decl(&config())).is_none() {
            T::visit_dependencies(self);
        }
    }
}
