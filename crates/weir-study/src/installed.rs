//! Installed programs that a study's choice of a server means.

use weir_model::ServerChoice;
use weir_server::ServerBinary;

use crate::StudyError;

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
