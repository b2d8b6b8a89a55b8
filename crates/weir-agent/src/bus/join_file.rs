//! Data that a process needs to join a bus.

use std::fmt;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use weir_process::{PathError, write_private};

use crate::bus::subjects::Subjects;
use crate::bus::{BusError, PROTOCOL};

/// Address, authority and key of a member of a crew. The file is for its owner alone (mode 0600).
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JoinFile {
    /// Version of the messages.
    pub protocol: u32,
    /// Host and port of the bus.
    pub address: String,
    /// The crew's name.
    pub crew: String,
    /// The member's name: [`CONDUCTOR`](crate::bus::CONDUCTOR), or an agent's.
    pub name: String,
    /// Certificate of the bus's authority, PEM.
    pub authority: String,
    /// Seed of the member's key.
    pub seed: String,
}

impl fmt::Debug for JoinFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinFile({} at {})", self.name, self.address)
    }
}

impl JoinFile {
    /// Reads the file at `path`.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, is readable by others, or is no join file of this version.
    pub fn read(path: &Path) -> Result<Self, BusError> {
        use std::os::unix::fs::PermissionsExt as _;
        let refused = |why: String| BusError::JoinFile {
            path: path.to_owned(),
            why,
        };
        let text = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
        let found = fs::metadata(path).map_err(PathError::on("look at", path))?;
        if found.permissions().mode() & 0o077 != 0 {
            let why = "others can read the key in it (chmod 600 closes it)";
            return Err(refused(why.to_owned()));
        }
        Self::of_text(&text, path)
    }

    /// Reads the text of one; `path`: where it comes from, for errors.
    ///
    /// # Errors
    ///
    /// Another text, or another version.
    pub fn of_text(text: &str, path: &Path) -> Result<Self, BusError> {
        let refused = |why: String| BusError::JoinFile {
            path: path.to_owned(),
            why,
        };
        let read: Self = serde_json::from_str(text).map_err(|error| refused(error.to_string()))?;
        if read.protocol != PROTOCOL {
            return Err(refused(format!(
                "its protocol is {}, this version's is {PROTOCOL}",
                read.protocol
            )));
        }
        Ok(read)
    }

    /// Writes it to `path`.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), BusError> {
        let text = serde_json::to_string_pretty(self).unwrap_or_default() + "\n";
        Ok(write_private(path, &text)?)
    }

    /// Names of what travels.
    pub fn subjects(&self) -> Subjects {
        Subjects::new(&self.crew)
    }
}
