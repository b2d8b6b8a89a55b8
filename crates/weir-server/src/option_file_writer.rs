//! Option files as mysqld and mariadbd read them (MySQL manual, "Using Option Files").

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::ServerError;

/// The text of an option file for the group `mysqld`, which both flavours read.
#[derive(Debug)]
pub(crate) struct OptionFileWriter {
    text: String,
}

impl OptionFileWriter {
    /// An empty one.
    pub(crate) fn new() -> Self {
        Self {
            text: "# Written by weir for one run of a private server.\n[mysqld]\n".to_owned(),
        }
    }

    /// Adds an option without a value.
    pub(crate) fn flag(&mut self, name: &str) {
        self.text.push_str(name);
        self.text.push('\n');
    }

    /// Adds `name = value`. A later line wins over an earlier one.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<(), ServerError> {
        let refuse = |why: &str| ServerError::Value {
            name: name.to_owned(),
            value: value.to_owned(),
            why: why.to_owned(),
        };
        let plain_name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        if name.is_empty() || !name.chars().all(plain_name) {
            return Err(refuse("a name has letters, digits and _ only"));
        }
        if value.contains(|c: char| c.is_control() || c == '"') {
            return Err(refuse("an option file cannot hold line breaks or quotes"));
        }
        // In quotes, `#` starts no comment and spaces stay; a backslash escapes also there.
        let escaped = value.replace('\\', "\\\\");
        writeln!(self.text, "{name} = \"{escaped}\"").expect("invariant: a String takes all text");
        Ok(())
    }

    /// Adds `name = path`.
    pub(crate) fn set_path(&mut self, name: &str, path: &Path) -> Result<(), ServerError> {
        let value = path.to_str().ok_or_else(|| ServerError::Value {
            name: name.to_owned(),
            value: path.to_string_lossy().into_owned(),
            why: "the path is not UTF-8; choose another directory".to_owned(),
        })?;
        self.set(name, value)
    }

    /// Adds all of `variables`.
    pub(crate) fn set_all(
        &mut self,
        variables: &BTreeMap<String, String>,
    ) -> Result<(), ServerError> {
        variables
            .iter()
            .try_for_each(|(name, value)| self.set(name, value))
    }

    /// The file's text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_cannot_break_out_of_their_line() {
        let mut file = OptionFileWriter::new();
        file.set("innodb_data_home_dir", "/a b\\c#d").unwrap();
        assert!(
            file.text()
                .ends_with("innodb_data_home_dir = \"/a b\\\\c#d\"\n")
        );
        assert!(file.set("x", "1\n[mysqld]\nuser = root").is_err());
        assert!(file.set("x\ny", "1").is_err());
    }
}
