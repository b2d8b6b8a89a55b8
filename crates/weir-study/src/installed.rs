//! Installed programs that a study's choice of a server means.

use std::path::Path;

use weir_model::ServerChoice;
use weir_server::ServerBinary;

use crate::{StudyError, target};

/// The installed program that a user names: `mysql`, `mariadb 10.11`, or a path.
///
/// # Errors
///
/// A name that means no program, or a program that is not there. A server given by its URL is none.
pub fn named_program(name: &str) -> Result<ServerBinary, StudyError> {
    let wrong = |why: String| StudyError::ServerName {
        name: name.to_owned(),
        why,
    };
    let flavor_of = |path: &Path| Ok(ServerBinary::at(path)?.flavor);
    let choice = target::server(name, &flavor_of).map_err(wrong)?;
    if choice.given.is_some() {
        return Err(wrong("a server given by its URL is no program".to_owned()));
    }
    program_of(&weir_server::find(None)?, &choice)
}

/// The program that `choice` names, or the newest installed one that fits it.
pub(crate) fn program_of(
    installed: &[ServerBinary],
    choice: &ServerChoice,
) -> Result<ServerBinary, StudyError> {
    match &choice.binary {
        Some(path) => Ok(ServerBinary::at(path)?),
        None => newest(installed, choice),
    }
}

/// The newest installed server of the flavour and, if one is asked for, the version.
fn newest(installed: &[ServerBinary], choice: &ServerChoice) -> Result<ServerBinary, StudyError> {
    let Some(wanted) = &choice.version else {
        return Ok(weir_server::choose(installed, choice.flavor)?.clone());
    };
    let of_flavor = installed
        .iter()
        .filter(|server| server.flavor == choice.flavor);
    let fits = |server: &ServerBinary| {
        let version = server.version.to_string();
        let rest = version.strip_prefix(wanted.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let fitting: Vec<_> = of_flavor
        .clone()
        .filter(|server| fits(server))
        .cloned()
        .collect();
    if fitting.is_empty() {
        let installed: Vec<_> = of_flavor.map(|server| server.version.to_string()).collect();
        return Err(StudyError::NoSuchVersion {
            flavor: choice.flavor,
            version: wanted.clone(),
            installed: if installed.is_empty() {
                "none".into()
            } else {
                installed.join(", ")
            },
        });
    }
    Ok(weir_server::choose(&fitting, choice.flavor)?.clone())
}
