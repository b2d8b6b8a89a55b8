//! The private server with the tables as they were, for other clients.

use std::time::Duration;

use anyhow::bail;
use weir_server::ExternalServer;
use weir_terminal::output;

use super::arguments::Arguments;
use super::{clause, prepare, tell};
use crate::{State, Stop, find_like};

/// Between two looks whether the server still runs.
const LOOK: Duration = Duration::from_millis(200);

pub(super) fn execute(
    server: &ExternalServer,
    arguments: &Arguments,
    stop: Stop,
) -> anyhow::Result<()> {
    let prepared = prepare(server, arguments, stop)?;
    let binary = find_like(prepared.source(), arguments.common.server.as_deref())?;
    let mut made = prepared.make(&binary, State::Then, &clause(arguments)?)?;
    tell(&prepared, &made.told);
    let file = made.private.option_file()?;
    let schema = &prepared.tables[0].name.schema;
    if arguments.common.json {
        let tables = prepared.tables.iter().map(|table| table.name.to_string());
        output::line(serde_json::json!({
            "as_of": prepared.moment.to_string(),
            "option_file": file,
            "schema": schema,
            "tables": tables.collect::<Vec<_>>(),
        }))?;
    } else {
        output::line(format_args!(
            "{} --defaults-file={} {schema}",
            client(prepared.source().flavor),
            file.display()
        ))?;
    }
    eprintln!(
        "note: the tables are as of {}, on a private server that Ctrl-C ends",
        prepared.moment
    );
    while !stop.is_asked() {
        if let Some(words) = made.private.has_exited() {
            bail!("flashback: the private server has ended: {words}; start it again");
        }
        stop.sleep(LOOK);
    }
    Ok(())
}

fn client(flavor: weir_model::Flavor) -> &'static str {
    match flavor {
        weir_model::Flavor::Mysql => "mysql",
        weir_model::Flavor::Mariadb => "mariadb",
    }
}
