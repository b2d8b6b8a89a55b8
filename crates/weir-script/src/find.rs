//! Search for a script: a file, or a module that `require` finds.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use crate::lua::{ScriptError, State};

/// A script, read.
#[derive(Debug, Clone)]
pub struct Script {
    /// As it was named; empty for standard input.
    pub path: String,
    /// Text of the script.
    pub text: Vec<u8>,
}

impl Script {
    /// Reads the script of this name; `-` is standard input.
    ///
    /// # Errors
    ///
    /// A script that is not there or cannot be read.
    pub fn read(name: &str) -> Result<Self, ScriptError> {
        let path = match name {
            "-" => String::new(),
            _ if Path::new(name).is_file() => name.to_owned(),
            _ => {
                return match State::module_text(name) {
                    Some(text) => Ok(Self {
                        path: name.to_owned(),
                        text,
                    }),
                    None => Err(ScriptError::Body(format!(
                        "Cannot find benchmark '{name}': no such built-in test, file or module"
                    ))),
                };
            }
        };
        let read = if path.is_empty() {
            let mut text = Vec::new();
            std::io::stdin().read_to_end(&mut text).map(|_| text)
        } else {
            fs::read(&path)
        };
        let text = read.map_err(|error| {
            ScriptError::Body(format!(
                "cannot read {name}: {}",
                error.to_string().to_lowercase()
            ))
        })?;
        Ok(Self { path, text })
    }

    /// The name in messages: the file's without its folder.
    pub(crate) fn name(&self) -> &str {
        let name = Path::new(&self.path).file_name();
        name.and_then(|name| name.to_str()).unwrap_or(&self.path)
    }
}

/// Returns true if there is a file or a module of this name.
pub fn is_found(name: &str) -> bool {
    name == "-" || Path::new(name).is_file() || State::module_text(name).is_some()
}
