//! Settings of the user's option file that both servers get, and those that the new one does not have.

use std::collections::BTreeMap;
use std::path::Path;

use weir_server::{ServerBinary, check_variables, known_variables, translate};

use crate::commands::server::imported_settings;

/// Settings of an option file.
#[derive(Debug, Default)]
pub(super) struct Settings {
    /// Settings that both servers take.
    pub(super) kept: BTreeMap<String, String>,
    /// Settings that the new server refuses, with its reason.
    pub(super) lost: Vec<(String, String)>,
}

impl Settings {
    /// Reads the option file of the server `from`.
    pub(super) fn read(
        file: Option<&Path>,
        (from, to): (&ServerBinary, &ServerBinary),
    ) -> anyhow::Result<Self> {
        let Some(file) = file else {
            return Ok(Self::default());
        };
        let known = known_variables(to)?;
        let mut settings = Self::default();
        for (name, value) in imported_settings::variables(from, file)? {
            let one = [(name.clone(), value.clone())].into();
            let taken = translate(to.flavor, to.version, &one).and_then(|native| {
                let names: Vec<_> = native.keys().map(String::as_str).collect();
                check_variables(&known, &names)
            });
            match taken {
                Ok(()) => {
                    settings.kept.insert(name, value);
                }
                Err(why) => settings.lost.push((name, why.to_string())),
            }
        }
        Ok(settings)
    }
}
