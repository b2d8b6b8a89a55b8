//! `weir ddl advise`.

mod words;

use std::env::temp_dir;

use weir_model::ServerUrl;
use weir_server::Stop;
use weir_server::ddl::{AdviceOptions, Advisor, AlterStatement, DdlError};

use crate::cli::{DdlAdviseArguments, DdlCommand};
use crate::commands::external_server;
use crate::{Outcome, interrupt, output};

pub(crate) fn execute(command: &DdlCommand) -> anyhow::Result<Outcome> {
    let DdlCommand::Advise(arguments) = command;
    let stop = Stop::when(interrupt::stop_flag_then_exit()?);
    match advise(arguments, stop) {
        Err(error) if matches!(error.downcast_ref(), Some(DdlError::Stopped)) => {
            eprintln!("{error}");
            Ok(Outcome::Stopped)
        }
        done => done.map(|()| Outcome::Done),
    }
}

fn advise(arguments: &DdlAdviseArguments, stop: Stop) -> anyhow::Result<()> {
    let url: ServerUrl = arguments.url.parse().map_err(anyhow::Error::msg)?;
    // Refused before anything is asked of the server; a schema that the URL lacks is the server's to miss.
    AlterStatement::read(
        &arguments.statement,
        url.database.as_deref().unwrap_or("sbtest"),
    )?;
    let config = external_server::client_config(arguments.ask_password)?;
    let server = external_server::open(&url, &config)?;
    let options = AdviceOptions {
        server: arguments.server.clone(),
        work: arguments.work.clone().unwrap_or_else(temp_dir),
        observe: arguments.observe.0,
        stop,
    };
    let advisor = Advisor::open(
        &server.endpoint,
        server.gate(),
        (url.flavor, server.version),
        server.data_dir.clone(),
        options,
    )?;
    let advice = advisor.advise(&arguments.statement)?;
    external_server::tell_remarks(server.gate());
    if arguments.json {
        return output::line(serde_json::to_string_pretty(&advice)?);
    }
    output::text(words::advice_lines(&advice))
}
