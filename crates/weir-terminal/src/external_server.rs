//! Login to servers that the user gives: option file, environment, or a question.

use anyhow::anyhow;
use weir_model::ServerUrl;
use weir_mysql::{ClientConfig, Dialogue, Gate, endpoint};
use weir_server::ExternalServer;

use crate::{output, password};

/// Returns the settings that the servers' own clients would find here, and the password of the terminal if that is
/// wanted.
pub fn client_config(ask_password: bool) -> anyhow::Result<ClientConfig> {
    let mut config = ClientConfig::of_environment(|name| std::env::var_os(name))?;
    config.dialogue = Dialogue {
        warn: |warning| eprintln!("WARNING: {warning}"),
        ask: || password::ask().map_err(std::io::Error::other),
    };
    if ask_password {
        config.password = Some(password::ask()?);
    }
    Ok(config)
}

/// Prints what could not be looked at.
pub fn tell_remarks(gate: &Gate) {
    for remark in gate.remarks() {
        eprintln!("note: {remark}");
    }
}

/// Prints what a rehearsal has noted instead of sending it.
pub fn tell_rehearsed(gate: &Gate) -> anyhow::Result<()> {
    for statement in gate.rehearsed() {
        output::line(statement)?;
    }
    if gate.is_rehearsal() {
        eprintln!("nothing was changed");
    }
    Ok(())
}

/// Logs in to the server at `url`, which is only read until more is permitted.
pub fn open(url: &ServerUrl, config: &ClientConfig) -> anyhow::Result<ExternalServer> {
    let endpoint = endpoint(url, config);
    let endpoint = endpoint.map_err(|error| anyhow!("cannot use `{url}` ({error})"))?;
    Ok(ExternalServer::open(url, endpoint)?)
}
