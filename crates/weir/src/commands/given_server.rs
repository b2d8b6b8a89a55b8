//! How to log in to servers that the user gives: option file, environment, or a question.

use std::path::PathBuf;

use anyhow::anyhow;
use weir_model::{Secret, ServerUrl};
use weir_mysql::{ClientConfig, Gate, PASSWORD_VARIABLE, endpoint};
use weir_server::GivenServer;

use crate::{output, password};

/// The user's option file, as MySQL's programs have it.
const OPTION_FILE: &str = ".my.cnf";

/// The user's option file, and the password of the environment or, if that is wanted, of the terminal.
pub(crate) fn client_config(ask_password: bool) -> anyhow::Result<ClientConfig> {
    let password = if ask_password {
        Some(password::ask()?)
    } else {
        std::env::var(PASSWORD_VARIABLE).ok().map(Secret::new)
    };
    Ok(ClientConfig {
        password,
        option_file: std::env::var_os("HOME").map(|home| PathBuf::from(home).join(OPTION_FILE)),
    })
}

/// Prints what could not be looked at.
pub(crate) fn tell_remarks(gate: &Gate) {
    for remark in gate.remarks() {
        eprintln!("note: {remark}");
    }
}

/// Prints what a rehearsal has noted instead of sending it.
pub(crate) fn tell_rehearsed(gate: &Gate) -> anyhow::Result<()> {
    for statement in gate.rehearsed() {
        output::line(statement)?;
    }
    if gate.is_rehearsal() {
        eprintln!("nothing was changed");
    }
    Ok(())
}

/// Logs in to the server at `url`, which is only read until more is permitted.
pub(crate) fn open(url: &ServerUrl, config: &ClientConfig) -> anyhow::Result<GivenServer> {
    let endpoint = endpoint(url, config);
    let endpoint = endpoint.map_err(|error| anyhow!("cannot use `{url}` ({error})"))?;
    Ok(GivenServer::open(url, endpoint)?)
}
