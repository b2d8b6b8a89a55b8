//! Record of an instance: the file from which it is started again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use weir_model::{Flavor, Limits, Replication, ServerVersion, set_options};
use weir_process::{PathError, ProcessIdentity, write_private};

use super::loopback_variables;
use crate::replication::{Role, replication_variables};
use crate::{ServerBinary, ServerError};

/// The record's file in an instance's folder.
const FILE: &str = "instance.json";

/// Longest name: it is part of a socket's path.
const NAME_LENGTH_MAX: usize = 40;

/// A private server with a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    /// Name: letters, digits, `-` and `_`.
    pub name: String,
    /// Flavor of the server.
    pub flavor: Flavor,
    /// The version that started it first.
    pub version: ServerVersion,
    /// The server program.
    pub program: PathBuf,
    /// Variables, in that program's names.
    pub variables: BTreeMap<String, String>,
    /// The port of 127.0.0.1 on which it listens too.
    #[serde(default)]
    pub port: Option<u16>,
    /// Limits of the server on the machine.
    #[serde(default, skip_serializing_if = "Limits::is_none")]
    pub limits: Limits,
    /// Role in a replication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<(Role, Replication)>,
    /// The instance of which it is a replica.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replica_of: Option<String>,
    /// The snapshot that its data were restored from.
    #[serde(default)]
    pub snapshot: Option<String>,
    /// Folder of its data, on a storage of the user's choice; `None`: the instance's own folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<PathBuf>,
    /// The process that it is made for. Once that is gone, [`Instances::sweep`](super::Instances::sweep) removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_for: Option<ProcessIdentity>,
}

/// State of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "state")]
pub enum InstanceState {
    /// It does.
    Running {
        /// Process of the server.
        pid: u32,
    },
    /// It was stopped, or it has ended by itself: its error log says why.
    Stopped,
}

impl Instance {
    /// An instance with the program's defaults.
    pub fn new(name: impl Into<String>, binary: &ServerBinary) -> Self {
        Self {
            name: name.into(),
            flavor: binary.flavor,
            version: binary.version,
            program: binary.path.clone(),
            variables: BTreeMap::new(),
            port: None,
            limits: Limits::default(),
            role: None,
            replica_of: None,
            snapshot: None,
            storage: None,
            made_for: None,
        }
    }

    /// Returns the program, as it is now.
    ///
    /// # Errors
    ///
    /// As [`ServerBinary::at`].
    pub fn binary(&self) -> Result<ServerBinary, ServerError> {
        ServerBinary::at(&self.program)
    }

    /// Returns the variables, with those by which it listens and takes part in a replication.
    pub(super) fn start_variables(&self, binary: &ServerBinary) -> BTreeMap<String, String> {
        let mut variables = self.variables.clone();
        if let Some((role, replication)) = self.role {
            set_options(
                &mut variables,
                replication_variables(binary, role, replication),
            );
        }
        if let Some(port) = self.port {
            set_options(&mut variables, loopback_variables(port));
        }
        variables
    }

    /// The same, made for the calling process.
    #[must_use]
    pub fn for_this_process(&self) -> Self {
        Self {
            made_for: Some(ProcessIdentity::current()),
            ..self.clone()
        }
    }

    pub(super) fn read(folder: &Path) -> Option<Self> {
        let text = fs::read_to_string(folder.join(FILE)).ok()?;
        serde_json::from_str(&text).ok()
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), PathError> {
        let text = serde_json::to_string_pretty(self).expect("invariant: a record is plain data");
        write_private(&folder.join(FILE), &text)
    }
}

/// A name is a folder's, and part of a socket's path.
pub(super) fn check_name(name: &str) -> Result<(), ServerError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if starts_well && name.len() <= NAME_LENGTH_MAX && name.chars().all(plain) {
        return Ok(());
    }
    Err(ServerError::InstanceName {
        name: name.to_owned(),
        length_max: NAME_LENGTH_MAX,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_folder() {
        check_name("shop-1_test").unwrap();
        for wrong in ["", ".", "../x", "a/b", "-x", "a b", &"x".repeat(41)] {
            let error = check_name(wrong).unwrap_err().to_string();
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }
}
