//! A script with all that it loads, to be kept together.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use mlua::Lua;

use crate::lua::ScriptError;
use crate::lua::loads::{Load, loads};
use crate::lua::state::{body, first_words, modules};

/// Modules of `LuaJIT` itself.
const BUILT_IN: [&str; 11] = [
    "bit",
    "coroutine",
    "debug",
    "ffi",
    "io",
    "jit",
    "math",
    "os",
    "package",
    "string",
    "table",
];

/// A script and its modules, by content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScriptFiles {
    /// The script.
    pub text: String,
    /// Modules that it and its modules load, by the names that they use.
    pub modules: BTreeMap<String, String>,
}

impl ScriptFiles {
    /// Reads a script and all modules and files whose names stand in it as strings, and those of `more`. Nothing
    /// runs.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, text that is no Lua, a module that is not there: with script and line.
    pub fn read(path: &Path, more: &[String]) -> Result<Self, ScriptError> {
        let text = text_of(path)?;
        let shown = path.display().to_string();
        check_syntax(text.as_bytes(), &shown)?;
        let mut modules = BTreeMap::new();
        let more = more.iter().map(|name| Load::named(name)).collect();
        let mut to_read = vec![(shown.clone(), loads(text.as_bytes())), (shown, more)];
        while let Some((place, loads_of_it)) = to_read.pop() {
            for load in loads_of_it {
                if modules.contains_key(&load.name) || BUILT_IN.contains(&load.name.as_str()) {
                    continue;
                }
                let Some((place, text)) = find(&load, path, &place)? else {
                    continue;
                };
                check_syntax(text.as_bytes(), &place)?;
                to_read.push((place, loads(text.as_bytes())));
                modules.insert(load.name, text);
            }
        }
        Ok(Self { text, modules })
    }
}

/// Refuses what is no Lua, with its line; nothing runs.
///
/// # Errors
///
/// The interpreter's words.
pub fn check_syntax(text: &[u8], path: &str) -> Result<(), ScriptError> {
    let lua = Lua::new();
    let chunk = lua.load(body(text)).set_name(format!("@{path}"));
    let read = chunk.into_function();
    read.map(drop)
        .map_err(|error| ScriptError::Body(first_words(&error)))
}

fn text_of(path: &Path) -> Result<String, ScriptError> {
    let read = fs::read_to_string(path);
    read.map_err(|error| {
        let why = error.to_string().to_lowercase();
        ScriptError::Body(format!("cannot read {}: {why}", path.display()))
    })
}

/// Place and text of what is loaded; nothing for what is no Lua or may be missing.
fn find(load: &Load, script: &Path, place: &str) -> Result<Option<(String, String)>, ScriptError> {
    let (name, line) = (&load.name, load.line);
    let found = if load.is_file {
        file(name, script)
    } else {
        modules::find(name, &script.display().to_string())
    };
    if let Some(path) = found {
        return Ok(Some((path.display().to_string(), text_of(&path)?)));
    }
    if let Some(own) = modules::own(name).filter(|_| !load.is_file) {
        return Ok(Some((format!("{name}.lua"), own.to_owned())));
    }
    let is_native = !load.is_file && modules::is_c_module(name);
    if load.is_optional || is_native || name.starts_with("jit.") {
        return Ok(None);
    }
    let what = if load.is_file { "file" } else { "module" };
    Err(ScriptError::Body(format!(
        "{place}:{line}: {what} '{name}' not found"
    )))
}

/// A file as seen from the present folder, or from the script's.
fn file(name: &str, script: &Path) -> Option<PathBuf> {
    let beside = script.parent().map(|folder| folder.join(name));
    let places = [Some(PathBuf::from(name)), beside];
    places.into_iter().flatten().find(|place| place.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_with_all_that_it_loads() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write(
            "x.lua",
            "#!/usr/bin/env sysbench\nrequire('part') require('ffi')\ndofile('rest.lua')",
        );
        write(
            "part.lua",
            "require('oltp_common') pcall(require, 'nowhere')",
        );
        write("rest.lua", "return 1");
        let files = ScriptFiles::read(&folder.path().join("x.lua"), &[]).unwrap();
        let names: Vec<_> = files.modules.keys().map(String::as_str).collect();
        assert_eq!(names, ["oltp_common", "part", "rest.lua"]);
        assert_eq!(files.modules["rest.lua"], "return 1");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("x.lua");
        for (text, line) in [
            ("local a = 1\nx = = 1", "x.lua:2: "),
            (
                "\n\nrequire('no_such_module')",
                "x.lua:3: module 'no_such_module' not found",
            ),
            ("dofile('no.lua')", "x.lua:1: file 'no.lua' not found"),
        ] {
            fs::write(&script, text).unwrap();
            let error = ScriptFiles::read(&script, &[]).unwrap_err().to_string();
            assert!(error.contains(line), "{error}");
        }
    }
}
